"""The inline markup of Markdown as codes of a marked text, and back."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from lexbeam.files.placeholders import entity, mark_parts
from lexbeam.translation.marked_text import Code, MarkedText, Part, join_texts

_TOKEN = re.compile(
    r"(?P<ticks>`+)(?:(?!(?P=ticks)).|(?<=`)`){1,1000}?(?P=ticks)(?!`)"
    r"|(?P<shortcode>\{\{[<%].{0,1000}?[%>]\}\}|\{%.{0,1000}?%\}|\{\{.{0,1000}?\}\}|\{[:#.][^{}\n]*\})"
    r"|(?P<autolink><[A-Za-z][A-Za-z0-9+.-]*:[^<>\s]*>|<[\w.+-]+@[\w.-]+>)"
    r"|(?P<comment><!--.{0,5000}?-->)|(?P<tag></?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>)"
    r"|(?P<footnote>\[\^[^\]\s]+\])"
    r"|(?P<hard>(?:(?<! ) {2,}|\\)\n)"
    r"|(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<entity>&(?:[A-Za-z]\w{1,31}|\#\d{1,7}|\#[xX][\dA-Fa-f]{1,6});)"
    r"|(?P<math>\$\$[^$]{1,1000}\$\$|\$(?=[^\s$])[^$\n]{0,500}(?<=[^\s\\])\$(?!\d))"
    r"|(?P<emoji>(?<!\w):[a-z][a-z0-9_+-]*:(?!\w))"
    r"|(?P<open>!?\[)|(?P<close>\])"
    r"|(?P<run>\*{1,3}|_{1,3}|~~)",
    re.DOTALL,
)
_AFTER_LINK = re.compile(
    r"\((?:<[^<>\n]*>|(?:[^()\s\\]|\\.|\((?:[^()\\]|\\.)*\))*)"
    r"(?:\s+(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?\s*\)"
    r"(?:\{[^{}\n]*\})?|\[[^\[\]]*\]"
)
_VOID = {"br", "img", "hr", "wbr", "input"}


def read_markdown(text: str, labels: frozenset[str] = frozenset()) -> MarkedText:
    """Return the inline content of a block as a marked text.

    ``labels`` are those of the link references of the file: a link that is nothing but its label
    keeps it.
    """
    parts: list[Part] = []
    stack: list[tuple[str, int, int]] = []  # what was opened, its number, its place in parts
    at = number = 0
    for found in _TOKEN.finditer(text):
        if found.start() < at:
            continue
        if found.start() > at:
            parts.append(text[at : found.start()])
        number += 1
        at = _take(text, found, number, parts, stack, labels)
    if at < len(text):
        parts.append(text[at:])
    unpaired = {place for _, _, place in stack}
    for place in unpaired:
        code = parts[place]
        if isinstance(code, Code) and not code.raw.startswith("<"):
            parts[place] = code.raw  # it was no markup after all
    return mark_parts(join_texts(parts), ("urls", "printf"))


def _take(
    text: str,
    found: re.Match[str],
    number: int,
    parts: list[Part],
    stack: list[tuple[str, int, int]],
    labels: frozenset[str],
) -> int:
    """Add what a match stands for; return where to go on."""
    kind, raw = found.lastgroup, found[0]
    if kind in ("ticks", "shortcode", "autolink", "footnote", "math", "emoji"):
        parts.append(Code(raw, verbatim=True))
    elif kind == "hard":
        parts.append(Code(raw, "break", verbatim=True))
    elif kind == "escape":
        parts.append(Code(raw, mask=raw[1], verbatim=True))
    elif kind == "entity":
        letter = html.unescape(raw)
        parts.append(letter if letter.isalpha() else entity(raw, verbatim=True))
    elif kind == "comment":
        parts.append(Code(raw, "point", verbatim=True))
    elif kind == "tag":
        _take_tag(raw, number, parts, stack)
    elif kind == "open":
        stack.append(("[", number, len(parts)))
        parts.append(Code(raw, "open", number, verbatim=True))
    elif kind == "close":
        return _close_link(text, found.end(), parts, stack, labels)
    else:
        _take_run(text, found, number, parts, stack)
    return found.end()


def _take_tag(raw: str, number: int, parts: list[Part], stack: list[tuple[str, int, int]]) -> None:
    name = re.sub(r"\W.*", "", raw.lstrip("</")).lower()
    if raw.startswith("</"):
        opened = [each for each in stack if each[0] == name]
        if opened:
            del stack[stack.index(opened[-1]) :]
        parts.append(Code(raw, "close", opened[-1][1] if opened else -number, verbatim=True))
    elif raw.endswith("/>") or name in _VOID:
        parts.append(Code(raw, "break" if name == "br" else "point", verbatim=True))
    else:
        stack.append((name, number, len(parts)))
        parts.append(Code(raw, "open", number, verbatim=True))


def _close_link(
    text: str,
    at: int,
    parts: list[Part],
    stack: list[tuple[str, int, int]],
    labels: frozenset[str],
) -> int:
    """Close a link or an image; brackets that are neither are text."""
    opened = [each for each in stack if each[0] == "["]
    if not opened:
        parts.append("]")
        return at
    _, number, place = opened[-1]
    for each in stack[stack.index(opened[-1]) + 1 :]:
        code = parts[each[2]]
        if isinstance(code, Code):
            parts[each[2]] = code.raw
    del stack[stack.index(opened[-1]) :]
    inner = "".join(p if isinstance(p, str) else p.raw for p in parts[place + 1 :])
    after = _AFTER_LINK.match(text, at)
    if after is not None and not (after[0].startswith("[") and len(after[0]) == 2):
        parts.append(Code("]" + after[0], "close", number, verbatim=True))
        return after.end()
    if label(inner) in labels:
        parts.append(Code(f"][{inner}]", "close", number, verbatim=True))
        return after.end() if after is not None else at
    opening = parts[place]
    parts[place] = opening.raw if isinstance(opening, Code) else opening
    parts.append("]")
    return at


def label(text: str) -> str:
    """Return the label of a link reference as labels are compared."""
    return " ".join(text.split()).casefold()


def _take_run(
    text: str,
    found: re.Match[str],
    number: int,
    parts: list[Part],
    stack: list[tuple[str, int, int]],
) -> None:
    """Open or close emphasis, by what stands on both sides of the mark."""
    raw = found[0]
    before = text[found.start() - 1] if found.start() else " "
    after = text[found.end()] if found.end() < len(text) else " "
    word_inside = raw[0] == "_" and before.isalnum() and after.isalnum()
    opened = [each for each in stack if each[0] == raw]
    closes = opened and not before.isspace() and not (raw[0] == "_" and after.isalnum())
    if closes:
        for each in stack[stack.index(opened[-1]) + 1 :]:
            code = parts[each[2]]
            if isinstance(code, Code) and not code.raw.startswith("<"):
                parts[each[2]] = code.raw
        del stack[stack.index(opened[-1]) :]
        parts.append(Code(raw, "close", opened[-1][1], verbatim=True))
        return
    if not after.isspace() and not word_inside and not (raw[0] == "_" and before.isalnum()):
        stack.append((raw, number, len(parts)))
        parts.append(Code(raw, "open", number, verbatim=True))
        return
    parts.append(raw)


_SPECIAL = re.compile(r"[*_`\[\]<]")


def write_markdown(target: MarkedText, source: MarkedText) -> str:
    """Return a marked text as Markdown; marks that the source does not have are escaped."""
    had = set("".join(part for part in source if isinstance(part, str)))
    pieces: Iterator[str] = (
        part.raw
        if isinstance(part, Code)
        else _SPECIAL.sub(lambda m: m[0] if m[0] in had else "\\" + m[0], part)
        for part in target
    )
    return "".join(pieces)
