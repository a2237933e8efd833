from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sentencepiece

from lexbeam.constraints.constraint_set import Constraints
from lexbeam.errors import ConstraintError
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.text.spelling import TargetText, word_marks
from lexbeam.translation.avoided import Avoidance
from lexbeam.translation.spelled import SpelledConstraint, limit_exact, limited_alike


@pytest.fixture
def target(processor: sentencepiece.SentencePieceProcessor) -> TargetText:
    return TargetText(processor)


def spell(target: TargetText, given: Any, avoid: list[Any] | None = None) -> SpelledConstraint:
    asked = Constraints.build([given], avoid)
    return SpelledConstraint.spell(
        asked.demanded[0], target, Avoidance.spell(asked.avoid, target).words
    )


def forms(target: TargetText, *phrases: str) -> tuple[Form, ...]:
    """Return the forms of phrases behind a space and behind punctuation."""
    return tuple(
        Form(spelling.ids, apart=spelling.apart)
        for phrase in phrases
        for spelling in target.spell_all(phrase)
    )


def pattern(target: TargetText, given: Any, avoid: list[Any] | None = None) -> Any:
    spelled = spell(target, given, avoid)
    return spelled.pattern(0, len(spelled.parts))


def test_inside_a_sentence_nothing_has_a_capital_for_its_beginning(target: TargetText) -> None:
    spelled = spell(target, {"order": ["gato", "Casa"]})
    inside = spelled.inside()
    assert any(way.first for way in spelled.spellings)
    assert not any(way.first for way in inside.spellings)
    assert inside.inside() is inside


def test_a_phrase_may_stand_behind_a_space_or_punctuation(target: TargetText) -> None:
    spaced, bare = target.spell_all("gato")
    assert (spaced.spaced, spaced.apart, bare.spaced, bare.apart) == (True, False, False, True)
    phrase = Pattern((forms(target, "gato"),), may_overlap=True)
    assert pattern(target, {"text": "gato", "case": "exact"}) == phrase
    assert pattern(target, {"any": ["gato"], "case": "exact"}) == phrase
    assert pattern(target, {"order": ["gato"], "case": "exact"}) == phrase


def test_what_has_one_spelling_is_plain_tokens(target: TargetText) -> None:
    mark = "\u0301a"  # stands behind nothing but a space
    assert pattern(target, mark) == target.spell(mark).ids


def test_a_small_phrase_may_be_large_where_a_sentence_begins(target: TargetText) -> None:
    large = Form(target.spell("Gato").ids, first=True)
    small = forms(target, "gato")
    assert pattern(target, "gato") == Pattern(((*small, large),), may_overlap=True)
    chain = pattern(target, {"gap": ["gato", "casa"], "within": 2})
    spaced = [Form(target.spell(word).ids) for word in ("gato", "casa")]
    assert chain == Pattern(((spaced[0], large), (spaced[1],)), within=2)


def test_later_parts_of_a_chain_may_begin_a_later_sentence(target: TargetText) -> None:
    chain = spell(target, {"order": ["gato", "casa"]})
    rest = chain.pattern(1, 2)
    assert isinstance(rest, Pattern)
    assert Form(target.spell("Casa").ids, first=True) in rest.parts[0]


def test_alternatives(target: TargetText) -> None:
    chosen = pattern(target, {"any": ["Haus", "Haustür"], "soft": 1.5})
    assert chosen == Pattern((forms(target, "Haus", "Haustür"),), penalty=1.5)
    spelled = spell(target, {"text": "Haus", "soft": 1})
    assert spelled.pattern(0, 1, firm=True) == Pattern((forms(target, "Haus"),), may_overlap=True)


def test_without_case(target: TargetText) -> None:
    chosen = pattern(target, {"text": "Gato", "case": "any"})
    spellings = {target.decode(form.tokens) for form in chosen.parts[0]}
    assert spellings == {"Gato", "gato", "GATO"}
    assert not any(form.first for form in chosen.parts[0])


def test_a_suffix_of_punctuation_stands_behind_a_word(target: TargetText) -> None:
    chosen = pattern(target, {"suffix": "!"})
    assert chosen.last
    assert {
        target.decode([*target.spell("gato").ids, *form.tokens]) for form in chosen.parts[0]
    } >= {"gato!"}
    assert pattern(target, {"suffix": "Haus"}) == Pattern(
        (forms(target, "Haus"),), last=True, may_overlap=True
    )


def test_forms_with_something_avoided_are_left_out(target: TargetText) -> None:
    chosen = pattern(target, {"any": ["o gato", "Haus"]}, avoid=["gato"])
    assert chosen == Pattern((forms(target, "Haus"),))
    with pytest.raises(ConstraintError, match='"fim" can\'t be written without what is avoided'):
        spell(target, "fim", avoid=["ﬁm"])


def test_a_form_that_is_avoided_does_not_come_back_with_a_capital(target: TargetText) -> None:
    chosen = pattern(target, {"any": ["gato", "Haus"]}, avoid=["gato"])
    assert chosen == Pattern((forms(target, "Haus"),))


def test_what_ends_an_output_has_nothing_behind_it(
    target: TargetText, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = [*target.spell_all("Haus"), replace(target.spell("Haus."), surface="Haus.")]
    monkeypatch.setattr(TargetText, "spell_all", lambda _, phrase: more if phrase == "Haus" else [])
    given = {"case": "exact"}
    anywhere = pattern(target, {"text": "Haus", **given}).parts[0]
    at_the_end = pattern(target, {"suffix": "Haus", **given}).parts[0]
    assert [form.tokens for form in anywhere] == [way.ids for way in more]
    assert [form.tokens for form in at_the_end] == [way.ids for way in more[:-1]]


def test_sizes(target: TargetText) -> None:
    spelled = spell(target, {"gap": [{"any": ["gato", "no tapete"]}, "casa"]})
    lengths = [len(target.spell(phrase).ids) for phrase in ("gato", "no tapete", "casa")]
    assert spelled.shortest == min(lengths[:2]) + lengths[2]
    assert spelled.longest >= max(lengths[:2]) + lengths[2]


def test_unknown_characters_are_spelled_as_given_only(target: TargetText) -> None:
    spelled = spell(target, "a¥")
    assert {spelling.surface for spelling in spelled.spellings} == {"a¥"}
    assert spelled.spellings[0].pieces


def test_what_is_looked_for_is_what_the_output_shows(target: TargetText) -> None:
    spelled = spell(target, "cafe\u0301")
    assert spelled.surface.find("Um café.") == [((3, 7),)]
    assert spelled.asked.text == "cafe\u0301"


def test_reports(target: TargetText) -> None:
    spelled = spell(target, {"gap": ["sat", "mat"], "count": 2})
    text = "Sat on mat, sat mat"
    report = spelled.report(text, spelled.surface.find(text, 2), 0.5)
    assert report.met
    assert report.text == "sat … mat"
    assert report.form == "Sat … mat"
    assert report.span == (0, 10)
    assert report.spans == ((0, 3), (7, 10), (12, 15), (16, 19))
    assert report.price == 0.5
    missing = spelled.report(text, spelled.surface.find("sat mat", 2), None)
    assert not missing.met
    assert not missing.dropped
    soft = spell(target, {"text": "casa", "soft": 1})
    assert soft.report(text, [], None).dropped


def test_words_start_after_a_space(
    target: TargetText, processor: sentencepiece.SentencePieceProcessor
) -> None:
    starts = target.spaced_tokens(len(processor) + 3)
    assert len(starts) == len(processor) + 3
    assert starts[processor.encode("gato")[0]]
    assert not starts[processor.piece_to_id(".")]
    assert not starts[-3:].any()
    *_, marking, silent = word_marks(target, len(processor) + 3)
    assert np.flatnonzero(marking).tolist() == [processor.piece_to_id("▁")]
    assert silent[processor.unk_id()]
    assert silent[-3:].all()
    assert not silent[[processor.eos_id(), processor.piece_to_id("▁")]].any()


def test_a_space_of_its_own(processor: sentencepiece.SentencePieceProcessor) -> None:
    chinese = TargetText(processor, language="zh")
    spelled = spell(chinese, "GDP")
    assert not spelled.spellings[0].spaced
    respelled = spelled.spaced(chinese)
    assert respelled.spellings[0].spaced
    assert respelled == replace(spelled, parts=respelled.parts)
    assert respelled.spaced(chinese) == respelled


@pytest.mark.parametrize(
    ("forms", "is_exact"),
    [
        (["na na"], True),
        (["no", "na na"], False),
        (["na mo", "mo na"], False),
        (["mit", "tim"], True),
        (["gato", "gatos"], True),
        (["na mo", "na"], False),
        (["o gato preto", "Gato"], False),
        (["日本", "日本 語"], False),
        (["na", "Na"], True),
    ],
)
def test_alternatives_that_can_share_words_are_not_counted_by_the_search(
    target: TargetText, forms: list[str], is_exact: bool
) -> None:
    """The search counts where they end; in a text they stand one behind the other."""
    for times, counted in ((1, True), (2, is_exact)):
        demand = spell(target, {"any": forms, "exactly": times})
        assert limit_exact([demand])[0].is_exact == counted


def test_a_form_that_is_avoided_does_not_count_as_said(target: TargetText) -> None:
    spelled = spell(target, {"any": ["gato", "cat"], "exactly": 1}, ["gato"])
    assert spelled.surface.parts == (("cat",),)
    assert spelled.surface.find("Gato cat", 2) == [((5, 8),)]
    assert spelled.asked.parts == (("gato", "cat"),)  # what was asked for is reported as it is


def test_nothing_is_limited_that_is_demanded_without_a_limit_as_well() -> None:
    forms = (Form((1,)), Form((1, 2), apart=True))
    limited = Pattern((forms,), may_overlap=True, exact=True)
    free, plain = replace(limited, exact=False), (3, 4)
    alone = Pattern(((Form((3, 4)),),), may_overlap=True, exact=True)
    assert limited_alike([limited, free, limited]) == [free, free, free]
    assert limited_alike([alone, plain]) == [plain, plain]
    assert limited_alike([limited, alone, (1,)]) == [limited, alone, (1,)]
