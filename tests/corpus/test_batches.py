from __future__ import annotations

import math
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import lexbeam
from lexbeam.corpus import batches
from lexbeam.errors import InputError
from lexbeam.translation.translator import Translator

TEXTS = ["the cat", "the\0cat", "the house", None, "the cat"]


@pytest.fixture(autouse=True)
def fresh(toy_model: Translator) -> Translator:
    batches._load.cache_clear()
    return toy_model


def check(done: dict[str, list[Any]], translator: Translator) -> None:
    expected = translator.translate("the cat", constraints=["gato"])
    assert done["translation"][0] == done["translation"][4] == expected.text
    assert done["score"][0] == pytest.approx(expected.score)
    assert [bool(text) for text in done["translation"]] == [True, False, True, False, True]
    assert [math.isnan(score) for score in done["score"]] == [False, True, False, True, False]
    assert [bool(error) for error in done["error"]] == [False, True, False, True, False]
    assert done["error"][3] == "the text must be a string, not NoneType"
    assert done["id"] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "make",
    [
        lambda columns: columns,
        lambda columns: {name: np.array(each, dtype=object) for name, each in columns.items()},
        pd.DataFrame,
        pa.table,
    ],
    ids=["lists", "arrays", "pandas", "pyarrow"],
)
def test_a_batch_comes_back_with_columns_more(fresh: Translator, make: Any) -> None:
    batch = make({"text": TEXTS, "id": [1, 2, 3, 4, 5]})
    done = lexbeam.Batches(constraints=["gato"])(batch)
    assert type(done) is type(batch)
    if isinstance(done, pa.Table):
        assert done.schema.field("error").type == pa.string()
        assert done.schema.field("score").type == pa.float64()
        columns = done.to_pydict()
    else:
        columns = {name: list(done[name]) for name in done}
    check(columns, fresh)
    again = lexbeam.Batches(constraints=["gato"])(done)  # old columns are replaced
    assert list(again["translation"]) == list(done["translation"])


def test_types_do_not_depend_on_what_is_in_a_batch() -> None:
    for text in ("the cat", None):
        done = lexbeam.Batches()(pa.table({"text": pa.array([text], pa.string())}))
        assert [str(field.type) for field in done.schema] == [
            "string",
            "string",
            "double",
            "string",
        ]
    nothing: dict[str, list[str]] = {"text": []}
    empty = lexbeam.Batches()(nothing)
    assert empty == {"text": [], "translation": [], "score": [], "error": []}


def test_constraints_of_each_row() -> None:
    batch: dict[str, Any] = {
        "en": ["the cat", "the cat", "the cat", "the cat"],
        "demanded": [
            ["gato"],
            np.array(["casa"], dtype=object),
            None,
            [{"any": ["porta", "portas"]}],
        ],
        "avoided": [None, None, ["cat"], float("nan")],
        "begin": ["O", None, None, None],
    }
    done = lexbeam.Batches(
        text="en", constraints="demanded", avoid="avoided", prefix="begin", out="pt"
    )(batch)
    assert done["error"] == [""] * 4
    assert done["pt"][0].startswith("O")
    assert "gato" in done["pt"][0]
    assert "casa" in done["pt"][1]
    assert "cat" not in done["pt"][2].split()
    assert "porta" in done["pt"][3]


def test_fields_that_a_struct_lacks_were_not_given() -> None:
    shapes = pa.array([[{"any": ["gato", "gata"], "soft": None}], [{"any": ["casa"], "soft": 9.0}]])
    done = lexbeam.Batches(constraints="shapes")(pa.table({"text": ["a", "b"], "shapes": shapes}))
    assert done["error"].to_pylist() == ["", ""]
    assert "gat" in done["translation"][0].as_py()


def test_a_constraint_that_cant_be_used_is_an_error_of_its_row() -> None:
    batch: dict[str, Any] = {"text": ["the cat"] * 3, "c": [["gato"], "gato", [""]]}
    done = lexbeam.Batches(constraints="c")(batch)
    assert done["error"][0] == ""
    assert done["error"][1] == '"constraints" must be a list of phrases, not str'
    assert "empty" in done["error"][2]


def test_glossary_and_keep(tmp_path: Path) -> None:
    terms = tmp_path / "terms.csv"
    terms.write_text("cat,gato\n")
    made = lexbeam.Batches(glossary=terms, keep=["numbers"])
    terms.unlink()  # it goes along
    done = pickle.loads(pickle.dumps(made))({"text": ["the cat 12"]})
    assert "gato" in done["translation"][0]
    assert "12" in done["translation"][0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lexbeam.Batches(beam_size=0), "beam_size"),
        (lambda: lexbeam.Batches(beams=3), "unknown setting beams"),  # type: ignore[call-arg]
        (lambda: lexbeam.Batches(keep=["["]), "keep"),
        (lambda: lexbeam.Batches(glossary="none.csv"), "none.csv"),
    ],
)
def test_what_is_wrong_with_all_rows_is_said_at_once(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_what_is_no_batch_of_the_right_columns_is_refused() -> None:
    made = lexbeam.Batches()
    for batch in ({"en": ["a"]}, pa.table({"en": ["a"]}), pd.DataFrame({"en": ["a"]})):
        with pytest.raises(InputError, match="there is no column 'text' in the batch; it has en"):
            made(batch)
    with pytest.raises(InputError, match=r"a batch must be a dict of columns, .* not list"):
        made(["a"])
    with pytest.raises(InputError, match="one text, not many: map with batched=True"):
        made({"text": "the cat"})


def test_frames_one_after_the_other() -> None:
    frames = [pd.DataFrame({"text": [text]}) for text in ("the cat", "the house")]
    done = list(lexbeam.Batches().frames(iter(frames)))
    assert [len(frame) for frame in done] == [1, 1]
    assert all(frame["translation"][0] for frame in done)


def test_a_model_is_loaded_once_in_a_process(
    fresh: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def load(*arguments: Any) -> Translator:
        calls.append(arguments)
        return fresh

    monkeypatch.setattr("lexbeam.translation.translator.load", load)
    for _ in range(3):
        pickle.loads(pickle.dumps(lexbeam.Batches("m")))({"text": ["the cat"]})
    assert calls == [("m", 1)]


_NO_ENGINE = """
import pickle, sys, lexbeam
made = lexbeam.Batches("en-de", constraints="c", beam_size=3)
pickled = pickle.dumps(made)
assert len(pickled) < 1000, len(pickled)
pickle.loads(pickled)
engines = ("onnxruntime", "ray", "pandas", "pyarrow", "datasets", "pyspark", "torch")
print([name for name in engines if name in sys.modules])
"""


def test_no_engine_is_imported_to_make_and_pickle_one() -> None:
    done = subprocess.run([sys.executable, "-c", _NO_ENGINE], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"
