"""Whether a translation that was made without constraints has all that they ask for."""

from __future__ import annotations

from collections.abc import Collection

from lexbeam.constraints.matching import find_all, find_excess
from lexbeam.search.beam import Hypothesis
from lexbeam.text.word_boundaries import word_end
from lexbeam.translation.document import Document
from lexbeam.translation.sentence import SentenceState


def has_everything(
    document: Document,
    sentence: SentenceState,
    hypothesis: Hypothesis,
    but: Collection[int] = (),
) -> bool:
    """Return whether a hypothesis has its prefix and what is assigned, and nothing too often.

    The units in ``but`` need not be there.
    """
    if not sentence.prefix.begins(hypothesis.tokens):
        return False
    text = document.text_of(sentence, hypothesis)
    if _goes_on_with_prefix(sentence, text) or document.avoidance.find(text):
        return False
    assigned = [piece for piece in sentence.assigned if piece.unit not in but]
    numbers = sorted({document.units[piece.unit] for piece in assigned})
    wanted = [
        document.demand(piece.unit).surface.cut(piece.first, piece.last) for piece in assigned
    ]
    if not all(find_all(text, wanted, sentence.starts)):
        return False
    surfaces = [document.demands[number].surface for number in numbers]
    return not find_excess(text, surfaces, sentence.starts)


def _goes_on_with_prefix(sentence: SentenceState, text: str) -> bool:
    """Return whether a text goes on with the last word of a prefix that is to be whole."""
    if not sentence.prefix.whole:
        return False
    shown = sentence.prefix.spellings[0].surface
    return text.startswith(shown) and word_end(text, len(shown)) > len(shown)
