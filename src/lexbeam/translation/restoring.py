"""Put back into a translation what was hidden from the model (`ReadableSource`).

Masks become what they stand for, tags go where the alignment says. The report then speaks of what
was kept, and of the text as it was given.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.counting import find_met
from lexbeam.constraints.matching import Occurrence, find_excess, words_between
from lexbeam.text.word_boundaries import Span, are_glued, occurrences
from lexbeam.translation.hiding import Hiding
from lexbeam.translation.kept_spaces import fixed_stretches, respaced
from lexbeam.translation.nbest import distinct
from lexbeam.translation.readable_source import ReadableSource
from lexbeam.translation.results import Alternative, ConstraintReport, Translation
from lexbeam.translation.spelled import report_on
from lexbeam.translation.tag_placement import Bounds, LineEnd, PlacedTag, place_tags
from lexbeam.translation.text_edits import AnyAlternative, Edit, Edits, edited


@dataclass(frozen=True)
class Restoring:
    """What is needed to put hidden parts back into a translation."""

    hiding: Hiding
    asked: Constraints
    """What the caller asks for. The report begins with what the search knows of it, then come the
    masks."""
    hidden: Sequence[Constraint]
    """What is demanded of the hidden parts."""
    aligned: bool
    """Whether the caller wants the alignment, too."""

    @property
    def source(self) -> ReadableSource:
        """The text without what is hidden."""
        return self.hiding.source

    def restore(self, translation: Translation) -> Translation | None:
        """Return a translation with everything that was hidden.

        None if it then lacks something that the caller asks for, or has something he avoids.
        """
        if not self.hidden:
            return translation
        restored = [self._restored(each) for each in translation.nbest]
        best = distinct(each for each in restored if each and self._keeps_to_asked(each))
        if not best or best[0].score < translation.score:
            return None
        return replace(
            translation,
            text=best[0].text,
            constraints=best[0].constraints,
            alignment=best[0].alignment,
            nbest=best,
        )

    def _restored(self, alternative: Alternative) -> Alternative | None:
        """Return one translation with what was hidden; None if it then has something avoided.

        A tag inside of a copied word may make two words of it, of which one is avoided: then no
        tag goes into a word.
        """
        for outside_words in (False, True):
            put_back = self._put_back(alternative, outside_words)
            found = self._reported(respaced(put_back, self.source.hidden, self.asked))
            if not self._adds_avoided(alternative.text, found.text):
                return found
        return None

    def _keeps_to_asked(self, alternative: Alternative) -> bool:
        """Return whether a text has what was hidden, and what is looked for when it is put back.

        A model may write other words that begin with a mask, and the mask nowhere.
        """
        if not all(alternative.constraints[number].met for number in self.hiding.later):
            return False
        first = len(self.asked.demanded)
        if any(each.span is None for each in alternative.constraints[first:][: len(self.hidden)]):
            return False
        pairs = zip(self.asked.demanded, alternative.constraints, strict=False)
        if not all(_keeps_near(each, report, alternative.text) for each, report in pairs):
            return False
        given_up = set(self.asked.avoid) - set(self.hiding.asked.avoid)
        return not any(each.find(alternative.text) for each in given_up)

    def _adds_avoided(self, before: str, after: str) -> bool:
        """Return whether a text has more of what is avoided since tags are in it."""
        return any(
            len(each.find(after, len(after))) > len(each.find(before, len(before)))
            for each in self.asked.avoid
        )

    def _put_back(self, alternative: AnyAlternative, outside_words: bool) -> AnyAlternative:
        """Return a translation with masks undone, and tags in it: all outside of words, or not."""
        first = len(self.hiding.asked.demanded)
        reports = alternative.constraints[first : first + len(self.source.masks)]
        edits = [
            Edit(report.span[0], report.span[1] - report.span[0], part.kept.text)
            for report, part in zip(reports, self.source.masks, strict=True)
            if report.span
        ]
        if self.source.tags:
            bounds = self._bounds(alternative, outside_words)
            placed = place_tags(
                [PlacedTag(part.kept.text, part.start) for part in self.source.tags],
                self.source.text,
                alternative.text,
                alternative.alignment or (),
                bounds,
            )
            with_tags = {edit.at for edit in placed}
            edits += [
                Edit(each.at, 1, _parting(alternative.text, each.at, with_tags))
                for each in bounds.breaks
            ]
            edits += placed
        return edited(alternative, Edits(edits))

    def _bounds(self, alternative: AnyAlternative, outside_words: bool) -> Bounds:
        """Return what tags may not get into, so that nothing that is met is lost."""
        fixed = [span for each in alternative.constraints for span in fixed_stretches(each)]
        prefix = self.asked.prefix.rstrip()
        fixed += [(0, len(prefix))] if prefix else []
        ends = any(each.at_end for each in self.asked.demanded)
        lines = [at for at, character in enumerate(alternative.text) if character == "\n"]
        breaks = [
            LineEnd(lines[each.number], each.first, each.last)
            for each in self.source.breaks
            if each.number < len(lines)
        ]
        return Bounds(fixed, bool(prefix), ends, breaks, outside_words)

    def _reported(self, alternative: AnyAlternative) -> AnyAlternative:
        """Return a translation whose report speaks of the given text, and of what was kept."""
        text, moved = alternative.text, self.source.to_given
        reports = [
            replace(each, sources=tuple(map(moved, each.sources)))
            for each in alternative.constraints
        ]
        kept = self._reports_on(self.hidden, [_find(each, text) for each in self.hidden], text)
        later = [self.asked.demanded[number] for number in self.hiding.later]
        spoken_of = iter(self._reports_on(later, find_met(text, later, (0,)), text))
        plain = iter(reports)
        own = [
            next(spoken_of) if number in self.hiding.later else next(plain)
            for number in range(len(self.asked.demanded))
        ]
        first = len(self.hiding.asked.demanded) + len(self.source.masks)
        links = alternative.alignment if self.aligned else None
        return replace(
            alternative,
            constraints=[*own, *kept, *reports[first:]],
            alignment=links and [replace(each, source=moved(each.source)) for each in links],
        )

    def _reports_on(
        self, asked: Sequence[Constraint], found: Sequence[Sequence[Occurrence]], text: str
    ) -> list[ConstraintReport]:
        """Return what became of constraints in a text, in which they were found."""
        excessive = set(find_excess(text, asked, (0,)))
        return [
            report_on(each, text, there, None, number in excessive)
            for number, (each, there) in enumerate(zip(asked, found, strict=True))
        ]


def _keeps_near(asked: Constraint, report: ConstraintReport, text: str) -> bool:
    """Return whether no more words stand between the parts of a constraint than it allows.

    What is hidden is one word to the search; put back, it may have spaces.
    """
    if asked.within is None:
        return True
    between = [
        words_between(text, before[1], after[0])
        for number, (before, after) in enumerate(pairwise(report.spans), 1)
        if number % len(asked.parts)
    ]
    return max(between, default=0) <= asked.within


def _parting(text: str, line_end: int, with_tags: Set[int]) -> str:
    """Return what parts a line from the next: mostly nothing, since a tag stands there.

    A combining mark would become part of the tag. ``with_tags`` are the offsets that have one.
    """
    following = text[line_end + 1 : line_end + 2]
    if not with_tags & {line_end, line_end + 1}:
        return " "
    return " " if following and are_glued(">", following) else ""


def _find(asked: Constraint, text: str) -> list[Occurrence]:
    """Return the occurrences of something that is kept: a phrase, or tags in their order.

    There may be thousands of tags: each is looked for behind the one before it, and once only.
    """
    if len(asked.parts) == 1:
        return asked.find(text, asked.count)
    spans: list[Span] = []
    for (form,) in asked.parts:
        span = next(occurrences(text, form, spans[-1][1] if spans else 0), None)
        if span is None:
            return []
        spans.append(span)
    return [tuple(spans)]
