"""The best combinations of what was found for the sentences of a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from lexbeam.translation.results import Alternative

FAR = 1.0
"""An alternative this much below the best, in mean log-probability per token, is not shown."""

_WORD = re.compile(r"\w+")
_MARK = re.compile(r"[^\w\s]")


def best_choices(scores: Sequence[Sequence[float]], count: int) -> list[tuple[int, ...]]:
    """Return the indices of one score per list, for the best sums.

    The first of each list is the one that was taken, for reasons that may be no part of its score:
    it keeps to something soft, say. So the first of all lists come first; behind them, the best
    sum comes first.
    """
    orders = [[0, *sorted(range(1, len(row)), key=lambda i: -row[i])] for row in scores]
    falling = [
        [min(row[i], row[0]) for i in order] for row, order in zip(scores, orders, strict=True)
    ]

    def total(choice: tuple[int, ...]) -> float:
        return sum(row[i] for row, i in zip(scores, choice, strict=True))

    first, *others = [
        tuple(order[place] for order, place in zip(orders, places, strict=True))
        for places in _best_of_falling(falling, count)
    ]
    return [first, *sorted(others, key=total, reverse=True)]


def _best_of_falling(scores: Sequence[Sequence[float]], count: int) -> list[tuple[int, ...]]:
    """Return the indices of one score per list, each sorted from the best down, for the best sums.

    The best sum comes first.
    """
    first = (0,) * len(scores)
    heap = [(-sum(row[0] for row in scores), first)]
    known = {first}
    best: list[tuple[int, ...]] = []
    while heap and len(best) < count:
        loss, choice = heappop(heap)
        best.append(choice)
        for part, row in enumerate(scores):
            worse = (*choice[:part], choice[part] + 1, *choice[part + 1 :])
            if worse[part] < len(row) and worse not in known:
                known.add(worse)
                heappush(heap, (loss + row[choice[part]] - row[worse[part]], worse))
    return best


def distinct(alternatives: Iterable[Alternative]) -> list[Alternative]:
    """Return alternatives, the best first, each text once."""
    first: dict[str, Alternative] = {}
    for each in alternatives:
        first.setdefault(each.text, each)
    return list(first.values())


def worth_showing(alternatives: Sequence[Alternative]) -> list[Alternative]:
    """Return alternatives, the best first, without those that nobody would choose.

    These are far behind the best one, or have its text, or have the words of a better one with a
    punctuation mark too many or too few: *Hallo..* beside *Hallo.*
    """
    shown: list[Alternative] = []
    marks_of: dict[tuple[str, ...], int] = {}
    for each in distinct(alternatives):
        words, marks = tuple(_WORD.findall(each.text)), len(_MARK.findall(each.text))
        is_near = each.score >= alternatives[0].score - FAR
        if is_near and marks_of.setdefault(words, marks) == marks:
            shown.append(each)
    return shown
