"""Do placeholders and tags survive? ``python benchmarks/keep.py MODEL FILE``.

FILE has a text a line, such as the strings of a program; those with a placeholder or a tag in them
are translated. A translation is right if it has exactly those of its source, no more and no
fewer, tags in the same order. What counts as one is said here, not by lexbeam.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import lexbeam

PLACEHOLDER = re.compile(
    r"%(?:\d+\$)?(?:\(\w+\)|\{\w+\})?[-+#0]*\d*(?:\.\d+)?(?:hh|h|ll|l|z)?[@diouxXeEfgGcCsSp](?!\w)"
    r"|%\{\w+\}|%\d+(?!\w)|\$?\{\{[^{}]*\}\}|\$?\{[^{}]*\}|\$\(\w+\)|\$[A-Za-z_]\w*"
)
TAG = re.compile(r"</?[A-Za-z][^<>]*>")
ENTITY = re.compile(r"&(?:[A-Za-z]+|#\d+|#x[0-9A-Fa-f]+);")


class Codes(NamedTuple):
    """What a text has that must not change."""

    placeholders: Counter[str]
    tags: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Codes:
        """Find them in a text."""
        found = [*PLACEHOLDER.findall(text), *ENTITY.findall(text)]
        return cls(Counter(found), tuple(TAG.findall(text)))


def read_texts(path: Path, limit: int | None) -> list[str]:
    """Return the texts of a file that have a placeholder or a tag, each once."""
    lines = dict.fromkeys(path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if any(Codes.of(line))][:limit]


def main() -> None:
    """Translate with and without ``keep``, and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help='folder of a model, "embedded" for the one that comes along')
    parser.add_argument("file", type=Path)
    parser.add_argument("--limit", type=int, help="texts at most")
    parser.add_argument("--failures", action="store_true", help="print what is not right")
    given = parser.parse_args()
    translator = lexbeam.load() if given.model == "embedded" else lexbeam.load(given.model)
    texts = read_texts(given.file, given.limit)
    for name, keep in (("without", []), ("with keep", ["placeholders", "markup"])):
        started = time.process_time()
        found = translator.translate(texts, keep=keep or None)
        seconds = time.process_time() - started
        right = 0
        for text, translation in zip(texts, found, strict=True):
            exact = Codes.of(translation.text) == Codes.of(text)
            right += exact
            if given.failures and keep and not exact:
                sys.stdout.write(f"{text}\n  {translation.text}\n")
        share = 100 * right / max(len(texts), 1)
        told = f"{right} of {len(texts)} right, {share:.1f} %, {seconds:.0f} s"
        sys.stdout.write(f"{name:>9}: {told}\n")


if __name__ == "__main__":
    main()
