"""PO and POT: the message catalogues of gettext."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lexbeam.errors import InputError
from lexbeam.files.encodings import read_text
from lexbeam.files.formats import register
from lexbeam.files.languages import check_language, plural_count, plural_rule
from lexbeam.files.placeholders import DEFAULT, mark
from lexbeam.files.units import CLOSED, Edit, Options, Sources, State, Unit
from lexbeam.translation.marked_text import MarkedText, plain

_LINE = re.compile(r"[^\n]*\n?")
_KEYWORD = re.compile(r"(msgctxt|msgid_plural|msgid|msgstr)(?:\[\s*(\d{1,3})\s*\])?\s*(?=\")")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"\s*$')
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_SPECIAL = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_BACK = {value: "\\" + key for key, value in _SPECIAL.items()} | {'"': '\\"', "\\": "\\\\"}
_CHARSET = re.compile(rb"charset\s*=\s*([\w.:-]+)", re.IGNORECASE)
_STRING_LINES = r'[ \t]*"(?:[^"\\\r\n]|\\.)*"[ \t]*\r?\n(?:"(?:[^"\\\r\n]|\\.)*"[ \t]*\r?\n)*'
_FINISHED = re.compile(
    rf"(?:#(?!~)(?!,[^\n]*fuzzy)[^\n]*\n)*(?:msgctxt{_STRING_LINES})?"
    rf'msgid(?!\s*""\s*\r?\nmsgstr){_STRING_LINES}(?:msgid_plural{_STRING_LINES})?'
    rf'(?:msgstr(?:\[\d\])?(?=[ \t]*(?:""[ \t]*\r?\n)?"[^"]){_STRING_LINES})+'
    r"(?:[ \t]*\r?\n)+(?=#|msg|\Z)"
)
"""An entry that is translated, up to the next; what it does not fit is read line by line."""
_BLOCK = re.compile(r"(?:[^\n]*\S[^\n]*(?:\n|\Z))*(?:[ \t\r\f\v]*\n|[ \t\r\f\v]+\Z)*")
"""The lines up to the next empty one."""
_RST = ("rst", "tags", "entities", "urls", "printf", "braces", "emphasis")
_WIDTH = 76


@dataclass(slots=True)
class Entry:
    """One entry, with the offsets of its parts."""

    line: int
    start: int
    texts: dict[str, str] = field(default_factory=dict)
    """``msgctxt``, ``msgid``, ``msgid_plural``, and ``msgstr`` or ``msgstr 0`` and so on."""
    flags: list[tuple[int, int, str]] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    locations: str = ""
    first: int = -1
    """Where the first keyword or the remark of a former msgid stands."""
    target: tuple[int, int] = (0, 0)
    """From the first msgstr to the end of the last, without its line break."""
    lines: dict[str, int] = field(default_factory=dict)
    """How many lines each text takes."""

    @property
    def targets(self) -> list[str]:
        """The translations it has."""
        return [text for name, text in self.texts.items() if name.startswith("msgstr")]

    @property
    def is_fuzzy(self) -> bool:
        """Whether it is marked for review."""
        return any("fuzzy" in flags.replace(",", " ").split() for _, _, flags in self.flags)


@register("po", ".po", ".pot")
class PoScan:
    """A catalogue."""

    def __init__(self, data: bytes, options: Options) -> None:
        found = _CHARSET.search(data[:100_000])
        declared = found[1].decode("ascii", "replace") if found else None
        if declared in ("CHARSET", None):
            declared = None
        self._content = read_text(data, options.encoding or declared)
        self._options = options
        self._header: Entry | None = None
        self._fields: dict[str, str] = {}
        first = _first_block(self._content.text)
        for entry in _entries(self._content.text, 0, first):
            if not entry.texts["msgid"] and "msgctxt" not in entry.texts:
                self._header = entry
                self._fields = _header_fields(entry.texts.get("msgstr", ""))
            break
        language = self._fields.get("language", "")
        self._language = "" if language.upper() == "LANGUAGE" else language
        check_language(self._language, options.target_language, "target")
        rule = self._fields.get("plural-forms", "")
        self._has_rule = plural_count(rule) is not None
        target = self._language or options.target_language or ""
        self._forms = plural_count(rule) or plural_count(plural_rule(target)) or 2

    def units(self) -> Iterator[Unit]:
        """Yield the entries; obsolete ones are left out."""
        text = self._content.text
        at, line = 0, 1
        while at < len(text):
            found = _FINISHED.match(text, at) if self._options.brief else None
            if found is not None:
                yield CLOSED
            else:
                end = _block_end(text, at)
                for entry in _entries(text, at, end, line):
                    if entry.texts["msgid"]:
                        yield self._unit(entry)
            end = end if found is None else found.end()
            line += text.count("\n", at, end)
            at = end

    def _unit(self, entry: Entry) -> Unit:
        texts = entry.texts
        state: State = "translated"
        if not any(text for text in entry.targets):
            state = "untranslated"
        elif entry.is_fuzzy:
            state = "fuzzy"
        context = texts.get("msgctxt", "")
        shown = texts["msgid"] if len(texts["msgid"]) < 60 else texts["msgid"][:57] + "…"
        return Unit(
            f"line {entry.line}: {shown!r}" + (f" ({context})" if context else ""),
            lambda: _sources(entry),
            lambda targets: self._write(entry, targets),
            state,
            tuple(entry.targets),
            "\n".join(entry.comments),
            context,
        )

    def _write(self, entry: Entry, targets: Sequence[MarkedText]) -> Iterator[Edit]:
        newline = self._content.newline
        forms = [plain(target) for target in targets]
        if len(forms) == 1:
            written = _written("msgstr", forms[0], entry.lines["msgid"], newline)
        else:
            wanted = [forms[0], *[forms[1]] * (self._forms - 1)] if self._forms > 1 else forms[1:]
            lines = [entry.lines["msgid"], entry.lines["msgid_plural"]]
            written = newline.join(
                _written(f"msgstr[{i}]", form, lines[min(i, 1)], newline)
                for i, form in enumerate(wanted)
            )
        yield Edit(*entry.target, written)
        yield from self._flagged(entry)

    def _flagged(self, entry: Entry) -> Iterator[Edit]:
        """Mark an entry as fuzzy, or as finished."""
        newline = self._content.newline
        if self._options.final:
            for start, end, flags in entry.flags:
                names = [flag.strip() for flag in flags.split(",")]
                left = [name for name in names if name and name != "fuzzy"]
                if len(left) == len([name for name in names if name]):
                    continue
                if left:
                    yield Edit(start, end, "#, " + ", ".join(left))
                else:
                    yield Edit(start, end + len(newline), "")
        elif not entry.is_fuzzy:
            if entry.flags:
                start, end, flags = entry.flags[0]
                yield Edit(start, end, f"#, fuzzy,{flags.rstrip()}")
            else:
                yield Edit(entry.first, entry.first, f"#, fuzzy{newline}")

    def header(self) -> Iterator[Edit]:
        """Yield what the header lacks: language, plural forms, character set."""
        language = self._options.target_language
        fields = []
        if not self._language and language:
            fields.append(("Language", language.replace("-", "_")))
        if not self._has_rule and self._has_plurals():
            fields.append(("Plural-Forms", plural_rule(language or "")))
        charset = self._fields.get("content-type", "")
        if "charset=" not in charset.lower() or charset.upper().endswith("CHARSET=CHARSET"):
            fields.append(("Content-Type", "text/plain; charset=UTF-8"))
        if not fields:
            return
        newline = self._content.newline
        if self._header is None:
            fields = [("MIME-Version", "1.0"), ("Content-Transfer-Encoding", "8bit"), *fields]
            body = newline.join(f'"{name}: {value}\\n"' for name, value in fields)
            yield Edit(0, 0, f'msgid ""{newline}msgstr ""{newline}{body}{newline}{newline}')
            return
        yield from self._changed_header(self._header, fields)

    def _changed_header(self, header: Entry, fields: list[tuple[str, str]]) -> Iterator[Edit]:
        start, end = header.target
        block = self._content.text[start:end]
        newline = self._content.newline
        added = ""
        for name, value in fields:
            pattern = re.compile(rf'"{re.escape(name)}:[^"\n]*\\n"', re.IGNORECASE)
            found = pattern.search(block)
            if found:
                line = f'"{name}: {value}\\n"'
                yield Edit(start + found.start(), start + found.end(), line)
            else:
                added += f'{newline}"{name}: {value}\\n"'
        if added:
            before = "" if self._ends_line(block) else f'{newline}"\\n"'
            yield Edit(end, end, before + added)

    @staticmethod
    def _ends_line(block: str) -> bool:
        return block.rstrip().endswith('\\n"') or block.rstrip() == 'msgstr ""'

    def _has_plurals(self) -> bool:
        return re.search(r"^msgid_plural\s", self._content.text, re.MULTILINE) is not None

    def spliced(self, edits: Sequence[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the catalogue with edits made; its header names a new encoding."""
        if encoding and self._header is not None:
            start, end = self._header.target
            found = re.compile(r"charset=([\w.:-]+)", re.I).search(self._content.text, start, end)
            if found and not any(edit.start <= found.start(1) < edit.end for edit in edits):
                edits = [*edits, Edit(found.start(1), found.end(1), encoding.upper())]
        return self._content.spliced(edits, encoding)


def _block_end(text: str, at: int) -> int:
    """Return where a block of lines ends that holds whole entries."""
    end = at
    while end < len(text):
        found = _BLOCK.match(text, end)
        end = found.end() if found and found.end() > end else len(text)
        block = text[at:end]
        if "msgid" not in block or "msgstr" in block:
            break
    return end


def _first_block(text: str) -> int:
    """Return where the first entry ends: at the first empty line behind a msgstr."""
    found = re.compile(r"^msgstr.*\n(?:[^\n]*\S[^\n]*\n)*", re.MULTILINE).search(text)
    return found.end() if found else len(text)


def _sources(entry: Entry) -> Sources:
    syntaxes = _syntaxes(entry)
    names = ("msgid", "msgid_plural")
    return tuple(mark(entry.texts[name], syntaxes) for name in names if name in entry.texts)


def _syntaxes(entry: Entry) -> tuple[str, ...]:
    """Return what codes to look for: markup of documentation, too, if the entry is from some."""
    text = entry.texts["msgid"]
    documented = re.search(r"\.(?:rst|txt|py|md|pot?)\b", entry.locations) or "``" in text
    return _RST if documented and re.search(r"[`*|]|_\b", text) else DEFAULT


def _header_fields(text: str) -> dict[str, str]:
    fields = (line.partition(":") for line in text.split("\n"))
    return {name.strip().lower(): value.strip() for name, _, value in fields if name.strip()}


# --- reading -----------------------------------------------------------------------------------


def _entries(text: str, start: int = 0, stop: int | None = None, line: int = 1) -> Iterator[Entry]:
    """Yield the entries of a stretch of a catalogue that begins in a certain line.

    Raises:
        InputError: a line is none of a catalogue, or an entry is not complete.
    """
    entry: Entry | None = None
    keyword = ""
    stop = len(text) if stop is None else stop
    for number, found in enumerate(_LINE.finditer(text, start, stop), line):
        shown = found[0].strip(" \t\r\n\f\v")
        if entry is not None and entry.lines and _begins(shown, keyword):
            yield _complete(entry)
            entry, keyword = None, ""
        if not shown or shown.startswith("#~"):
            continue
        if entry is None:
            entry = Entry(number, found.start())
        if shown.startswith("#"):
            _take_comment(entry, shown, found)
            continue
        keyword = _take_string(entry, keyword, shown, found, number)
    if entry is not None and entry.lines:
        yield _complete(entry)


def _begins(line: str, keyword: str) -> bool:
    """Return whether a line belongs to the next entry."""
    if keyword.startswith("msgstr"):
        return not line.startswith(("msgstr", '"'))
    return False


def _take_comment(entry: Entry, line: str, found: re.Match[str]) -> None:
    if line.startswith("#,"):
        end = found.start() + len(found[0].rstrip("\r\n"))
        entry.flags.append((found.start(), end, line[2:]))
    elif line.startswith("#|"):
        entry.first = found.start() if entry.first < 0 else entry.first
    elif line.startswith("#:"):
        entry.locations += line[2:]
    elif line.startswith("#."):
        entry.comments.append(line[2:].strip())


def _take_string(entry: Entry, keyword: str, line: str, found: re.Match[str], number: int) -> str:
    """Take a keyword with its string, or a string that goes on; return the keyword."""
    start = _KEYWORD.match(line)
    if start:
        keyword = start[1] if start[2] is None else f"{start[1]} {start[2]}"
        if keyword in entry.texts:
            raise InputError(f"line {number}: a second {keyword} in one entry")
        entry.texts[keyword] = ""
        entry.lines[keyword] = 0
        entry.first = found.start() if entry.first < 0 else entry.first
        if keyword.startswith("msgstr") and not entry.target[1]:
            entry.target = (found.start() + found[0].index("msgstr"), 0)
        line = line[start.end() :]
    string = _STRING.fullmatch(line)
    if string is None or not keyword:
        raise InputError(f"line {number}: not a line of a PO file: {line[:40]!r}")
    entry.texts[keyword] += _unescaped(string[1])
    entry.lines[keyword] += 1
    if keyword.startswith("msgstr"):
        end = found.start() + len(found[0].rstrip(" \t\r\n"))
        entry.target = (entry.target[0], end)
    return keyword


def _complete(entry: Entry) -> Entry:
    if "msgid" not in entry.texts or not entry.targets:
        missing = "msgstr" if "msgid" in entry.texts else "msgid"
        raise InputError(f"line {entry.line}: the entry has no {missing}")
    return entry


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_one_unescaped, text)


def _one_unescaped(found: re.Match[str]) -> str:
    octal, hexadecimal, character = found.groups()
    if octal:
        return chr(int(octal, 8))
    if hexadecimal:
        return chr(int(hexadecimal, 16))
    return _SPECIAL.get(character, character)


# --- writing -----------------------------------------------------------------------------------


def _written(keyword: str, text: str, lines: int, newline: str) -> str:
    """Return a string as it is written: on one line, or wrapped as its source is."""
    if lines == 1:
        return f'{keyword} "{_escaped(text)}"'
    pieces: list[str] = [""]
    for line in text.splitlines(keepends=True):
        for word in re.findall(r"\s*\S+\s*$|\s*\S+\s|\s+", line) or [line]:
            if pieces[-1] and len(pieces[-1]) + len(_escaped(word)) > _WIDTH:
                pieces.append("")
            pieces[-1] += _escaped(word)
        pieces.append("")
    body = newline.join(f'"{piece}"' for piece in pieces if piece)
    return f'{keyword} ""{newline}{body}'


def _escaped(text: str) -> str:
    return "".join(_BACK.get(character, character) for character in text)
