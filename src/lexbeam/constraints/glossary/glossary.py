"""A glossary: loads files, and finds in a text what its terms demand of a translation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from lexbeam.arguments import as_items, as_pairs
from lexbeam.constraints.constraint import SourceSpans
from lexbeam.constraints.glossary.checking import compare
from lexbeam.constraints.glossary.context import CAPITALISING
from lexbeam.constraints.glossary.entries import (
    Concept,
    Contents,
    Problem,
    Term,
    clean_term,
    fault_of,
)
from lexbeam.constraints.glossary.matching import CASES, Case, Match, Matcher, Rule, split_words
from lexbeam.constraints.glossary.reading import read_file
from lexbeam.errors import InputError, SettingError, represented
from lexbeam.text.casing import matches
from lexbeam.text.compounds import has_compounds
from lexbeam.text.inflection import forms, languages, lemma
from lexbeam.text.languages import base_language, same_language
from lexbeam.text.word_boundaries import Span

_Demand = tuple[bool, tuple[str, ...], bool]  # may be a verb, targets, may be in compounds

_ENGLISH = ("en", "eng")


@dataclass(frozen=True)
class Found:
    """What glossaries demand of the translation of one text.

    ``constraints`` and ``avoid`` are as `Translator.translate` takes them: a single target is a
    phrase, as often as its source occurs; several are ``{"any": [...]}``, with ``count`` if
    they are to occur more than once; what may be in a compound says so. ``entries`` are the
    source terms that were found, ``source_spans`` says where in the text the source of each
    constraint stands, one span for each time that the constraint is to occur, and ``may_be_verbs``
    whether its target is a noun and its source could be a verb there. Those come last.
    """

    constraints: list[Any] = field(default_factory=list)
    avoid: list[Any] = field(default_factory=list)
    entries: list[Match] = field(default_factory=list)
    source_spans: list[SourceSpans] = field(default_factory=list)
    may_be_verbs: list[bool] = field(default_factory=list)


class Glossary:
    """Terms and their translations, from one file or several; a later file overrides earlier ones.

    ``case`` says how capitals count when source terms are looked for: *smart* (words written in
    lower case match any capitals, others as they are), *exact* or *any*. With ``lemmas`` a term
    is found in any of its forms (*houses* finds *house*) and its translation may stand in any
    (*Haus*, *Häuser*); ``"source"`` and ``"target"`` ask for one of the two. With ``compounds``
    a translation may be part of a compound (*Haustür*), and what is forbidden may not. With
    ``verbs`` German nouns are demanded for English words that are verbs, too (*controls access*).
    ``source`` and ``target`` are the languages for a model that does not say its own.
    """

    def __init__(
        self,
        contents: Sequence[Contents],
        case: Case = "smart",
        lemmas: bool | str = False,
        source: str | None = None,
        target: str | None = None,
        compounds: bool = False,
        verbs: bool = False,
    ) -> None:
        if not isinstance(case, str) or case not in CASES:
            raise SettingError(
                f"unknown case {represented(case)}; choose one of: {', '.join(CASES)}"
            )
        if not isinstance(lemmas, str | int) or lemmas not in (False, True, "source", "target"):
            raise SettingError(
                f"lemmas must be True, False, source or target, not {represented(lemmas)}"
            )
        for option, value in (("compounds", compounds), ("verbs", verbs)):
            if not isinstance(value, int):
                raise SettingError(f"{option} must be True or False, not {represented(value)}")
        _check_languages(source, target)
        self._contents = list(contents)
        self._case = case
        self._lemmas = lemmas
        self._languages = (source, target)
        self._compounds = compounds
        self._verbs = verbs
        self._matchers: dict[tuple[str | None, str | None], Matcher] = {}

    @property
    def signature(self) -> str:
        """A text that is the same for glossaries that demand the same."""
        how = self._case, self._lemmas, self._languages, self._compounds, self._verbs
        return repr((self._contents, *how))

    @classmethod
    def load(
        cls,
        *paths: str | Path,
        case: Case = "smart",
        lemmas: bool | str = False,
        encoding: str | None = None,
        source: str | None = None,
        target: str | None = None,
        compounds: bool = False,
        verbs: bool = False,
    ) -> Glossary:
        """Read files: CSV, TSV or TBX.

        ``encoding`` is for tables that are not Unicode. What is wrong with single lines is in
        ``problems``.

        Raises:
            InputError: a file can't be used at all.
        """
        contents = [read_file(path, encoding) for path in paths]
        for each in contents:
            if not each.concepts:
                first = f": {each.problems[0].message}" if each.problems else ""
                raise InputError(f"{each.path} has no entry that can be used{first}")
        return cls(contents, case, lemmas, source, target, compounds, verbs)

    @classmethod
    def from_terms(
        cls,
        terms: Mapping[str, str | Iterable[str]],
        forbidden: Mapping[str, str | Iterable[str]] | None = None,
        case: Case = "smart",
        lemmas: bool | str = False,
        compounds: bool = False,
        verbs: bool = False,
    ) -> Glossary:
        """Make a glossary of source terms and their translations, one or several each."""
        contents = Contents("terms")
        nothing: Mapping[str, str] = {}
        for is_forbidden, given in (
            (False, terms),
            (True, nothing if forbidden is None else forbidden),
        ):
            pairs = as_pairs(given)
            if pairs is None:
                raise InputError(
                    f"terms must be a mapping of source terms, not {represented(given)}"
                )
            for number, (source, targets) in enumerate(pairs, 1):
                items = None if isinstance(targets, str) else as_items(targets)
                written = [targets] if items is None else items
                sides = [_checked(source), *map(_checked, written)]
                contents.add(
                    number,
                    [
                        Term(sides[0], None, "source"),
                        *(Term(text, None, "target", is_forbidden) for text in sides[1:]),
                    ],
                )
        return cls([contents], case, lemmas, compounds=compounds, verbs=verbs)

    def overridden_by(self, other: Glossary) -> Glossary:
        """Return both glossaries as one; where they differ, the other one's terms hold."""
        if not isinstance(other, Glossary):
            raise InputError(f"a glossary is overridden by another, not {represented(other)}")
        contents = [*self._contents, *other._contents]
        compounds = self._compounds or other._compounds
        verbs = self._verbs or other._verbs
        return Glossary(contents, self._case, self._lemmas, *self._languages, compounds, verbs)

    def __len__(self) -> int:
        return sum(len(contents.concepts) for contents in self._contents)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that the files name."""
        return tuple(sorted({code for contents in self._contents for code in contents.languages}))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Lines that could not be used."""
        return tuple(problem for contents in self._contents for problem in contents.problems)

    def check(self, source: str | None = None, target: str | None = None) -> list[Problem]:
        """Return all problems: lines that can't be used, and entries that disagree or overlap."""
        _check_languages(source, target)
        return [*self.problems, *compare(self._all_rules(source, target))]

    def prepare(self, source: str | None = None, target: str | None = None) -> None:
        """Get ready to find terms in texts of a language.

        Raises:
            InputError: a language is not known, there are no terms in it, or it has no compounds
                and they are wanted.
            MissingExtraError: lemmas are wanted and their dictionaries are not installed.
        """
        _check_languages(source, target)
        if self._lemmas:
            languages()
        target = target or self._languages[1]
        if self._compounds and not has_compounds(target):
            raise InputError(
                f"{target} does not write compounds as one word: "
                "a glossary for it can't have them accepted"
            )
        self._ready_matcher(source or self._languages[0], target)

    def find(
        self,
        text: str,
        source: str | None = None,
        target: str | None = None,
        skip: Sequence[Span] = (),
    ) -> Found:
        """Return what the terms of a text demand of its translation.

        ``source`` and ``target`` are the languages; files that name theirs need them. No term
        is looked for in the spans of ``skip``.
        """
        if not isinstance(text, str):
            raise InputError(f"terms are looked for in a text, not in {represented(text)}")
        _check_languages(source, target)
        source, target = source or self._languages[0], target or self._languages[1]
        found = self._ready_matcher(source, target).find(text, skip)
        joined = {match.rule: self._in_compounds(match.rule, target) for match in found}
        demanded: dict[_Demand, list[Span]] = {}
        for match in found:
            if match.rule.targets:
                demand = match.may_be_verb, match.rule.targets, joined[match.rule]
                demanded.setdefault(demand, []).append((match.start, match.end))
        forms = {each: self._target_forms(each[1], target) for each in demanded}
        forbidden = dict.fromkeys(
            (form, joined[match.rule])
            for match in found
            for form in self._target_forms(match.rule.forbidden, target)
        )
        avoid = _without_demanded(forbidden, forms.values())
        shaped = [
            (*one, each[0])
            for each in sorted(demanded, key=lambda each: each[0])
            for one in _shape(forms[each], demanded[each], each[2], each[0])
        ]
        constraints, spans_of = [each[0] for each in shaped], [each[1] for each in shaped]
        return Found(constraints, avoid, found, spans_of, [each[2] for each in shaped])

    def _in_compounds(self, rule: Rule, target: str | None) -> bool:
        return (self._compounds or rule.compound) and has_compounds(target)

    def _target_forms(self, targets: tuple[str, ...], language: str | None) -> tuple[str, ...]:
        if self._lemmas not in (True, "target") or not targets:
            return targets
        if language is None:
            raise InputError("to find forms of words the target language must be known")
        return tuple(dict.fromkeys(f for each in targets for f in forms(each, language)))

    def _ready_matcher(self, source: str | None, target: str | None) -> Matcher:
        pair = (source, target)
        if pair not in self._matchers:
            self._matchers[pair] = self._matcher(*pair)
        return self._matchers[pair]

    def _matcher(self, source: str | None, target: str | None) -> Matcher:
        rules: dict[tuple[str, ...], Rule] = {}
        for rule in self._all_rules(source, target):
            words = tuple(map(str.casefold, rule.words)) if self._case == "any" else rule.words
            known = rules.get(words)
            rules[words] = _merged(known, rule) if known and known.rank == rule.rank else rule
        lemma_of = None
        if self._lemmas in (True, "source"):
            if source is None:
                raise InputError("to find forms of words the source language must be known")
            lemma_of = partial(lemma, language=source)
        languages = [each and base_language(each) for each in (source, target)]
        names = bool(languages[0]) and languages[0] not in CAPITALISING
        nouns = languages[0] in _ENGLISH and languages[1] in CAPITALISING
        return Matcher(
            rules.values(), self._case, lemma_of, names, nouns, bool(languages[0]), self._verbs
        )

    def _all_rules(self, source: str | None, target: str | None) -> list[Rule]:
        return [
            rule
            for rank, contents in enumerate(self._contents)
            for rule in _rules(contents, source, target, rank)
        ]


def _check_languages(source: object, target: object) -> None:
    """Raise if something that is no language is given in place of one."""
    for name, language in (("source", source), ("target", target)):
        if language is not None and not isinstance(language, str):
            raise SettingError(f"{name} must be a language, not {represented(language)}")


def _rules(contents: Contents, source: str | None, target: str | None, rank: int) -> Iterable[Rule]:
    """Yield the rules that the concepts of a file give for two languages."""
    wanted = [
        _wanted(contents, language, side)
        for language, side in ((source, "source"), (target, "target"))
    ]
    for concept in contents.concepts:
        sources = _side(concept, "source", wanted[0])
        targets = _side(concept, "target", wanted[1])
        allowed = tuple(dict.fromkeys(term.text for term in targets if not term.forbidden))
        forbidden = tuple(dict.fromkeys(term.text for term in targets if term.forbidden))
        if not allowed and not forbidden:
            continue
        for term in sources:
            words = tuple(word for word, _, _ in split_words(term.text))
            at = concept.path, concept.line
            yield Rule(term.text, words, allowed, forbidden, *at, rank, concept.compound)


def _wanted(contents: Contents, language: str | None, side: str) -> set[str]:
    """Return the languages of a file that fit a wanted one."""
    if not contents.languages:
        return set()
    there = ", ".join(sorted(contents.languages))
    if language is None:
        raise InputError(
            f"{contents.path} has terms in {there}: which is the {side} language? "
            f"A glossary takes it as {side}="
        )
    found = same_language(language, contents.languages)
    if not found:
        raise InputError(f"{contents.path} has no terms in {language}, only in {there}")
    return found


def _side(concept: Concept, role: str, languages: set[str]) -> list[Term]:
    return [
        term
        for term in concept.terms
        if term.role in (role, "either") and (term.language is None or term.language in languages)
    ]


def _merged(first: Rule, second: Rule) -> Rule:
    """Return one rule for two of the same file and words: their targets are alternatives."""
    return replace(
        first,
        targets=tuple(dict.fromkeys((*first.targets, *second.targets))),
        forbidden=tuple(dict.fromkeys((*first.forbidden, *second.forbidden))),
        compound=first.compound or second.compound,
    )


def _shape(
    targets: Sequence[str], spans: Sequence[Span], compounds: bool, doubtful: bool
) -> list[tuple[Any, SourceSpans]]:
    """Return demands with their spans: what may be in a compound or is ``doubtful``, one by one."""
    option: dict[str, Any] = {"compound": True} if compounds else {}
    if len(targets) == 1:
        phrase = {"text": targets[0], **option} if option else targets[0]
        return [(phrase, (span,)) for span in spans]
    any_of: dict[str, Any] = {"any": list(targets), **option}
    if compounds or doubtful:
        return [(any_of, (span,)) for span in spans]
    return [(any_of if len(spans) == 1 else {**any_of, "count": len(spans)}, tuple(spans))]


def _without_demanded(
    avoid: Iterable[tuple[str, bool]], demanded: Iterable[Sequence[str]]
) -> list[Any]:
    """Return what is avoided without phrases that are part of something demanded.

    Each comes with whether it is avoided in compounds, too.
    """
    wanted = [target for targets in demanded for target in targets]
    return [
        {"text": each, "compound": True} if compound else each
        for each, compound in avoid
        if not any(matches(target, each, "exact", (), compound) for target in wanted)
    ]


def _checked(text: object) -> str:
    if not isinstance(text, str) or not clean_term(text):
        raise InputError(f"a term must be a text that is not empty, not {represented(text)}")
    cleaned = clean_term(text)
    if fault := fault_of(cleaned):
        raise InputError(fault)
    return cleaned
