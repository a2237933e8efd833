"""What a file is to whoever translates it: units to translate, and edits that put them in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from lexbeam.errors import InputError
from lexbeam.translation.marked_text import Code, MarkedText, plain

State = Literal["untranslated", "fuzzy", "translated", "locked"]
ONLY = ("untranslated", "fuzzy", "all")


class Edit(NamedTuple):
    """What replaces a stretch of a file: characters of a text file, UTF-8 bytes of an XML file."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Options:
    """What a format has to know to find the open units and to write them."""

    source_language: str | None = None
    target_language: str | None = None
    final: bool = False
    """Whether translations are marked as finished rather than for review."""
    encoding: str | None = None
    """The encoding of the file where it can't say so itself; None for the usual one."""
    brief: bool = False
    """Whether `CLOSED` may stand for units that are translated: a large file has many."""


Sources = tuple[MarkedText, ...]
Write = Callable[[Sequence[MarkedText]], Iterable[Edit]]


@dataclass(slots=True)
class Unit:
    """A unit of a file: one text, or several that are translated together (plural forms).

    ``found`` are the sources, or what finds them once they are wanted: a file may have very
    many units that are translated already. ``write`` turns translations into edits.
    """

    id: str
    found: Sources | Callable[[], Sources]
    write: Write
    state: State = "untranslated"
    targets: tuple[str, ...] = ()
    """The translations the file has already, as a reader sees them."""
    note: str = ""
    context: str = ""
    max_length: int | None = None
    """How many characters a translation may have; codes do not count."""

    @property
    def sources(self) -> Sources:
        """The texts to translate."""
        if callable(self.found):
            self.found = self.found()
        return self.found

    @property
    def source(self) -> str:
        """The source as a reader of the file sees it; of several, one per line."""
        return "\n".join(plain(source) for source in self.sources)

    @property
    def target(self) -> str:
        """The translation the file has already, or nothing."""
        return "\n".join(self.targets)

    def check_length(self, targets: Sequence[MarkedText]) -> None:
        """Make sure that translations are not longer than the file allows.

        Raises:
            InputError: they are.
        """
        length = sum(len(plain_text(target)) for target in targets)
        if self.max_length is not None and length > self.max_length:
            raise InputError(
                f"the translation has {length} characters, and the file allows {self.max_length}"
            )

    def is_open(self, only: str = "untranslated") -> bool:
        """Return whether the unit is to be translated."""
        if self.state == "locked":
            return False
        return only in ("all", self.state)


def plain_text(marked: MarkedText) -> str:
    """Return a marked text without its tags; placeholders stay."""
    return "".join(
        part if isinstance(part, str) else part.raw
        for part in marked
        if not isinstance(part, Code) or not part.verbatim
    )


CLOSED = Unit("", (), lambda _: (), "locked")
"""Any unit that is translated already, where it does not matter which."""


class Scan(Protocol):
    """A file that has been opened by its format: it can be gone through more than once."""

    def units(self) -> Iterator[Unit]:
        """Yield the units in the order of the file, closed ones too."""
        ...

    def header(self) -> Iterable[Edit]:
        """Return edits outside of units, made if any unit was translated."""
        ...

    def spliced(self, edits: Sequence[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the file with edits made."""
        ...
