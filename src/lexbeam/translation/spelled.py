"""Constraints and prefixes with the tokens that spell them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lexbeam.constraints.constraint import Constraint, usable_forms
from lexbeam.constraints.counting import find_countable
from lexbeam.constraints.matching import Occurrence
from lexbeam.errors import ConstraintError, quoted
from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.text.casing import compound_spellings, variants
from lexbeam.text.compounds import may_be_first, may_be_part
from lexbeam.text.phrases import Spelling
from lexbeam.text.spelling import TargetText, spell_inside
from lexbeam.translation.results import ConstraintReport


@dataclass(frozen=True)
class SpelledConstraint:
    """A constraint with the spellings of its parts."""

    asked: Constraint
    """The constraint as it was asked for."""
    surface: Constraint
    """The constraint as the output shows it: what to look for in the text."""
    parts: tuple[tuple[Spelling, ...], ...]
    """The spellings of each part; no parts for a constraint at the start of the output."""
    is_limited: bool = False
    """Whether the search keeps to its limit; otherwise the text is looked at afterwards."""
    learned: tuple[Spelling, ...] = ()
    """Those of its first part that are other phrases, which have it in them."""

    @classmethod
    def spell(
        cls, asked: Constraint, target: TargetText, avoided: Sequence[Constraint] = ()
    ) -> SpelledConstraint:
        """Return a constraint with the spellings of all forms that hold nothing avoided."""
        if asked.at_start:
            prefix = asked.parts[0][0]
            shown = target.spell_prefix(prefix.rstrip()).surface + prefix[len(prefix.rstrip()) :]
            return cls(asked, replace(asked, parts=((shown,),)), ())
        ways = _ways_by_form(asked, target, avoided)
        # What is avoided does not count as said, not even with a capital at the start.
        surfaces = tuple(
            tuple(dict.fromkeys(each for form in part for each in _surfaces(form, target)))
            for part in ways
        )
        return cls(asked, replace(asked, parts=surfaces), _all_ways(ways))

    def spaced(self, target: TargetText, avoided: Sequence[Constraint] = ()) -> SpelledConstraint:
        """Return the same with a space before each form, if the vocabulary can write it."""
        parts = _all_ways(_ways_by_form(self.asked, target, avoided, spaced=True))
        return replace(self, parts=parts).learn(self.learned)

    def learn(self, ways: Sequence[Spelling]) -> SpelledConstraint:
        """Return the same, of which spellings of other phrases count as its own."""
        if not ways:
            return self
        first = tuple(dict.fromkeys((*self.parts[0], *ways)))
        learned = tuple(dict.fromkeys((*self.learned, *ways)))
        return replace(self, parts=(first, *self.parts[1:]), learned=learned)

    def inside(self) -> SpelledConstraint:
        """Return the same without what is written so only at the start of a sentence."""
        parts = tuple(tuple(way for way in part if not way.first) for part in self.parts)
        return self if parts == self.parts else replace(self, parts=parts)

    def also(self, tokens: Tokens, surface: str) -> SpelledConstraint:
        """Return the same with one more spelling of its first part, as whole words."""
        more = (*self.parts[0], Spelling(tokens, surface))
        return replace(self, parts=(tuple(dict.fromkeys(more)), *self.parts[1:]))

    def allow_more(self, times: int) -> SpelledConstraint:
        """Return the same, which may occur so many times more often; without a limit, as it is."""
        if self.asked.at_most is None:
            return self
        more = self.limited_to(self.asked.count, self.asked.at_most + times)
        return replace(more, is_limited=False)

    def limited_to(self, count: int, at_most: int | None) -> SpelledConstraint:
        """Return the same, demanded so many times, and allowed at most so many."""
        asked = replace(self.asked, count=count, at_most=at_most)
        surface = replace(self.surface, count=count, at_most=at_most)
        return replace(self, asked=asked, surface=surface)

    @property
    def is_plain(self) -> bool:
        """Whether it is one sequence of tokens that may stand anywhere, as often as it likes."""
        simple = self.asked.soft is None and not self.asked.at_end and not self.is_exact
        single = simple and len(self.parts) == len(self.parts[0]) == 1
        return single and forms_of(self.spellings)[0] == Form(self.spellings[0].ids)

    @property
    def is_exact(self) -> bool:
        """Whether the search sees to it that it does not occur more often than asked for."""
        asked = self.asked
        return self.is_limited and asked.at_most is not None and asked.soft is None

    @property
    def spellings(self) -> list[Spelling]:
        """All spellings that may show up in an output."""
        return [spelling for part in self.parts for spelling in part]

    @property
    def shortest(self) -> int:
        """The fewest tokens that it takes: what it counts in the banks."""
        return sum(
            min(len(spelling.ids) for spelling in part if not spelling.inside)
            for part in self.parts
        )

    @property
    def longest(self) -> int:
        """The most tokens that its parts may take together."""
        return sum(max(len(spelling.ids) for spelling in part) for part in self.parts)

    def pattern(
        self,
        first: int,
        last: int,
        firm: bool = False,
        required: Mapping[tuple[Form, ...], int] | None = None,
    ) -> Tokens | Pattern:
        """Return what the search has to place: the parts from ``first`` to before ``last``.

        ``firm`` says that it must be placed even if it is soft. ``required`` is how often forms
        that others may share must occur before a soft phrase counts as placed.
        """
        if self.is_plain:
            return self.spellings[0].ids
        alone = last - first == 1 and not self.asked.at_end
        chain = [
            forms_of([each for each in part if not (each.first and number)], compounds=alone)
            for number, part in enumerate(self.parts[first:last])
        ]
        if required and len(chain) == 1 and not firm and self.asked.soft is not None:
            chain *= required.get(chain[0], 1)
        return Pattern(
            parts=tuple(chain),
            within=self.asked.within,
            last=self.asked.at_end,
            penalty=None if firm else self.asked.soft,
            may_overlap=self.is_exact or len(chain) == len(self.asked.parts[first]) == 1,
            exact=self.is_exact,
        )

    def shown(self, first: int, last: int) -> list[Spelling]:
        """Return what the output has to show: the parts from ``first`` to before ``last``."""
        return [spelling for part in self.parts[first:last] for spelling in part]

    def report(
        self,
        text: str,
        found: Sequence[Occurrence],
        price: float | None,
        is_excessive: bool = False,
    ) -> ConstraintReport:
        """Return what became of it in a text, in which it was ``found`` at some occurrences.

        ``is_excessive`` says that it occurs more often than it may.
        """
        return report_on(self.asked, text, found, price, is_excessive)


def report_on(
    asked: Constraint,
    text: str,
    found: Sequence[Occurrence],
    price: float | None,
    is_excessive: bool = False,
) -> ConstraintReport:
    """Return what became of a constraint; see `SpelledConstraint.report`."""
    given = None if isinstance(asked.given, str) else asked.given
    if len(found) < asked.count or is_excessive:
        return ConstraintReport(
            asked.text,
            None,
            dropped=asked.soft is not None,
            reason=asked.left_because,
            price=None if asked.left_because else price,
            asked=given,
            sources=asked.source_spans,
        )
    first = found[0]
    return ConstraintReport(
        asked.text,
        (first[0][0], first[-1][1]),
        tuple(span for occurrence in found for span in occurrence),
        form=" … ".join(text[slice(*span)] for span in first),
        price=price,
        asked=given,
        sources=asked.source_spans,
    )


def limited_alike(phrases: Sequence[Tokens | Pattern]) -> list[Tokens | Pattern]:
    """Return phrases of which none is limited that another has without a limit.

    A term may be allowed more often than its source stands there, since the model says it for
    another word, too. A second occurrence of that term in the same sentence must not forbid it.
    """
    if not any(isinstance(each, Pattern) and each.exact for each in phrases):
        return list(phrases)
    given = set(phrases)
    unlimited = [(each, _unlimited(each)) for each in phrases]
    return [free if free in given else each for each, free in unlimited]


def _unlimited(phrase: Tokens | Pattern) -> Tokens | Pattern:
    """Return a phrase that may occur as often as it likes, as `SpelledConstraint` writes it."""
    if not isinstance(phrase, Pattern) or not phrase.exact:
        return phrase
    forms = phrase.parts[0]
    is_plain = len(forms) == 1 and forms[0] == Form(forms[0].tokens)
    return forms[0].tokens if is_plain else replace(phrase, exact=False)


def limit_exact(demands: Sequence[SpelledConstraint], prefix: str = "") -> list[SpelledConstraint]:
    """Return demands, of which the search counts those that must occur exactly so many times."""
    countable = find_countable([demand.asked for demand in demands], prefix)
    return [
        replace(demand, is_limited=is_limited)
        for demand, is_limited in zip(demands, countable, strict=True)
    ]


def forms_of(spellings: Sequence[Spelling], compounds: bool = True) -> tuple[Form, ...]:
    """Return spellings as the search knows them, with or without those in compounds."""
    forms = (
        Form(each.ids, each.first, each.apart, each.inside, each.goes_on and compounds)
        for each in spellings
        if compounds or not each.inside
    )
    return tuple(dict.fromkeys(forms))


def phrase_pattern(forms: tuple[Form, ...]) -> Tokens | Pattern:
    """Return what the search has to place for a phrase in any of its spellings."""
    is_plain = len(forms) == 1 and forms[0] == Form(forms[0].tokens)
    return forms[0].tokens if is_plain else Pattern((forms,), may_overlap=True)


def _ways_by_form(
    asked: Constraint, target: TargetText, avoided: Sequence[Constraint], spaced: bool = False
) -> list[dict[str, list[Spelling]]]:
    """Return for each part its forms that can be written without what is avoided, spelled."""
    parts = []
    for number, part in enumerate(asked.parts, 1):
        ends = asked.at_end and number == len(asked.parts)
        ways = {
            form: [
                way
                for way in _usable_ways(_spell(form, asked, target, spaced), avoided)
                if not (ends and _goes_beyond(way, form)) and not _is_too_much(way, asked)
            ]
            for form in part
        }
        usable = {form: found for form, found in ways.items() if found}
        if not usable:
            raise ConstraintError(
                f"{quoted(' | '.join(part))} can't be written without what is avoided: "
                "drop one of them"
            )
        parts.append(usable)
    return parts


def _surfaces(form: str, target: TargetText) -> list[str]:
    """Return how a form may look in an output: in characters that Unicode calls equal."""
    found = dict.fromkeys(way.surface for way in target.spell_all(form))
    first = unicodedata.normalize("NFC", next(iter(found)))
    return [each for each in found if unicodedata.normalize("NFC", each) == first]


def _all_ways(
    parts: Iterable[Mapping[str, Sequence[Spelling]]],
) -> tuple[tuple[Spelling, ...], ...]:
    """Return the spellings of each part, whatever form they are of."""
    return tuple(
        tuple(dict.fromkeys(way for ways in part.values() for way in ways)) for part in parts
    )


def _usable_ways(ways: Iterable[Spelling], avoided: Sequence[Constraint]) -> list[Spelling]:
    """Return the spellings of a form that hold nothing avoided.

    What could only begin an output is of no use if the form itself is avoided.
    """
    ways = list(ways)
    usable = [way for way in ways if usable_forms((way.surface,), avoided)]
    spoilt = len(usable) < len(ways) and not all(way.first for way in ways)
    return [] if spoilt and all(way.first for way in usable) else usable


def _goes_beyond(way: Spelling, form: str) -> bool:
    """Return whether a spelling writes more behind a form, such as a full stop."""
    shown, form = way.surface.casefold(), form.casefold()
    return form in shown and not shown.endswith(form)


def _is_too_much(way: Spelling, asked: Constraint) -> bool:
    """Return whether a spelling has a limited phrase more than once: ``...`` has ``..`` twice."""
    return asked.at_most is not None and len(asked.find(way.surface, 2)) > 1


def _spell(form: str, asked: Constraint, target: TargetText, spaced: bool) -> Iterator[Spelling]:
    """Yield the spellings of a form in the cases that its constraint allows.

    A form with unknown characters is spelled as it is given: the characters are written into
    the output later. ``spaced`` leaves out what has no space before it, and parts of compounds;
    so does a limit on the words between parts, since a word is counted where a space is.
    """
    spaced = spaced or asked.within is not None
    given = target.spell_all(form)
    if given[0].pieces:
        yield from _with_space(given) if spaced else given
        return
    for variant in variants(form, asked.case):
        ways = target.spell_all(variant.text)
        if asked.compound and not spaced:
            ways = [replace(way, goes_on=_may_go_on(way)) for way in ways]
        if not ways[0].pieces:
            if variant.first:
                yield replace(ways[0], first=True)
            else:
                yield from _with_space(ways) if spaced else ways
    if asked.compound and may_be_part(form) and not spaced:
        for text in compound_spellings(form, asked.case)[1]:
            yield from spell_inside(target, text)


def _may_go_on(way: Spelling) -> bool:
    """Return whether a spelling can be the first part of a compound."""
    return may_be_first(way.surface) and not way.is_rewritten


def _with_space(spellings: Sequence[Spelling]) -> Sequence[Spelling]:
    """Return the spellings with a space before them; all if there are none."""
    return [spelling for spelling in spellings if spelling.spaced] or spellings
