"""A constraint in the model's terms: its forms spelled as tokens, and as they look in a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from lexbeam.constraints.constraint import Constraint, usable_forms
from lexbeam.constraints.matching import Occurrence
from lexbeam.errors import ConstraintError, quoted
from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.request import show_demand
from lexbeam.text.casing import variants
from lexbeam.text.spelling import Spelling, TargetText
from lexbeam.text.word_boundaries import is_word_character
from lexbeam.translation.results import ConstraintReport


class Spelled(NamedTuple):
    """A spelling of a form; ``first``: only at the beginning of a sentence."""

    spelling: Spelling
    first: bool = False


@dataclass(frozen=True)
class Wording:
    """A constraint with its spellings, part by part."""

    asked: Constraint
    surface: Constraint
    """The same as the output will show it: what to look for in the text."""
    parts: tuple[tuple[Spelled, ...], ...]

    @classmethod
    def spell(
        cls, asked: Constraint, target: TargetText, avoided: Sequence[Constraint] = ()
    ) -> Wording:
        """Spell all forms that don't have anything avoided in them."""
        if asked.at_start:
            prefix = asked.parts[0][0]
            shown = target.spell_prefix(prefix.rstrip()).surface + prefix[len(prefix.rstrip()) :]
            return cls(asked, replace(asked, parts=((shown,),)), ())
        surfaces = tuple(tuple(target.spell(f).surface for f in part) for part in asked.parts)
        parts = _spell_parts(asked, target, avoided)
        return cls(asked, replace(asked, parts=surfaces), parts)

    def spaced(self, target: TargetText, avoided: Sequence[Constraint] = ()) -> Wording:
        """Return the same with a space of its own before each form, where that can be written."""
        return replace(self, parts=_spell_parts(self.asked, target, avoided, spaced=True))

    @property
    def is_plain(self) -> bool:
        """Whether it is one sequence of tokens, to stand anywhere."""
        simple = self.asked.soft is None and not self.asked.at_end
        return simple and len(self.parts) == len(self.parts[0]) == 1

    @property
    def spellings(self) -> list[Spelling]:
        """All spellings that may show up in an output."""
        return [spelled.spelling for part in self.parts for spelled in part]

    @property
    def shortest(self) -> int:
        """The fewest tokens it takes: its size in the banks."""
        return sum(min(len(s.spelling.ids) for s in part) for part in self.parts)

    @property
    def longest(self) -> int:
        """The most tokens it may take, what stands between its parts not counted."""
        return sum(max(len(s.spelling.ids) for s in part) for part in self.parts)

    def pattern(self, first: int, last: int, firm: bool = False) -> Tokens | Pattern:
        """Return what the search has to place: the parts from ``first`` to before ``last``.

        ``firm``: even if it is soft.
        """
        if self.is_plain:
            return self.parts[0][0].spelling.ids
        chain = []
        for number, part in enumerate(self.parts[first:last]):
            forms = [Form(s.spelling.ids, s.first) for s in part if not (s.first and number)]
            chain.append(tuple(dict.fromkeys(forms)))
        return Pattern(
            parts=tuple(chain),
            within=self.asked.within,
            last=self.asked.at_end,
            price=None if firm else self.asked.soft,
        )

    def report(
        self, text: str, found: Sequence[Occurrence], price: float | None
    ) -> ConstraintReport:
        """Say what became of it in a text."""
        asked = self.asked
        rich = None if isinstance(asked.asked, str | None) else asked.asked
        if len(found) < asked.count:
            return ConstraintReport(
                asked.text, None, dropped=asked.soft is not None, price=price, asked=rich
            )
        first = found[0]
        return ConstraintReport(
            asked.text,
            (first[0][0], first[-1][1]),
            tuple(span for occurrence in found for span in occurrence),
            form=" … ".join(text[slice(*span)] for span in first),
            price=price,
            asked=rich,
        )

    def in_words(self, message: str) -> str:
        """Write the phrase into an error that has its tokens."""
        if not self.parts:
            return message
        shown = show_demand(self.pattern(0, len(self.parts)))
        message = message.replace(shown, quoted(self.asked.text))
        for spelling in self.spellings:
            message = message.replace(str(list(spelling.ids)), quoted(spelling.surface))
        return message


@dataclass(frozen=True)
class Beginning:
    """What an output begins with, in tokens: forced ones, or a choice where a word is open."""

    spelling: Spelling | None = None
    forced: Tokens = ()
    patterns: tuple[Pattern, ...] = ()
    whole: bool = False
    """Whether the last word must not go on."""

    @classmethod
    def spell(cls, prefix: str, target: TargetText) -> Beginning:
        """Spell a prefix; its last word is open unless a space follows it."""
        if not prefix:
            return cls()
        spelling = target.spell_prefix(prefix.rstrip())
        if prefix.endswith(" "):
            return cls(spelling, forced=spelling.ids, whole=True)
        ways = target.spell_beginnings(prefix)
        if len(ways) < 2:
            return cls(spelling, forced=spelling.ids)
        forms = tuple(Form(way, first=True) for way in ways)
        return cls(spelling, patterns=(Pattern((forms,)),))

    @property
    def longest(self) -> int:
        """The most tokens it may take."""
        forms = (form.tokens for pattern in self.patterns for form in pattern.parts[0])
        return max(map(len, (self.forced, *forms)))


def _spell_parts(
    asked: Constraint, target: TargetText, avoided: Sequence[Constraint], spaced: bool = False
) -> tuple[tuple[Spelled, ...], ...]:
    parts = []
    for part in asked.parts:
        ways = dict.fromkeys(s for form in part for s in _spell(form, asked, target, spaced))
        usable = [way for way in ways if usable_forms((_written(way),), avoided)]
        if not usable:
            raise ConstraintError(
                f"{quoted(' | '.join(part))} can't be written without what is avoided: "
                "drop one of them"
            )
        parts.append(tuple(usable))
    return tuple(parts)


def _written(spelled: Spelled) -> str:
    """Return what the model writes, before it is made to look as it was asked for."""
    return spelled.spelling.written or spelled.spelling.surface


def _spell(form: str, asked: Constraint, target: TargetText, spaced: bool) -> Iterator[Spelled]:
    """Yield the spellings of a form.

    One with unknown characters is written out afterwards, which works for the form as it is
    given. A suffix that begins with punctuation may stand directly behind a word, and so may
    what comes in an order, like tags. Where words are counted, parts have to begin one.
    """
    spaced = spaced or asked.within is not None
    given = target.spell(form)
    if given.pieces:
        yield Spelled(given)
        return
    behind_words = asked.may_follow_word and not is_word_character(form[0])
    for variant in variants(form, asked.case):
        usual = target.spell(variant.text)
        ways = [
            replace(usual, ids=way.ids, spaced=way.spaced)
            for way in target.spell_all(variant.text)
            if behind_words or (spaced and way.spaced)
        ]
        if not usual.pieces:
            yield from (Spelled(way, variant.first) for way in ways or [usual])
