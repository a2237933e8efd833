"""Where the entries of glossaries disagree, repeat each other, or overlap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from lexbeam.constraints.glossary.entries import Level, Problem
from lexbeam.constraints.glossary.matching import Rule, fold
from lexbeam.errors import quoted
from lexbeam.text.word_boundaries import contains

Words = tuple[str, ...]


def compare(rules: Iterable[Rule]) -> list[Problem]:
    """Return the problems between rules, sorted by file and line."""
    by_words: defaultdict[Words, list[Rule]] = defaultdict(list)
    for rule in rules:
        by_words[tuple(map(fold, rule.words))].append(rule)
    problems = [problem for group in by_words.values() for problem in _same_source(group)]
    problems += _overlaps({words: group[-1] for words, group in by_words.items()})
    return sorted(dict.fromkeys(problems), key=lambda problem: (problem.path, problem.line))


def _same_source(group: Sequence[Rule]) -> Iterator[Problem]:
    """Yield the problems of rules for the same words, each compared with the first before it."""
    for i, rule in enumerate(group):
        yield from _against_itself(rule)
        earlier = next((other for other in group[:i] if other.source == rule.source), None)
        if earlier:
            yield _against_earlier(rule, earlier)
        elif i:
            yield _problem(
                "note", rule, f"differs only in capitals from {_shown(group[0])}: both are used"
            )


def _against_itself(rule: Rule) -> Iterator[Problem]:
    for forbidden in rule.forbidden:
        for target in rule.targets:
            if contains(target, forbidden):
                yield _problem(
                    "warning",
                    rule,
                    f"{quoted(forbidden)} is forbidden and yet part of the target "
                    f"{quoted(target)}: it will be allowed",
                )


def _against_earlier(rule: Rule, earlier: Rule) -> Problem:
    where = f"{quoted(rule.source)} is also in {_location(earlier, rule)}"
    if rule.rank != earlier.rank:
        return _problem("note", rule, f"{where}: this later glossary wins")
    clash = set(rule.targets) & set(earlier.forbidden) or set(rule.forbidden) & set(earlier.targets)
    if clash:
        return _problem(
            "warning",
            rule,
            f"{where}: one allows {quoted(min(clash))}, the other forbids it; it will be allowed",
        )
    if (rule.targets, rule.forbidden) == (earlier.targets, earlier.forbidden):
        return _problem("note", rule, f"{where}, with the same target")
    if not rule.targets or not earlier.targets:
        return _problem("note", rule, f"{where}: they are taken together")
    return _problem(
        "warning",
        rule,
        f"{where} as {_listed(earlier.targets)}, here as {_listed(rule.targets)}: "
        "any of them will do",
    )


def _overlaps(rules: dict[Words, Rule]) -> Iterator[Problem]:
    """Yield terms that end as another begins: in *power supply chain* only one can be used."""
    beginnings: defaultdict[Words, list[Rule]] = defaultdict(list)
    for words, rule in rules.items():
        for n in range(1, len(words)):
            beginnings[words[:n]].append(rule)
    for words, rule in rules.items():
        for n in range(1, len(words)):
            for other in beginnings.get(words[n:], ()):
                if other is not rule:
                    shared = " ".join(rule.words[n:])
                    yield _problem(
                        "note",
                        rule,
                        f"{quoted(rule.source)} ends with {quoted(shared)}, with which "
                        f"{_shown(other)} begins: where both overlap, the longer or else the "
                        "first is taken",
                    )


def _problem(level: Level, rule: Rule, message: str) -> Problem:
    return Problem(level, rule.path, rule.line, message)


def _shown(rule: Rule) -> str:
    return f"{quoted(rule.source)} ({rule.path}:{rule.line})"


def _location(earlier: Rule, rule: Rule) -> str:
    return f"line {earlier.line}" if earlier.path == rule.path else f"{earlier.path}:{earlier.line}"


def _listed(targets: Sequence[str]) -> str:
    return " or ".join(map(quoted, targets))
