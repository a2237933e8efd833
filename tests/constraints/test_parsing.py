from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.kinds import AnyOf, Gap, Lemma, Order, Phrase, Prefix, Suffix
from lexbeam.constraints.parsing import Reader, read_argument, read_list
from lexbeam.errors import ConstraintError, InputError, MissingExtraError


@pytest.fixture(autouse=True)
def lemmas(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dictionary of one word, so that none needs to be installed."""
    module = ModuleType("lexbeam.text.inflection")

    def forms(word: str, language: str) -> tuple[str, ...]:
        if language == "xx":
            raise InputError("no dictionary for xx")
        return (word, "Hauses", "Häuser") if (word, language) == ("Haus", "de") else (word,)

    module.forms = forms  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "lexbeam.text.inflection", module)


def read(given: Any, language: str | None = "de") -> Constraint:
    (constraint,) = Reader(language).demands([given], "constraints")
    return constraint


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("  no \n tapete ", Phrase((("no tapete",),))),
        ({"text": "a"}, Phrase((("a",),))),
        ({"text": "a", "case": "any", "count": 2}, Phrase((("a",),), case="any", count=2)),
        ({"any": ["a", "b", " a "]}, AnyOf((("a", "b"),))),
        ({"any": ["a"], "soft": 2}, AnyOf((("a",),), soft=2.0)),
        ({"order": ["a", "b c"]}, Order((("a",), ("b c",)))),
        (
            {"gap": ["a", {"any": ["b", "c"]}], "within": 0},
            Gap((("a",), ("b", "c")), within=0),
        ),
        ({"lemma": "Haus"}, Lemma((("Haus", "Hauses", "Häuser"),))),
        ({"lemma": "Haus", "language": "en"}, Lemma((("Haus",),))),
        (
            {"order": ["das", {"lemma": "Haus"}]},
            Order((("das",), ("Haus", "Hauses", "Häuser"))),
        ),
        # all or nothing
        (
            {"text": "a", "count": 2, "soft": 1},
            Order((("a",), ("a",)), soft=1.0),
        ),
        ({"prefix": "Fab"}, Prefix((("Fab",),))),
        ({"prefix": " Die  Fab "}, Prefix((("Die Fab ",),))),
        ({"suffix": "ist gut."}, Suffix((("ist gut.",),))),
    ],
)
def test_shapes(given: Any, expected: Constraint) -> None:
    assert read(given) == expected
    assert read(given).given == given
    assert read(expected) is expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (7, r'constraints\[0\] must be text or an object with one of "text", "any", .*not int "7"'),
        (None, r"constraints\[0\] must be text or an object"),
        (["a"], r"constraints\[0\] must be text or an object"),
        ({}, r'constraints\[0\] has none of "text", "any", .*: give exactly one'),
        ({"anny": ["a"]}, r'constraints\[0\] has none of "text"'),
        ({"any": ["a"], "gap": ["a"]}, r'constraints\[0\] has "any", "gap" at once'),
        ({"any": "a"}, r'constraints\[0\]\.any must be a list of phrases, not the text "a"'),
        ({"any": []}, r"constraints\[0\]\.any has 0 entries: it needs at least 1"),
        ({"any": ["a", 3]}, r'constraints\[0\]\.any\[1\] must be text, not int "3"'),
        ({"any": [{"any": ["a"]}]}, r"constraints\[0\]\.any\[0\] must be text"),
        ({"gap": ["a"]}, r"constraints\[0\]\.gap has 1 entries: it needs at least 2"),
        ({"order": ["a", " "]}, r"constraints\[0\]\.order\[1\] is empty or only spaces"),
        ({"order": [{"gap": ["a", "b"]}]}, r'constraints\[0\]\.order\[0\] has none of "text"'),
        (
            {"gap": ["a", {"any": ["b"], "soft": 1}]},
            r'gap\[1\] has the unknown key "soft": "any" takes no other key',
        ),
        (
            {"text": "a", "within": 1},
            r'constraints\[0\] has the unknown key "within": "text" takes "case", "count", ',
        ),
        ({"prefix": "a", "soft": 1}, r'"prefix" takes no other key'),
        ({"suffix": "a", "count": 2}, r'unknown key "count"'),
        ({"text": "a", "case": "upper"}, r'\[0\]\.case must be one of "exact", "start", "any"'),
        ({"text": "a", "count": 0}, r"\[0\]\.count must be a whole number from 1 to 100"),
        ({"text": "a", "count": 101}, r"\[0\]\.count must be a whole number from 1 to 100"),
        ({"text": "a", "count": True}, r"\[0\]\.count must be a whole number"),
        ({"text": "a", "count": 1.5}, r"\[0\]\.count must be a whole number"),
        ({"text": "a", "count": float("nan")}, r"\[0\]\.count must be a whole number"),
        ({"text": "a", "exactly": 0}, r"\[0\]\.exactly must be a whole number from 1 to 100"),
        ({"text": "a", "exactly": 1, "count": 1}, r'\[0\] has "exactly" and "count"'),
        ({"text": "a", "exactly": 1, "soft": 1}, r'\[0\] has "exactly" and "soft"'),
        ({"any": ["a"], "at_most": 2, "soft": 1}, r'\[0\] has "at_most" and "soft"'),
        ({"text": "a", "at_most": 1, "count": 2}, r"\[0\]\.at_most is 1, but count is 2"),
        ({"order": ["a"], "exactly": 1}, r'unknown key "exactly"'),
        ({"gap": ["a", "b"], "within": -1}, r"\[0\]\.within must be a whole number from 0 to 50"),
        ({"text": "a", "soft": -1}, r"\[0\]\.soft must be a penalty in log-probability"),
        ({"text": "a", "soft": "2"}, r"\[0\]\.soft must be a penalty"),
        ({"text": "a", "soft": float("inf")}, r"\[0\]\.soft must be a penalty"),
        ({"text": "a", "soft": 10**400}, r"\[0\]\.soft must be a penalty"),
        ({"text": "a", "count": 10**5000}, r"\[0\]\.count must be .* not int$"),
        ({"gap": ["a", "b"], "count": 2, "soft": 1}, r'\[0\] has "count" and "soft"'),
        ({"lemma": 3}, r"\[0\]\.lemma must be text"),
        ({"lemma": "Haus", "language": ""}, r"language of \"Haus\" is not known"),
        ({"lemma": "Haus", "language": "xx"}, r"\[0\]\.lemma: no dictionary for xx"),
        ({"any": ["a\0"]}, "NUL"),
    ],
)
def test_a_malformed_shape_is_named(given: Any, message: str) -> None:
    with pytest.raises(ConstraintError, match=message):
        read(given)


def test_a_lemma_needs_a_language_and_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConstraintError, match='give it as "language"'):
        read({"lemma": "Haus"}, language=None)

    def missing(*_: str) -> tuple[str, ...]:
        raise MissingExtraError("lemmas", "glossary")

    monkeypatch.setattr(sys.modules["lexbeam.text.inflection"], "forms", missing)
    with pytest.raises(MissingExtraError, match="glossary"):
        read({"lemma": "Haus"})


@pytest.mark.parametrize(
    "given", [{"gap": ["a", "b"]}, {"suffix": "a"}, {"text": "a", "soft": 1}, Gap(())]
)
def test_what_can_not_be_avoided(given: Any) -> None:
    with pytest.raises(ConstraintError, match=r"avoid\[0\] "):
        Reader().avoided([given], "avoid")


@pytest.mark.parametrize("phrase", ["a|b", "{name}", "{}", "{0} %s", "[a]", "", "{ x"])
def test_what_is_not_an_object_on_the_command_line_is_a_phrase(phrase: str) -> None:
    assert read_argument(phrase, "-c") == phrase


def test_objects_on_the_command_line() -> None:
    assert read_argument(' { "any": ["a"]}', "-c") == {"any": ["a"]}
    for broken in ('{"any": ["a"', '{"any": ' + "[" * 100_000):
        with pytest.raises(ConstraintError, match="-c is not valid JSON"):
            read_argument(broken, "-c")


def test_a_list_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes('\ufeffHaus\r\n\n  zu Hause \n{"any": ["a", "b"]}\n#x'.encode())
    assert read_list(path) == ["Haus", "zu Hause", {"any": ["a", "b"]}, "#x"]
    path.write_bytes(b"a\nb\xff\n")
    with pytest.raises(InputError, match=r"words.txt, line 2 is not valid UTF-8: byte 0xff at 1"):
        read_list(path)
    with pytest.raises(InputError, match=r"none.txt: can't be read: No such file"):
        read_list(tmp_path / "none.txt")
