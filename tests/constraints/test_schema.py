from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.kinds import KINDS
from lexbeam.constraints.schema import constraint_schema, constraint_schema_text
from lexbeam.errors import ConstraintError

FILE = Path(__file__).parents[2] / "docs" / "constraints.schema.json"


def test_the_file_is_the_schema() -> None:
    assert FILE.read_text(encoding="utf-8") == constraint_schema_text()


def test_it_is_a_json_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(constraint_schema())


PHRASES = st.sampled_from(["a", "b c", " d ", "", " "])
LISTS = st.lists(PHRASES, max_size=3)
KEYS = [kind.key for kind in KINDS]
VALUES = (
    PHRASES
    | LISTS
    | st.lists(st.dictionaries(st.sampled_from(KEYS), PHRASES | LISTS))
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
    shape = {draw(st.sampled_from(KEYS)): draw(VALUES)}
    for key in draw(st.lists(st.sampled_from([*OPTIONS, *KEYS]), max_size=3)):
        shape.setdefault(key, draw(OPTIONS.get(key, VALUES)))
    return shape


@given(
    st.sampled_from(["constraints", "avoid", "prefix"]), shapes() | st.lists(shapes(), max_size=2)
)
def test_the_schema_takes_what_the_parser_takes(name: str, given: Any) -> None:
    record = {"text": "x", name: given}
    validator = jsonschema.Draft202012Validator(constraint_schema())
    try:
        get = record.get
        Constraints.build(get("constraints"), get("avoid"), get("prefix"), language="de")
        taken = True
    except ConstraintError as error:
        if "can't begin with" in str(error):  # two prefixes: each is fine
            return
        taken = False
    assert validator.is_valid(record) == taken
