"""What does a file cost beside its strings? ``python benchmarks/files.py FILES… [--model DIR]``.

The texts of the files are written into one PO file. That is translated as `lexbeam file` does it,
and the same texts as `lexbeam translate` would; both in turn, ``--runs`` times. The figure is the
ratio of the processor times.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import lexbeam
from lexbeam import files
from lexbeam.errors import LexbeamError

HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'


def sources(paths: Sequence[Path], languages: tuple[str, str]) -> Iterator[str]:
    """Yield the texts of some files."""
    for path in paths:
        source, target = languages
        for unit in files.units(path, source_language=source, target_language=target):
            yield from unit.source.split("\n")


def write_catalogue(texts: Sequence[str], path: Path) -> None:
    """Write texts as a PO file in which nothing is translated."""
    entries = (f'\nmsgid {json.dumps(text, ensure_ascii=False)}\nmsgstr ""\n' for text in texts)
    path.write_text(HEADER + "".join(entries), encoding="utf-8")


def main() -> None:
    """Print the ratio of the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--model", help="Folder or pair; the embedded model if not given.")
    parser.add_argument("--units", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    translator = lexbeam.load(options.model)
    languages = (translator.info["source_language"], translator.info["target_language"])
    found = dict.fromkeys(text.strip() for text in sources(options.files, languages))
    texts = [text for text in found if any(map(str.isalpha, text))]
    random.Random(1).shuffle(texts)
    texts = texts[: options.units]
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        catalogue = Path(folder) / "in.po"
        write_catalogue(texts, catalogue)
        for _ in range(options.runs):
            began = time.process_time()
            translator.translate(texts)
            plain = time.process_time() - began
            began = time.process_time()
            report = files.translate(catalogue, Path(folder) / "out.po", translator)
            whole = time.process_time() - began
            ratios.append(whole / plain)
            print(
                f"{len(texts)} texts: {plain:.2f} s, as a file of {report.translated} units "
                f"{whole:.2f} s, ratio {whole / plain:.2f}"
            )
    print(f"median ratio {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    try:
        main()
    except LexbeamError as error:
        raise SystemExit(str(error)) from None
