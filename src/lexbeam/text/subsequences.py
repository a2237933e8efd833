"""Where a sequence of tokens or words occurs inside another."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence


def find_subsequence(sequence: Sequence[Hashable], sought: Sequence[Hashable]) -> list[int]:
    """Return the indices at which a sequence holds another without gaps, from left to right."""
    wanted, width = tuple(sought), len(sought)
    last = len(sequence) - width
    return [i for i in range(last + 1) if tuple(sequence[i : i + width]) == wanted]


def outside_of(
    sequences: Iterable[tuple[int, ...]], wholes: Sequence[Sequence[int]]
) -> list[tuple[int, ...]]:
    """Return the sequences that are in none of the others.

    Each is looked for only where its first element is: there may be hundreds of both.
    """
    holding: dict[int, list[tuple[int, ...]]] = {}
    for whole in dict.fromkeys(map(tuple, wholes)):
        for element in dict.fromkeys(whole):
            holding.setdefault(element, []).append(whole)
    return [
        each
        for each in sequences
        if not any(find_subsequence(whole, each) for whole in holding.get(each[0], ()))
    ]
