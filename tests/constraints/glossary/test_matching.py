from __future__ import annotations

import string
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.constraints.glossary.matching import Case, Match, Matcher, Rule, split_words
from lexbeam.text.word_boundaries import contains, occurrences


def rule(source: str, rank: int = 0) -> Rule:
    words = tuple(word for word, _, _ in split_words(source))
    return Rule(source, words, (source.upper(),), (), "terms.csv", 1, rank)


def found(
    text: str,
    *sources: str,
    case: Case = "smart",
    lemma_of: Callable[[str], str] | None = None,
) -> list[str]:
    matches = Matcher(map(rule, sources), case, lemma_of).find(text)
    return [f"{match.rule.source}@{match.start}" for match in matches]


def test_whole_words_only() -> None:
    assert found("The cathedral has a cat.", "cat") == ["cat@20"]
    assert found("cat-like, cat's cat", "cat") == ["cat@0", "cat@10", "cat@16"]


def test_the_longest_first() -> None:
    text = "the power supply unit of the power plant"
    terms = ("power", "power supply", "supply unit", "power supply unit")
    assert found(text, *terms) == ["power supply unit@4", "power@29"]


def test_the_longest_wins_wherever_it_begins() -> None:
    assert found("a b c d", "a b", "b c d") == ["b c d@2"]
    assert found("a b c", "a b", "b c") == ["a b@0"]


def test_spaces_and_line_breaks_are_alike() -> None:
    assert found("the New\n  York office", "New York") == ["New York@4"]
    assert found("New, York", "New York") == []


@pytest.mark.parametrize(
    ("case", "expected"),
    [("smart", ["it@0", "it@3", "IT@6"]), ("exact", ["it@0", "IT@6"]), ("any", ["it@0", "IT@6"])],
)
def test_capitals(case: Case, expected: list[str]) -> None:
    terms = ("it", "IT") if case != "any" else ("IT",)
    text = "it It IT"
    result = found(text, *terms, case=case)
    assert result == (expected if case != "any" else ["IT@0", "IT@3", "IT@6"])


def test_capitals_in_a_term_are_meant() -> None:
    assert found("Polish people polish POLISH things", "Polish") == ["Polish@0"]
    assert found("The White house", "White House") == []


def test_case_folding_goes_beyond_ascii() -> None:
    assert found("GRÖSSE und Straße", "größe", "strasse") == ["größe@0", "strasse@11"]
    assert found("ÉCOLE", "école") == ["école@0"]


def test_unicode_has_several_ways_to_write_a_letter() -> None:
    assert found("ein sto\u0308rendes Gera\u0308t", "Ger\u00e4t") == ["Ger\u00e4t@15"]
    assert found("l’eau", "l'eau") == ["l'eau@0"]


def test_scripts_without_spaces() -> None:
    assert found("我们在北京看到了猫。", "北京", "猫", "京看") == ["北京@3", "猫@8"]


LEMMAS = {"houses": "house", "Houses": "house", "Häuser": "Haus", "ran": "run", "Apples": "apple"}


def lemma_of(word: str) -> str:
    return LEMMAS.get(word, word)


def test_inflected_words_are_found() -> None:
    assert found("Houses and houses", "house", lemma_of=lemma_of) == ["house@0", "house@11"]
    assert found("die Häuser", "Haus", lemma_of=lemma_of) == ["Haus@4"]
    assert found("two houses there", "two house there", lemma_of=lemma_of) == ["two house there@0"]


def test_an_inflected_word_must_have_the_capitals_of_a_name() -> None:
    assert found("Apples", "Apple", lemma_of=lemma_of) == ["Apple@0"]
    assert found("houses", "House", lemma_of=lemma_of) == []


def test_what_is_written_is_closer_than_its_lemma() -> None:
    assert found("houses", "house", "houses", lemma_of=lemma_of) == ["houses@0"]


def test_a_long_term_of_many_forms_is_found() -> None:
    text = " ".join(["houses"] * 12)
    term = " ".join(["house"] * 12)
    assert found(text, term, lemma_of=lemma_of) == [f"{term}@0"]


def test_the_later_glossary_wins() -> None:
    matcher = Matcher([rule("House", 0), rule("house", 1)])
    (match,) = matcher.find("House")
    assert match.rule.source == "house"


def test_nothing_is_found_in_what_is_skipped() -> None:
    matcher = Matcher([rule("house"), rule("the house")])
    assert [m.start for m in matcher.find("the house house", skip=[(4, 9)])] == [10]


TEXTS = st.text(alphabet="abAB .,é-", max_size=30)
TERMS = st.lists(st.sampled_from(["a", "b", "ab", "a b", "b a", "é", "a-b", "a b a"]), unique=True)


@given(TEXTS, TERMS)
def test_matches_are_whole_words_that_do_not_overlap(text: str, terms: list[str]) -> None:
    matches = Matcher(map(rule, terms)).find(text)
    for left, right in pairwise(matches):
        assert left.end <= right.start
    for match in matches:
        assert (match.start, match.end) in occurrences(text, text[match.start : match.end])
    if not matches:
        assert not any(contains(text.lower(), term) for term in terms)


@given(st.text(alphabet=string.printable, max_size=30))
def test_words_are_split_alike_with_and_without_other_letters(text: str) -> None:
    assert split_words(text) == split_words(text + " é")[:-1]


def test_a_match_says_where_it_comes_from() -> None:
    assert Matcher([rule("cat")]).find("a cat") == [Match(rule("cat"), 2, 5)]
