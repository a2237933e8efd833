"""What both versions of XLIFF have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lexbeam.files.xml_scanner import Token, XmlFile

_SOURCE_AND_TARGET = re.compile(
    rb"\s*<(?P<prefix>(?:[\w.-]+:)?)source(?:\s[^<>]*)?>(?:[^<]|<(?!/(?P=prefix)source>))*+"
    rb"</(?P=prefix)source>\s*<(?P=prefix)target(?P<attributes>\s[^<>]*)?>\s*"
    rb"(?:<[^<>]*>\s*)?[^<\s]"
)


def finished_target(xml: XmlFile, tag: Token) -> bytes | None:
    """Return the attributes of the target of a unit that has words, if one sees it at a glance.

    Most units of a large file are translated: these need not be read in full.
    """
    found = _SOURCE_AND_TARGET.match(xml.data, tag.end)
    return None if found is None else found["attributes"] or b""


def inherit(above: tuple[bool, bool], attributes: Mapping[str, str]) -> tuple[bool, bool]:
    """Return what ``translate`` and ``xml:space`` are for an element and those below it."""
    locked, preserve = above
    if "translate" in attributes:
        locked = attributes["translate"] == "no"
    if "xml:space" in attributes:
        preserve = attributes["xml:space"] == "preserve"
    return locked, preserve


def with_content(tag: Token, opening: str, content: str) -> str:
    """Return an empty element with content; ``opening`` is its tag as it is to be written."""
    name = f"{tag.prefix}:{tag.name}" if tag.prefix else tag.name
    opening = re.sub(r"\s*/>$", ">", opening)
    return f"{opening}{content}</{name}>"
