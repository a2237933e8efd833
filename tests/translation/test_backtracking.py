from __future__ import annotations

import re

import pytest

from helpers.timing import at_most
from lexbeam.translation.backtracking import may_take_forever
from lexbeam.translation.keep import PATTERNS


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"(a*)*b",
        r"(a|a)*b",
        r"(a|aa)+$",
        r"(a?a?)*b",
        r"((a?)?x)*y",
        r"(x+x+)+y",
        r"(\w+\s?)+$",
        r"(?:[A-Z]\w*\s?)+$",
        r"([a-z]+)*[A-Z]",
        r"(?i)(?:[a-z]x?|[A-Z]y?)*!",
        r"(?:(?:\d+-\d+|\d+),?)+;",
        r"(?=(a+)+b)",
        r"(.|\s)*y",
        r"(?:a{1,20}){1,20}b",
        r"(?:(?:\w+\s?)+x)*",
        r"(?:a+?)+?b",
    ],
)
def test_what_can_be_divided_in_many_ways_may_take_forever(pattern: str) -> None:
    assert may_take_forever(re.compile(pattern))


@pytest.mark.parametrize(
    "pattern",
    [
        *PATTERNS.values(),
        r"[A-Z]\w+",
        r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)*\b",
        r"(?:a+)+",  # nothing behind it can fail
        r"(\w+\s?)+",
        r"\n(\s*\n)+",
        r"(\w+\s)+$",
        r'"(?:[^"\\]|\\.)*"',
        r"\{\{.*?\}\}",
        r"(?:\d{1,3}\.){3}\d{1,3}",
        r"(?:a++)+$",
        r"(?>a+)+$",
        r"[\w.+-]+@[\w-]+\.[\w.-]+",
        r"(?:[a-z]+\.)+[a-z]+",
        r"\w+(?:-\w+)*",
        r"(foo|bar|baz)*x",
        r"(?P<quote>['\"]).*?(?P=quote)",
        r"(a)?(?(1)b|c)",
        r"v?\d+(?:\.\d+)*",
        r"(?:\w|\d)+x",  # one set of characters
        r"(?:[a-c]|[x-z])*!",
    ],
)
def test_ordinary_expressions_do_not(pattern: str) -> None:
    assert not may_take_forever(re.compile(pattern))


def test_a_long_expression_is_looked_through_in_no_time() -> None:
    words = "|".join(f"word{number}[a-z]" for number in range(2000))
    for pattern in (words, rf"\b(?:{words})\b", f"(?:{words[:150]})+$", "(?:a?){500}" * 20):
        with at_most(seconds=5):
            assert not may_take_forever(re.compile(pattern))
