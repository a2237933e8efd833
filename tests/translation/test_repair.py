"""Limits of words in texts of several sentences; the toy model repeats what it reads."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from lexbeam.search.automaton.patterns import Beginning
from lexbeam.search.beam import Hypothesis
from lexbeam.text.phrases import Spelling
from lexbeam.translation import repair as repairing
from lexbeam.translation.jobs import Job
from lexbeam.translation.repair import (
    INVENTED,
    _avoid_what_came_back,
    _goes_on_with_any,
    _unmet,
)
from lexbeam.translation.sentence import Piece
from lexbeam.translation.translator import Translator

# The bracket is there for other pieces: a word behind it has no space of its own.
THREE = "The cat sat. The cat and (gato) the cat sat."


def times(text: str, word: str) -> int:
    return len(re.findall(rf"\b{word}\b", text))


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        (THREE, {"text": "cat", "exactly": 1}),
        (THREE, {"text": "cat", "exactly": 2}),
        (THREE, {"text": "cat", "at_most": 1}),
        (THREE, {"text": "cat", "at_most": 2}),
        (THREE, {"text": "cat", "exactly": 5}),
        ("(gato) cat. Cat (gato) sat.", {"text": "gato", "exactly": 1}),
        ("(gato) cat. Cat (gato) sat.", {"text": "gato", "at_most": 1}),
        ("(gato) cat. Cat (gato) and (gato) sat.", {"text": "gato", "exactly": 2}),
        ("A cat sat. Cat (gato) and (gato) sat.", {"text": "gato", "at_most": 1}),
    ],
)
def test_a_limit_holds_for_all_sentences_together(
    translator: Translator, text: str, shape: dict[str, Any]
) -> None:
    free = times(translator.translate(text).text, shape["text"])
    assert free > 1
    found = translator.translate(text, [shape])
    assert found.constraints[0].met
    if "exactly" in shape:
        assert times(found.text, shape["text"]) == shape["exactly"]
    assert 1 <= times(found.text, shape["text"]) <= shape.get("at_most", 5)


@pytest.mark.parametrize("count", [1, 2])
def test_what_is_tied_and_limited_stays_in_the_sentence_of_its_source(
    translator: Translator, count: int
) -> None:
    start = THREE.index("gato")
    shape = {"text": "cat", "exactly": count, "source": [start, start + 4]}
    found = translator.translate(THREE, [shape])
    assert found.constraints[0].met
    first, second = found.text.split(". ")
    assert (times(first, "cat"), times(second, "cat")) == (0, count)


def test_of_equal_demands_those_that_may_be_dropped_are_missed_first() -> None:
    class Cat:
        def cut(self, *_: int) -> Cat:
            return self

        def find(self, text: str, most: int, _: tuple[int, ...]) -> list[str]:
            return re.findall("cat", text)[:most]

    cat: Any = Cat()
    document: Any = SimpleNamespace(
        text_of=lambda *_: "A cat.",
        demand=lambda _: SimpleNamespace(surface=cat),
        is_soft=lambda unit: unit == 0,
    )
    pieces = [Piece(0, 0, 1), Piece(1, 0, 1)]
    sentence: Any = SimpleNamespace(best=None, assigned=pieces, starts=(0,))
    assert _unmet(document, sentence) == [(cat, [0])]


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [((4, 5, 9), True), ((5, 9, 9), True), ((4, 5), False), ((9, 4, 5), False), ((9,), False)],
)
def test_what_is_invented_may_go_on_with_what_is_demanded(
    tokens: tuple[int, ...], expected: bool
) -> None:
    """Such tokens come back with other letters behind them, however often they are avoided."""
    assert _goes_on_with_any(tokens, [(3, 4, 5), (7, 8)]) is expected


def test_what_has_come_back_twice_is_listed_once() -> None:
    texts = {(5,): "a", (5, 6): 'a"'}
    document = SimpleNamespace(
        shown=lambda _: [],
        text_of=lambda *_: 'a" a"',
        find_invented=lambda _: [],
        target=SimpleNamespace(tokens_at=lambda *_: (5,), decode=lambda ids: texts[tuple(ids)]),
        avoidance=SimpleNamespace(
            find=lambda _: [(0, 1)], find_parts=lambda _: ([], []), tokens=[(5,)], inside=()
        ),
    )
    found = Hypothesis([5, 6, 5, 6], -1.0, -4.0, [], True)
    prefix = SimpleNamespace(spellings=())
    searched = {"hypotheses": [found], "assigned": [], "searched": [], "prefix": prefix}
    sentence = SimpleNamespace(avoid=[(5,)], **searched)
    given: Any = document, sentence, 0
    assert _avoid_what_came_back(*given)
    assert sentence.avoid == [(5,), Beginning((5, 6))]
    assert not _avoid_what_came_back(*given)


@pytest.mark.parametrize(
    ("turn", "constraints", "found"),
    [(0, 1, True), (INVENTED - 1, 1, True), (INVENTED, 1, False), (0, 40, False)],
)
def test_what_is_invented_is_searched_for_in_a_few_turns_and_beside_few_constraints(
    turn: int, constraints: int, found: bool
) -> None:
    document = SimpleNamespace(
        shown=lambda _: [],
        text_of=lambda *_: "12 a",
        find_invented=lambda _: [(0, 2)],
        target=SimpleNamespace(tokens_at=lambda *_: (7,)),
        avoidance=SimpleNamespace(
            find=lambda _: [], find_parts=lambda _: ([], []), tokens=[], inside=()
        ),
    )
    sentence = SimpleNamespace(
        avoid=[],
        hypotheses=[Hypothesis([7, 5], -1.0, -2.0, [], True)],
        assigned=[],
        searched=[None] * constraints,
        prefix=SimpleNamespace(spellings=()),
    )
    given: Any = document, sentence, turn
    assert _avoid_what_came_back(*given) == found
    assert sentence.avoid == [(7,)] * found


def let_words_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every sentence have something to avoid, and nothing else to be repaired."""
    for name in (
        "_respell_missing",
        "_require_more",
        "recount",
        "limit_excess",
        "limit_alternatives",
    ):
        monkeypatch.setattr(repairing, name, lambda *_: False)
    monkeypatch.setattr(repairing, "find_excess", lambda _: [])
    monkeypatch.setattr(repairing, "_avoid_what_came_back", lambda *_: True)


def test_what_was_searched_for_just_so_is_not_searched_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    let_words_come_back(monkeypatch)
    monkeypatch.setattr(repairing, "may_search_again", lambda *_: True)
    for name in ("_breaks_a_promise", "_gave_up_much"):
        monkeypatch.setattr(repairing, name, lambda *_: False)
    lengths = iter([5, 6, 5, 6, 5, 6, 5, 6])
    searched: list[int] = []

    def job(*_: object, insists: bool) -> Job:
        return Job((1, 2), max_length=next(lengths), insists=insists)

    def take(sentences: Any, _: Any) -> None:
        searched.append(len(sentences))

    document: Any = SimpleNamespace(
        sentences=[SimpleNamespace(searched=[], sought=[])], job=job, take=take
    )
    generator = repairing.repair(document)
    assert [each.max_length for each in next(generator)] == [5]
    found = [Hypothesis([7], -1.0, -1.0, [], True)]
    assert [each.max_length for each in generator.send([found])] == [6]
    with pytest.raises(StopIteration):
        generator.send([found])
    assert searched == [1, 1]


def test_what_is_not_found_and_nobody_insists_on_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    let_words_come_back(monkeypatch)
    monkeypatch.setattr(repairing, "leave_to_others", lambda *_: False)
    monkeypatch.setattr(repairing, "_may_search", lambda *_: True)
    monkeypatch.setattr(repairing, "_is_worth_it", lambda *_: False)
    monkeypatch.setattr(repairing, "_breaks_a_promise", lambda _, each, __: each.number == 1)
    sentences = [SimpleNamespace(number=number, sought=[]) for number in range(3)]
    taken: list[int] = []

    def job(sentence: Any, *_: object, insists: bool) -> Job:
        return Job((sentence.number, len(taken)), insists=insists)

    def take(some: Any, _: Any) -> None:
        taken.extend(each.number for each in some)

    document: Any = SimpleNamespace(sentences=sentences, job=job, take=take)
    generator = repairing.repair(document)
    found = [Hypothesis([7], -1.0, -1.0, [], True)]
    assert [each.insists for each in next(generator)] == [False, True, False]
    generator.send([[], found, found])
    assert taken == [1, 2]
    with pytest.raises(StopIteration):  # Where nothing is found at all, that was all.
        generator.send([[], [], []])
    assert taken == [1, 2]


@pytest.mark.parametrize(
    ("unmet", "from_source", "avoided", "broken", "much"),
    [
        ([], [], False, False, False),
        ([None], [], False, True, False),
        ([3.0], [], False, False, False),
        ([3.0, None], [], False, True, False),
        ([10.0], [], False, False, True),
        ([], [True], False, False, False),
        ([], [True, False], False, True, False),
        ([], [], True, True, False),
    ],
)
def test_what_a_sentence_has_to_be_searched_again_for(
    monkeypatch: pytest.MonkeyPatch,
    unmet: list[float | None],
    from_source: list[bool],
    avoided: bool,
    broken: bool,
    much: bool,
) -> None:
    """``unmet`` are the penalties of what is missing; None: it can't be given up."""
    demands = [SimpleNamespace(asked=SimpleNamespace(soft=each)) for each in unmet]
    units = list(range(len(unmet)))
    monkeypatch.setattr(repairing, "_unmet", lambda *_: [(None, units)])
    monkeypatch.setattr(repairing, "may_search_again", lambda *_: False)
    document: Any = SimpleNamespace(
        demand=lambda unit: demands[unit],
        is_soft=lambda unit: unmet[unit] is not None,
        demands=[SimpleNamespace(asked=SimpleNamespace(is_from_source=e)) for e in from_source],
        text_of=lambda *_: "",
        avoidance=SimpleNamespace(find=lambda _: [(0, 1)] if avoided else []),
    )
    sentence: Any = SimpleNamespace(hypotheses=[None], searched=[])
    excess: Any = [SimpleNamespace(numbers=range(len(from_source)))] if from_source else []
    assert repairing._breaks_a_promise(document, sentence, excess) == broken
    assert repairing._gave_up_much(document, sentence) == much
    assert repairing._may_search(document, sentence, excess) == (broken or much)
    assert repairing._is_worth_it(document, sentence) == much


@pytest.mark.parametrize(
    ("surface", "written", "lacks"),
    [("Haus", "", False), ("→", "", True), ("½ x", "1/2 x", True), ("(x)", "", True)],
)
def test_signs_may_lack_a_space_and_words_have_one(surface: str, written: str, lacks: bool) -> None:
    spelling = Spelling((5,), surface, written=written)
    demand: Any = SimpleNamespace(spellings=[spelling])
    assert repairing._may_lack_a_space(demand) == lacks
