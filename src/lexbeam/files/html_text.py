"""The texts of HTML: blocks with their inline tags, and the attributes a reader sees."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from lexbeam.files.html_scanner import Attribute, HtmlToken, attributes, scan_html
from lexbeam.files.placeholders import mark_parts
from lexbeam.files.units import Edit, Unit
from lexbeam.files.xml_inline import collapsed
from lexbeam.translation.marked_text import Code, MarkedText, Part, is_translatable

_INLINE = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "data", "del", "dfn", "em", "font",
    "i", "ins", "label", "mark", "nobr", "q", "rb", "ruby", "s", "small", "span", "strike",
    "strong", "sub", "sup", "time", "tt", "u", "br", "img", "wbr", "input", "button", "output",
    "meter", "progress",
}  # fmt: skip
_VERBATIM = {"code", "kbd", "samp", "var", "math"}
_SKIPPED = {
    "script", "style", "pre", "svg", "textarea", "template", "iframe", "object", "canvas", "audio",
    "video", "noembed", "noframes", "xmp", "applet",
}  # fmt: skip
_NOT_READ = _SKIPPED | _VERBATIM
_MAY_BE_SHOWN = re.compile(
    r"\s(?:title|alt|placeholder|aria-|summary|label|content|value)", re.IGNORECASE
)
_SHOWN = {"title", "alt", "placeholder", "aria-label", "aria-description", "summary", "label"}
_SHOWN_META = {
    "description", "keywords", "og:title", "og:description", "twitter:title",
    "twitter:description", "title",
}  # fmt: skip
_SYNTAXES = ("urls", "printf", "braces")


def html_units(
    text: str, start: int = 0, end: int | None = None, prefix: str = "", line: int = 1
) -> Iterator[Unit]:
    """Yield the units of a stretch of HTML that begins in a certain line."""
    number, at = 0, start
    for run in _blocks(text, start, end):
        tokens = _trimmed(text, run)
        for unit in _units_of(text, tokens):
            number += 1
            line += text.count("\n", at, tokens[0].start)
            at = max(at, tokens[0].start)
            unit.id = f"{prefix}{number} (line {line})"
            yield unit


def _blocks(text: str, start: int, end: int | None) -> Iterator[list[HtmlToken]]:
    """Yield runs of text and inline tags; a block tag is a run of its own."""
    run: list[HtmlToken] = []
    depth = 0  # inline elements that are open in the run
    may_be_locked = "translate" in text
    tokens = scan_html(text, start, end)
    for token in tokens:
        kind, name = token.kind, token.name
        opens = kind in ("start", "void")
        locked = may_be_locked and opens and _is_locked(text, token)
        whole = token
        if locked or (kind == "start" and name in _NOT_READ):
            whole = _skipped(tokens, token)
        if name in _VERBATIM or (locked and name in _INLINE):
            run.append(HtmlToken("whole", token.start, whole.end, name))
            continue
        breaks = name == "br" and not depth
        if not breaks and (name in _INLINE or kind in ("text", "comment")):
            run.append(token)
            depth += (kind == "start") - (kind == "end")
            continue
        if run:
            yield run
        run, depth = [], 0
        if opens and not locked and not breaks and _MAY_BE_SHOWN.search(text, *token[1:3]):
            yield [token]
    if run:
        yield run


def _trimmed(text: str, run: Sequence[HtmlToken]) -> list[HtmlToken]:
    """Take off what stands at the ends of a run and is not part of its text."""
    tokens = list(run)
    while tokens and _is_edge(text, tokens[0]):
        tokens.pop(0)
    while tokens and _is_edge(text, tokens[-1]):
        tokens.pop()
    for i in {0, len(tokens) - 1} if tokens else ():
        token = tokens[i]
        raw = text[token.start : token.end]
        if token.kind == "text":
            start = token.start + (len(raw) - len(raw.lstrip()) if i == 0 else 0)
            end = token.end - (len(raw) - len(raw.rstrip()) if i == len(tokens) - 1 else 0)
            tokens[i] = token._replace(start=start, end=end)
    return tokens


def _is_edge(text: str, token: HtmlToken) -> bool:
    if token.kind == "text":
        return not text[token.start : token.end].strip()
    return token.kind == "comment"


def _skipped(tokens: Iterator[HtmlToken], first: HtmlToken) -> HtmlToken:
    """Go on to the end tag of an element."""
    if first.kind == "void":
        return first
    depth, last = 1, first
    for token in tokens:
        last = token
        if token.name == first.name:
            depth += (token.kind == "start") - (token.kind == "end")
        if not depth:
            break
    return last


def _is_locked(text: str, token: HtmlToken) -> bool:
    raw = text[token.start : token.end]
    if "translate" not in raw:
        return False
    for each in attributes(text, token):
        if each.name == "translate" and each.value.lower() == "no":
            return True
        if each.name == "class" and "notranslate" in each.value.split():
            return True
    return False


def _units_of(text: str, tokens: Sequence[HtmlToken]) -> Iterator[Unit]:
    """Yield the unit of a run; if it has no words, those of its attributes."""
    if not tokens:
        return
    parts: list[Part] = []
    shown: list[tuple[Code | None, Attribute]] = []
    opened: dict[str, list[int]] = {}
    for number, token in enumerate(tokens, 1):
        raw = text[token.start : token.end]
        if token.kind == "text":
            parts.append(_decoded(raw))
            continue
        code = _code(token, raw, number, opened)
        parts.append(code)
        if token.kind in ("start", "void"):
            shown += [
                (code, each) for each in attributes(text, token) if _is_shown(text, token, each)
            ]
    marked = mark_parts([part for part in parts if part != ""], _SYNTAXES)
    if is_translatable(marked):
        yield _block_unit(text, tokens, marked, shown)
        return
    for _, attribute in shown:
        yield _attribute_unit(text, attribute)


def _block_unit(
    text: str,
    tokens: Sequence[HtmlToken],
    marked: MarkedText,
    shown: Sequence[tuple[Code | None, Attribute]],
) -> Unit:
    start, end = tokens[0].start, tokens[-1].end
    places: dict[int, list[Attribute]] = {}
    starts = [token.start for token in tokens]
    for _, each in shown:
        places.setdefault(starts[bisect_right(starts, each.start) - 1], []).append(each)
    tags = [token for token in tokens if token.kind != "text"]
    sources = (collapsed(marked), *(_attribute_source(each) for _, each in shown))

    def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
        values = {
            each.start: _value(text, each, target)
            for (_, each), target in zip(shown, targets[1:], strict=True)
        }
        raws: dict[str, list[str]] = {}
        for token in tags:
            raw = new = text[token.start : token.end]
            for each in sorted(places.get(token.start, []), key=lambda a: -a.start):
                first, last = each.start - token.start, each.end - token.start
                new = new[:first] + values[each.start] + new[last:]
            raws.setdefault(raw, []).append(new)
        for new_tags in raws.values():
            new_tags.reverse()  # the first one is taken first, from the end
        written = _written(targets[0], raws)
        if "&nbsp;" in text[start:end]:
            written = written.replace("&#160;", "&nbsp;")
        yield Edit(start, end, written)

    return Unit("", sources, write)


def _written(target: MarkedText, raws: dict[str, list[str]]) -> str:
    """Return a block; tags get the attributes that were translated."""
    pieces = []
    for part in target:
        if isinstance(part, str):
            pieces.append(_encoded(part))
        elif part.verbatim:
            new = raws.get(part.raw)
            pieces.append(new.pop() if new else part.raw)
        else:
            pieces.append(_encoded(part.raw))
    return "".join(pieces)


def _code(token: HtmlToken, raw: str, number: int, opened: dict[str, list[int]]) -> Code:
    if token.kind == "whole":
        return Code(raw, "word", verbatim=True)
    if token.kind == "comment":
        return Code(raw, "point", verbatim=True)
    if token.kind == "void":
        kind = "break" if token.name == "br" else "point"
        return Code(raw, kind, verbatim=True)  # type: ignore[arg-type]
    if token.kind == "end":
        stack = opened.get(token.name)
        return Code(raw, "close", stack.pop() if stack else -number, verbatim=True)
    opened.setdefault(token.name, []).append(number)
    return Code(raw, "open", number, verbatim=True)


def _is_shown(text: str, token: HtmlToken, attribute: Attribute) -> bool:
    """Return whether a reader sees the value of an attribute."""
    if not any(character.isalpha() for character in attribute.value):
        return False
    if token.name == "meta" and attribute.name == "content":
        names = {a.value.lower() for a in attributes(text, token) if a.name in ("name", "property")}
        return bool(names & _SHOWN_META)
    if token.name == "input" and attribute.name == "value":
        kinds = {a.value.lower() for a in attributes(text, token) if a.name == "type"}
        return bool(kinds & {"submit", "button", "reset"})
    if attribute.name == "label":
        return token.name in ("option", "optgroup", "track")
    return attribute.name in _SHOWN and token.name not in ("link", "meta")


def _attribute_source(attribute: Attribute) -> MarkedText:
    return mark_parts([_decoded(attribute.value)], _SYNTAXES)


def _value(text: str, attribute: Attribute, target: MarkedText) -> str:
    """Return the value of an attribute as it is written."""
    value = "".join(part if isinstance(part, str) else part.raw for part in target)
    value = _encoded(value)
    before = text[attribute.start - 1]
    if before == "'":
        return value.replace("'", "&#39;")
    value = value.replace('"', "&quot;")
    return value if before == '"' or not re.search(r"[\s'=<>`]", value) else f'"{value}"'


def _attribute_unit(text: str, attribute: Attribute) -> Unit:
    def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
        yield Edit(attribute.start, attribute.end, _value(text, attribute, targets[0]))

    return Unit("", (_attribute_source(attribute),), write)


def _decoded(raw: str) -> str:
    """Return text with references resolved; what can't be seen stays a reference."""
    if "&" not in raw:
        return raw
    return html.unescape(raw)


def _encoded(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("\u00a0", "&#160;").replace("\u00ad", "&#173;")
