"""Searches of many texts, run together: sorted by length, cut into batches.

A text may need several rounds (a first look, then the constraints placed). Each text is a
generator that yields the jobs it wants run and is sent their hypotheses, so that its logic reads
top-down while the jobs of all texts share their batches.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from lexbeam.errors import InputError, LexbeamError, Subject
from lexbeam.search.aliases import AliasScorer
from lexbeam.search.arrays import BoolArray, Tokens
from lexbeam.search.automaton.patterns import Pattern
from lexbeam.search.beam import Hypothesis
from lexbeam.search.beam_search import decode
from lexbeam.search.candidates import ObservedStep
from lexbeam.search.drafting import FindDisplaced
from lexbeam.search.scorer import Scorer
from lexbeam.search.settings import Settings
from lexbeam.text.literals import Aliases

Hypotheses = list[Hypothesis]
"""What was found for one job, best first; nothing where the search found no way."""

Result = TypeVar("Result")
JobGenerator = Generator[list["Job"], list[Hypotheses], Result]
"""Yields jobs, is sent their hypotheses, and returns its result in the end."""

Found = list[Hypotheses | LexbeamError]
"""What became of each of several jobs: its hypotheses, or why it was refused."""


def _shown(subject: Subject) -> str:
    return subject.shown


@dataclass(frozen=True)
class Job:
    """One search: a source sentence and what its output has to keep to, all as tokens."""

    source: Tokens
    phrases: tuple[Tokens | Pattern, ...] = ()
    avoid: tuple[Tokens, ...] = ()
    prefix: Tokens = ()
    whole_prefix: bool = False
    max_length: int = 60
    settings: Settings = field(default_factory=Settings)
    ties: Mapping[int, Tokens] = field(default_factory=dict, hash=False)
    """The source tokens that phrases translate, by the index of the phrase."""
    displacement: Displacement | None = None
    """Says which words of a draft the ties displace; None: none."""
    thorough: bool = False
    """Whether to look further around the places where ties are due."""
    insists: bool = True
    """Whether a sentence of which nothing is found is searched in another way."""
    cut: bool = False
    """Whether an output stops at ``max_length`` as it is."""
    align: bool = False
    """Whether hypotheses are to say what they attend to."""
    aliases: Aliases = field(default_factory=Aliases)
    """Tokens of its own, beyond the vocabulary."""
    name: Callable[[Subject], str] = field(default=_shown, compare=False, repr=False)
    """Says in the user's words what an error of the search speaks of."""


class Displacement(Protocol):
    """Says what tied constraints displace; equal ones say the same of equal jobs."""

    def find(self, draft: Hypothesis) -> Sequence[Tokens] | None:
        """Return the tokens of the words that a draft has in place of tied constraints.

        None: the draft has all that is wanted, so that a free translation may do.
        """
        ...

    def __hash__(self) -> int: ...


class SearchObserver(Protocol):
    """Somebody who wants to see searches as they go (see `lexbeam.translation.tracing`)."""

    def begin(
        self, jobs: Sequence[Job], settings: Settings, scorer: Scorer
    ) -> Callable[[ObservedStep], object]:
        """Return what is to be called with the steps of a batch."""
        ...

    def end(self, found: Sequence[Hypotheses]) -> None:
        """Take note of what the batch that was begun last has found."""
        ...


class BatchDecoder:
    """A scorer together with the word boundaries of its target vocabulary.

    ``threads`` batches are searched side by side: a search spends most of its time in the model,
    which several threads can run at once.
    With ``sets_aside``, searches without constraints that are to stop when nothing is ``likely``
    to be better end as `lexbeam.models.model.Model` says.
    """

    def __init__(
        self,
        scorer: Scorer,
        boundary: BoolArray,
        closing: BoolArray,
        starting: BoolArray,
        joining: NDArray[np.uint8],
        marking: BoolArray,
        silent: BoolArray,
        threads: int = 1,
        sets_aside: bool = False,
    ) -> None:
        self._threads = threads
        self._sets_aside = sets_aside
        self._scorer = scorer
        self._boundary = boundary
        self._closing = closing
        self._starting = starting
        self._joining = joining
        self._marking = marking
        self._silent = silent
        self._observer: SearchObserver | None = None

    @property
    def vocabulary_size(self) -> int:
        """Number of tokens that the model knows."""
        return self._scorer.vocabulary_size

    def watched_by(self, observer: SearchObserver) -> BatchDecoder:
        """Return the same decoder, with somebody who watches what it does."""
        watched = copy(self)
        watched._observer = observer
        return watched

    def run(self, jobs: Sequence[Job], batch_size: int) -> Found:
        """Search for all jobs; return what became of each, in the order of the jobs.

        Jobs of equal settings and like length go together, so that no row of a batch waits long
        for others. So do those that have the same tokens of their own.
        """
        groups: dict[tuple[Settings, Aliases, tuple[bool, ...]], list[int]] = {}
        for i in sorted(range(len(jobs)), key=lambda i: len(jobs[i].source)):
            job = jobs[i]
            flags = job.thorough, job.insists, job.cut, self._is_aside(job)
            groups.setdefault((job.settings, job.aliases, flags), []).append(i)
        found: Found = [[] for _ in jobs]
        batches = [
            batch
            for indices in groups.values()
            for batch in _cut_into_batches(indices, batch_size, self._threads)
        ]
        results = self._run_batches([[jobs[i] for i in batch] for batch in batches])
        for batch, result in zip(batches, results, strict=True):
            for i, each in zip(batch, result, strict=True):
                found[i] = each
        return found

    def _run_batches(self, batches: Sequence[list[Job]]) -> list[Found]:
        """Search for several batches, as many at a time as there are threads."""
        if self._threads == 1 or len(batches) < 2 or self._observer is not None:
            return [self._run_batch(batch) for batch in batches]
        executor = ThreadPoolExecutor(self._threads, "search")
        try:
            # The last are the longest; they begin first, so that no thread is left alone with one.
            running = [executor.submit(self._run_batch, batch) for batch in reversed(batches)]
            return [future.result() for future in reversed(running)]
        finally:
            executor.shutdown(cancel_futures=True)

    def _run_batch(self, jobs: list[Job]) -> Found:
        """Search for jobs of equal settings; one that is refused is taken out of the batch.

        The search mostly refuses before it begins, so that this costs the others next to nothing.
        Where an error does not say which job is at fault, the batch is halved to find out.
        """
        found: Found = [[] for _ in jobs]
        left = list(range(len(jobs)))
        while left:
            try:
                results: Sequence[Hypotheses | LexbeamError] = self._decode([jobs[i] for i in left])
            except LexbeamError as error:
                at_fault = error.sentence if isinstance(error, InputError) else None
                if at_fault is not None or len(left) == 1:
                    refused = left.pop(at_fault or 0)
                    found[refused] = _renamed(error, jobs[refused])
                    continue
                half = len(left) // 2
                results = [
                    each
                    for some in (left[:half], left[half:])
                    for each in self._run_batch([jobs[i] for i in some])
                ]
            for i, each in zip(left, results, strict=True):
                found[i] = each
            break
        return found

    def _is_aside(self, job: Job) -> bool:
        """Return whether what has finished leaves its slot."""
        return self._sets_aside and not job.phrases and job.settings.stop == "likely"

    def _decode(self, jobs: Sequence[Job]) -> list[Hypotheses]:
        settings, aliases = jobs[0].settings, jobs[0].aliases
        nbest, aside = settings.nbest, self._is_aside(jobs[0])
        if aside:
            as_many = max(nbest, settings.beam_size)
            settings = replace(settings, stop="full", nbest=as_many, prune=None, lag=None)
        observer = self._observer
        scorer: Scorer = AliasScorer(self._scorer, aliases.tokens) if aliases else self._scorer
        hypotheses = decode(
            scorer,
            [job.source for job in jobs],
            [list(job.phrases) for job in jobs],
            [list(job.avoid) for job in jobs],
            prefix=[job.prefix for job in jobs] if any(job.prefix for job in jobs) else None,
            whole_prefix=[job.whole_prefix for job in jobs],
            max_length=[job.max_length for job in jobs],
            boundary=_extended(self._boundary, aliases.boundary),
            closing=_extended(self._closing, aliases.closing),
            starting=_extended(self._starting, aliases.starting),
            joining=_extended(self._joining, [0] * len(aliases.tokens)),
            marking=_extended(self._marking, [0] * len(aliases.tokens)),
            silent=_extended(self._silent, [0] * len(aliases.tokens)),
            observer=observer.begin(jobs, settings, scorer) if observer else None,
            ties=[job.ties for job in jobs] if any(job.ties for job in jobs) else None,
            find_displaced=_find_displaced(jobs),
            thorough=jobs[0].thorough,
            insists=jobs[0].insists,
            cut=jobs[0].cut,
            align=observer is not None or any(job.align for job in jobs),
            aside=aside,
            settings=settings,
        )
        hypotheses = [found[:nbest] for found in hypotheses]
        if observer is not None:
            observer.end(hypotheses)
        return hypotheses


def _find_displaced(jobs: Sequence[Job]) -> FindDisplaced | None:
    """Return what says which words of the drafts of a batch are displaced."""
    if all(job.displacement is None for job in jobs):
        return None

    def find(sentence: int, draft: Hypothesis) -> Sequence[Tokens] | None:
        displacement = jobs[sentence].displacement
        return () if displacement is None else displacement.find(draft)

    return find


def _extended(mask: NDArray[Any], more: Sequence[int]) -> NDArray[Any]:
    """Return a mask with the marks of tokens beyond the vocabulary."""
    return np.concatenate((mask, np.array(more, mask.dtype))) if more else mask


def _renamed(error: LexbeamError, job: Job) -> LexbeamError:
    """Return an error about a job as one in the words of its user."""
    return error.renamed(job.name, None) if isinstance(error, InputError) else error


def _cut_into_batches(jobs: Sequence[int], most: int, threads: int) -> list[Sequence[int]]:
    """Cut a list of jobs, the shortest first, into batches of at most so many.

    The shortest are searched last. With several threads their batches are smaller, so that one
    that is done does not wait long for the others.
    """
    size, start = min(most, -(-len(jobs) // threads)), 0
    batches: list[Sequence[int]] = []
    while start < len(jobs):
        is_last = threads > 1 and len(batches) < 2 * threads and len(jobs) > 2 * threads * most
        end = start + (-(-size // 2) if is_last else size)
        batches.append(jobs[start:end])
        start = end
    return batches


def run_together(
    generators: Sequence[JobGenerator[Result]], run: Callable[[list[Job]], Found]
) -> list[Result | LexbeamError]:
    """Run many generators at once, the jobs of each round together.

    Returns the result of each, or the error that ended it. What the search refuses is thrown into
    the generator that asked for it; the others go on.
    """
    results: dict[int, Result | LexbeamError] = {}
    asked: dict[int, list[Job]] = {}

    def resume(index: int, resumed: Callable[[], list[Job]]) -> None:
        try:
            asked[index] = resumed()
        except StopIteration as end:
            results[index] = end.value
        except LexbeamError as error:
            results[index] = error

    for index, generator in enumerate(generators):
        resume(index, partial(next, generator))
    while asked:
        round_, asked = asked, {}
        found = iter(run([job for jobs in round_.values() for job in jobs]))
        for index, jobs in round_.items():
            resume(index, answer(generators[index], [next(found) for _ in jobs]))
    return [results[index] for index in range(len(generators))]


def answer(generator: JobGenerator[Any], found: Found) -> Callable[[], list[Job]]:
    """Return what hands a generator its hypotheses, or the first refusal among them."""
    hypotheses: list[Hypotheses] = []
    for each in found:
        if isinstance(each, LexbeamError):
            return partial(generator.throw, each)
        hypotheses.append(each)
    return partial(generator.send, hypotheses)
