"""Terms beside a word with which they should be one compound, in outputs written by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from lexbeam.constraints.constraint_set import Constraints
from lexbeam.search.beam import Hypothesis
from lexbeam.text.sentence_splitter import Part
from lexbeam.text.word_boundaries import Span
from lexbeam.translation.sentence import Piece, SentenceState
from lexbeam.translation.spelled_prefix import SpelledPrefix
from lexbeam.translation.torn_compounds import find_torn

if TYPE_CHECKING:
    from lexbeam.translation.document import Document


def _words(text: str) -> list[Span]:
    spans, at = [], 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        spans.append((start, at))
    return spans


def torn(
    source: str, term: str, output: str, links: dict[int, int], compound: bool = True
) -> list[tuple[int, ...]]:
    """Return the words of an output that are torn, by their numbers.

    The term is the translation of the last word of the source; ``links`` says which other word
    of the source each word of the output attends to.
    """
    words, tokens = _words(source), _words(output)
    attention = np.full((len(tokens) + 1, len(words)), 0.1)
    for target, origin in links.items():
        attention[target, origin] = 0.9
    sentence = SentenceState(Part(source, ""), tuple(range(len(words))), SpelledPrefix(), [])
    sentence.assigned = [Piece(0, 0, 1)]
    (surface,) = Constraints.build([{"text": term, "compound": compound}]).demanded
    demand = SimpleNamespace(asked=surface, surface=surface)
    document = SimpleNamespace(
        ties=lambda *_: {0: (len(words) - 1,)},
        demand=lambda _: demand,
        text_of=lambda *_: output,
        target=SimpleNamespace(token_spans=lambda _: tokens),
        token_spans=lambda *_: words,
    )
    hypothesis = Hypothesis(list(range(len(tokens))), 0.0, 0.0, [], True, attention=attention)
    return find_torn(cast("Document", document), sentence, hypothesis)


def test_a_noun_for_the_word_before_the_source_is_torn_from_the_term() -> None:
    links = {2: 2, 3: 3}
    assert torn("on a client computer", "Rechner", "auf einem Client Rechner", links) == [(2, 3)]


@pytest.mark.parametrize(
    ("output", "links"),
    [
        ("auf einem Clientrechner", {2: 2}),
        ("auf einem Client-Rechner", {2: 2}),
        ("auf einem kleinen Rechner", {2: 2, 3: 3}),  # no noun
        ("Client Rechner", {0: 2, 1: 3}),  # any word begins a sentence with a capital
        ("auf einem Server Rechner", {2: 0, 3: 3}),  # for another word of the source
        ("gehen Sie auf Ihrem Rechner", {3: 2, 4: 3}),
    ],
)
def test_other_words_are_not(output: str, links: dict[int, int]) -> None:
    assert torn("on a client computer", "Rechner", output, links) == []


def test_a_term_that_may_not_be_in_a_compound_is_not() -> None:
    links = {2: 2, 3: 3}
    output = "auf einem Client Rechner"
    assert torn("on a client computer", "Rechner", output, links, compound=False) == []


def test_without_attention_nothing_is_known() -> None:
    sentence = SentenceState(Part("a", ""), (0,), SpelledPrefix(), [])
    hypothesis = Hypothesis([0], 0.0, 0.0, [], True)
    assert find_torn(cast("Document", SimpleNamespace()), sentence, hypothesis) == []
