"""Put back into a translation what was hidden from the model (`ReadableSource`).

Masks become what they stand for, tags go where the alignment says. The report then speaks of what
was kept, and of the text as it was given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.counting import find_met
from lexbeam.constraints.matching import Occurrence, find_excess, words_between
from lexbeam.text.casing import matches
from lexbeam.text.word_boundaries import Span, are_glued, occurrences
from lexbeam.translation.hidden_limits import LeftLimits
from lexbeam.translation.keep import Kept, fixed_stretches, kept_at, respaced
from lexbeam.translation.nbest import distinct
from lexbeam.translation.readable_source import ReadableSource
from lexbeam.translation.results import Alternative, ConstraintReport, Translation
from lexbeam.translation.spelled import report_on
from lexbeam.translation.tag_placement import Bounds, LineEnd, PlacedTag, place_tags
from lexbeam.translation.tags import is_tag
from lexbeam.translation.text_edits import AnyAlternative, Edit, Edits, edited

_DEEPEST = 8
"""So many tags may stand inside each other, in text that is no markup any more."""


@dataclass(frozen=True)
class Hiding:
    """A text of which something is hidden, and what a caller asks for without it."""

    source: ReadableSource
    asked: Constraints
    """What the search is to keep to: first what has nothing hidden in it."""
    later: tuple[int, ...] = ()
    """The numbers of demands of the caller that are looked for when all is put back."""

    @classmethod
    def nothing(cls, text: str, asked: Constraints) -> Hiding:
        """Hide nothing of a text."""
        return cls(ReadableSource.of(text, []), asked)

    @classmethod
    def choose(
        cls,
        text: str,
        find_kept: Callable[[str], list[Kept]],
        asked: Constraints,
        can_read: Callable[[str], bool],
        attends: bool,
    ) -> Hiding:
        """Hide some things that are to be kept: tags, and what can't be read.

        Tags are put back by the alignment; where there is none, they are not hidden. Nothing is
        hidden where a caller avoids words in it, or limits them to less than are in it, or has it
        in a prefix or a pattern.
        """
        nothing = cls.nothing(text, asked)
        hidden = [
            each
            for each in find_kept(text)
            if (attends and is_tag(each.text)) or not can_read(each.text)
        ]
        if not hidden:
            return nothing
        others = [form for each in (*asked.demanded, *asked.avoid) for form in _forms(each)]
        source = _hide_tags_left(text, hidden, find_kept, " ".join((*others, asked.prefix)))
        if source is None:
            return nothing
        hidden = source.hidden
        hides = {each.text for each in hidden}
        later = [i for i, each in enumerate(asked.demanded) if _speaks_of(each, hides)]
        in_prefix = any(each in asked.prefix for each in hides)
        if in_prefix or not all(_is_plain(asked.demanded[number]) for number in later):
            return nothing
        limits = LeftLimits.of(asked.demanded, asked.prefix, [each.text for each in hidden])
        avoided = [form for each in asked.avoid for form in _forms(each)]
        if limits is None or any(matches(e, form, "any", ()) for e in hides for form in avoided):
            return nothing
        later = sorted((*later, *limits.counted))
        return cls(source, _without(asked, hides, later, limits), tuple(later))


def _hide_tags_left(
    text: str, hidden: Sequence[Kept], find_kept: Callable[[str], list[Kept]], others: str
) -> ReadableSource | None:
    """Hide parts of a text; where a tag is left then, as of ``<co<b>de>``, it is hidden with them.

    None if tags are inside each other too many times.
    """
    for _ in range(_DEEPEST):
        source = ReadableSource.of(text, hidden, others)
        left = [each for each in find_kept(source.text) if is_tag(each.text)]
        if not source.tags or not left:
            return source
        spans = [source.to_given((each.start, each.end)) for each in left]
        hidden = _hide_together(text, hidden, spans)
    return None


def _hide_together(text: str, hidden: Sequence[Kept], spans: Sequence[Span]) -> list[Kept]:
    """Return what is hidden of a text, with all that stands in some places as one each."""
    apart = [
        (each.start, each.end)
        for each in hidden
        if not any(each.start < end and start < each.end for start, end in spans)
    ]
    return kept_at(text, sorted((*apart, *spans)))


def _without(
    asked: Constraints, texts: Set[str], later: Sequence[int], limits: LeftLimits
) -> Constraints:
    """Return what is asked for without some texts: other demands first, then what is left."""
    plain = [each for number, each in enumerate(asked.demanded) if number not in later]
    for number in (each for each in later if each not in limits.counted):
        left = _words_left(asked.demanded[number], texts)
        if left is not None and all(left.parts != each.parts for each in plain):
            plain.append(left)
    avoid = (each for each in asked.avoid if not _speaks_of(each, texts))
    return replace(asked, demanded=(*plain, *limits.demanded), avoid=(*avoid, *limits.avoid))


def _words_left(phrase: Constraint, texts: Set[str]) -> Constraint | None:
    """Return a phrase without some texts; None if nothing is left of one of its forms."""
    known = re.compile("|".join(map(re.escape, sorted(texts, key=len, reverse=True))))
    forms = [" ".join(known.sub(" ", form).split()) for form in phrase.parts[0]]
    return replace(phrase, parts=(tuple(dict.fromkeys(forms)),)) if all(forms) else None


def _speaks_of(constraint: Constraint, texts: Set[str]) -> bool:
    return any(text in form for form in _forms(constraint) for text in texts)


def _is_plain(constraint: Constraint) -> bool:
    """Return whether a constraint is a phrase that has to be there, however often it is."""
    limits = constraint.soft, constraint.at_most
    return constraint.is_phrase and not constraint.compound and limits == (None, None)


def _forms(constraint: Constraint) -> list[str]:
    return [form for part in constraint.parts for form in part]


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
        best = [
            self._reported(respaced(self._put_back(each), self.source.hidden, self.asked))
            for each in translation.nbest
        ]
        kept = [
            each
            for before, each in zip(translation.nbest, best, strict=True)
            if self._keeps_to_asked(each) and not self._adds_avoided(before.text, each.text)
        ]
        best = distinct(kept)
        if not best or best[0].score < translation.score:
            return None
        return replace(
            translation,
            text=best[0].text,
            constraints=best[0].constraints,
            alignment=best[0].alignment,
            nbest=best,
        )

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
        """Return whether tags inside of words have made something that is avoided."""
        return any(
            len(each.find(after, len(after))) > len(each.find(before, len(before)))
            for each in self.asked.avoid
        )

    def _put_back(self, alternative: AnyAlternative) -> AnyAlternative:
        """Return a translation with masks undone, and tags in it."""
        first = len(self.hiding.asked.demanded)
        reports = alternative.constraints[first : first + len(self.source.masks)]
        edits = [
            Edit(report.span[0], report.span[1] - report.span[0], part.kept.text)
            for report, part in zip(reports, self.source.masks, strict=True)
            if report.span
        ]
        if self.source.tags:
            bounds = self._bounds(alternative)
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

    def _bounds(self, alternative: AnyAlternative) -> Bounds:
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
        return Bounds(fixed, bool(prefix), ends, breaks)

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
