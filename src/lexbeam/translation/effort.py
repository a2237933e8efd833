"""How much has been searched for a text, and whether more is worth its time.

A first search is always made, and so is whatever a caller's demands need. Searches for the sake of
a better translation are made only while all together stay well below twenty times what a free
translation of the same text takes.

The unit is a step of a free search. What steps of other searches count was measured on two models;
nothing here looks at a clock, so that the same request is always answered in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from lexbeam.errors import LexbeamError
from lexbeam.search.automaton.patterns import Pattern
from lexbeam.search.beam import Hypothesis
from lexbeam.translation.jobs import Job, JobGenerator, Result
from lexbeam.translation.sentence import SentenceState

_TIMES = 14
"""So many times what a free translation takes may be spent before a search for the sake of a better
translation is left out."""

_OF_FEW = 20
"""So many times where a caller demands next to nothing: such searches take little, and better
much."""

FEW = 3
"""Demands of a caller that are next to nothing, at most; what the source demands is not counted."""

_OF_DEMAND = 2.5
"""What it takes to read something that is demanded, and to find the ways to write it."""

_STEPS = 1.1
"""Steps of a free translation for each token of its source."""

_BESIDE = 3.0
"""What a search takes besides its steps: as long as so many steps."""

_LEAST = 8
"""Shorter sentences are taken to have so many tokens."""

_PLAIN = 1.3
"""What a step counts of a search with phrases of one part."""

_OF_PATTERNS = 1.8
"""What one counts of a search with patterns of several parts or limits."""

_TIED = 2.4
"""What one counts of a search with ties, whose beam is wider where they are due."""

_OF_EACH = 0.07
"""What one counts besides for each phrase; a tie or a limit counts as two more."""

_THOROUGH = 1.5
"""How many times as much one counts of a thorough search."""

_OF_STATE = 1 / 20
"""What each state that is worked out for a search counts once, beyond a few."""

_FEW_STATES = 48
"""So many are worked out in the time that `_BESIDE` has for it."""

_OF_FORM = 1 / 6
"""What each form of what is demanded counts at least, beyond a few: it has to be compiled."""

_FEW_FORMS = 16
"""So many are compiled in that time."""

_OF_STEP = 0.3
"""The share of a step that does not depend on the width of the beam."""

_MUCH = 16.0
"""More than a step of an ordinary search counts, hundreds of forms shared out among its steps."""

_OF_DRAFT = 0.7
"""What a token of the source counts of a draft alone."""

Asked = TypeVar("Asked")


class Effort:
    """Counts what the searches of a text have taken, in steps of a free search."""

    def __init__(self, free: float, beam_size: int, demands: int = 0) -> None:
        """Compare with a free translation of so many steps, of a beam of the usual size."""
        self._free = free
        self._beam_size = beam_size
        self._most = (_OF_FEW if demands <= FEW else _TIMES) * free
        self.written = _OF_DEMAND * demands
        """The steps that were taken so far, as far as they count."""
        self.reserved = 0.0
        """What searches will count that are sure to be made."""

    @classmethod
    def of(cls, sentences: Sequence[SentenceState], beam_size: int, demands: int) -> Effort:
        """Compare with a free translation of some sentences, of which so much is demanded."""
        tokens = (max(len(each.source), _LEAST) for each in sentences)
        return cls(sum(_STEPS * each + _BESIDE for each in tokens), beam_size, demands)

    @property
    def left(self) -> float:
        """What may still be spent on a better translation."""
        return self._most - self.written - self.reserved

    @property
    def left_in_free(self) -> float:
        """The same in times what a free translation takes."""
        return self.left / self._free

    def allows_another(self, make_job: Callable[[], Job], like: Hypothesis) -> bool:
        """Return whether a search that takes as long as the one that found a hypothesis may be.

        Mostly it may be, whatever it asks for; then its job is not made.
        """
        left = self.left
        surely = _MUCH * steps_of([like]) + _OF_STATE * like.prepared
        return surely <= left or self.cost(make_job(), [like]) <= left

    def affordable(self, asked: Iterable[tuple[Asked, float]]) -> list[Asked]:
        """Return what may be done of several things, given what each counts: the first ones."""
        left, found = self.left, []
        for each, cost in asked:
            if cost <= left:
                found.append(each)
                left -= cost
        return found

    def cost(self, job: Job, like: Sequence[Hypothesis]) -> float:
        """Return what a search counts that takes as many steps as another one."""
        compiled = max(_OF_FORM * _many_forms(job), _OF_STATE * _many_states(like))
        return self.weight(job) * steps_of(like) + _BESIDE + (compiled if job.phrases else 0.0)

    def weight(self, job: Job) -> float:
        """Return what a step of a search counts."""
        wider = job.settings.beam_size / self._beam_size
        width = _OF_STEP + (1 - _OF_STEP) * wider
        return width * _of_phrases(job) * (_THOROUGH if job.thorough else 1.0)

    def count(self, jobs: Sequence[Job], found: Sequence[Sequence[Hypothesis]]) -> None:
        """Count what was found for some jobs."""
        for job, hypotheses in zip(jobs, found, strict=True):
            if hypotheses:
                self.written += self.cost(job, hypotheses)
            elif job.displacement is not None:  # A draft has everything: nothing was searched.
                self.written += _OF_DRAFT * len(job.source) + _BESIDE
            else:
                self.written += self.weight(job) * job.max_length

    def count_refused(self, jobs: Sequence[Job]) -> None:
        """Count jobs that were refused, as if the first of them had run to its limit."""
        self.written += max((self.weight(job) * job.max_length for job in jobs), default=0.0)


def weight_to_place(demands: float) -> float:
    """Return what a step counts of a search that has so many demands to place."""
    return _OF_PATTERNS + _OF_EACH * demands


def _of_phrases(job: Job) -> float:
    """Return what a step counts on account of what is demanded."""
    if not job.phrases:
        return 1.0
    patterns = [each for each in job.phrases if isinstance(each, Pattern)]
    limits = sum(each.exact for each in patterns)
    is_plain = not limits and all(len(each.parts) == 1 for each in patterns)
    kind = _TIED if job.ties else _PLAIN if is_plain else _OF_PATTERNS
    return kind + _OF_EACH * (len(job.phrases) + 2 * (len(job.ties) + limits))


def _many_forms(job: Job) -> int:
    """Return how many forms a search has to know beyond a few."""
    patterns = (each for each in job.phrases if isinstance(each, Pattern))
    return max(sum(len(part) for each in patterns for part in each.parts) - _FEW_FORMS, 0)


def _many_states(like: Sequence[Hypothesis]) -> int:
    """Return how many states were worked out for a search beyond a few."""
    return max(max(each.prepared for each in like) - _FEW_STATES, 0)


def steps_of(found: Sequence[Hypothesis]) -> int:
    """Return how many steps a search has taken; what it found is shorter."""
    return max(max(each.steps, len(each.tokens)) + each.lost_steps for each in found)


def counted(effort: Effort, generator: JobGenerator[Result]) -> JobGenerator[Result]:
    """Yield what a generator yields, and count what is found, or refused."""
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
            effort.count_refused(jobs)
            resumed = generator.throw, error
        else:
            effort.count(jobs, found)
            resumed = generator.send, found
