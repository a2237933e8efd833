"""How much has been searched for a text, and whether more is worth its time.

A first search is always made, and so is whatever a caller's demands need. Searches for the sake of
a better translation are made as long as they do not take many times as long as a free translation
of so much text would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lexbeam.errors import LexbeamError
from lexbeam.search.automaton.patterns import Pattern
from lexbeam.search.beam import Hypothesis
from lexbeam.translation.jobs import Job, JobGenerator, Result
from lexbeam.translation.sentence import SentenceState
from lexbeam.translation.spelled import SpelledConstraint

_TIMES = 10
"""So many times the tokens that a text is expected to have may be written with phrases that have
to be there. Such a token takes two to three times as long as one of a free translation."""

_OF_PATTERNS = 2.0
"""What a token counts of a search with ties, patterns of several parts or limits."""

_LEAST = 12
"""Shorter texts are taken to have so many tokens: every search has something to do before."""

_OF_FREE = 0.4
"""What a token counts that is written without constraints."""


class Effort:
    """Counts what the searches of a text have written."""

    def __init__(self, expected: int) -> None:
        """Expect so many tokens: those of the source, and all that is demanded."""
        self._expected = max(expected, _LEAST)
        self.written = 0.0
        """The tokens that were written so far, as far as they count."""

    @classmethod
    def of(cls, demands: Sequence[SpelledConstraint], sentences: Sequence[SentenceState]) -> Effort:
        """Expect the tokens of the source, and of all that its translation has to say."""
        demanded = sum(demand.shortest * demand.asked.count for demand in demands)
        return cls(demanded + sum(len(each.source) + each.prefix.longest for each in sentences))

    def allows_another(self, make_job: Callable[[], Job], like: Hypothesis) -> bool:
        """Return whether a search that takes as long as the one that found a hypothesis may be.

        Mostly it may be, whatever it asks for; then its job is not made.
        """
        left = _TIMES * self._expected - self.written
        tokens = _tokens_written([like])
        return _OF_PATTERNS * tokens <= left or _weight(make_job()) * tokens <= left

    def count(self, jobs: Sequence[Job], found: Sequence[Sequence[Hypothesis]]) -> None:
        """Count what was found for some jobs."""
        for job, hypotheses in zip(jobs, found, strict=True):
            if hypotheses:
                self.written += _weight(job) * _tokens_written(hypotheses)
            elif job.displacement is not None:  # A draft has everything: nothing was searched.
                self.written += _OF_FREE * len(job.source)
            else:
                self.written += _weight(job) * job.max_length


def _weight(job: Job) -> float:
    """Return what a token counts that a search writes."""
    if not job.phrases:
        return _OF_FREE
    patterns = [each for each in job.phrases if isinstance(each, Pattern)]
    is_plain = not job.ties and all(len(p.parts) == 1 and not p.exact for p in patterns)
    return 1.0 if is_plain else _OF_PATTERNS


def _tokens_written(found: Sequence[Hypothesis]) -> int:
    """Return how many tokens a search has written after each other; what it found is shorter."""
    return max(max(each.steps, len(each.tokens)) for each in found)


def counted(effort: Effort, generator: JobGenerator[Result]) -> JobGenerator[Result]:
    """Yield what a generator yields, and count what is found."""
    resumed: Any = generator.send, None
    while True:
        resume, value = resumed
        try:
            jobs = resume(value)
        except StopIteration as end:
            result: Result = end.value
            return result
        try:
            found = yield jobs
        except LexbeamError as error:
            resumed = generator.throw, error
        else:
            effort.count(jobs, found)
            resumed = generator.send, found
