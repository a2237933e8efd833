"""Find the inline codes that are written into texts: placeholders, tags, addresses, markup.

``%s``, ``{name}``, ``{{count}}`` and their like stand for a word or a number; ``<b>…</b>`` and
``**…**`` stand around words.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from lexbeam.translation.marked_text import Code, MarkedText, Part, balanced

_NESTED = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_PATTERNS = {
    "rst": (
        r"(?P<role>:[\w:+.-]+:`[^`<]*<[^`>]+>`)|:[\w:+.-]+:`[^`]+`|``(?=[^\s`])[\s\S]{1,500}?(?<=\S)``(?!`)"
        r"|(?P<anonymous>`[^`<]+(?:<[^`>]+>)?`__)|(?P<link>`[^`<]+<[^`>]+>`_)|`[^`]+`_?"
        r"|\[(?:\#\w*|\d+|\*|\w+)\]_|(?<![\w|])\|[^|\s](?:[^|\n]*[^|\s])?\|_{0,2}(?![\w|])"
        r"|(?<![\w_])[A-Za-z]\w*_(?!\w)"
    ),
    "ticks": r"```[^`]+```|``[^`]+``|`[^`\n]+`",
    "urls": (
        r"(?:https?|ftp|file|mailto)://?[^\s<>\"«»“”()]+[^\s<>\"«»“”().,;:!?'’\]}]"
        r"|(?<![\w@.])www\.[^\s<>\"«»“”]+[^\s<>\"«»“”.,;:!?'’)\]}]"
        r"|<?(?<![\w.+-])[\w.+-]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}(?!\w)>?"
    ),
    "tags": (
        r"<!--[^\n]{0,500}?-->|<(?P<quoted>code|kbd|samp|var|tt)>[^<>]*</(?P=quoted)>|(?P<tag></?(?:[A-Za-z][\w:.-]*|\d+)"
        r"(?:\s+[\w:.@#*()\[\]-]+(?:\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'<>=`]+))?)*\s*/?>)"
    ),
    "entities": r"(?P<entity>&(?:[A-Za-z]\w{1,31}|\#\d{1,7}|\#[xX][\dA-Fa-f]{1,6});)",
    "printf": (
        r"%\#@\w+@|%\(\w+\)[-+#0 ]*\d*(?:\.\d+)?[A-Za-z]"
        r"|%(?:\d+\$)?[-+#0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|L|z|j|t|q)?"
        r"[@diouxXeEfFgGcCsSpaAn](?!\w)|%\{\w+\}|%L?\d+(?!\w)|%[A-Za-z_]\w*%|(?P<percent>%%)"
    ),
    "braces": (
        r"\{\{[^{}\n]{0,200}\}\}|\{%[^%\n]{0,200}%\}|[$#@%]\{[^{}\n]{1,200}\}"
        r"|\{[^{}\s]{1,100}\}|\{\s*\w+\s*,(?=[^{}]{0,500}[{}])(?P<complex>)[^{}]*"
        r"(?:\{(?:[^{}]|\{[^{}]*\})*\}[^{}]*)*\}"
        r"|\$t\([^()\n]*\)|\$\(\w+\)|\$\w+\$|\$[A-Za-z_]\w*|\$\d(?![\d.,]*\d)"
        r"|(?P<bar>(?<=[.!?])\|(?=[^\W\d_]))"
        r"|(?<![\w:/.]):[A-Za-z_]\w*:?(?!\w)|__[A-Za-z]\w*?__|(?<!\S)--[a-z][\w-]*"
    ),
    "mnemonic": r"(?P<mnemonic>&(?=[^\W\d_])(?![A-Za-z]\w*;))",
    "emphasis": (
        r"(?P<strong>\*\*(?=[^\s*])[^*\n]+(?<=\S)\*\*)"
        r"|(?P<em>(?<![\w*])\*(?=[^\s*])[^*\n]+(?<=[^\s*])\*(?![\w*]))"
    ),
}
_POSSIBLE = re.compile(r"[<&%{$`@|*_:\[]|--|www\.")
"""What every code has something of: most texts have nothing of it."""
DEFAULT = ("tags", "entities", "urls", "ticks", "printf", "braces")

_COUNT_NAME = re.compile(
    r"(?:count|num|number|total|n|size|days?|hours?|minutes?|seconds?|amount|quantity|min|max|"
    r"limit)",
    re.IGNORECASE,
)
_NUMERIC = re.compile(
    r"%(?:\d+\$)?(?:\(\w+\))?[-+#0 ]*\d*(?:hh|h|ll|l|z|j|t|q)?[diu]|%n|#|"
    r"\{\s*\w+\s*,\s*number\b.*"
)
_UNNAMED = re.compile(r"%[-+#0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|L|z|j|t|q)?[@A-Za-z]")
_NAME = re.compile(r"[A-Za-z]\w*")
_VOID = {"br", "hr", "img", "wbr", "input"}
_compiled: dict[tuple[str, ...], re.Pattern[str]] = {}


_WORDLESS = re.compile(r"\s*(?:https?://[^\s\"<>]+|#[0-9A-Fa-f]{3,8}|[^A-Za-z\x80-\U0010ffff]*)\s*")


def is_wordless(text: str, start: int = 0, end: int | None = None) -> bool:
    """Return whether one sees at a glance that a stretch of text has nothing to translate."""
    return _WORDLESS.fullmatch(text, start, len(text) if end is None else end) is not None


def find_codes(
    text: str, syntaxes: tuple[str, ...] = DEFAULT, numbers: Numbers | None = None
) -> list[Part]:
    """Return a text cut at its codes; ``numbers`` are those that pairs get."""
    if _POSSIBLE.search(text) is None:
        return [text] if text else []
    if syntaxes not in _compiled:
        _compiled[syntaxes] = re.compile("|".join(_PATTERNS[each] for each in syntaxes))
    parts: list[Part] = []
    numbers = numbers or Numbers(1)
    at = 0
    for found in _compiled[syntaxes].finditer(text):
        if found.start() > at:
            parts.append(text[at : found.start()])
        parts += _codes(found, syntaxes, numbers)
        at = found.end()
    if at < len(text):
        parts.append(text[at:])
    return parts


def mark(text: str, syntaxes: tuple[str, ...] = DEFAULT) -> MarkedText:
    """Return a text as a marked text."""
    return balanced(find_codes(text, syntaxes))


def mark_parts(parts: Iterable[Part], syntaxes: tuple[str, ...] = DEFAULT) -> MarkedText:
    """Return parts that have codes of their own, with those in their texts found as well."""
    given = list(parts)
    numbers = Numbers(1 + max((p.pair for p in given if isinstance(p, Code)), default=0))
    result: list[Part] = []
    for part in given:
        result += find_codes(part, syntaxes, numbers) if isinstance(part, str) else [part]
    return balanced(result)


class Numbers:
    """Numbers for pairs; a closing tag gets that of the last opening tag of its name."""

    def __init__(self, start: int) -> None:
        self._next = start
        self._opened: dict[str, list[int]] = {}

    def open(self, name: str) -> int:
        """Return a new number for an opening tag."""
        number = self._next
        self._next += 1
        self._opened.setdefault(name, []).append(number)
        return number

    def close(self, name: str) -> int:
        """Return the number of the tag that is closed; a new one if there is none."""
        opened = self._opened.get(name)
        return opened.pop() if opened else self.open("")


def _codes(found: re.Match[str], syntaxes: tuple[str, ...], numbers: Numbers) -> list[Part]:
    raw, kind = found[0], found.lastgroup or ""
    if kind in ("strong", "em", "role", "anonymous", "link"):
        opening, closing = _delimiters(raw, kind)
        inner = raw[len(opening) : len(raw) - len(closing)]
        number = numbers.open("")
        within = tuple(each for each in syntaxes if each not in ("rst", "emphasis", "tags"))
        return [
            Code(opening, "open", number),
            *find_codes(inner, within or ("urls",), numbers),
            Code(closing, "close", number),
        ]
    if kind == "tag":
        return [_tag(raw, numbers)]
    if kind == "entity":
        return [entity(raw)]
    simple = {
        "bar": Code(raw, "break"),  # Symfony and Laravel: plural forms in one text
        "mnemonic": Code(raw, "point"),
        "percent": Code(raw, mask="%"),
    }
    unnamed = _UNNAMED.fullmatch(raw) is not None
    return [simple.get(kind) or Code(raw, number=is_number(raw), ordered=unnamed)]


def entity(raw: str, verbatim: bool = False) -> Code:
    """Return the code of a reference: the model sees the character, unless it is a space."""
    character = html.unescape(raw)
    seen = len(character) == 1 and character.isprintable() and not character.isspace()
    return Code(
        raw, "word" if seen else "point", mask=character if seen else None, verbatim=verbatim
    )


def is_number(raw: str) -> bool:
    """Return whether a placeholder stands for a number, by its type or its name."""
    if _NUMERIC.fullmatch(raw):
        return True
    name = _NAME.search(raw) if raw[:1] in "{$%" and not raw.endswith("s") else None
    return bool(name and "{" in raw and _COUNT_NAME.fullmatch(name[0]))


def _delimiters(raw: str, kind: str) -> tuple[str, str]:
    if kind == "strong":
        return "**", "**"
    if kind == "em":
        return "*", "*"
    opening = raw[: raw.index("`") + 1]
    if "<" in raw:
        before = raw[: raw.index("<")].rstrip()
        return opening, raw[len(before) :]
    return opening, raw[raw.rindex("`") :]


def _tag(raw: str, numbers: Numbers) -> Code:
    found = re.match(r"</?\s*([\w:.-]+)", raw)
    name = found[1].lower() if found else ""
    if raw.startswith("</"):
        return Code(raw, "close", numbers.close(name))
    if name == "br":
        return Code(raw, "break")
    if raw.endswith("/>") or name in _VOID:
        return Code(raw, "word" if not name or name not in _VOID else "point")
    return Code(raw, "open", numbers.open(name))
