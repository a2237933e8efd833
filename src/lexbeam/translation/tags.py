"""Tags of markup: what is one, which belong together, and which part words."""

from __future__ import annotations

import re
from collections.abc import Sequence

TAG = (
    r"</?[A-Za-z][\w:.-]*(?:\s+[\w:.@-]+(?:\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'<>=`]+))?)*"
    r"\s*/?>|<!--[^\n]{0,500}?-->"
)
"""The pattern of a tag or a comment."""

_TAG = re.compile(TAG)
_NAME = re.compile(r"</?([A-Za-z][\w:.-]*)")

_PARTS_WORDS = re.compile(
    r"address|article|aside|blockquote|body|br|caption|center|d[dlt]|details|div|fieldset|footer|"
    r"form|h[1-6]|head|header|hr|html|img|input|lb|li|main|nav|[ou]l|option|p|para|pre|row|section|"
    r"select|summary|t[dhr]|table|tbody|tfoot|thead|title"
)
_IS_INSIDE_TEXT = re.compile(
    r"a|abbr|acronym|b|bd[io]|big|button|cite|code|data|del|dfn|em|font|i|ins|kbd|label|mark|q|s|"
    r"samp|small|span|strike|strong|su[bp]|time|tt|u|var|wbr"
)


def is_tag(text: str) -> bool:
    """Return whether a text is one tag, or a comment, and nothing else.

    A tag with others inside it is one, too: ``<co<b>de>``.
    """
    return text.startswith("<") and _TAG.fullmatch(_without_inner(text)) is not None


def tag_name(tag: str) -> str:
    """Return the name of a tag; a comment has none."""
    found = _NAME.match(_without_inner(tag))
    return found[1].lower() if found else ""


def _without_inner(tag: str) -> str:
    """Return a tag without those that stand inside it."""
    while "<" in tag[1:] and not _TAG.match(tag):
        shorter = tag[0] + _TAG.sub("", tag[1:])
        if shorter == tag:
            break
        tag = shorter
    return tag


def opens(tag: str) -> bool:
    """Return whether a tag may begin a pair."""
    return bool(tag_name(tag)) and not tag.startswith("</") and not tag.endswith("/>")


def closes(tag: str) -> bool:
    """Return whether a tag ends a pair."""
    return tag.startswith("</")


def parts_words(tag: str) -> bool:
    """Return whether words on both sides of a tag are two words, as they are around ``<br>``."""
    return _PARTS_WORDS.fullmatch(tag_name(tag)) is not None


def find_pairs(tags: Sequence[str]) -> list[tuple[int, int]]:
    """Return the indices of the tags that open and close pairs, by the opening ones.

    A tag that is closed while others are open leaves those without an end.
    """
    opened: list[int] = []
    waiting: dict[str, int] = {}  # how many of a name are open
    pairs: list[tuple[int, int]] = []
    for index, tag in enumerate(tags):
        name = tag_name(tag)
        if opens(tag):
            opened.append(index)
            waiting[name] = waiting.get(name, 0) + 1
        elif closes(tag) and waiting.get(name):
            opening = opened.pop()
            while tag_name(tags[opening]) != name:
                waiting[tag_name(tags[opening])] -= 1
                opening = opened.pop()
            waiting[name] -= 1
            pairs.append((opening, index))
    return sorted(pairs)


def stands_for_word(tags: Sequence[str]) -> bool:
    """Return whether the only tag of a text is no markup but stands for a word: ``<file name>``."""
    if len(tags) != 1 or not tag_name(tags[0]) or closes(tags[0]):
        return False
    return not (parts_words(tags[0]) or _IS_INSIDE_TEXT.fullmatch(tag_name(tags[0])))
