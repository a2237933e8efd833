"""The report on the constraints of a corpus: a file beside each part, put together at the end."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lexbeam.text.atomic_write import write_file
from lexbeam.translation.lines import Line
from lexbeam.translation.reporting import Reporter, Row, Summary
from lexbeam.translation.reporting.collect import Translates
from lexbeam.translation.reporting.rows import sort_rows

FOLDER = "reports"
"""Where the reports on parts are, in the folder of the output."""


def report_path(output: Path, part: str) -> Path:
    """Return where the report on a part is."""
    return output / FOLDER / f"{part}.json"


def write_part_report(
    path: Path, translator: Translates, lines: Iterable[Line], source: str
) -> None:
    """Write what became of the constraints of a part."""
    reporter = Reporter(translator)
    for line in lines:
        reporter.add_line(line, source)
    rows = [asdict(row) for row in reporter.finish()]
    content = {"rows": rows, "summary": asdict(reporter.summary)}
    path.parent.mkdir(exist_ok=True)
    write_file(path, json.dumps(content, ensure_ascii=False))


def read_reports(output: Path, parts: Iterable[str]) -> tuple[list[Row], Summary]:
    """Return the report on all parts that have one."""
    rows: list[Row] = []
    summary, files = Summary(), set()
    for part in parts:
        path = report_path(output, part)
        if not path.exists():
            continue
        content = json.loads(path.read_text(encoding="utf-8"))
        rows += map(_row, content["rows"])
        summary.texts += content["summary"]["texts"]
        summary.seconds += content["summary"]["seconds"]
        summary.errors += [
            (file, place, error) for file, place, error in content["summary"]["errors"]
        ]
        files |= {row["file"] for row in content["rows"]}
    summary.files = len(files)
    return sort_rows(rows), summary


def _row(fields: dict[str, Any]) -> Row:
    for name in ("source_spans", "target_spans"):
        fields[name] = tuple((start, end) for start, end in fields[name])
    return Row(**fields)
