"""Parquet files: columns with the names of a record's fields; all columns are kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lexbeam.arguments import read_json_integer
from lexbeam.corpus.batches import plain_value
from lexbeam.corpus.formats import Format, Slice, Writing
from lexbeam.errors import InputError, MissingExtraError
from lexbeam.translation.lines import Line
from lexbeam.translation.records import dump_record, read_request
from lexbeam.translation.requests import TextRequest

try:
    import pyarrow as pa
    from pyarrow import parquet
except ImportError as missing:
    raise MissingExtraError("Parquet", "parquet") from missing

_ASKED = ("constraints", "avoid", "prefix", "glossary", "keep", "settings")
_STALE = (b"huggingface", b"pandas")  # metadata that lists the columns


def plan(path: Path, rows: int, text: str) -> tuple[str, list[Slice]]:
    """Return the hash of a file and its slices of so many rows."""
    with _reading(path):
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        with parquet.ParquetFile(path) as table:
            names, total = table.schema_arrow.names, table.metadata.num_rows
    if text not in names:
        raise InputError(f"{path}: there is no column {text!r}; it has {', '.join(names)}")
    firsts = range(0, total, rows)
    return sha256, [Slice(first + 1, min(rows, total - first)) for first in firsts]


def _read_slice(path: Path, part: Slice) -> Any:
    """Return some rows as a table, of the row groups that have them and no others."""
    start, stop = part.first - 1, part.first - 1 + part.rows
    with _reading(path), parquet.ParquetFile(path) as file:
        groups, first, offset = [], 0, None
        for index in range(file.metadata.num_row_groups):
            end = first + file.metadata.row_group(index).num_rows
            if first < stop and end > start:
                groups.append(index)
                offset = first if offset is None else offset
            first = end
        if first < stop or offset is None:
            raise InputError(f"{path}: has changed since the run began")
        kept, at = [], offset
        for batch in file.iter_batches(batch_size=part.rows, row_groups=groups):
            low, high = max(start - at, 0), min(stop - at, batch.num_rows)
            if low < high:
                kept.append(batch.slice(low, high - low))
            at += batch.num_rows
            if at >= stop:
                break
        return pa.Table.from_batches(kept, file.schema_arrow)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn whatever is wrong with a file into one error."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        lines = str(error).splitlines()
        reason = getattr(error, "strerror", None) or (lines[0] if lines else type(error).__name__)
        raise InputError(f"{path}: can't be read: {reason}") from error


class ParquetRows:
    """Rows of a table; those columns that a record has are read as its fields.

    The part has all columns of the table, and ``translation``, ``score``, ``error`` and
    ``report``, which is JSON: what else there is to say of a translation. Missing values are null.
    """

    def __init__(self, path: Path, part: Slice, common: TextRequest, writing: Writing) -> None:
        self._table = _read_slice(path, part)
        self._signature = writing.signature
        names = [name for name in _ASKED if name in self._table.column_names]
        texts = self._table.column(writing.text).to_pylist()
        asked = self._table.select(names).to_pylist() if names else [{}] * len(texts)
        self.lines = [
            _read_row(Line(number), text, record, common, writing.text)
            for number, (text, record) in enumerate(zip(texts, asked, strict=True), part.first)
        ]

    def content(self) -> bytes:
        """Return a Parquet file."""
        found = [line.translation for line in self.lines]
        scores = [each.score if each else None for each in found]
        columns = {
            "translation": pa.array([each.text if each else None for each in found], pa.string()),
            "score": pa.array(scores, pa.float64()),
            "error": pa.array([line.error for line in self.lines], pa.string()),
            "report": pa.array([self._report(line) for line in self.lines], pa.string()),
        }
        metadata = {
            key: value
            for key, value in (self._table.schema.metadata or {}).items()
            if key not in _STALE
        }
        table = self._table.drop([name for name in columns if name in self._table.column_names])
        for name, column in columns.items():
            table = table.append_column(name, column)
        sink = pa.BufferOutputStream()
        parquet.write_table(table.replace_schema_metadata(metadata), sink, compression="zstd")
        content: bytes = sink.getvalue().to_pybytes()
        return content

    def _report(self, line: Line) -> str | None:
        """Return what a JSON record would have beside translation and score, if there is any."""
        if line.translation is None:
            return None
        report = line.translation.to_dict(self._signature)
        del report["translation"], report["score"]
        if not report["constraints"]:
            del report["constraints"]
        return dump_record(report) if report else None


def _read_row(line: Line, text: Any, asked: Any, common: TextRequest, column: str) -> Line:
    """Fill in a line from a row of a table."""
    try:
        if not isinstance(text, str):
            is_null = "is null" if text is None else f"has {type(text).__name__}, not text"
            raise InputError(f'the column "{column}" {is_null}')
        record = {name: _as_given(name, value) for name, value in asked.items()}
        line.request = read_request({**record, "text": text}, common)
    except InputError as error:
        line.error = str(error)
    return line


def _as_given(name: str, value: Any) -> Any:
    """Return a value as a record has it; an object may be given as JSON."""
    value = plain_value(value)
    if name in ("glossary", "settings") and isinstance(value, str):
        try:
            return json.loads(value, parse_int=read_json_integer)
        except ValueError as error:
            raise InputError(f'"{name}" is not valid JSON: {error}') from error
    return value


FORMATS = {"parquet": Format(".parquet", "row", plan, ParquetRows)}
