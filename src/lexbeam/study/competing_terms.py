"""Terms that compete with the model's own choice, and what became of them in a translation.

A file of terms has one line per term, tab-separated: the number of the sentence counted from 0,
the offset of the source word in characters, the source word, the term that the reference has for
it, and the word that the model says when it is left alone.

All is decided on the text, by a search for whole words, without the code under test.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lexbeam.errors import InputError
from lexbeam.text.files import read_lines

_COLUMNS = 5

_MASCULINE = """
o os um uns do dos no nos ao aos pelo pelos num nuns dum duns
este estes deste destes neste nestes esse esses desse desses nesse nesses
aquele aqueles daquele daqueles naquele naqueles àquele àqueles
meu meus teu teus seu seus nosso nossos vosso vossos outro outros todo todos mesmo mesmos
"""
_FEMININE = """
a as uma umas da das na nas à às pela pelas numa numas duma dumas
esta estas desta destas nesta nestas essa essas dessa dessas nessa nessas
aquela aquelas daquela daquelas naquela naquelas àquela àquelas
minha minhas tua tuas sua suas nossa nossas vossa vossas outra outras toda todas mesma mesmas
"""
PORTUGUESE_GENDERS: Mapping[str, str] = {
    **dict.fromkeys(_MASCULINE.split(), "m"),
    **dict.fromkeys(_FEMININE.split(), "f"),
}
"""The gender of articles, contractions, possessives and demonstratives."""


class CompetingTerm(NamedTuple):
    """A source word, the term it is to be translated by, and what the model would have said."""

    offset: int
    source: str
    term: str
    own: str

    @property
    def span(self) -> tuple[int, int]:
        """Where the source word stands in its sentence."""
        return self.offset, self.offset + len(self.source)


class TermCounts(NamedTuple):
    """What became of terms."""

    terms: int = 0
    met: int = 0
    doubled: int = 0
    """Terms that stand beside the model's own word, which the reference does not have."""
    gendered: int = 0
    """Terms with a word of known gender before them, here and in the reference."""
    agreeing: int = 0
    """Those for which both have the same gender."""

    def __add__(self, other: object) -> TermCounts:
        if not isinstance(other, TermCounts):
            return NotImplemented
        return TermCounts(*(a + b for a, b in zip(self, other, strict=True)))


def read_competing_terms(
    path: Path, sources: Sequence[str], partly: bool = False
) -> dict[int, list[CompetingTerm]]:
    """Return the terms of each sentence that has any, in the order of the sentences.

    ``partly`` says that the sources are the beginning of a text: terms behind it are left out.

    Raises:
        InputError: a line has other columns, its source word is not where it says, or there is
            no term.
    """
    terms: dict[int, list[CompetingTerm]] = {}
    for line, row in enumerate(read_lines(path), 1):
        columns = row.split("\t")
        where = f"{path}:{line}"
        if len(columns) != _COLUMNS or not (columns[0].isdecimal() and columns[1].isdecimal()):
            raise InputError(
                f"{where}: a line is sentence, offset, source word, term, model's word"
            )
        sentence, term = int(columns[0]), CompetingTerm(int(columns[1]), *columns[2:])
        start, end = term.span
        if partly and sentence >= len(sources):
            continue
        if sentence >= len(sources) or sources[sentence][start:end] != term.source:
            raise InputError(f"{where}: sentence {sentence} has no {term.source!r} at {start}")
        terms.setdefault(sentence, []).append(term)
    if not terms:
        raise InputError(f"{path}: there is no term of the {len(sources)} sentences in it")
    return dict(sorted(terms.items()))


def count_terms(
    text: str, reference: str, terms: Sequence[CompetingTerm], language: str | None = None
) -> TermCounts:
    """Return what became of the terms of one sentence in its translation."""
    met = sum(
        min(times, _count(text, term))
        for term, times in Counter(each.term for each in terms).items()
    )
    doubled = sum(
        bool(_count(text, each.term) and _count(text, each.own))
        and not (_has(reference, each.own) or _has(each.term, each.own))
        for each in terms
    )
    pairs = []
    if language == "pt":
        pairs = [
            (gender_before(reference, each.term), gender_before(text, each.term)) for each in terms
        ]
    known = [(wanted, said) for wanted, said in pairs if wanted and said]
    return TermCounts(
        len(terms), met, doubled, len(known), sum(wanted == said for wanted, said in known)
    )


def gender_before(text: str, term: str) -> str | None:
    """Return the gender of the word before a term, ``m`` or ``f``; None where it shows none."""
    for found in re.finditer(_whole(term), text):
        words = re.findall(r"\w+(?:-\w+)*", text[: found.start()])
        gender = PORTUGUESE_GENDERS.get(words[-1].lower()) if words else None
        if gender:
            return gender
    return None


def _has(text: str, phrase: str) -> bool:
    """Return whether a text has a phrase as whole words, as it is written."""
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None


def _count(text: str, phrase: str) -> int:
    return len(re.findall(_whole(phrase), text))


def _whole(phrase: str) -> str:
    """Return a pattern for a phrase as whole words; it may begin a sentence with a capital."""
    ways = dict.fromkeys((phrase, phrase[:1].upper() + phrase[1:]))
    return rf"(?<!\w)(?:{'|'.join(map(re.escape, ways))})(?!\w)"
