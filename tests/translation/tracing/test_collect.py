from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lexbeam.search.adjustment import adjust
from lexbeam.search.allocation import POLICIES
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.automaton.trace import trace as walk
from lexbeam.search.beam_search import decode
from lexbeam.search.settings import Settings
from lexbeam.testing import HistoryScorer, TableScorer
from lexbeam.translation.jobs import Job
from lexbeam.translation.tracing import collect
from lexbeam.translation.tracing.collect import BatchWatcher, Candidate, SearchTrace

EOS, BOS, A, B, C = range(5)


def watch(scorer: Any, jobs: list[Job], max_length: int = 8, **settings: Any) -> list[SearchTrace]:
    watcher = BatchWatcher(jobs, Settings(**settings), scorer)
    answers = decode(
        scorer,
        [job.source for job in jobs],
        [list(job.phrases) for job in jobs],
        [list(job.avoid) for job in jobs],
        prefix=[job.prefix for job in jobs],
        max_length=max_length,
        observer=watcher,
        **settings,
    )
    searches = watcher.searches([answer[0].tokens for answer in answers])
    for search, answer in zip(searches, answers, strict=True):
        assert output(search) == answer[0].tokens
    return searches


def at(search: SearchTrace, step: int, slot: int) -> Candidate:
    standing = search.steps[step].beam[slot]
    assert standing is not None
    return search.steps[step].candidates[standing.candidate]


def tokens_of(search: SearchTrace, step: int, slot: int) -> list[int]:
    tokens: list[int] = []
    while step >= 0:
        candidate = at(search, step, slot)
        if "stays" not in candidate.origins:
            tokens.insert(0, candidate.token)
        step, slot = step - 1, candidate.parent
    return tokens


def output(search: SearchTrace) -> list[int]:
    *tokens, end = tokens_of(search, search.ended, search.path[search.ended])
    assert end == EOS
    return tokens


# --- a search small enough to be done by hand ------------------------------------------------


@pytest.fixture
def by_hand() -> SearchTrace:
    likely, unlikely, never = -1.0, -4.0, -9.0
    table = np.full((5, 5), never)
    table[:, C], table[:, A], table[:, EOS] = likely, unlikely, -2.0
    table[B, EOS] = -0.5
    return watch(
        TableScorer(table, bos=BOS, eos=EOS), [Job((), ((A, B),))], beam_size=3, length_penalty=0
    )[0]


def test_the_first_step(by_hand: SearchTrace) -> None:
    step = by_hand.steps[0]
    shown = [(c.token, c.score, c.bank, c.origins, c.progress, c.slot) for c in step.candidates]
    assert shown == [
        (A, -4.0, 1, ("best", "constraint"), (1,), 0),
        (C, -1.0, 0, ("best", "row"), (0,), 1),
        (BOS, -9.0, 0, ("best",), (0,), 2),
    ]
    # Three banks, a slot each; the one of bank 2 goes to the nearest that lacks one.
    assert [(b.met, b.candidates, b.given, b.filled) for b in step.banks] == [
        (0, 2, 1, 2),
        (1, 1, 1, 1),
        (2, 0, 1, 0),
    ]
    assert step.moves == ((2, 0, 1),)
    assert by_hand.sizes == (2,)


def test_progress_that_is_broken_off_is_unwound(by_hand: SearchTrace) -> None:
    broken = [c for c in by_hand.steps[1].candidates if (c.parent, c.token) == (0, C)]
    assert [(c.bank, c.progress, c.origins) for c in broken] == [(0, (0,), ("best", "row"))]


def test_the_way_of_the_output(by_hand: SearchTrace) -> None:
    assert output(by_hand) == [A, B]
    assert by_hand.ended == 2
    end = by_hand.steps[2].beam[by_hand.path[2]]
    assert end is not None
    assert (end.fate, end.score) == ("finished", -13.5)
    assert by_hand.steps[1].best_finished is None
    assert by_hand.steps[2].best_finished == -13.5
    for step in range(3, len(by_hand.path)):  # it stays on the beam as long as it is shown there
        assert at(by_hand, step, by_hand.path[step]).origins == ("stays",)


# --- any search ------------------------------------------------------------------------------

PHRASES = (((2, 3), (4,)), ((2, 3, 4), (2, 2)), ((3,), (3,), (5, 2)), ())


@pytest.mark.parametrize("algorithm", POLICIES)
@pytest.mark.parametrize("phrases", PHRASES)
def test_banks_and_beams_add_up(algorithm: str, phrases: tuple[tuple[int, ...], ...]) -> None:
    (search,) = watch(
        HistoryScorer(7, bos=1, eos=0), [Job((1,), phrases)], beam_size=3, algorithm=algorithm
    )
    for step in search.steps:
        assert sum(bank.candidates for bank in step.banks) == len(step.candidates)
        assert sum(bank.filled for bank in step.banks) == sum(map(bool, step.beam))
        for number, bank in enumerate(step.banks):
            inside = [c for c in step.candidates if c.bank == number]
            assert [c.slot is not None for c in inside] == [
                i < bank.filled for i in range(bank.candidates)
            ]
            assert [c.worth for c in inside] == sorted((c.worth for c in inside), reverse=True)
            if algorithm != "lookahead":
                assert all(c.worth == c.score for c in inside)
        for slot, standing in enumerate(step.beam):
            assert standing is None or step.candidates[standing.candidate].slot == slot


def test_slots_before_and_after_adjustment_are_those_of_the_search() -> None:
    (search,) = watch(
        HistoryScorer(9, bos=1, eos=0), [Job((1,), ((2, 3), (4,), (5,)))], beam_size=5
    )
    for step in search.steps:
        given = [bank.given for bank in step.banks]
        assert given == [1, 1, 1, 1, 1]
        counts = [bank.candidates for bank in step.banks]
        filled = [bank.filled for bank in step.banks]
        assert [filled] == adjust(np.array([given]), np.array([counts])).tolist()
    assert any(step.moves for step in search.steps)


@pytest.mark.parametrize("seed", range(3))
def test_candidates_come_from_where_the_paper_says(seed: int) -> None:
    """Hold what is shown against the whole table of continuations."""
    scorer, phrases, k = HistoryScorer(8, bos=1, eos=0, seed=seed), [(2, 3), (4,)], 4
    (search,) = watch(scorer, [Job((1,), tuple(phrases))], 40, beam_size=k, prune=0)
    for number, step in enumerate(search.steps[:30]):  # near the limit the search closes some
        rows = _rows(scorer, search, number)
        whole = sorted(((score, row) for row, scores in rows.items() for score in scores.values()))
        best_scores = {score for score, _ in whole[-k:]}
        for c in step.candidates:
            if "stays" in c.origins:
                continue
            assert ("best" in c.origins) == (c.score in best_scores)
            assert ("row" in c.origins) == (c.score == max(rows[c.parent].values()))
            before = tokens_of(search, number - 1, c.parent) if number else []
            walked = [walk([phrase], [*before, c.token]).banks for phrase in phrases]
            assert c.progress == tuple(banks[-1] for banks in walked)
            served = any(_serves(phrase, before, c.token) for phrase in phrases)
            assert ("constraint" in c.origins) == served
            assert c.origins
        shown = {(c.parent, c.score) for c in step.candidates}
        assert {(row, score) for score, row in whole[-k:]} <= shown


def _serves(phrase: tuple[int, ...], before: list[int], token: int) -> bool:
    """Say whether a token starts or continues a phrase that is not met."""
    after = (*before, token)
    begun = any(after[-n:] == phrase[:n] for n in range(1, len(phrase) + 1))
    return begun and walk([phrase], before).met == [False]


def _rows(scorer: HistoryScorer, search: SearchTrace, number: int) -> dict[int, dict[int, float]]:
    """Price every open continuation of the beam before a step; scores are made as they are."""
    before = search.steps[number - 1].beam if number else (None,)
    rows = {}
    for slot, standing in enumerate(before):
        if number and (standing is None or standing.fate != "live"):
            if standing is not None and standing.fate == "finished":
                rows[slot] = {EOS: standing.score}
            continue
        tokens = tokens_of(search, number - 1, slot) if number else []
        so_far = standing.score if standing else 0.0
        priced = scorer.next_log_probs((1,), tokens)
        all_met = all(all(walk([phrase], tokens).met) for phrase in search.job.phrases)
        rows[slot] = {
            token: so_far + float(priced[token])
            for token in range(scorer.vocabulary_size)
            if token != scorer.eos or all_met
        }
    return rows


def test_a_batch_shows_what_its_sentences_show_alone() -> None:
    scorer = HistoryScorer(7, bos=1, eos=0, seed=3)
    jobs = [Job((1,), ((2, 3), (4,))), Job((2,), ()), Job((3,), ((5,),), avoid=((2,),))]
    together = watch(scorer, jobs, beam_size=4)
    for job, search in zip(jobs, together, strict=True):
        (alone,) = watch(scorer, [job], beam_size=4)
        if job.phrases:  # without any the search looks at the k best only
            assert search == alone
        else:
            assert (search.path, search.ended) == (alone.path, alone.ended)


def test_of_a_sentence_that_is_searched_again_the_second_search_is_shown(
    searched_again: list[list[int]],
) -> None:
    counted = Pattern(((Form((2,)), Form((2, 3))),), may_overlap=True, exact=True)
    gaps = [Pattern(((Form((3 + i, 4 + i)),), (Form((20 - i, 2)),)), within=3) for i in range(3)]
    jobs = [Job((1,), ((5,),)), Job((2,), (*[counted] * 6, *gaps, *gaps))]
    watch(HistoryScorer(40, bos=1, eos=0, seed=1), jobs, max_length=150, beam_size=2)
    assert searched_again == [[1]]


def test_what_is_dropped_says_why() -> None:
    scorer = HistoryScorer(9, bos=1, eos=0, seed=1, spread=4.0)
    (search,) = watch(scorer, [Job((1,), ((2,),))], beam_size=6, prune=2.0, lag=3.0)
    fates = set()
    for step in search.steps:
        for standing in filter(None, step.beam):
            fates.add(standing.fate)
            if standing.fate == "pruned":
                assert step.best_finished is not None
                assert standing.score < step.best_finished - 2.0
    assert fates == {"live", "finished", "pruned", "lagging"}


def test_a_prefix_is_forced() -> None:
    (search,) = watch(
        HistoryScorer(7, bos=1, eos=0), [Job((1,), ((3,),), prefix=(2, 4))], beam_size=3
    )
    for step, token in enumerate((2, 4)):
        (only,) = search.steps[step].candidates
        assert (only.token, only.origins) == (token, ("prefix",))
    assert "prefix" not in {o for c in search.steps[2].candidates for o in c.origins}


def test_patterns() -> None:
    either = Pattern(((Form((2, 3)), Form((4,))),))
    apart = Pattern(((Form((5,)),), (Form((6,)),)))
    phrases: Any = (either, apart)
    (search,) = watch(HistoryScorer(8, bos=1, eos=0), [Job((1,), phrases)], beam_size=4)
    assert search.sizes == (1, 2)
    end = at(search, search.ended, search.path[search.ended])
    assert end.progress == (1, 2)


def test_of_very_many_candidates_the_best_and_the_chosen_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = Job((1,), ((2, 3), (4,)))
    (whole,) = watch(HistoryScorer(7, bos=1, eos=0), [job], beam_size=4)
    monkeypatch.setattr(collect, "MOST_CANDIDATES", 5)
    (short,) = watch(HistoryScorer(7, bos=1, eos=0), [job], beam_size=4)
    assert short.path == whole.path
    for some, every in zip(short.steps, whole.steps, strict=True):
        assert len(some.candidates) == min(5, len(every.candidates))
        assert len(some.candidates) + some.left_off == len(every.candidates)
        assert [c for c in some.candidates if c.slot is not None] == [
            c for c in every.candidates if c.slot is not None
        ]
        assert some.banks == every.banks
