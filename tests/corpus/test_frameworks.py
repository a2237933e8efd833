"""`Batches` in Hugging Face ``datasets`` and in Spark, if that is there; Ray has its own tests."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import lexbeam
from helpers.corpus_runs import short_lines
from lexbeam.translation.translator import load

TEXTS = [*short_lines(11), "a\0b"]


@pytest.fixture(scope="module")
def expected() -> list[str]:
    translator = load()
    return [translator.translate(text, beam_size=1).text for text in TEXTS[:-1]] + [""]


def test_datasets(expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    rows = datasets.Dataset.from_dict({"text": TEXTS, "id": list(range(12))})
    done: Any = rows.map(
        lexbeam.Batches(beam_size=1), batched=True, batch_size=4, num_proc=2, keep_in_memory=True
    )
    assert done.column_names == ["text", "id", "translation", "score", "error"]
    assert list(done["translation"]) == expected
    assert list(done["id"]) == list(range(12))
    assert [bool(error) for error in done["error"]] == [False] * 11 + [True]


@pytest.mark.filterwarnings("ignore")  # Spark has many
def test_spark(expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    pyspark = pytest.importorskip("pyspark", exc_type=ImportError)
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    builder = pyspark.sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", False)
    session = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    try:
        frame = session.createDataFrame(list(enumerate(TEXTS)), "id long, text string")
        schema = "id long, text string, translation string, score double, error string"
        done = frame.mapInPandas(lexbeam.Batches(beam_size=1).frames, schema)
        rows = sorted(done.collect(), key=lambda row: int(row["id"]))
    finally:
        session.stop()
    assert [row["translation"] for row in rows] == expected
    assert [bool(row["error"]) for row in rows] == [False] * 11 + [True]
