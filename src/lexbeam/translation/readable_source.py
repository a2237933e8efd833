"""The source as a model can read it, and the way back.

Most models have never read a tag, and many vocabularies lack a brace. A model that has to write
them all the same fills the sentence with anything. So tags that are to be kept are taken out, and
what the vocabulary lacks is hidden behind a mask: a word that models copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lexbeam.text.word_boundaries import Span, is_word_character
from lexbeam.translation.keep import Kept
from lexbeam.translation.marked_text import mask_names
from lexbeam.translation.tags import is_tag, parts_words, stands_for_word
from lexbeam.translation.text_edits import Edit, Edits


class HiddenPart(NamedTuple):
    """Something of the source that the model does not see."""

    kept: Kept
    start: int
    """Where it stood, in the source as the model reads it."""
    mask: str = ""
    """The word that stands for it; nothing for a tag."""

    @property
    def span(self) -> Span:
        """Where its mask stands in the source as the model reads it."""
        return self.start, self.start + len(self.mask)


class Break(NamedTuple):
    """A line break that is read where a tag such as ``<br>`` parts two texts."""

    number: int
    """How many line breaks are read before it."""
    first: int
    """How many tags stand before the end of its line."""
    last: int
    """How many tags stand before the next line."""


@dataclass(frozen=True)
class ReadableSource:
    """A text without its tags, and with masks for what else is hidden."""

    given: str
    text: str
    """What the model reads."""
    tags: Sequence[HiddenPart] = ()
    masks: Sequence[HiddenPart] = ()
    breaks: Sequence[Break] = ()
    _edits: Edits = field(default_factory=Edits)
    _inverse: Edits = field(default_factory=Edits)

    @classmethod
    def of(cls, text: str, hidden: Sequence[Kept], others: str = "") -> ReadableSource:
        """Hide parts of a text; no mask is in the text already, nor in ``others``."""
        if not hidden:
            return cls(text, text)
        writer = _Writer(text)
        names = mask_names(text + others, 0)
        tags = [each.text for each in hidden if is_tag(each.text)]
        is_markup = not stands_for_word(tags)
        for each in hidden:
            if is_markup and is_tag(each.text):
                writer.take_out(each)
            else:
                writer.mask(each, next(names))
        writer.finish()
        edits = Edits(writer.edits)
        return cls(
            text,
            edits.apply(text),
            [part for part in writer.parts if not part.mask],
            [part for part in writer.parts if part.mask],
            writer.breaks,
            edits,
            edits.inverse(text),
        )

    @property
    def hidden(self) -> list[Kept]:
        """What the model does not see, from left to right."""
        parts = [part.kept for part in (*self.tags, *self.masks)]
        return sorted(parts, key=lambda each: each.start)

    def to_read(self, span: Span) -> Span:
        """Return where a stretch of the given text stands in what is read."""
        return self._edits.moved(span)

    def to_given(self, span: Span) -> Span:
        """Return where a stretch of what is read stands in the given text."""
        return self._inverse.moved(span)


class _Writer:
    """Writes what is read of a text, so that words and lines stay apart."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._length = 0
        self._lines = 0
        self._ending = ""
        """The last character that is read but for white space, and the white space behind it."""
        self._tags = 0
        self._tags_before = 0
        """How many tags stand before the last word."""
        self._parted = False
        """Whether a tag has ended the line since."""
        self.edits: list[Edit] = []
        self.parts: list[HiddenPart] = []
        self.breaks: list[Break] = []

    def take_out(self, tag: Kept) -> None:
        """Leave a tag out, with one of the two spaces around it."""
        self._copy(tag.start)
        end, following = tag.end, self._text[tag.end : tag.end + 1]
        if following == " " and (not self._ending or self._ending[-1].isspace()):
            end += 1
        self.parts.append(HiddenPart(tag, self._length))
        self.edits.append(Edit(tag.start, end - tag.start, ""))
        self._parted = self._parted or parts_words(tag.text)
        self._tags += 1
        self._at = end

    def mask(self, kept: Kept, mask: str) -> None:
        """Let a mask stand for something that is kept, as a word of its own."""
        self._copy(kept.start)
        self._end_line(kept.start, mask)
        self._space_before(kept.start, mask)
        self.parts.append(HiddenPart(kept, self._length, mask))
        self.edits.append(Edit(kept.start, kept.end - kept.start, mask))
        self._at = kept.end
        self._add(mask)
        self._space_before(kept.end, self._text[kept.end : kept.end + 1])

    def finish(self) -> None:
        """Go on to the end of the text."""
        self._copy(len(self._text))

    def _copy(self, end: int) -> None:
        """Go on with the text up to an offset."""
        copied = self._text[self._at : end]
        if copied.strip():
            self._end_line(self._at, copied)
        self._add(copied)
        self._at = end

    def _end_line(self, at: int, following: str) -> None:
        """End a line where tags have ended it, if there is one and no other begins anyway."""
        behind = following[: len(following) - len(following.lstrip())]
        if self._parted and self._ending.strip() and "\n" not in self._ending + behind:
            self.breaks.append(Break(self._lines, self._tags_before, self._tags))
            self._insert(at, "\n")
        self._parted = False

    def _space_before(self, at: int, following: str) -> None:
        """Put a space between the end of one word and the beginning of another."""
        both = self._ending[-1:] + following[:1]
        if len(both) == 2 and all(map(is_word_character, both)):
            self._insert(at, " ")

    def _insert(self, at: int, text: str) -> None:
        self.edits.append(Edit(at, 0, text))
        self._add(text)

    def _add(self, text: str) -> None:
        self._length += len(text)
        self._lines += text.count("\n")
        if text:
            solid = text.rstrip()
            self._tags_before = self._tags if solid else self._tags_before
            spaces = text[len(solid) :]
            self._ending = (solid[-1] if solid else self._ending) + spaces
