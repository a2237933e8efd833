"""What docs/server.md shows is what happens."""

from __future__ import annotations

import doctest
import json
import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from helpers.http_client import ask

DOCS = Path(__file__).parents[2] / "docs" / "server.md"
BLOCKS = re.findall(r"```text\n(.*?)```", DOCS.read_text(), re.DOTALL)
COMMANDS = [
    pair for block in BLOCKS for pair in re.findall(r"^\$ (curl .*)\n(.*)$", block, re.MULTILINE)
]


def same(one: Any, other: Any) -> bool:
    """Return whether two values are the same; scores are rounded otherwise elsewhere."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == pytest.approx(other, abs=0.05) if isinstance(one, float) else one == other)


@pytest.mark.parametrize(("command", "answer"), COMMANDS)
def test_curl(server: str, command: str, answer: str) -> None:
    _, _, address, *options = shlex.split(command)
    form = dict(value.split("=", 1) for name, value in pairwise(options) if name == "-d")
    body = json.loads(options[1]) if options[0] == "--json" else None
    path = address.removeprefix("localhost:5000")
    reply = ask(server, "POST", path, body, form or None)
    assert same(reply.json, json.loads(answer)), reply.content


def test_deepl(server: str) -> None:
    (block,) = [block for block in BLOCKS if ">>> import deepl" in block]
    shown = block.replace("http://127.0.0.1:5000", server)
    test = doctest.DocTestParser().get_doctest(shown, {}, "docs/server.md", None, None)
    said: list[str] = []
    assert doctest.DocTestRunner().run(test, out=said.append).failed == 0, "".join(said)


def test_there_is_something_to_try() -> None:
    assert len(COMMANDS) == 3
