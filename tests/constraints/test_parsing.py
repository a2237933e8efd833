from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.parsing import Reader, read_argument, read_list
from lexbeam.errors import ConstraintError, InputError, MissingExtraError

SCHEMA = Path(__file__).parents[2] / "docs" / "constraints.schema.json"


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
        ("  no \n tapete ", Constraint((("no tapete",),))),
        ({"text": "a"}, Constraint((("a",),))),
        ({"text": "a", "case": "any", "count": 2}, Constraint((("a",),), case="any", count=2)),
        ({"any": ["a", "b", " a "]}, Constraint((("a", "b"),), "any")),
        ({"any": ["a"], "soft": 2}, Constraint((("a",),), "any", soft=2.0)),
        ({"order": ["a", "b c"]}, Constraint((("a",), ("b c",)), "order")),
        (
            {"gap": ["a", {"any": ["b", "c"]}], "within": 0},
            Constraint((("a",), ("b", "c")), "gap", within=0),
        ),
        ({"lemma": "Haus"}, Constraint((("Haus", "Hauses", "Häuser"),), "lemma")),
        ({"lemma": "Haus", "language": "en"}, Constraint((("Haus",),), "lemma")),
        (
            {"order": ["das", {"lemma": "Haus"}]},
            Constraint((("das",), ("Haus", "Hauses", "Häuser")), "order"),
        ),
        # all or nothing
        (
            {"text": "a", "count": 2, "soft": 1},
            Constraint((("a",), ("a",)), "order", soft=1.0),
        ),
        ({"prefix": "Fab"}, Constraint((("Fab",),), "prefix")),
        ({"prefix": " Die  Fab "}, Constraint((("Die Fab ",),), "prefix")),
        ({"suffix": "ist gut."}, Constraint((("ist gut.",),), "suffix")),
    ],
)
def test_shapes(given: Any, expected: Constraint) -> None:
    assert read(given) == expected
    assert read(given).asked == given
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
            r'constraints\[0\] has the unknown key "within": "text" takes "case", "count", "soft"',
        ),
        ({"prefix": "a", "soft": 1}, r'"prefix" takes no other key'),
        ({"suffix": "a", "count": 2}, r'unknown key "count"'),
        ({"text": "a", "case": "upper"}, r'\[0\]\.case must be one of "exact", "start", "any"'),
        ({"text": "a", "count": 0}, r"\[0\]\.count must be a whole number from 1 to 100"),
        ({"text": "a", "count": 101}, r"\[0\]\.count must be a whole number from 1 to 100"),
        ({"text": "a", "count": True}, r"\[0\]\.count must be a whole number"),
        ({"text": "a", "count": 1.5}, r"\[0\]\.count must be a whole number"),
        ({"text": "a", "count": float("nan")}, r"\[0\]\.count must be a whole number"),
        ({"gap": ["a", "b"], "within": -1}, r"\[0\]\.within must be a whole number from 0 to 50"),
        ({"text": "a", "soft": -1}, r"\[0\]\.soft must be a price in log-probability"),
        ({"text": "a", "soft": "2"}, r"\[0\]\.soft must be a price"),
        ({"text": "a", "soft": float("inf")}, r"\[0\]\.soft must be a price"),
        ({"text": "a", "soft": 10**400}, r"\[0\]\.soft must be a price"),
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
    "given", [{"gap": ["a", "b"]}, {"suffix": "a"}, {"text": "a", "soft": 1}, Constraint((), "gap")]
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
    with pytest.raises(InputError, match=r"none.txt can't be read: No such file"):
        read_list(tmp_path / "none.txt")


# --- the schema says the same ------------------------------------------------------------------

PHRASES = st.sampled_from(["a", "b c", " d ", "", " "])
LISTS = st.lists(PHRASES, max_size=3)
KINDS = ["text", "any", "lemma", "order", "gap", "prefix", "suffix"]
VALUES = (
    PHRASES
    | LISTS
    | st.lists(st.dictionaries(st.sampled_from(KINDS), PHRASES | LISTS))
    | (st.none() | st.integers(-1, 2))
)
OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    "case": st.sampled_from(["exact", "start", "any", "upper", None, 1]),
    "count": st.sampled_from([0, 1, 2.0, 100, 101, 1.5, True, None, "1"]),
    "soft": st.sampled_from([0, 1.5, -1, 1e9, 1e8, False, None, "1"]),
    "within": st.sampled_from([0, 3, -1, 2.0, 0.5, True, None, 50, 51]),
    "language": st.sampled_from(["de", "", None, 1]),
    "more": st.none(),
}


@st.composite
def shapes(draw: st.DrawFn) -> Any:
    if draw(st.integers(0, 5)) == 0:
        return draw(VALUES)
    shape = {draw(st.sampled_from(KINDS)): draw(VALUES)}
    for key in draw(st.lists(st.sampled_from([*OPTIONS, *KINDS]), max_size=3)):
        shape.setdefault(key, draw(OPTIONS.get(key, VALUES)))
    return shape


@given(
    st.sampled_from(["constraints", "avoid", "prefix"]), shapes() | st.lists(shapes(), max_size=2)
)
def test_the_schema_takes_what_the_parser_takes(name: str, given: Any) -> None:
    record = {"text": "x", name: given}
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    try:
        get = record.get
        Constraints.build(get("constraints"), get("avoid"), get("prefix"), language="de")
        taken = True
    except ConstraintError as error:
        if "can't begin with" in str(error):  # two prefixes: each is fine
            return
        taken = False
    assert validator.is_valid(record) == taken


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(SCHEMA.read_text()))
