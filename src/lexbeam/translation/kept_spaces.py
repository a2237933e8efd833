"""Give what was kept of a source the spaces around it, and in it, that it had there."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from unicodedata import normalize

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.text.word_boundaries import Span, are_glued, is_word_character, occurrences
from lexbeam.translation.keep import Kept
from lexbeam.translation.nbest import distinct
from lexbeam.translation.results import ConstraintReport, Translation
from lexbeam.translation.tags import TAG, is_tag, parts_words
from lexbeam.translation.text_edits import AnyAlternative, Edit, Edits, edited

_TAG = re.compile(TAG)
_TAGS = re.compile(f"(?:{TAG})+")
_NOTHING = Constraints()


def respace(
    translation: Translation, kept: Sequence[Kept], asked: Constraints = _NOTHING
) -> Translation:
    """Return a translation in which what was kept has the spaces that it had in the source.

    Translations that differ in nothing else are then one. ``asked`` is what they keep to.
    """
    if not kept:
        return translation
    best = distinct(respaced(each, kept, asked) for each in translation.nbest)
    return replace(respaced(translation, kept, asked), nbest=best)


def respaced(
    alternative: AnyAlternative, kept: Sequence[Kept], asked: Constraints = _NOTHING
) -> AnyAlternative:
    """Return one translation in which what was kept has the spaces that it had in the source.

    It stays as it is where something avoided or limited would come about.
    """
    found = alternative
    for find_edits in (_edits, _edits_in_words):
        fixed = [span for report in found.constraints for span in fixed_stretches(report)]
        prefix = asked.prefix.rstrip()
        fixed.append((0, max(len(prefix), len(normalize("NFC", prefix)))))
        edits = set(find_edits(found.text, kept))
        free = (e for e in edits if not any(start < e.at < end for start, end in fixed))
        found = edited(found, Edits(free))
    limits = [(each, 0) for each in asked.avoid]
    limits += [(each, each.at_most) for each in asked.demanded if each.at_most is not None]
    if any(_breaks(each, limit, alternative.text, found.text) for each, limit in limits):
        return alternative
    return found


def restore_white_space(
    translation: Translation, given: str, kept: Sequence[Kept], asked: Constraints
) -> Translation:
    """Return a translation in which kept things have the white space of the text that was given.

    The search knows them with single spaces. What a caller asks for (``asked``, the first of what
    is reported) stays as it is; and so do words that stood on two lines, which were translated one
    by one. Only a tag may have a line break in it.
    """
    written = {each: given[each.start : each.end] for each in kept}
    odd = {
        each.text
        for each, text in written.items()
        if text != each.text and ("\n" not in text or text.startswith("<"))
    }
    if not odd:
        return translation
    some = [each for each in kept if each.text in odd]
    best = [_with_white_space(each, given, some, asked) for each in translation.nbest]
    return replace(_with_white_space(translation, given, some, asked), nbest=best)


def _with_white_space(
    alternative: AnyAlternative, given: str, kept: Sequence[Kept], asked: Constraints
) -> AnyAlternative:
    text = alternative.text
    written: defaultdict[str, list[str]] = defaultdict(list)
    for each in kept:
        written[each.text].append(given[each.start : each.end])
    reports = alternative.constraints[: len(asked.demanded)]
    fixed = [(0, len(asked.prefix)), *(span for each in reports for span in each.spans)]
    edits = set()
    for phrase, there in written.items():
        places = [number for number, character in enumerate(phrase) if character == " "]
        for number, (start, end) in enumerate(occurrences(text, phrase)):
            if any(first < end and start < last for first, last in fixed):
                continue
            spaces = re.findall(r"\s+", there[min(number, len(there) - 1)])
            edits |= {Edit(start + at, 1, space) for at, space in zip(places, spaces, strict=True)}
    found = edited(alternative, Edits(edits))
    return replace(found, constraints=[_read_again(each, found.text) for each in found.constraints])


def _read_again(report: ConstraintReport, text: str) -> ConstraintReport:
    """Return a report whose form is as it stands in a text now; only white space has changed."""
    if report.form is None or not report.spans:
        return report
    parts = report.form.count(" … ") + 1
    form = " … ".join(text[slice(*span)] for span in report.spans[:parts])
    return replace(report, form=form) if form.split() == report.form.split() else report


def _breaks(constraint: Constraint, limit: int, before: str, after: str) -> bool:
    """Return whether something occurs more often than it may, and than it did before."""
    if before == after:
        return False
    there = len(constraint.find(after, len(after)))
    return there > limit and there > len(constraint.find(before, len(before)))


def _edits(text: str, kept: Sequence[Kept]) -> Iterator[Edit]:
    """Yield the spaces to remove or insert around what was kept."""
    sources: defaultdict[str, list[Kept]] = defaultdict(list)
    for each in kept:
        sources[each.text].append(each)
    numbers: Counter[str] = Counter()
    reach = 0
    for start, end in sorted(
        (span for phrase in sources for span in occurrences(text, phrase)),
        key=lambda span: (span[0], -span[1]),
    ):
        if end <= reach:  # It is a part of something else that was kept.
            continue
        reach, phrase = end, text[start:end]
        there = sources[phrase]
        source = there[min(numbers[phrase], len(there) - 1)]
        numbers[phrase] += 1
        if not _is_in_word(source):
            yield from _edit(text, start, end, source.before, -1)
            yield from _edit(text, start, end, source.after, 1)


def _edits_in_words(text: str, kept: Sequence[Kept]) -> Iterator[Edit]:
    """Yield the spaces to remove around tags that stood inside of words.

    The words on both sides of a tag may be two in the output: these stay apart.
    """
    inside = {each.text for each in kept if _is_in_word(each)}
    for run in _TAGS.finditer(text) if inside else ():
        start, end = run.span()
        tags = [tag[0] for tag in _TAG.finditer(run[0])]
        if text[max(start - 1, 0)] == text[end : end + 1] == " ":
            if tags[0] in inside:
                yield Edit(start - 1, 1, "")
            elif tags[-1] in inside:
                yield Edit(end, 1, "")


def _is_in_word(kept: Kept) -> bool:
    """Return whether something is a tag that stood inside of a word."""
    inside = is_word_character(kept.before) and is_word_character(kept.after)
    return inside and is_tag(kept.text) and not parts_words(kept.text)


def _edit(text: str, start: int, end: int, neighbour: str, side: int) -> Iterator[Edit]:
    """Yield the change that is needed on one side of a span, if any."""
    edge, at = (text[start], start) if side < 0 else (text[end - 1], end)
    beside = text[at - 1 : at] if side < 0 else text[at : at + 1]
    beyond = text[at - 2 : at - 1] if side < 0 else text[at + 1 : at + 2]
    if beside == " " and beyond and _alike(neighbour, beyond):
        left, right = (beyond, edge) if side < 0 else (edge, beyond)
        if not are_glued(left, right):
            yield Edit(at - 1 if side < 0 else at, 1, "")
    elif neighbour.isspace() and beside and (is_word_character(beside) or beside == edge):
        yield Edit(at, 0, " ")


def _alike(neighbour: str, other: str) -> bool:
    """Return whether two characters are alike: the same mark, or both part of words."""
    return neighbour == other or (is_word_character(neighbour) and is_word_character(other))


def fixed_stretches(report: ConstraintReport) -> list[Span]:
    """Return the stretches of a translation that must stay as they are for a constraint.

    They are its parts; if the words between them are counted, what stands between them, too.
    """
    spans = list(report.spans) or ([report.span] if report.span else [])
    if isinstance(report.asked, Mapping) and "within" in report.asked:
        parts = len(report.asked.get("gap", ())) or 1
        chains = zip(spans[::parts], spans[parts - 1 :: parts], strict=False)
        spans += [(first[0], last[1]) for first, last in chains]
    return spans
