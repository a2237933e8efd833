"""Cut texts into sentences, and very long sentences into parts that a model can read.

Models are trained on single sentences. The splitter knows the sentence ends of many scripts and
the commonest abbreviations of the larger European languages. Where it is unsure it does not
split: two sentences translated together do less harm than one cut in half.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

_ABBREVIATED = """
mr mrs ms dr prof rev hon gen col capt lt sgt maj adm cmdr gov sen rep pres st mt jr sr wm vs etc
inc ltd corp co approx dept est ed eds jan feb mar apr jun jul aug sep sept oct nov dec
bzw ca ggf evtl inkl exkl hr fr str bspw sog usw vgl zzgl tel mrd mio tsd
mme mlle mm av env ex cf hab janv févr juil déc
sra srta sres dra drs profa avda exmo exma ilmo sig sigg sigra dott dottssa ing avv arch
dhr mevr mw bijv enz nl mvh osv dvs tlf feks fx kl np tzn tzw itd itp ul al wyd mgr inż tj atd
apod resp tzv např гг ул им руб тыс млн млрд др см
"""
_ABBREVIATIONS = frozenset(_ABBREVIATED.split())
# These are abbreviations only before a number: "no. 5", but not in "He said no. She left."
_NUMBERED = """
no nos nr vol fig sec ch pp abs art abb bd pág págs núm núms nº pag blz стр рис ст
"""
_BEFORE_NUMBERS = frozenset(_NUMBERED.split())

_CLOSERS = "\"'”’»›)]}」』】〉》）］"
_SENTENCE_END = re.compile(
    r"(?P<spaced>[.!?…؟۔।॥։።။]+)[" + re.escape(_CLOSERS) + r"]*(?:\s[»›])?(?=\s)"
    r"|(?P<full>[。！？｡]+[" + re.escape(_CLOSERS) + r"]*)"
)
_OPENERS = " \t\u00a0\u3000¿¡\"'“”„‚‘’«»‹›([{-—–"
_LINE = re.compile(r"[^\n]+")
_LAST_WORD = re.compile(r"\S+$")
_VIEW = 40  # characters looked at on either side of a possible sentence end
_CLAUSE_END = re.compile(r"[,;:，；：、،؛—–][" + re.escape(_CLOSERS) + r"]*\s*|\s[-—–]\s")
_SPACE = re.compile(r"\s+")


class Part(NamedTuple):
    """A part of a text, and the white space between it and the next part."""

    text: str
    separator: str
    start: int = 0
    """The offset at which it begins in the whole text."""
    goes_on: bool = False
    """Whether it goes on with a sentence that was too long: it begins none."""


def split_text(text: str, fits: Callable[[str], bool], sentences: bool = True) -> list[Part]:
    """Cut a text into lines, lines into sentences, and sentences that are too long into parts.

    ``fits`` says whether a part is short enough. Without ``sentences`` only lines that do not
    fit are cut into sentences.

    The parts and their separators joined are the text without white space at its ends. A text
    of white space alone has no parts.
    """
    spans: list[tuple[int, int]] = []
    begun: set[int] = set()
    for line in _LINE.finditer(text):
        start, end = _trim(text, *line.span())
        whole = not sentences and start < end and fits(text[start:end])
        for sentence in [(start, end)] if whole else _sentences(text, start, end):
            fitting = _fitting(text, *sentence, fits)
            begun.update(start for start, _ in fitting[:1])
            spans += fitting
    following = [start for start, _ in spans[1:]] + [end for _, end in spans[-1:]]
    return [
        Part(text[start:end], text[end:next_start], start, start not in begun)
        for (start, end), next_start in zip(spans, following, strict=True)
    ]


def inner_starts(text: str) -> list[int]:
    """Return the offsets at which sentences begin inside the lines of a text, behind others."""
    lines = (match.span() for match in _LINE.finditer(text))
    return [start for line in lines for start, _ in _sentences(text, *line)[1:]]


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of the sentences of a line."""
    sentences = []
    for mark in _SENTENCE_END.finditer(text, start, end):
        if mark["full"] or _is_sentence_end(text, start, mark):
            sentences.append((start, mark.end()))
            start = mark.end()
    if sentences and not any(map(str.isalnum, text[start:end])):  # only quotes are left, say
        start, _ = sentences.pop()
    return [*sentences, (start, end)]


def _is_sentence_end(text: str, start: int, end: re.Match[str]) -> bool:
    """Return whether a mark that is followed by a space ends a sentence, by what is around it."""
    ahead = text[end.end() : end.end() + _VIEW].lstrip(_OPENERS)
    if ahead[:1].islower():
        return False
    if end["spaced"] != ".":
        return True
    before = _LAST_WORD.search(text, max(start, end.start() - _VIEW), end.start())
    word = before[0].lstrip(_OPENERS) if before else ""
    if word.isdigit():  # an ordinal or the number of a list item; years do end sentences
        return len(word) > 3
    if word.lower() in _BEFORE_NUMBERS:
        return not ahead[:1].isdigit()
    is_initial = len(word) == 1 and word.isalpha()
    return not (is_initial or "." in word or word.lower() in _ABBREVIATIONS)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _fitting(text: str, start: int, end: int, fits: Callable[[str], bool]) -> list[tuple[int, int]]:
    """Return the spans of the parts of a sentence, which is halved until every part fits."""
    waiting, fitting = [(start, end)], []
    while waiting:
        start, end = _trim(text, *waiting.pop())
        if start == end:
            continue
        if end - start == 1 or fits(text[start:end]):
            fitting.append((start, end))
            continue
        middle = start + _cut(text[start:end])
        waiting += [(middle, end), (start, middle)]
    return fitting


def _cut(text: str) -> int:
    """Return the offset at which to halve a text: after a clause, at a space, or anywhere.

    Clause ends count only in the middle half, so that the parts stay of similar size.
    """
    quarter, middle = len(text) // 4, len(text) // 2
    for pattern, margin in ((_CLAUSE_END, quarter), (_SPACE, 1)):
        cuts = [match.end() for match in pattern.finditer(text)]
        cuts = [cut for cut in cuts if margin <= cut <= len(text) - margin and 0 < cut < len(text)]
        if cuts:
            return min(cuts, key=lambda cut: abs(cut - middle))
    cut = middle
    while cut > 1 and unicodedata.category(text[cut]).startswith("M"):
        cut -= 1
    return cut
