"""Texts with tags, XML or HTML, as marked texts: which tags stand around, for or between words."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lexbeam.translation.marked_text import Code, Kind, MarkedText, Part, balanced

_TAG = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?[^>]*+>|<![A-Za-z][^>]*+>"
    r"|<(?P<close>/?)(?P<name>[A-Za-z_][\w:.-]*+)(?:[^\"'<>]++|\"[^\"]*+\"|'[^']*+')*+>",
    re.DOTALL,
)
_VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    ]
)
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "button",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "header",
        "hgroup",
        "html",
        "legend",
        "li",
        "main",
        "menu",
        "nav",
        "ol",
        "optgroup",
        "option",
        "p",
        "pre",
        "search",
        "section",
        "select",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "title",
        "tr",
        "ul",
    ]
)
_LOCKED = frozenset(["script", "style", "code", "kbd", "samp", "var", "textarea"])
_NOT_TRANSLATED = re.compile(
    r"translate\s*=\s*[\"']?no\b|class\s*=\s*(?:\"[^\"]*\bnotranslate\b|'[^']*\bnotranslate\b|notranslate\b)",
    re.IGNORECASE,
)
_LINE_BREAK = re.compile(r"[ \t]*\r?\n\s*")


@dataclass(frozen=True)
class TagOptions:
    """How tags are dealt with; the names are those of DeepL's options."""

    is_html: bool = False
    ignored: frozenset[str] = frozenset()
    splitting: frozenset[str] = frozenset()
    inline: frozenset[str] = frozenset()
    outline: bool = True
    """Whether elements that hold only other elements are taken as the structure of a document."""
    one_line: bool = True
    """Whether line breaks between words are spaces."""

    def in_small_letters(self) -> TagOptions:
        """Return the options with the names of tags as HTML compares them."""
        names = {
            name: frozenset(each.lower() for each in getattr(self, name))
            for name in ("ignored", "splitting", "inline")
        }
        return replace(self, **names)  # type: ignore[arg-type]


@dataclass
class _Element:
    """A pair of tags, or a tag by itself."""

    name: str
    start: int
    """The index of its first tag."""
    parent: _Element | None
    end: int | None = None
    has_text: bool = False
    has_block: bool = False
    children: list[_Element] = field(default_factory=list)


Token = tuple[str, str, str]
"""What a piece of a text is (text, open, close, empty, other), its name and how it is written."""


def read_tagged(text: str, options: TagOptions) -> MarkedText:
    """Return a text with tags as a marked text; tags without partner stand between words."""
    if options.is_html:
        options = options.in_small_letters()
    tokens = _tokens(text, options)
    elements = _elements(tokens)
    for element in reversed(elements):  # children before their parents
        element.has_block = any(_is_block(e, options) or e.has_block for e in element.children)
    by_tag = {element.start: element for element in elements}
    by_tag |= {element.end: element for element in elements if element.end is not None}
    numbers = {element.start: number for number, element in enumerate(elements, 1)}
    parts: list[Part] = []
    at = 0
    while at < len(tokens):
        owner = by_tag.get(at)
        last = at
        if owner is not None and at == owner.start and _is_whole(owner, tokens, options):
            last = owner.end or at
        raw = "".join(token[2] for token in tokens[at : last + 1])
        if tokens[at][0] == "text":
            parts.append(_decoded(raw, options))
        elif last > at:
            parts.append(Code(raw, "word", verbatim=True))
        elif owner is None:
            parts.append(Code(raw, _kind_of_single(tokens[at], options), verbatim=True))
        elif _is_block(owner, options) or owner.has_block:
            parts.append(Code(raw, "break", verbatim=True))
        else:
            side: Kind = "open" if at == owner.start else "close"
            parts.append(Code(raw, side, numbers[owner.start], verbatim=True))
        at = last + 1
    return balanced(_joined(parts))


def _kind_of_single(token: Token, options: TagOptions) -> Kind:
    """Return what a tag without partner is."""
    kind, name, _ = token
    if options.is_html and name in ("br", "hr"):
        return "break"
    return "word" if kind == "empty" and not options.is_html else "point"


def write_tagged(marked: MarkedText) -> str:
    """Return a marked text with its tags."""
    return "".join(part.raw if isinstance(part, Code) else _encoded(part) for part in marked)


def _tokens(text: str, options: TagOptions) -> list[Token]:
    tokens: list[Token] = []
    at = 0
    for found in _TAG.finditer(text):
        if found.start() > at:
            tokens.append(("text", "", text[at : found.start()]))
        name = found["name"] or ""
        name = name.lower() if options.is_html else name
        raw = found[0]
        if not name:
            kind = "other"
        elif found["close"]:
            kind = "close"
        elif raw.endswith("/>") or (options.is_html and name in _VOID):
            kind = "empty"
        else:
            kind = "open"
        tokens.append((kind, name, raw))
        at = found.end()
    if at < len(text):
        tokens.append(("text", "", text[at:]))
    return tokens


def _elements(tokens: Sequence[Token]) -> list[_Element]:
    """Return the elements that have both tags, in the order of their first ones."""
    elements: list[_Element] = []
    opened: list[_Element] = []
    waiting: dict[str, int] = {}
    for i, (kind, name, raw) in enumerate(tokens):
        if kind == "text" and opened and raw.strip():
            opened[-1].has_text = True
        elif kind == "open":
            element = _Element(name, i, opened[-1] if opened else None)
            opened.append(element)
            waiting[name] = waiting.get(name, 0) + 1
        elif kind == "close" and waiting.get(name):
            while True:
                element = opened.pop()
                waiting[element.name] -= 1
                if element.name == name:
                    break
            element.end = i
            elements.append(element)
    closed = {id(element) for element in elements}
    for element in elements:
        parent: _Element | None = element.parent
        while parent is not None and id(parent) not in closed:
            parent = parent.parent
        element.parent = parent
        if parent is not None:
            parent.children.append(element)
    return sorted(elements, key=lambda element: element.start)


def _is_whole(element: _Element, tokens: Sequence[Token], options: TagOptions) -> bool:
    """Return whether an element is one code, with all that is inside."""
    if element.name in options.ignored or element.end == element.start + 1:
        return True
    if not options.is_html:
        return False
    return element.name in _LOCKED or bool(_NOT_TRANSLATED.search(tokens[element.start][2]))


def _is_block(element: _Element, options: TagOptions) -> bool:
    """Return whether the words in an element have nothing to do with those around it."""
    if element.name in options.inline:
        return False
    if element.name in options.splitting:
        return True
    if options.is_html:
        return element.name in _BLOCKS
    parent = element.parent
    return options.outline and parent is not None and not parent.has_text


def _joined(parts: Sequence[Part]) -> list[Part]:
    joined: list[Part] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return joined


def _decoded(raw: str, options: TagOptions) -> str:
    text = html.unescape(raw) if "&" in raw else raw
    if options.one_line and "\n" in text and text.strip():
        before = text[: len(text) - len(text.lstrip())]
        text = before + _LINE_BREAK.sub(" ", text.strip()) + text[len(text.rstrip()) :]
    return text


def _encoded(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
