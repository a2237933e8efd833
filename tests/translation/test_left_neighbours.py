"""What stands before a term that is improbable there."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

import lexbeam
from lexbeam.errors import InputError
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.beam import Hypothesis
from lexbeam.search.settings import Settings
from lexbeam.text.phrases import Spelling
from lexbeam.text.sentence_splitter import Part
from lexbeam.translation import left_neighbours
from lexbeam.translation.document import Document
from lexbeam.translation.effort import Effort
from lexbeam.translation.jobs import Job
from lexbeam.translation.sentence import Piece, SentenceState
from lexbeam.translation.spelled_prefix import SpelledPrefix

PIECES = ["▁The", "▁a", "▁cit", "y", "▁is", "▁an", "▁fa", "r"]
TERM = (2, 3)
NO_PREFIX = SpelledPrefix()


def _sentence(tokens: Sequence[int], log_probs: Sequence[float] | None) -> SentenceState:
    sentence = SentenceState(Part("x", ""), (5, 6), SpelledPrefix(), [(9,)])
    listed = None if log_probs is None else list(log_probs)
    total = sum(listed or ())
    best = Hypothesis(list(tokens), total / len(tokens), total, [], True, log_probs=listed)
    sentence.take([best], [])
    sentence.assigned, sentence.displaced = [Piece(0, 0, 1)], [(7,)]
    return sentence


def _document(pattern: object = TERM, free: float = 99.0) -> Document:
    def job(
        sentence: SentenceState,
        _: object,
        prefix: SpelledPrefix = NO_PREFIX,
        insists: bool = False,
    ) -> Job:
        assert not insists
        return Job(sentence.source, (TERM,), prefix=prefix.forced, ties={0: (1,)})

    document = SimpleNamespace(
        settings=SimpleNamespace(of_search=Settings(lag=3.0), nbest=1),
        target=SimpleNamespace(pieces=lambda ids: [PIECES[i] for i in ids], aliases=()),
        ties=lambda *_: {0: (1,)},
        demand=lambda _: SimpleNamespace(pattern=lambda *_: pattern),
        job=job,
        tokens_read=lambda sentence, _: sentence.source,
        effort=Effort(free, 10),
    )
    return cast("Document", document)


def test_another_neighbour_is_tried_and_taken_if_the_whole_is_better() -> None:
    sentence = _sentence([0, 1, *TERM, 4], [-1, -1, -20, 0, -1, -1])
    generator = left_neighbours.search_with_other_neighbours(_document(), [sentence])
    (asked,) = next(generator)
    assert (asked.prefix, asked.phrases, asked.max_length, asked.cut) == ((0,), (TERM,), 4, True)
    assert asked.avoid == ((9,), (7,))
    assert asked.settings.beam_size == asked.settings.nbest == left_neighbours.ASKED
    other = Hypothesis([0, 5, *TERM], 0.0, -10.0, [], False)
    same = Hypothesis([0, 1, *TERM], 0.0, -5.0, [], False)
    behind = Hypothesis([0, *TERM, 5], 0.0, -5.0, [], False)
    (tried,) = generator.send([[same, behind, other]])
    assert tried.prefix == (0, 5, *TERM)
    assert not tried.ties  # the term is said
    better = Hypothesis([0, 5, *TERM, 4], -1.0, -6.0, [], True)
    with pytest.raises(StopIteration):
        generator.send([[better]])
    assert sentence.best is better


def test_what_is_no_better_is_neither_tried_nor_taken() -> None:
    sentence = _sentence([0, 1, *TERM, 4], [-1, -1, -20, 0, -1, -1])
    before = sentence.best
    for log_prob, tries in ((-22.5, False), (-21.5, True)):
        generator = left_neighbours.search_with_other_neighbours(_document(), [sentence])
        next(generator)
        found = [[Hypothesis([0, 5, *TERM], 0.0, log_prob, [], False)]]
        if tries:
            assert len(generator.send(found)) == 1
            found = [[Hypothesis([0, 5, *TERM, 4], -99.0, -99.0, [], True)]]
        with pytest.raises(StopIteration):
            generator.send(found)
        assert sentence.best is before


@pytest.mark.parametrize(("free", "is_asked"), [(2.0, True), (1.0, False)])
def test_nothing_is_asked_if_there_is_no_time(free: float, is_asked: bool) -> None:
    sentence = _sentence([0, 1, *TERM, 4], [-1, -1, -20, 0, -1, -1])
    document = _document(free=free)
    generator = left_neighbours.search_with_other_neighbours(document, [sentence])
    assert (next(generator, None) is not None) == is_asked


def test_what_the_search_refuses_changes_nothing() -> None:
    sentence = _sentence([0, 1, *TERM, 4], [-1, -1, -20, 0, -1, -1])
    before = sentence.best
    generator = left_neighbours.search_with_other_neighbours(_document(), [sentence])
    next(generator)
    with pytest.raises(StopIteration):
        generator.throw(InputError("no way"))
    assert sentence.best is before


@pytest.mark.parametrize(
    ("tokens", "log_probs", "pattern"),
    [
        ([0, 1, *TERM, 4], [-1, -1, -16, 0, -1, -1], TERM),
        ([0, 1, *TERM, 4], [-1, -20, -1, 0, -1, -1], TERM),
        ([0, 1, *TERM, 4], None, TERM),
        ([*TERM, 4], [-20, 0, -1, -1], TERM),
        ([0, 1, *TERM], [-1, -1, -20, 0, -1], Pattern(((Form(TERM),),), penalty=2.0)),
        ([0, 1, *TERM], [-1, -1, -20, 0, -1], Pattern(((Form(TERM),), (Form((4,)),)))),
    ],
    ids=["probable", "another", "untied", "nothing before", "soft", "parts"],
)
def test_other_terms_are_left_as_they_are(
    tokens: list[int], log_probs: list[float] | None, pattern: object
) -> None:
    sentence = _sentence(tokens, log_probs)
    generator = left_neighbours.search_with_other_neighbours(_document(pattern), [sentence])
    assert next(generator, None) is None


@pytest.mark.parametrize("ways", [((0, 1),), ((0, 1), (0, 5))], ids=["one way", "two ways"])
def test_what_an_output_has_to_begin_with_stays(ways: tuple[tuple[int, ...], ...]) -> None:
    sentence = _sentence([0, 1, *TERM, 4], [-1, -1, -20, 0, -1, -1])
    sentence.prefix = SpelledPrefix(tuple(Spelling(ids, "") for ids in ways))
    generator = left_neighbours.search_with_other_neighbours(_document(), [sentence])
    assert next(generator, None) is None


def test_log_probabilities_of_tied_outputs_add_up() -> None:
    translator = lexbeam.load()
    seen: list[Hypothesis] = []
    take = SentenceState.take

    def watch(self: SentenceState, hypotheses: list[Hypothesis], searched: list[Piece]) -> None:
        seen.extend(hypotheses)
        take(self, hypotheses, searched)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SentenceState, "take", watch)
        translator.translate("The car is new.", [{"text": "Donaudampfschiff", "source": "car"}])
    assert seen
    for each in seen:
        assert each.log_probs is not None
        assert len(each.log_probs) == len(each.tokens) + 1
        assert np.isclose(sum(each.log_probs), each.log_prob)
        assert max(each.log_probs) <= 1e-3


@pytest.mark.parametrize(("whole", "prefix"), [(True, (0,)), (False, (0,)), (True, ())])
def test_a_whole_prefix_does_not_go_on_as_another_neighbour(
    whole: bool, prefix: tuple[int, ...]
) -> None:
    sentence = _sentence([0, 1, *TERM, 4], [-1, -1, -20, 0, -1, -1])
    spellings = (Spelling(prefix, ""),) if prefix else ()
    sentence.prefix = SpelledPrefix(spellings, whole=whole)
    (asked,) = next(left_neighbours.search_with_other_neighbours(_document(), [sentence]))
    assert asked.whole_prefix == (whole and bool(prefix))
