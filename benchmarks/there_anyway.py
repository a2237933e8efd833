"""Do words that are there anyway spoil a translation? ``python benchmarks/there_anyway.py TEXT``.

Words of free translations are demanded, some at a time. Printed is how many outputs have another
text than the free translation, and how many are less probable, by how much a token.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from pathlib import Path

import lexbeam

STEPS = (0.01, 0.05, 0.1, 0.3)


def main() -> None:
    """Translate freely, then with words of what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", type=Path, help="English sentences, one a line")
    parser.add_argument("--model", type=Path, help="a folder; the embedded model if left out")
    parser.add_argument("--sentences", type=int, default=400)
    parser.add_argument("--times", type=int, default=4, help="that words of a sentence are drawn")
    parser.add_argument("--words", type=int, default=1, help="that are demanded together")
    given = parser.parse_args()
    translator = lexbeam.load(given.model)
    lines = [line for line in given.text.read_text(encoding="utf-8").splitlines() if line.strip()]
    random.Random(5).shuffle(lines)
    lines = lines[: given.sentences]
    free = translator.translate(lines)
    asked: list[tuple[int, list[str]]] = []
    for number, translation in enumerate(free):
        words, chance = sorted(set(re.findall(r"\w+", translation.text))), random.Random(number)
        if len(words) >= given.words:
            asked += [(number, chance.sample(words, given.words)) for _ in range(given.times)]
    began = time.process_time()
    found = translator.translate([lines[i] for i, _ in asked], [words for _, words in asked])
    seconds = time.process_time() - began
    pairs = [(each, free[i]) for each, (i, _) in zip(found, asked, strict=True)]
    other = sum(one.text != two.text for one, two in pairs)
    print(f"{len(pairs)} requests, {other} with another text, {seconds:.1f} s of the processor")
    for step in STEPS:
        worse = sum(one.score < two.score - step for one, two in pairs)
        print(f"less probable by more than {step} a token: {worse}")


if __name__ == "__main__":
    main()
