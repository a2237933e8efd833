from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from corpus.toy_corpus import everything, parts, translate, write_lines
from lexbeam.corpus.formats import Writing
from lexbeam.errors import InputError
from lexbeam.translation.asked import Asked

pytestmark = pytest.mark.usefixtures("toy_model")


def read(folder: Path) -> pa.Table:
    paths = sorted(folder.glob("part-*.parquet"))
    return pa.concat_tables([parquet.read_table(path) for path in paths])


@pytest.mark.parametrize("group", [1, 3, 100])
def test_all_columns_are_kept_whatever_the_row_groups(tmp_path: Path, group: int) -> None:
    texts = ["the cat", "the house", None, "the cat", "", "the dog", "a\0b"]
    table = pa.table({"text": texts, "id": range(7), "c": [["gato"]] * 7})
    source = tmp_path / "in.parquet"
    parquet.write_table(table, source, row_group_size=group)
    counts, heard = translate([str(source)], tmp_path / "out", shard_rows=2)
    assert counts == {"rows": 7, "failed": 2, "duplicates": 0}
    assert [where for where, _ in heard.failures] == [f"{source}, row 3", f"{source}, row 7"]
    assert heard.failures[0][1] == 'the column "text" is null'
    made = read(tmp_path / "out")
    assert made.select(["text", "id", "c"]) == table
    assert made.schema.names == ["text", "id", "c", "translation", "score", "error", "report"]
    assert [bool(text) for text in made["translation"].to_pylist()] == [1, 1, 0, 1, 0, 1, 0]
    assert [error is None for error in made["error"].to_pylist()] == [1, 1, 0, 1, 1, 1, 0]
    assert len(parts(tmp_path / "out")) == 4


def test_columns_that_a_record_has_are_its_fields(tmp_path: Path) -> None:
    table = pa.table(
        {
            "en": ["the cat", "the cat"],
            "constraints": [["gato"], None],
            "settings": ['{"nbest": 2}', "{"],
            "translation": ["old", "old"],
        },
        metadata={"huggingface": "{}", "mine": "yes"},
    )
    source = tmp_path / "in.parquet"
    parquet.write_table(table, source)
    asked = Asked(constraints=["casa"])
    writing = Writing(text="en", signature=True)
    counts, _ = translate([str(source)], tmp_path / "out", asked=asked, writing=writing)
    assert counts["failed"] == 1
    made = read(tmp_path / "out")
    first, second = made.to_pylist()
    report = json.loads(first["report"])
    assert {each["text"] for each in report["constraints"]} == {"gato", "casa"}
    assert len(report["nbest"]) == 2
    assert report["signature"]["lexbeam"]
    assert "gato" in first["translation"]
    assert second["error"].startswith('"settings" is not valid JSON')
    assert made.schema.metadata == {b"mine": b"yes"}


def test_damaged_tables_are_one_error(tmp_path: Path) -> None:
    source = tmp_path / "in.parquet"
    parquet.write_table(pa.table({"text": ["the cat"]}), source)
    with pytest.raises(InputError, match=r"in\.parquet: there is no column 'en'; it has text"):
        translate([str(source)], tmp_path / "out", writing=Writing(text="en"))
    whole = source.read_bytes()
    source.write_bytes(whole[:-5])
    with pytest.raises(InputError, match=r"in\.parquet: can't be read: "):
        translate([str(source)], tmp_path / "out")
    source.write_bytes(b"PAR1" + b"\xff" * 12 + whole[16:])  # a page
    with pytest.raises(InputError, match=r"in\.parquet: can't be read: "):
        translate([str(source)], tmp_path / "out")
    packed = write_lines(tmp_path / "in.parquet.gz", [])
    with pytest.raises(InputError, match=r"Parquet files are compressed inside: unpack it"):
        translate([packed], tmp_path / "out")


def test_the_same_table_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    source = tmp_path / "in.parquet"
    parquet.write_table(pa.table({"text": ["the cat", "the dog", "the house"]}), source)
    for name in ("a", "b"):
        translate([str(source)], tmp_path / name)
    assert everything(tmp_path / "a") == everything(tmp_path / "b")


def test_without_pyarrow_the_extra_is_named(tmp_path: Path) -> None:
    code = "import sys; sys.modules['pyarrow'] = None\nfrom lexbeam.cli.start import main; main()"
    (tmp_path / "in.parquet").touch()
    command = [sys.executable, "-c", code, "corpus", "in.parquet", "-o", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        'lexbeam: Parquet needs the extra "parquet": pip install "lexbeam[parquet]"\n'
    )
