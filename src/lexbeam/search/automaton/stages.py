"""The parts of a pattern as stages: what each counts for, what is lost if it comes too late.

And which of them can share tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.automaton.whole_words import LONG, SHORT, WordBoundaries


@dataclass(frozen=True)
class Stage:
    """One part of a pattern whose tokens are counted from the bits, not when it is met."""

    reached: int
    """Bits of which one is set when the stage, or a later one, has been reached."""
    enabled: int
    """Bits of which one must be set before the stage can be reached; none: it always can be."""
    wanted: int
    """The bit that stands for the stage."""
    size: int
    """Its constraint tokens."""
    safe: int = 0
    """Bits of which one is set when the stage can't be lost any more by what follows."""
    before: int = 0
    """Constraint tokens of the stages before it that are lost if it is not reached in time."""
    in_time: int = 0
    """Bits of which one must be set for it to begin now, if there is a limit; else none."""
    hard: bool = True
    """Whether it can't be given up."""
    at_end: bool = False
    """Whether it is reached for good only if the output ends with its pattern."""


def find_what_is_lost(
    pattern: Pattern, number: int, parts: Sequence[tuple[Form, ...]], ends: Sequence[int]
) -> Stage:
    """Return a stage that knows what is lost if the output goes on with something else.

    Where there is a limit, all parts of a copy are lost; of a pattern at the end of the output,
    the last part is, with those that have to stand near it.
    """
    inner = len(pattern.parts)
    start, stop = number, number + 1
    if pattern.within is not None:
        start = number - number % inner
        stop = start + inner
    return Stage(
        reached=0,
        enabled=0,
        wanted=0,
        size=shortest(parts[number]),
        safe=sum(ends[at] for at in range(stop - 1, len(ends)) if _is_safe(pattern, at, ends)),
        before=sum(shortest(parts[at]) for at in range(start, number)),
        hard=pattern.penalty is None,
        at_end=pattern.last and stop == len(ends),
    )


def _is_safe(pattern: Pattern, number: int, ends: Sequence[int]) -> bool:
    """Return whether nothing that follows can undo the end of a part."""
    if number + 1 == len(ends):
        return not pattern.last
    return pattern.within is None or (number + 1) % len(pattern.parts) == 0


def shortest(part: Sequence[Form]) -> int:
    """Return the tokens of the shortest form, of those that may stand anywhere if there are any.

    A shorter one that counts only at the beginning is no help to an output that has begun.
    """
    anywhere = [form for form in part if form.is_anywhere]
    return min(len(form.tokens) for form in anywhere or part)


def counts_as_phrase(pattern: Pattern) -> bool:
    """Return whether occurrences of a pattern can't share tokens, so that it counts as a phrase.

    Its copies then need no stages of their own.
    """
    if not replace(pattern, may_overlap=True).is_phrase:
        return False
    forms = [form.tokens for form in pattern.parts[0]]
    return not any(_may_be_shared(one, other) for one in forms for other in forms)


def _may_be_shared(before: Tokens, after: Tokens) -> bool:
    """Return whether ``after`` can end behind ``before`` and share tokens with it."""
    most = min(len(before), len(after) - 1)
    if any(before[-shared:] == after[:shared] for shared in range(1, most + 1)):
        return True
    return any(after[i : i + len(before)] == before for i in range(len(after) - len(before)))


def late(form: Form) -> int:
    """Return how many tokens behind a form may show that it is a part of a compound."""
    return 2 * form.goes_on


def may_share(before: Sequence[Form], after: Sequence[Form], words: WordBoundaries | None) -> bool:
    """Return whether a part can share tokens with the one before it.

    What shows that the word of a part goes on is its own.
    """
    forms = (*before, *after)
    if words is not None and any(form.goes_on for form in forms):
        joining = words.joining[[token for form in forms for token in form.tokens]]
        if (joining & (SHORT | LONG)).any():
            return True
    return any(_may_overlap(one.tokens, other.tokens) for one in before for other in after)


def _may_overlap(before: Tokens, after: Tokens) -> bool:
    """Return whether ``after`` can end with or after ``before`` and share tokens with it."""
    for shared in range(1, len(after) + 1):
        beginning = after[:shared]
        if shared <= len(before):
            if before[-shared:] == beginning:
                return True
        elif beginning[-len(before) :] == before:
            return True
    return False
