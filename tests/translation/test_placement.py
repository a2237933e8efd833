from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import lexbeam
from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.kinds import Order, Phrase, Prefix, Suffix
from lexbeam.constraints.matching import Occurrence
from lexbeam.text.sentence_splitter import Part
from lexbeam.translation.jobs import Job
from lexbeam.translation.placement import (
    FEW_TRIALS,
    MOST_TRIALS,
    _asks_the_same,
    _assign_parts,
    _cost_to_place,
    _not_searched_so,
    assign_by_gain,
    assign_found,
    sentences_of_sources,
    share_occurrences,
    tried_sentences,
)
from lexbeam.translation.sentence import Piece, number_units

A, B = Phrase((("a",),)), Phrase((("b",),))


def test_what_must_be_met_twice_is_two_units() -> None:
    twice = Phrase((("a",),), count=2)
    start, end = Prefix((("x",),)), Suffix((("y",),))
    assert number_units([A, start, twice, end, B, end]) == [0, 2, 2, 3, 4]


def test_a_sentence_says_what_stands_in_it() -> None:
    occurrences: list[list[Occurrence]] = [
        [((0, 1),), ((8, 9),)],
        [((2, 3), (9, 10), (11, 12))],
        [],
    ]
    assigned, missing = assign_found([0, 0, 0, 1, 2], occurrences, [0, 5, 20], {})
    assert assigned == [[Piece(0, 0, 1), Piece(3, 0, 1)], [Piece(1, 0, 1), Piece(3, 1, 3)], []]
    assert missing == [2, 4]


def test_what_has_a_source_stays_in_its_sentence_if_that_says_it() -> None:
    occurrences: list[list[Occurrence]] = [[((0, 1),), ((6, 7),), ((8, 9),)], [((3, 4), (7, 8))]]
    assigned, missing = assign_found([0, 0, 0, 1], occurrences, [0, 5, 20], {0: 1, 1: 2, 3: 1})
    own, others = Piece(0, 0, 1), [Piece(1, 0, 1), Piece(3, 0, 1)]
    assert assigned == [others, [own, Piece(2, 0, 1), Piece(3, 1, 2)], []]
    assert missing == []


def test_no_occurrence_is_taken_twice() -> None:
    occurrences: list[list[Occurrence]] = [[((0, 1),), ((6, 7),), ((21, 22),)]]
    assigned, _ = assign_found([0, 0, 0], occurrences, [0, 5, 20], {2: 0})
    assert assigned == [[Piece(2, 0, 1)], [Piece(0, 0, 1)], [Piece(1, 0, 1)]]


def test_equal_terms_each_have_what_their_own_sentences_say() -> None:
    """The first sentence says the term twice: that is not the term of the second one."""
    occurrences: list[Occurrence] = [((0, 6),), ((10, 16),), ((20, 26),)]
    shared = share_occurrences(occurrences, [(1, [0]), (1, [1])], [0, 18])
    assert shared == [[((0, 6),)], [((20, 26),)]]
    shared = share_occurrences(occurrences, [(1, []), (1, [0]), (1, [1])], [0, 18])
    assert shared == [[((10, 16),)], [((0, 6),)], [((20, 26),)]]
    shared = share_occurrences(occurrences[:2], [(1, [0]), (1, [1]), (1, [1])], [0, 18])
    assert shared == [[((0, 6),)], [((10, 16),)], []]


def test_a_source_takes_no_part_of_what_goes_on_in_the_next_sentence() -> None:
    occurrences: list[list[Occurrence]] = [[((3, 4), (7, 8)), ((9, 10), (11, 12))]]
    assigned, _ = assign_found([0, 0], occurrences, [0, 5], {1: 0})
    assert assigned == [[Piece(0, 0, 1)], [Piece(0, 1, 2), Piece(1, 0, 2)]]


def test_what_has_a_source_belongs_to_its_sentence() -> None:
    placed = Phrase((("a",),), count=2, source_spans=((3, 5), (25, 27)))
    demanded = [placed, B, Phrase((("c",),), source_spans=((10, 12),))]
    known = sentences_of_sources(number_units(demanded), demanded, starts=[2, 10, 20])
    assert known == {0: 0, 1: 2, 3: 1}


def test_parts_whose_sources_are_known_belong_to_their_sentences() -> None:
    tags = Order(
        (("<p>",), ("<b>",), ("</b>",), ("</p>",)),
        part_sources=((2, 5), (6, 9), (12, 16), (30, 34)),
    )
    demands = [SimpleNamespace(asked=A), SimpleNamespace(asked=tags), SimpleNamespace(asked=B)]
    document: Any = SimpleNamespace(
        units=[0, 1, 2],
        demand=demands.__getitem__,
        sentences=[SimpleNamespace(part=Part("", "", start)) for start in (2, 10, 20)],
    )
    assigned = [[Piece(2, 0, 1)], [Piece(0, 0, 1), Piece(1, 0, 4)], []]
    assert _assign_parts(document, assigned) == {1}
    assert assigned == [
        [Piece(1, 0, 2), Piece(2, 0, 1)],
        [Piece(0, 0, 1), Piece(1, 2, 3)],
        [Piece(1, 3, 4)],
    ]


def test_a_missing_unit_goes_where_it_costs_least() -> None:
    gains: dict[Constraint, dict[int, float]] = {
        A: {0: -3.0, 1: -1.0, 2: -2.0},
        B: {0: -1.0, 1: -1.0},
    }
    missing = [(0, A), (1, B), (2, A), (3, A), (4, A)]
    assert assign_by_gain(missing, gains) == [(0, 1), (1, 0), (2, 2), (3, 0), (4, 1)]


def test_a_few_constraints_are_tried_in_every_sentence() -> None:
    assert tried_sentences(0, 1, 5) == [0, 1, 2, 3, 4]
    assert tried_sentences(5, MOST_TRIALS, 30) == list(range(30))


def test_many_constraints_are_tried_in_some_sentences_each() -> None:
    tried = [tried_sentences(number, 64, 27) for number in range(64)]
    assert sum(map(len, tried)) <= MOST_TRIALS * 27
    assert all(len(set(each)) == len(each) == len(tried[0]) for each in tried)
    assert {sentence for each in tried for sentence in each} == set(range(27))
    assert len(tried_sentences(3, 24, 4)) == 2


def test_more_than_sentences_could_say_is_dealt_out() -> None:
    assert [tried_sentences(number, 25, 4) for number in range(6)] == [[0], [1], [2], [3], [0], [1]]


def test_there_are_no_more_trials_than_there_is_time_for() -> None:
    def trials(constraints: int, sentences: int, most: float) -> int:
        tried = [tried_sentences(each, constraints, sentences, most) for each in range(constraints)]
        return sum(len(each) for each in tried if len(each) > 1)

    assert trials(6, 6, 6.0) == 36
    assert trials(6, 6, 3.5) == 18
    assert trials(24, 4, 12.0) == 48
    assert trials(24, 4, 11.9) == 46
    assert trials(24, 4, FEW_TRIALS) == 4
    assert trials(1, 2, FEW_TRIALS) == 2
    assert tried_sentences(1, 24, 4, FEW_TRIALS) == [1, 3]
    assert tried_sentences(3, 24, 4, FEW_TRIALS) == [3]  # one place is no choice: nothing is tried


def test_what_has_to_be_placed_is_paid_for_before_anything_else() -> None:
    sentences = [SimpleNamespace(source=(1,) * 10) for _ in range(4)]
    document: Any = SimpleNamespace(
        sentences=sentences, demand=lambda _: SimpleNamespace(shortest=2)
    )
    assert _cost_to_place(document, []) == 0
    assert 10 < _cost_to_place(document, [0]) < _cost_to_place(document, [0, 1]) < 60
    assert _cost_to_place(document, range(40)) > 4 * 10 + 40 * 2


def test_the_order_of_tied_phrases_makes_no_other_search() -> None:
    job = Job((1,), ((1,), (2,)), ties={0: (5,)})
    assert _asks_the_same(job, Job((1,), ((2,), (1,)), ties={1: (5,)}))
    assert not _asks_the_same(job, Job((1,), ((2,), (1,)), ties={0: (5,)}))
    assert not _asks_the_same(job, Job((1,), ((2,), (1,))))


def test_what_was_searched_just_so_is_not_searched_again() -> None:
    taken: list[Any] = []
    sentences = [
        SimpleNamespace(
            assigned=[Piece(unit, 0, 1)], hypotheses=[unit], take=lambda *a: taken.append(a)
        )
        for unit in (0, 1, 2)
    ]
    jobs = {unit: Job((unit,), phrases=((1,), (2,))) for unit in (0, 1, 2)}
    document: Any = SimpleNamespace(sentences=sentences, job=lambda _, pieces: jobs[pieces[0].unit])
    searched: dict[int, Any] = {}
    assert _not_searched_so(document, {0, 1}, searched) == sentences[:2]
    # The same in another order would find the same.
    first, jobs[0] = jobs[0], replace(jobs[0], phrases=((2,), (1,)))
    jobs[1] = replace(jobs[1], phrases=((1,), (1,)))
    assert _not_searched_so(document, {0, 1, 2}, searched) == sentences[1:]
    assert taken == [([0], [Piece(0, 0, 1)])]
    assert searched == jobs
    assert searched[0] != first


def test_what_the_text_does_not_show_stays_assigned_for_several_translations() -> None:
    """A mark goes on with "sein." in the other constraint, which to the search has it."""
    asked: list[Any] = [{"gap": ["sein.\u0301", "um"]}, "sein."]
    found = lexbeam.load().translate("Know!\n\nYes", asked, beam_size=5, nbest=3)
    assert all(report.met for each in found.nbest for report in each.constraints)
