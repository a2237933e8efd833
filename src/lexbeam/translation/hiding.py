"""What a model does not see of a text, and what a caller asks for without it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.text.casing import matches
from lexbeam.text.word_boundaries import Span
from lexbeam.translation.hidden_limits import LeftLimits
from lexbeam.translation.keep import Kept, kept_at
from lexbeam.translation.readable_source import ReadableSource
from lexbeam.translation.tags import is_tag

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

        Tags are put back by the alignment; where there is none, they are not hidden. Nor is what a
        caller speaks of in other ways than as a phrase (`_spoken_of`), and then no tag is if one
        of them is not: they are demanded in their order.
        """
        hidden = [
            each
            for each in find_kept(text)
            if (attends and is_tag(each.text)) or not can_read(each.text)
        ]
        others = [form for each in (*asked.demanded, *asked.avoid) for form in _forms(each)]
        while hidden:
            source = _hide_tags_left(text, hidden, find_kept, " ".join((*others, asked.prefix)))
            if source is None:
                break
            spoken_of = _spoken_of([each.text for each in source.hidden], asked)
            if not spoken_of:
                return cls._without(source, asked)
            no_tags = any(map(is_tag, spoken_of))
            hidden = [
                each
                for each in source.hidden
                if each.text not in spoken_of and not (no_tags and is_tag(each.text))
            ]
        return cls.nothing(text, asked)

    @classmethod
    def _without(cls, source: ReadableSource, asked: Constraints) -> Hiding:
        """Return what is asked for without what is hidden."""
        hidden = [each.text for each in source.hidden]
        limits = LeftLimits.of(asked.demanded, asked.prefix, hidden)
        assert limits is not None  # else a caller would speak of it
        spoken = [i for i, each in enumerate(asked.demanded) if _speaks_of(each, hidden)]
        later = sorted((*spoken, *limits.counted))
        return cls(source, _without(asked, set(hidden), later, limits), tuple(later))


def _spoken_of(hidden: Sequence[str], asked: Constraints) -> set[str]:
    """Return the texts that must not be hidden: for what a caller asks for they have to be seen.

    He has them in a prefix or a pattern, avoids words in them, or limits words to less than are in
    them.
    """
    patterns = [form for each in asked.demanded if not _is_plain(each) for form in _forms(each)]
    avoided = [form for each in asked.avoid for form in _forms(each)]
    limited: list[str] = []
    if LeftLimits.of(asked.demanded, asked.prefix, hidden) is None:
        limited = [form for each in asked.demanded if each.at_most for form in _forms(each)]
    return {
        text
        for text in hidden
        if any(text in each for each in (*patterns, asked.prefix))
        or any(matches(text, form, "any", ()) for form in (*avoided, *limited))
    }


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


def _speaks_of(constraint: Constraint, texts: Iterable[str]) -> bool:
    return any(text in form for form in _forms(constraint) for text in texts)


def _is_plain(constraint: Constraint) -> bool:
    """Return whether a constraint is a phrase that has to be there, however often it is."""
    limits = constraint.soft, constraint.at_most
    return constraint.is_phrase and not constraint.compound and limits == (None, None)


def _forms(constraint: Constraint) -> list[str]:
    return [form for part in constraint.parts for form in part]
