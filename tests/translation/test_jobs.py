from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Barrier
from typing import Any

import numpy as np

from lexbeam.errors import ConstraintError, LexbeamError, ScorerError
from lexbeam.search.beam import Hypothesis
from lexbeam.search.settings import Settings
from lexbeam.testing import HistoryScorer
from lexbeam.translation.jobs import BatchDecoder, Found, Job, JobGenerator, run_together


def echo(jobs: list[Job]) -> Found:
    return [[Hypothesis(list(job.source), 0.0, 0.0, [], True)] for job in jobs]


def count_down(start: int) -> JobGenerator[list[int]]:
    """Ask for as many jobs as the round says, down to none."""
    heard = []
    for left in range(start, 0, -1):
        found = yield [Job((start, left))] * left
        assert len(found) == left
        heard += [token for hypotheses in found for token in hypotheses[0].tokens]
    return heard


def test_generators_share_their_rounds() -> None:
    rounds = []

    def run(jobs: list[Job]) -> Found:
        rounds.append(len(jobs))
        return echo(jobs)

    results = run_together([count_down(2), count_down(0), count_down(3)], run)
    assert results == [[2, 2, 2, 2, 2, 1], [], [3, 3] * 3 + [3, 2] * 2 + [3, 1]]
    assert rounds == [2 + 3, 1 + 2, 1]


def refuse(bad: int) -> Callable[[list[Job]], Found]:
    def run(jobs: list[Job]) -> Found:
        refusal = ConstraintError(f"{bad} is bad")
        found = zip(jobs, echo(jobs), strict=True)
        return [refusal if job.source[0] == bad else each for job, each in found]

    return run


def test_a_refused_job_ends_only_its_generator() -> None:
    first, second, third = run_together([count_down(1), count_down(3), count_down(2)], refuse(3))
    assert (first, third) == ([1, 1], [2, 2, 2, 2, 2, 1])
    assert isinstance(second, ConstraintError)
    assert str(second) == "3 is bad"


def test_a_generator_may_go_on_after_a_refusal() -> None:
    def patient() -> JobGenerator[str]:
        try:
            yield [Job((1,)), Job((7,))]
        except ConstraintError:
            found = yield [Job((2,))]
            return f"then {found[0][0].tokens}"
        return "at once"

    assert run_together([patient()], refuse(7)) == ["then [2]"]


class CountingScorer(HistoryScorer):
    """Counts the batches that are begun, and the sentences in them."""

    def __init__(self) -> None:
        super().__init__(8, bos=1, eos=0)
        self.started: list[int] = []

    def start(self, sources: Sequence[Any], wanted: Sequence[Sequence[int]]) -> Any:
        self.started.append(len(sources))
        return super().start(sources, wanted)


def decoder(scorer: HistoryScorer, threads: int = 1) -> BatchDecoder:
    everywhere = np.ones(scorer.vocabulary_size, dtype=bool)
    joining = np.zeros(scorer.vocabulary_size, np.uint8)
    marks = everywhere, everywhere, everywhere, joining, ~everywhere, ~everywhere
    return BatchDecoder(scorer, *marks, threads)


def test_what_is_refused_costs_the_others_no_search() -> None:
    scorer = CountingScorer()
    jobs = [Job((i % 7 + 1,), max_length=9) for i in range(16)]
    jobs[5] = replace(jobs[5], phrases=((2, 3, 4),), max_length=2)
    jobs[11] = replace(jobs[11], phrases=((3,),), avoid=((3,),))
    found = decoder(scorer).run(jobs, 16)
    assert [i for i, each in enumerate(found) if isinstance(each, LexbeamError)] == [5, 11]
    assert scorer.started == [14]
    alone = [decoder(scorer).run([job], 1)[0] for job in jobs]
    shown = [each if isinstance(each, list) else str(each) for each in found]
    assert shown == [each if isinstance(each, list) else str(each) for each in alone]


def test_a_refusal_speaks_of_phrases_by_their_names() -> None:
    job = Job((1,), ((2, 3, 4),), max_length=2, name=lambda subject: f"<{subject.role}>")
    (error,) = decoder(CountingScorer()).run([job], 4)
    assert "<phrase>" in str(error)
    assert "[2, 3, 4]" not in str(error)
    assert not str(error).startswith("sentence")


def test_an_error_that_names_no_sentence_spares_the_others() -> None:
    class Broken(CountingScorer):
        def start(self, sources: Sequence[Any], wanted: Sequence[Sequence[int]]) -> Any:
            if (3,) in sources:
                raise ScorerError("3 breaks me")
            return super().start(sources, wanted)

    jobs = [Job((i,), max_length=5) for i in range(1, 8)]
    found = decoder(Broken()).run(jobs, 8)
    assert [isinstance(each, ScorerError) for each in found] == [i == 3 for i in range(1, 8)]


def test_jobs_of_equal_settings_share_batches() -> None:
    scorer = CountingScorer()
    narrow, wide = Settings(beam_size=2), Settings(beam_size=4)
    jobs = [Job((1,), max_length=5, settings=(narrow, wide)[i % 2]) for i in range(6)]
    found = decoder(scorer).run(jobs, 2)
    assert scorer.started == [2, 1, 2, 1]
    assert found[0] == decoder(scorer).run([jobs[0]], 1)[0]
    assert found[1] == decoder(scorer).run([jobs[1]], 1)[0]


def test_thorough_jobs_share_no_batches_with_others() -> None:
    scorer = CountingScorer()
    jobs = [Job((1,), max_length=5, thorough=i % 2 > 0) for i in range(6)]
    decoder(scorer).run(jobs, 6)
    assert scorer.started == [3, 3]


def test_threads_search_batches_side_by_side_and_give_the_same() -> None:
    meeting = Barrier(2, timeout=60)

    class Meeting(CountingScorer):
        def start(self, sources: Sequence[Any], wanted: Sequence[Sequence[int]]) -> Any:
            meeting.wait()  # nobody passes unless another batch is searched meanwhile
            return super().start(sources, wanted)

    jobs = [Job((i % 7 + 1,), ((i % 5 + 1,),), max_length=9) for i in range(16)]
    jobs[3] = replace(jobs[3], phrases=((3,),), avoid=((3,),))
    scorer = Meeting()
    together = decoder(scorer, threads=2).run(jobs, 4)
    assert sorted(scorer.started) == [3, 4, 4, 4]
    shown = [each if isinstance(each, list) else str(each) for each in together]
    alone = decoder(CountingScorer()).run(jobs, 4)
    assert shown == [each if isinstance(each, list) else str(each) for each in alone]


def test_the_last_batches_of_threads_are_small() -> None:
    jobs = [Job((1,) * (i + 1), max_length=3) for i in range(18)]
    for threads, sizes in ((1, [4, 4, 4, 4, 2]), (2, [4, 4, 2, 2, 2, 2, 2])):
        scorer = CountingScorer()
        found = decoder(scorer, threads).run(jobs, 4)
        assert sorted(scorer.started, reverse=True) == sizes
        assert found == decoder(scorer).run(jobs, 18)


def test_few_sentences_are_shared_out_among_the_threads() -> None:
    scorer = CountingScorer()
    decoder(scorer, threads=3).run([Job((i + 1,), max_length=9) for i in range(5)], 32)
    assert sorted(scorer.started) == [1, 2, 2]
