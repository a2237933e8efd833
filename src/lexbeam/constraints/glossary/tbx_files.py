"""TermBase eXchange: ISO 30042, its second version (``martif``) and its third (``tbx``).

Only terms, their languages and whether a term is deprecated are read. The parser is expat, fed
piece by piece. It never opens a file or an address, and a file that declares entities is refused
before one is used.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from lexbeam.constraints.glossary.entries import (
    LARGEST_FILE,
    LONGEST_TERM,
    Contents,
    Term,
    clean_term,
    fault_of,
    forbids,
)
from lexbeam.errors import InputError, quoted
from lexbeam.text.files import read_bytes
from lexbeam.text.languages import language_code

_PIECE = 1 << 20
_LARGEST_TAG = 8 << 20  # bytes: the parser goes through an unfinished tag again with each piece
_DEEPEST = 100
_ROOTS = ("martif", "tbx")
_CONCEPTS = ("termEntry", "conceptEntry")
_LANGUAGES = ("langSet", "langSec")
_TERMS = ("tig", "ntig", "termSec")
_STATUS = ("administrativestatus", "normativeauthorization", "usagestatus", "status")
_XML_LANGUAGE = "http://www.w3.org/XML/1998/namespace lang"


def read_tbx(path: Path) -> Contents:
    """Read a term base.

    Raises:
        InputError: it can't be read, is not XML or not TBX, or declares entities.
    """
    data = read_bytes(path, LARGEST_FILE)
    reader = _Reader(path)
    try:
        for start in range(0, len(data), _PIECE):
            reader.parser.Parse(data[start : start + _PIECE], False)
            if start - reader.parser.CurrentByteIndex > _LARGEST_TAG:
                raise InputError(f"{path}: a tag of more than {_LARGEST_TAG >> 20} MiB")
        reader.parser.Parse(b"", True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise InputError(f"{path}: line {error.lineno} is not well-formed XML: {reason}") from error
    except (ValueError, LookupError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: can't be parsed as XML: {error}") from error
    return reader.contents


class _Reader:
    """Collects terms from the events of the parser."""

    def __init__(self, path: Path) -> None:
        self.contents = Contents(str(path))
        self.parser = parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._refuse_entities
        parser.ExternalEntityRefHandler = self._refuse_entities
        parser.SkippedEntityHandler = self._refuse_entities
        self._rooted = False
        self._line = 0  # where the concept begins
        self._language: str | None = None
        self._concept: list[Term] = []
        self._reading: str | None = None  # the element whose text is collected
        self._depth = 0  # of elements inside it
        self._text: list[str] = []
        self._length = 0
        self._term: str | None = None
        self._forbidden = False

    def _refuse_entities(self, *_: object) -> NoReturn:
        self._refuse(
            "declares or uses an XML entity; for safety none are taken: "
            "write out what it stands for"
        )

    def _refuse(self, reason: str) -> NoReturn:
        raise InputError(f"{self.contents.path}: line {self.parser.CurrentLineNumber} {reason}")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        if not self._rooted:
            self._check_root(local)
        if self._reading:
            self._depth += 1
            if self._depth > _DEEPEST:
                self._refuse(f"has more than {_DEEPEST} elements inside each other in a term")
        elif local in _CONCEPTS:
            self._line = self.parser.CurrentLineNumber
            self._concept, self._language = [], None
        elif local in _LANGUAGES:
            self._enter_language(attributes.get(_XML_LANGUAGE) or attributes.get("lang"))
        elif local in _TERMS:
            self._term, self._forbidden = None, False
        elif local == "term" or _is_status(local, attributes):
            self._reading, self._text, self._length = local, [], 0

    def _check_root(self, local: str) -> None:
        if local not in _ROOTS:
            self._refuse(f"begins with <{local}>: TBX begins with <martif> or <tbx>")
        self._rooted = True

    def _enter_language(self, written: str | None) -> None:
        self._language = language_code(written or "") or (written or "").lower() or None
        if self._language is None:
            self._complain("a language section without xml:lang")

    def _characters(self, text: str) -> None:
        if self._reading and self._length <= LONGEST_TERM:
            self._text.append(text)
            self._length += len(text)

    def _end(self, name: str) -> None:
        local = name.rpartition(" ")[2]
        if self._reading:
            if self._depth:
                self._depth -= 1
                return
            self._take("".join(self._text), is_term=self._reading == "term")
            self._reading = None
        elif local in _TERMS:
            self._end_term()
        elif local in _CONCEPTS:
            self._end_concept()

    def _take(self, text: str, is_term: bool) -> None:
        if is_term:
            self._term = clean_term(text)
        else:
            self._forbidden = self._forbidden or forbids(text)

    def _end_term(self) -> None:
        if not self._term:
            self._complain("a term section without a term")
        elif fault := fault_of(self._term):
            self._complain(fault)
        elif self._language:
            self._concept.append(Term(self._term, self._language, "either", self._forbidden))
        self._term = None

    def _end_concept(self) -> None:
        languages = {term.language for term in self._concept}
        if len(languages) < 2:
            has = f"only {quoted(self._concept[0].text)}" if self._concept else "no terms"
            self._complain(f"an entry with {has}: it has no translation", self._line)
        else:
            self.contents.add(self._line, self._concept)
        self._concept, self._language = [], None

    def _complain(self, message: str, line: int | None = None) -> None:
        self.contents.complain(line or self.parser.CurrentLineNumber, message)


def _is_status(local: str, attributes: dict[str, str]) -> bool:
    kind = attributes.get("type", "") if local in ("termNote", "descrip") else local
    return kind.lower() in _STATUS
