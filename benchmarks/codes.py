"""Do inline codes survive? ``python benchmarks/codes.py FILES… [--model DIR]``.

The open units of the files that have codes are translated as `lexbeam file` does it. A unit keeps
its codes if the placeholders and tags of its translation, found by expressions of their own here,
are those of its source, each as often. The ways are counted, too: a text whose codes survived the
free translation, one that was searched again with something demanded, and one that had to be
translated piece by piece between its codes.

``--show 20`` prints so many translations at random, to be read: are the words inside each tag the
right ones?
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import lexbeam
from lexbeam import files
from lexbeam.errors import LexbeamError
from lexbeam.files.engine import TranslatorEngine
from lexbeam.translation.marked_text import Code, MarkedText, fill_in, is_translatable, plain
from lexbeam.translation.markup import Answer, Request, translate_marked

CODE = re.compile(
    r"</?[A-Za-z0-9][^<>]*>|\{\{[^{}]*\}\}|\$\{[^{}]*\}|\{[^{}\s]*\}"
    r"|%\(\w+\)[a-z]|%(?:\d+\$)?[-+0]*\d*(?:\.\d+)?[sdiufgc@](?!\w)|%[1-9](?!\w)|\$[A-Z_]+\$|``[^`]+``"
)
WAYS = ("free", "demanded", "pieces")


class Counting:
    """An engine that notes how the text it is asked for is translated."""

    def __init__(self, engine: TranslatorEngine) -> None:
        self._engine = engine
        self.asked: Counter[str] = Counter()

    def __call__(self, requests: Sequence[Request]) -> list[Answer | LexbeamError]:
        """Translate, and count the kinds of requests."""
        for request in requests:
            kind = "free" if not request.constraints else "demanded"
            self.asked["pieces" if not request.whole and request.nbest == 1 else kind] += 1
        return self._engine(requests)


class Text(NamedTuple):
    """A text with codes, and what became of it."""

    source: MarkedText
    target: MarkedText | None
    way: str


def texts_with_codes(paths: Sequence[Path], languages: tuple[str, str]) -> Iterator[MarkedText]:
    """Yield the different texts of the open units that have codes."""
    seen = set()
    for path in paths:
        source, target = languages
        for unit in files.units(path, source_language=source, target_language=target):
            for marked in unit.sources if unit.is_open() else ():
                has_codes = any(isinstance(part, Code) for part in marked)
                if has_codes and is_translatable(marked) and plain(marked) not in seen:
                    seen.add(plain(marked))
                    yield marked


def translate(sources: Sequence[MarkedText], translator: lexbeam.Translator) -> Iterator[Text]:
    """Yield each text with its translation."""
    for source in sources:
        engine = Counting(TranslatorEngine(translator))
        (found,) = translate_marked([source], engine)
        way = max((way for way in WAYS if engine.asked[way]), key=WAYS.index, default="free")
        target = None if isinstance(found, LexbeamError) else fill_in(found, source)
        yield Text(source, target, way)


def keeps_codes(text: Text) -> bool:
    """Return whether a translation has the codes of its source, each as often."""
    if text.target is None:
        return False
    found = (Counter(CODE.findall(plain(each))) for each in (text.source, text.target))
    return next(found) == next(found)


def main() -> None:
    """Print how many units keep their codes, and how."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--model", help="Folder or pair; the embedded model if not given.")
    parser.add_argument("--limit", type=int, default=400, help="At most so many texts.")
    parser.add_argument("--show", type=int, default=0, help="Print so many at random.")
    options = parser.parse_args()
    translator = lexbeam.load(options.model)
    info = translator.info
    languages = (info["source_language"], info["target_language"])
    sources = list(texts_with_codes(options.files, languages))
    random.Random(1).shuffle(sources)
    began = time.process_time()
    texts = list(translate(sources[: options.limit], translator))
    seconds = time.process_time() - began
    kept = sum(map(keeps_codes, texts))
    ways = Counter(text.way for text in texts)
    print(
        f"{kept} of {len(texts)} texts keep every code ({kept / max(1, len(texts)):.1%}), "
        + ", ".join(f"{way} {ways[way]}" for way in WAYS)
        + f", {seconds:.1f} s"
    )
    for text in texts:
        if not keeps_codes(text):
            print("LOST", plain(text.source), "→", plain(text.target or ()))
    for text in texts[: options.show]:
        print(f"{text.way}\n  {plain(text.source)}\n  {plain(text.target or ())}")


if __name__ == "__main__":
    main()
