from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from lexbeam.constraints.constraint_set import Constraints
from lexbeam.translation.hiding import Hiding
from lexbeam.translation.keep import compile_patterns, find_kept

TEXT = "Open the <b>file</b> {name} now."


def read(text: str, can_read: bool = True, attends: bool = True, **asked: Any) -> str:
    patterns = compile_patterns(["markup", "placeholders"])
    constraints = Constraints.build(asked.get("demanded"), asked.get("avoid"), asked.get("prefix"))
    find = partial(find_kept, patterns=patterns)
    return Hiding.choose(text, find, constraints, lambda _: can_read, attends).source.text


def test_tags_are_hidden_and_what_can_not_be_read() -> None:
    assert read(TEXT) == "Open the file {name} now."
    assert read(TEXT, can_read=False) == "Open the file ID1 now."
    assert read(TEXT, attends=False) == TEXT


@pytest.mark.parametrize(
    "asked",
    [
        {"demanded": [{"order": ["<b>", "Datei"]}]},
        {"demanded": [{"text": "<b>", "soft": 3}]},
        {"demanded": [{"text": "b", "exactly": 1}]},
        {"avoid": ["B"]},
        {"prefix": "<b>Die"},
    ],
)
def test_nothing_is_hidden_that_a_caller_speaks_of_in_other_ways(asked: dict[str, Any]) -> None:
    assert read(TEXT, **asked) == TEXT


@pytest.mark.parametrize(
    ("text", "what_is_read"),
    [
        ("Click <c<code>ode> the button.", "Click the button."),
        ("Click <c<b>o<i>de> the <b>button</c<i>ode>.", "Click the button."),
        ("Click <a<a<a>>> the button.", "Click the button."),
        ("Click " + "<a" * 20 + ">" * 20, "Click " + "<a" * 20 + ">" * 20),
    ],
)
def test_a_tag_that_would_be_left_is_hidden_with_those_inside_it(
    text: str, what_is_read: str
) -> None:
    assert read(text) == what_is_read


def test_other_words_do_not_matter() -> None:
    assert read(TEXT, demanded=["b", "Datei"], avoid=["File"]) != TEXT


@pytest.mark.parametrize(
    ("asked", "what_is_read"),
    [
        ({"demanded": [{"any": ["{name}"], "soft": 0.5}]}, "Open the file {name} now."),
        (
            {"demanded": [{"text": "name", "exactly": 2}, {"text": "name x"}]},
            "Open the file {name} now.",
        ),
        ({"avoid": ["Name"]}, "Open the file {name} now."),
        ({"prefix": "{name}"}, "Open the file {name} now."),
        ({"prefix": "</b>"}, "Open the <b>file</b> ID1 now."),
    ],
)
def test_what_a_caller_does_not_speak_of_is_hidden_all_the_same(
    asked: dict[str, Any], what_is_read: str
) -> None:
    """Else a model would have to write tags, only because a caller speaks of a placeholder."""
    assert read(TEXT, can_read=False, **asked) == what_is_read
