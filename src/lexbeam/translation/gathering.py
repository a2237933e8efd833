"""Places of what is limited, and of what has it in it, in a text of several sentences.

Each constraint goes to the sentence that loses least by it. But where a phrase may occur only so
often (``exactly``, ``at_most``), it has to be said where something else has it anyway: *Hand*,
exactly twice, in the sentence of *Hand in Hand*. And what can only keep to the limit by sharing
words has to be in one sentence.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.counting import least_inside, may_be_inside
from lexbeam.translation.document import Document
from lexbeam.translation.sentence import Piece, SentenceState


def gather(document: Document) -> set[int]:
    """Assign what is limited to the sentences of what has it; return the units that moved.

    What has a source stays with that as long as the limit can be kept so.
    """
    asked = [demand.asked for demand in document.demands]
    limited = dict.fromkeys(
        each.once
        for each in asked
        if each.at_most is not None and not (each.source_spans and each.is_from_source)
    )
    moved: set[int] = set()
    for phrase in limited:
        places = _Places(document, phrase)
        moved |= places.share_one_sentence()
        moved |= places.move_to_holders()
    return moved


class _Places:
    """A phrase that is limited, and where it is within all else that has to be said."""

    def __init__(self, document: Document, phrase: Constraint) -> None:
        self._document = document
        self._phrase = phrase
        self._numbers = {
            number for number, demand in enumerate(document.demands) if demand.asked.once == phrase
        }
        self._limit = sum(document.demands[each].asked.at_most or 0 for each in self._numbers)
        self._inside: dict[tuple[int, int, int], int] = {}

    def share_one_sentence(self) -> set[int]:
        """Put all that has the phrase into one sentence if apart they have it too often.

        What can't move stays where it is; else they go where most of it is, or its source.
        """
        sentences = self._document.sentences
        needs = [self._says(each) for each in sentences]
        if sum(needs) <= self._limit:
            return set()
        holders = [self._holders(each) for each in sentences]
        movable = [[piece for piece in pieces if self._may_move(piece)] for pieces in holders]
        tied = [len(self._own(each)) if self._phrase.source_spans else 0 for each in sentences]
        best = max(
            range(len(needs)),
            key=lambda i: (len(holders[i]) - len(movable[i]), tied[i], needs[i], -i),
        )
        moves = [
            (piece, sentences[index])
            for index, pieces in enumerate(movable)
            if index != best
            for piece in pieces
        ]
        for piece, giver in moves:
            move(self._document, piece, giver, sentences[best])
        return {piece.unit for piece, _ in moves}

    def move_to_holders(self) -> set[int]:
        """Assign the phrase to the sentences that have it anyway, as often as they do."""
        sentences = self._document.sentences
        if self._phrase.source_spans and sum(map(self._says, sentences)) <= self._limit:
            return set()
        wanting: list[SentenceState] = []
        spare: list[tuple[SentenceState, Piece]] = []
        for sentence in sentences:
            own, needed = self._own(sentence), self._needs(sentence)
            wanting += [sentence] * (needed - len(own))
            spare += [(sentence, piece) for piece in own[needed:]]
        moves = list(zip(wanting, spare, strict=False))
        for taker, (giver, piece) in moves:
            move(self._document, piece, giver, taker)
        return {piece.unit for _, (_, piece) in moves}

    def _own(self, sentence: SentenceState) -> list[Piece]:
        """Return where a sentence has to say the phrase itself."""
        return [p for p in sentence.assigned if self._document.units[p.unit] in self._numbers]

    def _says(self, sentence: SentenceState) -> int:
        """Return how often a sentence has the phrase at least, where it has to stay there."""
        needed = self._needs(sentence)
        return max(needed, len(self._own(sentence))) if self._phrase.source_spans else needed

    def _needs(self, sentence: SentenceState) -> int:
        """Return how often a sentence has the phrase at least, in all else that it has to say."""
        said = Counter(self._key(piece) for piece in self._holders(sentence))
        return sum(
            least_inside(self._phrase, replace(self._cut(key), count=count))
            for key, count in said.items()
        )

    def _holders(self, sentence: SentenceState) -> list[Piece]:
        """Return what else a sentence has to say that has the phrase in it."""
        return [piece for piece in sentence.assigned if self._has_it(piece)]

    def _has_it(self, piece: Piece) -> bool:
        key = self._key(piece)
        if key[0] in self._numbers or self._document.is_soft(piece.unit):
            return False
        if key not in self._inside:
            asked = self._document.demands[key[0]].asked
            may_be = may_be_inside(self._phrase, asked)
            self._inside[key] = least_inside(self._phrase, self._cut(key)) if may_be else 0
        return self._inside[key] > 0

    def _key(self, piece: Piece) -> tuple[int, int, int]:
        return self._document.units[piece.unit], piece.first, piece.last

    def _cut(self, key: tuple[int, int, int]) -> Constraint:
        number, first, last = key
        return self._document.demands[number].asked.cut(first, last)

    def _may_move(self, piece: Piece) -> bool:
        """Return whether something may be said in any sentence: all of it, and for no source."""
        asked = self._document.demand(piece.unit).asked
        is_tied = asked.at_end or asked.source_spans or asked.part_sources
        return not is_tied and piece == self._document.whole(piece.unit)


def move(document: Document, piece: Piece, giver: SentenceState, taker: SentenceState) -> None:
    """Let another sentence say something; one without ties may say what they have displaced."""
    giver.assigned.remove(piece)
    taker.assigned = sorted((*taker.assigned, piece))
    if giver.displaced and not document.ties(giver, giver.assigned):
        giver.displaced = []
