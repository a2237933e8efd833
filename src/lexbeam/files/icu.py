"""ICU messages: plural and select arguments, branch by branch.

``{n, plural, one {# file} other {# files}}`` has two texts; what says which one is shown stays
as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lexbeam.files.placeholders import is_number, mark_parts
from lexbeam.translation.marked_text import Code, MarkedText, Part, is_translatable, join_texts

_COMPLEX = re.compile(r"\{\s*[\w.-]+\s*,\s*(?:plural|select|selectordinal|choice)\s*,")
_SELECTOR = re.compile(r"\s*(?:offset\s*:\s*\d+\s*)?(?:=\s*-?\d+|[\w-]+)\s*\{")
_LIMIT = re.compile(r"\s*(?:[-+]?\d+(?:\.\d+)?|-?∞)\s*[#<≤]")
"""Where the values of a branch of ``choice`` begin."""
_TAG = re.compile(r"</?(?:[A-Za-z][\w:.-]*|\d+)(?:\s[^<>]*)?/?>")
"""A tag, with any arguments in its attributes."""
_PLAIN = re.compile(r"[^'{}#|<]+")
_MAX_DEPTH = 20
_SYNTAXES = ("tags", "entities", "urls")


class _NotIcuError(ValueError):
    """The text is no message of ICU."""


def is_icu(text: str) -> bool:
    """Return whether a text has an argument with branches."""
    return _COMPLEX.search(text) is not None


class Message:
    """A message: ``sources`` are its texts, the outermost first."""

    def __init__(self, text: str, doubled: bool = False) -> None:
        self._doubled = doubled or "''" in text
        self._complex: dict[int, list[str | Message]] = {}
        self.marked: MarkedText = ()

    @classmethod
    def parse(cls, text: str, doubled: bool = False) -> Message | None:
        """Return the message of a text, None if it is not one.

        ``doubled`` says that apostrophes are doubled even if the text has none.
        """
        try:
            message, end = cls._read(text, 0, 0, "", doubled)
        except _NotIcuError:
            return None
        return message if end == len(text) else None

    @classmethod
    def _read(cls, text: str, at: int, depth: int, kind: str, doubled: bool) -> tuple[Message, int]:
        """Read up to what ends the branch of an argument of some kind, or to the end."""
        if depth > _MAX_DEPTH:
            raise _NotIcuError
        message = cls(text, doubled)
        parts: list[Part] = []
        plural = kind in ("plural", "selectordinal")
        ends = {"": "", "choice": "|}"}.get(kind, "}")
        while at < len(text) and text[at] not in ends:
            character = text[at]
            if character == "'":
                part, at = _apostrophe(text, at, plural)
                parts.append(part)
            elif character == "{":
                code, at = message._argument(text, at, depth)
                parts.append(code)
            elif character == "}":
                raise _NotIcuError
            elif character == "#" and plural:
                parts.append(Code("#", number=True, verbatim=True))
                at += 1
            else:
                found = _TAG.match(text, at) or _PLAIN.match(text, at)
                end = found.end() if found else at + 1
                parts.append(text[at:end])
                at = end
        message.marked = mark_parts(join_texts(parts), _SYNTAXES)
        return message, at

    def _argument(self, text: str, at: int, depth: int) -> tuple[Code, int]:
        found = _COMPLEX.match(text, at)
        if found is None:
            end = _closing(text, at)
            raw = text[at:end]
            return Code(raw, number=is_number(raw), verbatim=True), end
        kind = found[0].split(",")[1].strip()
        pieces: list[str | Message] = [found[0]]
        at = found.end()
        pattern = _LIMIT if kind == "choice" else _SELECTOR
        while selector := pattern.match(text, at):
            branch, at = Message._read(text, selector.end(), depth + 1, kind, self._doubled)
            if at >= len(text):
                raise _NotIcuError
            pieces += [selector[0], branch]
            if kind != "choice" or text[at] == "|":
                pieces.append(text[at])
                at += 1
        last = re.compile(r"\s*\}").match(text, at)
        if last is None or len(pieces) < 2:
            raise _NotIcuError
        pieces.append(last[0])
        code = Code(text[found.start() : last.end()], verbatim=True)
        self._complex[id(code)] = pieces
        return code, last.end()

    @property
    def sources(self) -> list[MarkedText]:
        """The texts to translate."""
        own = [self.marked] if is_translatable(self.marked) else []
        return own + [source for branch in self._branches() for source in branch.sources]

    def _branches(self) -> Iterator[Message]:
        for pieces in self._complex.values():
            yield from (piece for piece in pieces if isinstance(piece, Message))

    def write(self, targets: Sequence[MarkedText]) -> str:
        """Return the message with its texts translated."""
        return self._write(iter(targets))

    def _write(self, targets: Iterator[MarkedText]) -> str:
        marked = next(targets) if is_translatable(self.marked) else self.marked
        written = {
            key: "".join(p if isinstance(p, str) else p._write(targets) for p in pieces)
            for key, pieces in self._complex.items()
        }
        result = []
        for i, part in enumerate(marked):
            if isinstance(part, Code):
                result.append(written.get(id(part), part.raw))
            else:
                following = marked[i + 1] if i + 1 < len(marked) else ""
                after = following if isinstance(following, str) else following.raw
                result.append(self._quoted(part, after))
        return "".join(result)

    def _quoted(self, text: str, after: str) -> str:
        """Double apostrophes where they would quote something, or where the message does so."""
        if self._doubled:
            return text.replace("'", "''")
        if text.endswith("'") and after[:1] in ("{", "}", "#", "|"):
            text += "'"
        return re.sub(r"'(?=[{}#|])", "''", text)


def _apostrophe(text: str, at: int, plural: bool) -> tuple[Part, int]:
    if text.startswith("''", at):
        return "'", at + 2
    special = "{}#|" if plural else "{}"
    if at + 1 < len(text) and text[at + 1] in special:
        end = text.find("'", at + 1)
        while end >= 0 and text.startswith("''", end):
            end = text.find("'", end + 2)
        stop = len(text) if end < 0 else end + 1
        return Code(text[at:stop], verbatim=True), stop
    return "'", at + 1


def _closing(text: str, at: int) -> int:
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if not depth:
            return i + 1
    raise _NotIcuError
