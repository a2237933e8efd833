"""Put back into a translation what was hidden from the model (`ReadableSource`).

Masks become what they stand for, tags go where the alignment says. The report then speaks of what
was kept, and of the text as it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.matching import Occurrence, find_excess
from lexbeam.text.casing import matches
from lexbeam.text.word_boundaries import Span, occurrences
from lexbeam.translation.keep import Kept, respaced
from lexbeam.translation.nbest import distinct
from lexbeam.translation.readable_source import ReadableSource
from lexbeam.translation.results import Translation
from lexbeam.translation.spelled import report_on
from lexbeam.translation.tag_placement import Bounds, LineEnd, PlacedTag, place_tags
from lexbeam.translation.tags import is_tag
from lexbeam.translation.text_edits import AnyAlternative, Edit, Edits, edited


def read_without(
    text: str,
    find_kept: Callable[[str], list[Kept]],
    asked: Constraints,
    can_read: Callable[[str], bool],
    attends: bool,
) -> ReadableSource:
    """Return a text with some things hidden that are to be kept: tags, and what can't be read.

    Tags are put back by the alignment; where there is none, they are not hidden. Where a caller
    speaks of something that would be hidden, nothing is: he asks for it in other ways. Nor is
    anything where a tag is left when others are gone, as of ``<c<b>ode>``.
    """
    kept = find_kept(text)
    hidden = [each for each in kept if (attends and is_tag(each.text)) or not can_read(each.text)]
    phrases = [form for each in (*asked.demanded, *asked.avoid) for form in _forms(each)]
    limited = [each for each in asked.demanded if each.at_most is not None]
    counted = [form for each in (*limited, *asked.avoid) for form in _forms(each)]
    for hides in {each.text for each in hidden}:
        if any(hides in phrase for phrase in (*phrases, asked.prefix)):
            return ReadableSource.of(text, [])
        if any(matches(hides, form, "any", ()) for form in counted):
            return ReadableSource.of(text, [])
    source = ReadableSource.of(text, hidden, " ".join((*phrases, asked.prefix)))
    if source.tags and any(is_tag(each.text) for each in find_kept(source.text)):
        return ReadableSource.of(text, [])
    return source


def _forms(constraint: Constraint) -> list[str]:
    return [form for part in constraint.parts for form in part]


@dataclass(frozen=True)
class Restoring:
    """What is needed to put hidden parts back into a translation."""

    source: ReadableSource
    asked: Constraints
    """What a caller asks for: what the report begins with. The masks come next in it."""
    hidden: Sequence[Constraint]
    """What is demanded of the hidden parts."""
    aligned: bool
    """Whether the caller wants the alignment, too."""

    def restore(self, translation: Translation) -> Translation:
        """Return a translation with everything that was hidden."""
        if not self.hidden:
            return translation
        best = [self._put_back(each) for each in translation.nbest]
        best = distinct(self._reported(respaced(each, self.source.hidden)) for each in best)
        return replace(
            translation,
            text=best[0].text,
            constraints=best[0].constraints,
            alignment=best[0].alignment,
            nbest=best,
        )

    def _put_back(self, alternative: AnyAlternative) -> AnyAlternative:
        """Return a translation with masks undone, and tags in it."""
        first = len(self.asked.demanded)
        reports = alternative.constraints[first : first + len(self.source.masks)]
        edits = [
            Edit(report.span[0], report.span[1] - report.span[0], part.kept.text)
            for report, part in zip(reports, self.source.masks, strict=True)
            if report.span
        ]
        if self.source.tags:
            bounds = self._bounds(alternative)
            edits += [Edit(each.at, 1, "") for each in bounds.breaks]
            edits += place_tags(
                [PlacedTag(part.kept.text, part.start) for part in self.source.tags],
                self.source.text,
                alternative.text,
                alternative.alignment or (),
                bounds,
            )
        return edited(alternative, Edits(edits))

    def _bounds(self, alternative: AnyAlternative) -> Bounds:
        """Return what tags may not get into, so that nothing that is met is lost."""
        fixed: list[Span] = []
        for number, report in enumerate(alternative.constraints):
            fixed += report.spans
            if number < len(self.asked.demanded) and report.spans:
                asked = self.asked.demanded[number]
                parts = 1 if asked.within is None else len(asked.parts)
                chains = zip(report.spans[::parts], report.spans[parts - 1 :: parts], strict=True)
                fixed += [(first[0], last[1]) for first, last in chains]
        prefix = self.asked.prefix.rstrip()
        fixed += [(0, len(prefix))] if prefix else []
        ends = any(each.at_end for each in self.asked.demanded)
        lines = [at for at, character in enumerate(alternative.text) if character == "\n"]
        breaks = [
            LineEnd(lines[each.number], each.first, each.last)
            for each in self.source.breaks
            if each.number < len(lines)
        ]
        return Bounds(fixed, bool(prefix), ends, breaks)

    def _reported(self, alternative: AnyAlternative) -> AnyAlternative:
        """Return a translation whose report speaks of the given text, and of what was kept."""
        text, moved = alternative.text, self.source.to_given
        reports = [
            replace(each, sources=tuple(map(moved, each.sources)))
            for each in alternative.constraints
        ]
        found = [_find(each, text) for each in self.hidden]
        excessive = set(find_excess(text, self.hidden, (0,)))
        own = [
            report_on(asked, text, there, None, number in excessive)
            for number, (asked, there) in enumerate(zip(self.hidden, found, strict=True))
        ]
        first = len(self.asked.demanded)
        masks = len(self.source.masks)
        links = alternative.alignment if self.aligned else None
        return replace(
            alternative,
            constraints=[*reports[:first], *own, *reports[first + masks :]],
            alignment=links and [replace(each, source=moved(each.source)) for each in links],
        )


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
