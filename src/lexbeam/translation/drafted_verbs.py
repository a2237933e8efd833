"""Terms that are nouns, where a draft shows that their source is a verb.

*The type controls where it runs*: *Steuerelemente* has no place in a sentence that says *steuert*.
The words around the source show only that it could be a verb
(`lexbeam.constraints.glossary.english`). It is one if the draft, a quick translation without
constraints, says it by a word without a capital, in a language that gives one to every noun. Only
what a glossary demands is left out, and the report says why.
"""

from __future__ import annotations

from collections.abc import Sequence

from lexbeam.search.beam import Hypothesis
from lexbeam.translation.displaced import SAID, SHORT, shares_of, split_words
from lexbeam.translation.document import Document
from lexbeam.translation.drafted_compounds import soften
from lexbeam.translation.sentence import SentenceState

REASON = "its source is a verb here"
"""What the report says of a term that is left out."""


def may_have_verbs(document: Document, sentence: SentenceState) -> bool:
    """Return whether a sentence has terms that are nouns and whose sources could be verbs."""
    return any(document.demand(piece.unit).asked.may_be_verb for piece in sentence.assigned)


def leave_verbs(document: Document, sentence: SentenceState, draft: Hypothesis) -> bool:
    """Take from a sentence the terms whose sources are verbs; return whether there are any."""
    if draft.attention is None or not may_have_verbs(document, sentence):
        return False
    text, spans = sentence.part.text, document.token_spans(sentence)
    words = split_words(document.target.pieces(draft.tokens))
    written = [document.target.decode(draft.tokens[start:end]).strip() for start, end in words]
    verbs = set()
    for index, tokens in document.ties(sentence, sentence.assigned).items():
        unit = sentence.assigned[index].unit
        source = text[spans[min(tokens)][0] : spans[max(tokens)][1]].strip()
        said = list(zip(shares_of(draft.attention, tokens, words), written, strict=True))
        if document.demand(unit).asked.may_be_verb and _is_verb(said, source):
            verbs.add(unit)
    soften(document, verbs, soft=0.0, because=REASON)
    sentence.left |= verbs
    sentence.assigned = [piece for piece in sentence.assigned if piece.unit not in verbs]
    return bool(verbs)


def _is_verb(said: Sequence[tuple[float, str]], source: str) -> bool:
    """Return whether what a draft says for a source has no capital, and is not copied from it.

    ``said`` are the words of the draft, each with its share of attention.
    """
    clear = [(share, word) for share, word in said if share >= SAID and len(word) > SHORT]
    return bool(clear) and all(word[0].islower() and word != source.casefold() for _, word in clear)
