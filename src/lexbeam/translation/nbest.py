"""The best combinations of what was found for the sentences of a text."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush


def best_choices(scores: Sequence[Sequence[float]], count: int) -> list[tuple[int, ...]]:
    """Return the indices of one score per list, for the best sums, the best sum first.

    Each list is sorted from the best score down.
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
