"""Search requests of many texts, run together: sorted by length, cut into batches.

A text may need several rounds (a first look, then the constraints placed). Each text is a
conversation, a generator that yields the jobs it wants run and is sent their hypotheses, so
that its logic reads top-down while the jobs of all texts share their batches.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from lexbeam.errors import InputError
from lexbeam.search import settings
from lexbeam.search.arrays import BoolArray, Tokens
from lexbeam.search.automaton.patterns import Pattern
from lexbeam.search.beam import Hypothesis
from lexbeam.search.beam_search import decode
from lexbeam.search.candidates import ObservedStep
from lexbeam.search.scorer import Scorer
from lexbeam.search.settings import Settings

Answer = list[Hypothesis]
Result = TypeVar("Result")
Conversation = Generator[list["Job"], list[Answer], Result]

DRAFT_BEAM = 2
"""Beam of a draft: enough to compare the places a phrase could go to."""


@dataclass(frozen=True)
class Job:
    """One search: a source sentence and what its output has to keep to, all as tokens."""

    source: Tokens
    phrases: tuple[Tokens | Pattern, ...] = ()
    avoid: tuple[Tokens, ...] = ()
    prefix: Tokens = ()
    whole_prefix: bool = False
    max_length: int = 60
    draft: bool = False


@dataclass(frozen=True)
class TextSettings(Settings):
    """How to search, and how to cut texts up for it; the same for all texts of a call.

    The default ``algorithm`` here is ``lookahead``, which finds better outputs than the paper's
    with the same beam (docs/findings.md).
    A ``lag`` of 3 is the default here: half of the hypotheses need not be priced then, for next
    to no loss of BLEU. A sentence is done when nothing is ``likely`` to be better.
    ``max_length`` limits the tokens of a sentence's translation; None leaves room according to
    the source and the constraints. ``split`` cuts texts into sentences; without it a text is
    cut only at line breaks and where it is too long for the model. ``prices`` asks what each
    constraint costs, at the cost of one more search for each.
    """

    algorithm: str = "lookahead"
    lag: float | None = 3.0
    stop: str = "likely"
    max_length: int | None = settings.count(None, "Most tokens in a translated sentence.")
    batch_size: int = settings.count(32, "Sentences searched together.")
    split: bool = settings.flag(True, "Cut texts into sentences, or take each as one.")
    prices: bool = settings.flag(False, "Say what each constraint costs, in log-probability.")


class SettingsArguments(settings.SettingsArguments, total=False):
    """The fields of `TextSettings` as keyword arguments."""

    max_length: int | None
    batch_size: int
    split: bool
    prices: bool


class Watcher(Protocol):
    """Somebody who wants to see searches as they go (see `lexbeam.translation.tracing`)."""

    def begin(
        self, jobs: Sequence[Job], settings: TextSettings, scorer: Scorer
    ) -> Callable[[ObservedStep], object]:
        """Return who is to be shown the steps of a batch."""
        ...

    def end(self, answers: Sequence[Answer]) -> None:
        """Take note of what the batch that was begun last has found."""
        ...


class BatchDecoder:
    """A scorer together with the word boundaries of its target vocabulary."""

    def __init__(
        self, scorer: Scorer, boundary: BoolArray, closing: BoolArray, starting: BoolArray
    ) -> None:
        self._scorer = scorer
        self._boundary = boundary
        self._closing = closing
        self._starting = starting
        self._watcher: Watcher | None = None

    def watched_by(self, watcher: Watcher) -> BatchDecoder:
        """Return the same decoder, with somebody who watches what it does."""
        watched = copy(self)
        watched._watcher = watcher
        return watched

    def run(self, jobs: Sequence[Job], settings: TextSettings) -> list[Answer]:
        """Search for all jobs; return their hypotheses, best first, in the order of the jobs.

        Sentences of like length go together, so that no row of a batch waits long for others.
        """
        answers: list[Answer] = [[] for _ in jobs]
        order = sorted(range(len(jobs)), key=lambda i: (jobs[i].draft, len(jobs[i].source)))
        for draft in (False, True):
            indices = [i for i in order if jobs[i].draft == draft]
            for start in range(0, len(indices), settings.batch_size):
                batch = indices[start : start + settings.batch_size]
                for i, answer in zip(batch, self._decode(jobs, batch, settings), strict=True):
                    answers[i] = answer
        return answers

    def _decode(
        self, jobs: Sequence[Job], batch: list[int], settings: TextSettings
    ) -> list[Answer]:
        if jobs[batch[0]].draft:
            beam_size = min(settings.beam_size, DRAFT_BEAM)
            settings = replace(settings, beam_size=beam_size, nbest=1, stop="first")
        chosen = [jobs[i] for i in batch]
        watcher = self._watcher
        observer = watcher.begin(chosen, settings, self._scorer) if watcher else None
        answers = decode(
            self._scorer,
            [job.source for job in chosen],
            [list(job.phrases) for job in chosen],
            [list(job.avoid) for job in chosen],
            prefix=[job.prefix for job in chosen] if any(job.prefix for job in chosen) else None,
            whole_prefix=[job.whole_prefix for job in chosen],
            max_length=[job.max_length for job in chosen],
            boundary=self._boundary,
            closing=self._closing,
            starting=self._starting,
            observer=observer,
            settings=settings,
        )
        if watcher is not None:
            watcher.end(answers)
        return answers


class Refusal(Exception):  # noqa: N818  (it never leaves the package)
    """The search refused what one of several texts asks for."""

    def __init__(self, index: int, reason: InputError) -> None:
        super().__init__(index, reason)
        self.index = index
        self.reason = reason


def converse(
    conversations: Sequence[Conversation[Result]], run: Callable[[list[Job]], list[Answer]]
) -> list[Result]:
    """Hold many conversations at once, the jobs of each round run together.

    What the search refuses is thrown into the conversation that asked for it, which knows how
    to say it in words, and comes out as a Refusal.
    """
    results: dict[int, Result] = {}
    asked: dict[int, list[Job]] = {}

    def advance(index: int, answers: list[Answer] | None) -> None:
        conversation: Generator[list[Job], Any, Result] = conversations[index]
        try:
            asked[index] = conversation.send(answers)
        except StopIteration as end:
            results[index] = end.value
        except InputError as error:
            raise Refusal(index, error) from error

    for index in range(len(conversations)):
        advance(index, None)
    while asked:
        round_, asked = asked, {}
        answers = iter(_run_round(round_, conversations, run))
        for index, jobs in round_.items():
            advance(index, [next(answers) for _ in jobs])
    return [results[index] for index in range(len(conversations))]


def _run_round(
    asked: dict[int, list[Job]],
    conversations: Sequence[Conversation[Any]],
    run: Callable[[list[Job]], list[Answer]],
) -> list[Answer]:
    """Run all jobs; if one is refused, conversation by conversation, to know whose it is."""
    try:
        return run([job for jobs in asked.values() for job in jobs])
    except InputError:
        pass
    answers = []
    for index, jobs in asked.items():
        try:
            answers += run(jobs)
        except InputError as error:
            try:
                conversations[index].throw(error)
            except InputError as reason:
                raise Refusal(index, reason) from reason
    return answers
