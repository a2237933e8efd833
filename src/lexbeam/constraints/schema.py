"""The JSON Schema of a text and its constraints, put together from what the kinds say.

``python -m lexbeam.constraints.schema > docs/constraints.schema.json`` writes it.
"""

from __future__ import annotations

import json
import sys

from lexbeam.constraints.kinds import KINDS
from lexbeam.constraints.options import OPTIONS, Schema
from lexbeam.constraints.parsing import avoided_kinds, part_kinds

_PHRASE = {"$ref": "#/$defs/phrase"}


def constraint_schema() -> Schema:
    """Return the JSON Schema of one line of ``lexbeam translate --json``."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A text for lexbeam and what its translation has to keep to",
        "description": "One line of `lexbeam translate --json`. Other fields are kept as they are.",
        "type": "object",
        "required": ["text"],
        "properties": {
            "text": {"type": "string"},
            "constraints": {
                "description": "What the translation must have.",
                "type": ["array", "null"],
                "items": {"$ref": "#/$defs/constraint"},
            },
            "avoid": {
                "description": "What the translation must not have.",
                "type": ["array", "null"],
                "items": {"$ref": "#/$defs/avoided"},
            },
            "prefix": {
                "description": "What the translation begins with. The last word may go on unless "
                "a space follows it.",
                "anyOf": [_PHRASE, {"const": ""}, {"type": "null"}],
            },
        },
        "$defs": _definitions(),
    }


def _definitions() -> Schema:
    demanded = [schema for kind in KINDS for schema in kind.schemas()]
    parts = [kind.object_schema(options) for kind, options in part_kinds().values()]
    avoided = [kind.object_schema(options) for kind, options in avoided_kinds().values()]
    return {
        "phrase": {
            "description": "Words that stand next to each other.",
            "type": "string",
            "pattern": r"\S",
        },
        "phrases": {
            "description": "Forms of which any will do.",
            "type": "array",
            "minItems": 1,
            "items": _PHRASE,
        },
        **{name: option.schema for name, option in OPTIONS.items()},
        "constraint": {"anyOf": [_PHRASE, *demanded]},
        "item": {"description": "One part of an order or a gap.", "anyOf": [_PHRASE, *parts]},
        "avoided": {"anyOf": [_PHRASE, *avoided]},
    }


def constraint_schema_text() -> str:
    """Return the JSON Schema as the text of its file."""
    return json.dumps(constraint_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(constraint_schema_text())
