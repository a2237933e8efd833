"""Constraints and prefixes with the tokens that spell them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from lexbeam.constraints.constraint import Constraint, usable_forms
from lexbeam.constraints.matching import Occurrence
from lexbeam.errors import ConstraintError, quoted
from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.text.casing import variants
from lexbeam.text.spelling import Spelling, TargetText
from lexbeam.text.word_boundaries import is_word_character
from lexbeam.translation.results import ConstraintReport


class SpelledForm(NamedTuple):
    """A spelling of a form; ``first`` says that it is only for the beginning of a sentence."""

    spelling: Spelling
    first: bool = False


@dataclass(frozen=True)
class SpelledConstraint:
    """A constraint with the spellings of its parts."""

    asked: Constraint
    """The constraint as it was asked for."""
    surface: Constraint
    """The constraint as the output shows it: what to look for in the text."""
    parts: tuple[tuple[SpelledForm, ...], ...]
    """The spelled forms of each part; no parts for a constraint at the start of the output."""

    @classmethod
    def spell(
        cls, asked: Constraint, target: TargetText, avoided: Sequence[Constraint] = ()
    ) -> SpelledConstraint:
        """Return a constraint with the spellings of all forms that hold nothing avoided."""
        if asked.at_start:
            prefix = asked.parts[0][0]
            shown = target.spell_prefix(prefix.rstrip()).surface + prefix[len(prefix.rstrip()) :]
            return cls(asked, replace(asked, parts=((shown,),)), ())
        surfaces = tuple(tuple(target.spell(f).surface for f in part) for part in asked.parts)
        parts = _spell_parts(asked, target, avoided)
        return cls(asked, replace(asked, parts=surfaces), parts)

    def spaced(self, target: TargetText, avoided: Sequence[Constraint] = ()) -> SpelledConstraint:
        """Return the same with a space before each form, if the vocabulary can write it."""
        return replace(self, parts=_spell_parts(self.asked, target, avoided, spaced=True))

    @property
    def is_plain(self) -> bool:
        """Whether it is one sequence of tokens that may stand anywhere."""
        simple = self.asked.soft is None and not self.asked.at_end
        return simple and len(self.parts) == len(self.parts[0]) == 1

    @property
    def spellings(self) -> list[Spelling]:
        """All spellings that may show up in an output."""
        return [spelled.spelling for part in self.parts for spelled in part]

    @property
    def shortest(self) -> int:
        """The fewest tokens that it takes: what it counts in the banks."""
        return sum(min(len(s.spelling.ids) for s in part) for part in self.parts)

    @property
    def longest(self) -> int:
        """The most tokens that its parts may take together."""
        return sum(max(len(s.spelling.ids) for s in part) for part in self.parts)

    def pattern(self, first: int, last: int, firm: bool = False) -> Tokens | Pattern:
        """Return what the search has to place: the parts from ``first`` to before ``last``.

        ``firm`` says that it must be placed even if it is soft.
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
            penalty=None if firm else self.asked.soft,
        )

    def report(
        self, text: str, found: Sequence[Occurrence], price: float | None
    ) -> ConstraintReport:
        """Return what became of it in a text, in which it was ``found`` at some occurrences."""
        asked = self.asked
        given = None if isinstance(asked.given, str) else asked.given
        if len(found) < asked.count:
            return ConstraintReport(
                asked.text, None, dropped=asked.soft is not None, price=price, asked=given
            )
        first = found[0]
        return ConstraintReport(
            asked.text,
            (first[0][0], first[-1][1]),
            tuple(span for occurrence in found for span in occurrence),
            form=" … ".join(text[slice(*span)] for span in first),
            price=price,
            asked=given,
        )


@dataclass(frozen=True)
class SpelledPrefix:
    """What an output begins with, as tokens; nothing by default."""

    spelling: Spelling | None = None
    forced: Tokens = ()
    """The tokens, if there is only one way to write it."""
    patterns: tuple[Pattern, ...] = ()
    """A pattern of all ways to write it, if its last word may go on in several."""
    whole: bool = False
    """Whether its last word is whole and must not go on."""

    @classmethod
    def spell(cls, prefix: str, target: TargetText) -> SpelledPrefix:
        """Return the tokens of a prefix; its last word may go on unless a space follows it."""
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
        """The most tokens that it may take."""
        forms = (form.tokens for pattern in self.patterns for form in pattern.parts[0])
        return max(map(len, (self.forced, *forms)))


def _spell_parts(
    asked: Constraint, target: TargetText, avoided: Sequence[Constraint], spaced: bool = False
) -> tuple[tuple[SpelledForm, ...], ...]:
    parts = []
    for part in asked.parts:
        ways = dict.fromkeys(s for form in part for s in _spell(form, asked, target, spaced))
        usable = [way for way in ways if usable_forms((_written(way),), avoided)]
        spoilt = len(usable) < len(ways) and not all(way.first for way in ways)
        if not usable or (spoilt and all(way.first for way in usable)):
            raise ConstraintError(
                f"{quoted(' | '.join(part))} can't be written without what is avoided: "
                "drop one of them"
            )
        parts.append(tuple(usable))
    return tuple(parts)


def _written(spelled: SpelledForm) -> str:
    """Return what the model writes, before it is changed to what was asked for."""
    return spelled.spelling.written or spelled.spelling.surface


def _spell(form: str, asked: Constraint, target: TargetText, spaced: bool) -> Iterator[SpelledForm]:
    """Yield the spellings of a form in the cases that its constraint allows.

    A form with unknown characters has one spelling, as it is given: the characters are written
    into the output later. A form that begins with punctuation also has a spelling without space
    if the constraint allows it right behind a word. Where words between parts are counted
    (``within``), every part begins a word.
    """
    spaced = spaced or asked.within is not None
    given = target.spell(form)
    if given.pieces:
        yield SpelledForm(given)
        return
    unspaced = asked.may_follow_word and not is_word_character(form[0])
    for variant in variants(form, asked.case):
        usual = target.spell(variant.text)
        ways = [
            replace(usual, ids=way.ids, spaced=way.spaced)
            for way in target.spell_all(variant.text)
            if unspaced or (spaced and way.spaced)
        ]
        if not usual.pieces:
            yield from (SpelledForm(way, variant.first) for way in ways or [usual])
