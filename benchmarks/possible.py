"""How many possible requests are refused: ``python benchmarks/possible.py MODEL SRC REF``.

Each request is drawn from a text that satisfies it: the reference of a line, that of another line,
or words in a row. So there is an output for all of them, and none should be refused. Many are
possible only if constraints share words: two orders may need a word that may stand there once.
MODEL is a path, or ``-`` for the model that comes along.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import lexbeam
from fuzz.text_checks import check_constraints
from fuzz.text_problems import TextProblem
from fuzz.text_truth import Span, exact_spans, stands, words_between
from mixed_requests import read_command_line, words_of

KINDS = ("text", "count", "exactly", "at_most", "order", "gap", "any", "any limited", "suffix")
MOST_WORDS, MOST_TIMES = 50, 100


class Witness:
    """A text, and what can be asked so that the text has it."""

    def __init__(self, chance: Random, text: str, others: list[str]) -> None:
        self._chance, self._text, self._others = chance, text, others
        found = (match.span() for match in re.finditer(r"\w+", text))
        self.words = [span for span in found if stands(text, span)]

    def constraints(self, number: int) -> list[Any]:
        """Draw different constraints, of some kinds, and an end of the text at most once."""
        chance, drawn = self._chance, dict[str, Any]()
        kinds = chance.sample(KINDS, chance.randint(1, len(KINDS)))
        for _ in range(number):
            kind = chance.choice(kinds)
            for shape in self._draw(kind):
                drawn.setdefault("suffix" if kind == "suffix" else repr(_asked(shape)), shape)
        return list(drawn.values())

    def avoided(self) -> list[str]:
        """Draw words that are not in the text."""
        drawn = self._chance.sample(self._others, self._chance.choice((0, 0, 1, 3, 8)))
        return [word for word in drawn if word.casefold() not in self._text.casefold()]

    def _draw(self, kind: str) -> Iterator[Any]:
        chance, form = self._chance, self._form(self._span())
        if kind in ("order", "gap"):
            yield from self._parts(kind)
        elif kind == "any":
            yield {"any": [form, *chance.sample(self._others, 2)], "case": "exact"}
        elif kind == "any limited":
            forms = list({self._form(self._span()) for _ in range(chance.randint(1, 3))})
            spans = sorted(span for each in forms for span in exact_spans(self._text, each))
            apart = all(one[1] <= other[0] for one, other in pairwise(spans))
            if apart and len(spans) <= MOST_TIMES:
                limit = chance.choice(("exactly", "at_most", "count"))
                yield {"any": sorted(forms), limit: len(spans), "case": "exact"}
        elif kind == "suffix":
            yield {"suffix": self._text[chance.choice(self.words)[0] :], "case": "exact"}
        else:
            times = len(list(exact_spans(self._text, form)))
            shape: dict[str, Any] = {"text": form, "case": "exact"}
            if times <= MOST_TIMES:
                yield shape if kind == "text" else {**shape, kind: times}

    def _parts(self, kind: str) -> Iterator[Any]:
        spans = sorted(self._span() for _ in range(self._chance.choice((2, 2, 3))))
        if any(one[1] > other[0] for one, other in pairwise(spans)):
            return
        shape: dict[str, Any] = {kind: [self._form(span) for span in spans], "case": "exact"}
        if kind == "gap":
            between = [words_between(self._text, a[1], b[0]) for a, b in pairwise(spans)]
            shape["within"] = max(between)
            if max(between) > MOST_WORDS or re.search(r"[.!?]", self._text[slice(*_hull(spans))]):
                return
        yield shape

    def _span(self) -> Span:
        first = self._chance.randrange(len(self.words))
        last = min(first + self._chance.choice((0, 0, 0, 1, 2)), len(self.words) - 1)
        return self.words[first][0], self.words[last][1]

    def _form(self, span: Span) -> str:
        return self._text[slice(*span)]


def _hull(spans: list[Span]) -> Span:
    return spans[0][0], spans[-1][1]


def _asked(shape: dict[str, Any]) -> Any:
    """Return what tells demands apart: equal ones would have to be there several times."""
    asked = shape.get("text") or shape.get("any") or shape.get("order") or shape.get("gap")
    return [asked] if isinstance(asked, str) else asked


def draw(
    chance: Random,
    source: list[str],
    reference: list[str],
    words: list[str],
    constraints: int | None = None,
) -> Any:
    """Return a text, constraints that some text has, and what that text has not."""
    line = chance.randrange(len(source))
    text, how = reference[line], chance.random()
    if how < 0.1:
        text = chance.choice(reference)
    elif how < 0.5:
        few = chance.sample(words, chance.choice((3, 5, 20)))
        text = " ".join(chance.choice(few) + chance.choice("  ,:") for _ in range(30))
    witness = Witness(chance, " ".join(text.split()), words)
    if len(witness.words) < 3:
        return None
    number = constraints or chance.choice((1, 2, 3, 5, 8))
    return source[line], witness.constraints(number), witness.avoided()


def fault(translator: lexbeam.Translator, text: str, asked: list[Any], avoid: list[str]) -> str:
    """Return what is wrong with the answer; nothing if all is there."""
    try:
        result = translator.translate(text, asked, avoid, split=False)
    except lexbeam.LexbeamError as error:
        return f"refused: {error}"
    problem = TextProblem("", text, tuple(asked), tuple(avoid))
    wrong = [f"{each.promise}: {each.says}" for each in check_constraints(problem, result)]
    wrong += [f"avoided: {word}" for word in avoid if list(exact_spans(result.text, word))]
    return "; ".join(wrong)


def main() -> None:
    """Print what is refused or missing, and how many requests that are."""
    options, translator, source, reference = read_command_line(__doc__)
    words = words_of(reference)
    end, number, asked, wrong = time.monotonic() + options.seconds, 0, 0, 0
    while time.monotonic() < end:
        chance = Random(f"{options.seed} {number}")
        drawn = draw(chance, source, reference, words, options.constraints)
        number += 1
        if drawn is None or not drawn[1]:
            continue
        asked += 1
        said = fault(translator, *drawn)
        if said:
            wrong += 1
            print(f"number {number - 1}: {said[:150]}\n    {drawn[0]!r}, {drawn[1]}, {drawn[2]}")
    print(f"{asked} possible requests, {wrong} refused or not met")


if __name__ == "__main__":
    main()
