"""Text with inline codes in it: what a code is, and how a text is laid out for the model.

A marked text is a sequence of strings and codes. A code *stands for a word* (``%s``, ``{name}``,
``<x/>``): the model sees a mask in its place. Or it stands *around words* (``<b>`` and
``</b>``) or *between* them (``<br/>``): the model does not see it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from lexbeam.text.sentence_splitter import split_text

Kind = Literal["word", "open", "close", "point", "break"]


@dataclass(frozen=True, slots=True)
class Code:
    """An inline code: ``raw`` is how it is written, and ``kind`` how it is dealt with.

    - ``word``: stands for a word, or a number if ``number``;
    - ``open`` and ``close``: a pair around words, both with the same number in ``pair``;
    - ``point``: stands between words;
    - ``break``: cuts the text; both sides are translated by themselves.

    ``mask`` is what the model may see instead of the code where that is better than a made-up
    word: ``&`` for ``&amp;``. ``verbatim`` says that ``raw`` is in the notation of the file
    already; otherwise it is text that is escaped like any other. Codes that are ``ordered`` must
    keep their order: the first ``%s`` is the first argument.
    """

    raw: str
    kind: Kind = "word"
    pair: int = 0
    number: bool = False
    mask: str | None = None
    verbatim: bool = False
    ordered: bool = False


Part = str | Code
MarkedText = tuple[Part, ...]
Target = list[str | int]
"""A translated marked text: strings, and codes as their places in the source."""


_LETTER_OR_NUMBER = re.compile(r"[^\W\d_]")


def has_letters(text: str) -> bool:
    """Return whether there is anything to translate in a text."""
    found = _LETTER_OR_NUMBER.search(text)
    return found is not None and any(map(str.isalpha, text[found.start() :]))


def is_translatable(marked: MarkedText) -> bool:
    """Return whether a marked text has letters outside of its codes."""
    return any(isinstance(part, str) and has_letters(part) for part in marked)


def plain(marked: MarkedText) -> str:
    """Return a marked text as a reader sees it in the file."""
    return "".join(part if isinstance(part, str) else part.raw for part in marked)


def join_texts(parts: Iterable[Part]) -> list[Part]:
    """Return parts with the texts that stand side by side as one."""
    joined: list[Part] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


def fill_in(target: Target, source: MarkedText) -> MarkedText:
    """Return a translated text with the codes of its source."""
    return tuple(part if isinstance(part, str) else source[part] for part in target)


def balanced(marked: Sequence[Part]) -> MarkedText:
    """Return a marked text whose pairs are properly nested; what crosses becomes a point."""
    good = _nested(marked)
    number = 0
    numbers: dict[int, list[int]] = {}
    result: list[Part] = []
    for i, part in enumerate(marked):
        if isinstance(part, str) or part.kind not in ("open", "close"):
            result.append(part)
        elif i not in good:
            result.append(_changed(part, "point", 0))
        elif part.kind == "open":
            number += 1
            numbers.setdefault(part.pair, []).append(number)
            result.append(_changed(part, "open", number))
        else:
            result.append(_changed(part, "close", numbers[part.pair].pop()))
    return tuple(result)


def _nested(marked: Sequence[Part]) -> set[int]:
    """Return the codes whose pairs cross no other."""
    opened: list[int] = []
    places: dict[int, list[int]] = {}  # of each pair: where its openings stand in ``opened``
    good: set[int] = set()
    for i, part in enumerate(marked):
        if isinstance(part, str):
            continue
        if part.kind == "open":
            places.setdefault(part.pair, []).append(len(opened))
            opened.append(i)
        elif part.kind == "close":
            stack = places.get(part.pair, [])
            while stack and not _opens(marked, opened, stack[-1], part.pair):
                stack.pop()  # it was crossed by another pair
            if stack:
                at = stack.pop()
                good |= {opened[at], i}
                del opened[at:]
    return good


def _opens(marked: Sequence[Part], opened: Sequence[int], at: int, pair: int) -> bool:
    return at < len(opened) and _pair(marked[opened[at]]) == pair


def _pair(part: Part) -> int:
    return part.pair if isinstance(part, Code) else 0


def _changed(code: Code, kind: Kind, pair: int) -> Code:
    return replace(code, kind=kind, pair=pair)


def segments(marked: MarkedText) -> Iterator[tuple[int, int]]:
    """Yield the stretches between breaks, each with the break that ends it.

    A break in a pair cuts the text if the pair has no words behind it.
    """
    depth = start = 0
    broken = False
    for i, part in enumerate(marked):
        if _is_content(part):
            if broken and not depth and i > start:
                yield start, i
                start = i
            broken = False
        elif isinstance(part, Code):
            if part.kind == "open" and broken and not depth and i > start:
                yield start, i
                start, broken = i, False
            depth += (part.kind == "open") - (part.kind == "close")
            broken = broken or part.kind == "break"
    yield start, len(marked)


def sentences(marked: MarkedText) -> tuple[MarkedText, list[int]]:
    """Return a text with its strings cut at the ends of sentences, and where each part was.

    A cut is an empty break; it is made only outside of pairs.
    """
    shown = "".join(part if isinstance(part, str) else _stand_in(part) for part in marked)
    starts = {part.start for part in split_text(shown, lambda _: True)[1:]}
    parts: list[Part] = []
    places: list[int] = []
    depth = at = 0
    for i, part in enumerate(marked):
        if isinstance(part, str):
            cuts = [at_ - at for at_ in sorted(starts) if at < at_ < at + len(part)]
            for first, last in zip([0, *cuts], [*cuts, len(part)], strict=True):
                if first and not depth:
                    parts.append(CUT)
                    places.append(-1)
                parts.append(part[first:last])
                places.append(i)
            at += len(part)
        else:
            depth += (part.kind == "open") - (part.kind == "close")
            if at in starts and at and not depth:
                parts.append(CUT)
                places.append(-1)
            parts.append(part)
            places.append(i)
            at += len(_stand_in(part))
    return tuple(parts), places


CUT = Code("", "break")
"""Where one sentence ends and another begins."""


def _stand_in(code: Code) -> str:
    return "X" if code.kind == "word" else ""


class Pair(NamedTuple):
    """Two codes around words, and the stretch of the model's source they enclose."""

    opening: int
    closing: int
    start: int
    end: int


class Point(NamedTuple):
    """A code between words, and its offset in the model's source."""

    code: int
    at: int


class Mask(NamedTuple):
    """What stands for a code in the model's source."""

    text: str
    code: int
    at: int
    ordered: bool = False


NUMBERS = ("47", "63", "82", "94", "58", "76", "37", "69", "83", "96")
STYLES = ("ID{}", "[{}]", "{{name{}}}")
"""Masks that models copy, the best first (measured on interface strings)."""


@dataclass
class Layout:
    """A stretch of a marked text as the model sees it, with the places of its codes.

    ``before`` and ``after`` are what stands around the words: it is put back as it was.
    """

    source: MarkedText
    text: str = ""
    before: list[str | int] = field(default_factory=list)
    after: list[str | int] = field(default_factory=list)
    masks: list[Mask] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)

    @classmethod
    def of(cls, source: MarkedText, start: int, end: int, style: int = 0) -> Layout:
        """Lay out the parts from ``start`` to ``end`` with one style of masks."""
        layout = cls(source)
        first, last = layout._strip(start, end)
        layout._write(first, last, style)
        return layout

    def _strip(self, start: int, end: int) -> tuple[int, int]:
        """Take off what surrounds all words; return what remains."""
        enclosing = self._enclosing(start, end)
        while start < end and self._outer(start, enclosing):
            self.before.append(start)
            start += 1
        while end > start and self._outer(end - 1, enclosing):
            self.after.append(end - 1)
            end -= 1
        self.after.reverse()
        return start, end

    def _enclosing(self, start: int, end: int) -> set[int]:
        """Return the pairs that open before the first word and close after the last."""
        content = [i for i in range(start, end) if _is_content(self.source[i])]
        if not content:
            return set(range(1, len(self.source) + 1))
        opened = {_pair(self.source[i]) for i in range(start, content[0])}
        return opened & {_pair(self.source[i]) for i in range(content[-1] + 1, end)}

    def _outer(self, index: int, enclosing: set[int]) -> bool:
        part = self.source[index]
        if isinstance(part, str):
            return not part.strip()
        return part.kind in ("point", "break") or part.pair in enclosing

    def _write(self, start: int, end: int, style: int) -> None:
        used = "".join(part for part in self.source[start:end] if isinstance(part, str))
        names = mask_names(used, style)
        opened: dict[int, tuple[int, int]] = {}
        for i in range(start, end):
            part = self.source[i]
            if isinstance(part, str):
                joint = self.text[-1:] == " " == part[:1]  # on both sides of a code
                self.text += part[1:] if joint else part
            elif part.kind == "word":
                mask = _mask(part, names, used, style)
                self.masks.append(Mask(mask, i, len(self.text), part.ordered))
                self.text += mask
            elif part.kind == "open":
                opened[part.pair] = (i, len(self.text))
            elif part.kind == "close":
                opening, at = opened.pop(part.pair)
                self.pairs.append(Pair(opening, i, at, len(self.text)))
            else:
                self._point(i, end)
        self.pairs.sort(key=lambda pair: pair.opening)
        self._trim()

    def _point(self, index: int, end: int) -> None:
        """Note a code between words; the words themselves must not run together."""
        self.points.append(Point(index, len(self.text)))
        following = self.source[index + 1] if index + 1 < end else " "
        code = self.source[index]
        splits = isinstance(code, Code) and code.raw.lstrip("&<").lower().startswith(("br", "lb"))
        glued = isinstance(following, str) and following[:1].isalnum() and self.text[-1:].strip()
        if splits and glued:
            self.text += " "

    def _trim(self) -> None:
        """Take white space off both ends of the text."""
        stripped = self.text.lstrip()
        cut = len(self.text) - len(stripped)
        if cut:
            self.before.append(self.text[:cut])
        trailing = stripped[len(stripped.rstrip()) :]
        if trailing:
            self.after.insert(0, trailing)
        self.text = stripped.rstrip()
        size = len(self.text)

        def moved(at: int) -> int:
            return min(max(at - cut, 0), size)

        self.masks = [mask._replace(at=moved(mask.at)) for mask in self.masks]
        self.pairs = [Pair(p.opening, p.closing, moved(p.start), moved(p.end)) for p in self.pairs]
        self.points = [Point(p.code, moved(p.at)) for p in self.points]

    def is_spaced(self, code: int) -> bool:
        """Return whether a code has white space on both sides."""
        around = self.source[code - 1 : code] + self.source[code + 1 : code + 2]
        if len(around) < 2 or not all(isinstance(part, str) for part in around):
            return False
        before, after = str(around[0]), str(around[1])
        return before[-1:].isspace() and after[:1].isspace()

    def target(self, middle: Sequence[str | int]) -> Target:
        """Return the whole stretch around the translation of its words."""
        around: Target = [*self.before, *middle, *self.after]
        source = self.source
        return [_text_of(source, part) if isinstance(part, int) else part for part in around]

    def copied(self) -> list[str | int]:
        """Return the words as they are, masks and codes in their places."""
        inserted: list[tuple[int, int, int]] = [(p.at, p.code, 0) for p in self.points]
        for pair in self.pairs:
            inserted += [(pair.start, pair.opening, 0), (pair.end, pair.closing, 0)]
        inserted += [(mask.at, mask.code, len(mask.text)) for mask in self.masks]
        result: list[str | int] = []
        at = 0
        for offset, index, length in sorted(inserted, key=lambda each: (each[0], each[1])):
            result += [self.text[at:offset], index]
            at = offset + length
        return [part for part in [*result, self.text[at:]] if part != ""]


def _text_of(source: MarkedText, index: int) -> str | int:
    part = source[index]
    return part if isinstance(part, str) else index


def _is_content(part: Part) -> bool:
    return bool(part.strip()) if isinstance(part, str) else part.kind == "word"


def mask_names(used: str, style: int) -> Iterator[str]:
    """Yield masks of a style that the text itself does not have."""
    chosen = STYLES[style]
    if style == 0 and re.search(r"ID\d", used):
        chosen = "KX{}"
    number = 0
    while True:
        number += 1
        mask = chosen.format(number)
        if mask not in used:
            yield mask


def _mask(code: Code, names: Iterator[str], used: str, style: int) -> str:
    if style == 0:
        if code.mask is not None and code.mask not in used:
            return code.mask
        if code.number:
            taken = next(names)
            place = int(re.sub(r"\D", "", taken)) - 1
            fits = place < len(NUMBERS) and NUMBERS[place] not in used
            return NUMBERS[place] if fits else taken
    return next(names)
