"""Every kind of constraint, alone and mixed, on the way from text to text."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import lexbeam
from helpers.toy_text import EchoScorer
from lexbeam.errors import ConstraintError
from lexbeam.models.model import Model
from lexbeam.search.beam_search import decode
from lexbeam.text.word_boundaries import contains
from lexbeam.translation.document import _outside_phrases
from lexbeam.translation.results import ConstraintReport, Translation
from lexbeam.translation.translator import Translator

TEXT = "The cat sat on the mat."
LONG = "The cat sat. The dog sat near the old house.\n\nNew York City is a city. Yes!"


def ask(translator: Translator, *constraints: Any, text: str = TEXT, **more: Any) -> Translation:
    result: Translation = translator.translate(text, constraints=constraints, **more)
    for report in result.constraints:
        assert report.met == bool(report.spans)
        assert not report.met or " … ".join(places(result, report)).startswith(str(report.form))
    return result


def places(result: Translation, report: ConstraintReport) -> list[str]:
    return [result.text[slice(*span)] for span in report.spans]


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The length limits of each search that is made."""
    found: list[Any] = []

    def spy(*arguments: Any, **named: Any) -> Any:
        found.append(named["max_length"])
        return decode(*arguments, **named)

    monkeypatch.setattr("lexbeam.translation.jobs.decode", spy)
    return found


def test_any_form_will_do(translator: Translator) -> None:
    result = ask(translator, {"any": ["Haus", "mat", "casa"]})
    (report,) = result.constraints
    assert result.text == TEXT  # one of them is there already
    assert (report.form, report.text) == ("mat", "Haus | mat | casa")
    result = ask(translator, {"any": ["Haus", "Haustür"]})
    assert result.constraints[0].form in ("Haus", "Haustür")


@pytest.mark.parametrize(
    ("text", "constraints", "most"),
    [
        ("One.", ["tooth"] * 2001, "10,000"),
        ("", ["tooth"] * 2001, "10,000"),
        ("One. Two.", ["tooth"] * 4001, "20,000"),
        ("One.", [{"gap": ["a" * 90, "b"]}, {"any": ["ab", "c" * 100], "count": 100}], "10,000"),
    ],
)
def test_what_no_sentence_could_say_is_refused_before_anything_is_searched(
    translator: Translator, text: str, constraints: list[Any], most: str
) -> None:
    with pytest.raises(ConstraintError, match=f"demand .* characters.* at most {most} are poss"):
        translator.translate(text, constraints)


def test_what_is_kept_of_a_source_is_no_demand_of_its_caller(translator: Translator) -> None:
    kept = translator.translate("{0} " * 3400, keep=["placeholders"], split=False)
    assert kept.text.count("{0}") == 3400


def test_a_translation_may_be_twice_as_long_as_its_source_and_a_little_more(
    translator: Translator, toy_model: Model, limits: list[Any]
) -> None:
    """Twice the tokens of the source and of what is demanded, and twenty."""
    length = len(toy_model.encode(TEXT))
    translator.translate(TEXT)
    spellings = toy_model.target_text.spell_all("Haus")
    phrase = max(len(spelling.ids) for spelling in spellings)
    translator.translate(TEXT, ["Haus"])
    translator.translate(TEXT, max_length=length)
    assert limits == [[2 * length + 20], [2 * (length + phrase) + 20], [length]]


def test_much_that_is_demanded_has_less_room_beyond_its_own(
    translator: Translator, toy_model: Model, limits: list[Any]
) -> None:
    """A token for each of them, and at least a hundred."""
    spellings = toy_model.target_text.spell_all("Haus")
    phrase = max(len(spelling.ids) for spelling in spellings)
    length = len(toy_model.encode(TEXT))
    translator.translate(TEXT, [{"text": "Haus", "count": 60}])
    translator.translate(TEXT, [{"text": "Haus", "count": 100}] * 2)
    assert phrase > 1
    assert limits[0] == [2 * length + 60 * phrase + min(60 * phrase, 100) + 20]
    assert limits[-1] == [2 * length + 200 * phrase + 200 + 20]


@pytest.mark.parametrize(("times", "again"), [(3, True), (20, False)])
def test_what_is_given_up_is_searched_for_again_beside_few_others(
    translator: Translator, limits: list[Any], times: int, again: bool
) -> None:
    demands = {"text": "gato", "count": times}, {"text": "Haus", "soft": 0.001}
    result = ask(translator, *demands)
    assert [report.met for report in result.constraints] == [True, False]
    assert (len(limits) > 1) is again


def test_several_times(translator: Translator) -> None:
    result = ask(translator, {"text": "gato", "count": 3}, "gato")
    first, second = result.constraints
    assert len(first.spans) == 3
    assert second.span not in first.spans
    result = ask(translator, {"any": ["Haus", "casa"], "count": 2})
    assert all(word in ("Haus", "casa") for word in places(result, result.constraints[0]))
    assert len(set(result.constraints[0].spans)) == 2


def test_in_order(translator: Translator) -> None:
    for order in (["mat", "cat"], ["Haus", {"any": ["sat", "casa"]}, "Haus"]):
        (report,) = ask(translator, {"order": order}).constraints
        assert report.met
        assert list(report.spans) == sorted(report.spans)
        assert len(report.spans) == len(order)


@pytest.mark.parametrize("within", [0, 1, 2])
def test_a_gap_is_no_wider_than_it_may_be(translator: Translator, within: int) -> None:
    result = ask(translator, {"gap": ["cat", "mat"], "within": within})
    (report,) = result.constraints
    (_, end), (start, _) = report.spans
    assert len(re.findall(r"\w+", result.text[end:start])) <= within


def test_case(translator: Translator) -> None:
    """At the beginning of a text a phrase may be capitalised; elsewhere it is as it is given."""
    (report,) = ask(translator, "the cat", text="The cat").constraints
    assert (report.form, report.span) == ("The cat", (0, 7))
    (report,) = ask(translator, "the cat", text="a The cat").constraints
    assert report.form == "the cat" or report.span == (0, 7)
    (report,) = ask(translator, {"text": "the cat", "case": "exact"}, text="The cat").constraints
    assert report.form == "the cat"
    (report,) = ask(translator, {"text": "THE cat", "case": "any"}, text="a The cat").constraints
    assert report.form == "The cat"


def test_every_sentence_has_a_beginning(translator: Translator) -> None:
    result = ask(translator, "the dog", text=LONG)
    assert result.text == LONG
    assert result.constraints[0].form == "The dog"


@pytest.mark.parametrize("prefix", ["O ga", "O gato", "O gato ", "Gr", "O gato pr"])
def test_the_last_word_of_a_prefix_is_open_unless_a_space_follows(
    translator: Translator, prefix: str
) -> None:
    for result in (
        ask(translator, "casa", prefix=prefix),
        ask(translator, "casa", {"prefix": prefix}),
        ask(translator, "casa", prefix=prefix, text=LONG),
    ):
        assert result.text.startswith(prefix.rstrip())
        assert result.constraints
        assert all(report.met for report in result.constraints)
        if prefix.endswith(" "):
            assert contains(result.text, prefix.strip())


def test_an_open_word_is_finished_as_the_model_would(translator: Translator) -> None:
    text = "O gato preto"
    for length in range(1, len(text)):
        assert translator.translate(text, prefix=text[:length].rstrip()).text == text


@pytest.mark.parametrize("suffix", ["mat", "gato.", "!", "Haus"])
def test_the_end(translator: Translator, suffix: str) -> None:
    for text in (TEXT, LONG):
        result = ask(translator, {"suffix": suffix}, {"suffix": suffix}, "casa", text=text)
        assert result.text.endswith(suffix)
        assert [report.met for report in result.constraints] == [True] * 3
        assert result.constraints[0].span == result.constraints[1].span


def test_what_is_soft_may_be_dropped(translator: Translator) -> None:
    free = translator.translate(TEXT)
    dear = ask(translator, {"text": "Haus", "soft": 0.5}, "cat", prices=True)
    assert (dear.text, dear.score) == (free.text, free.score)
    dropped, kept = dear.constraints
    assert dropped.dropped
    assert not dropped.met
    assert dropped.price is not None
    assert dropped.price > 0.5
    assert kept.met
    assert kept.price == pytest.approx(0)
    cheap = ask(translator, {"text": "Haus", "soft": dropped.price + 1}, prices=True)
    assert cheap.constraints[0].met
    assert not cheap.constraints[0].dropped
    assert cheap.constraints[0].price == pytest.approx(dropped.price, abs=0.01)


def test_what_is_soft_is_met_wholly_or_not_at_all(translator: Translator) -> None:
    (report,) = ask(translator, {"text": "Haus", "soft": 1, "count": 2}).constraints
    assert report.dropped
    (report,) = ask(translator, {"text": "Haus", "soft": 90, "count": 2}).constraints
    assert len(report.spans) == 2


def test_what_is_given_up_is_searched_for_once_more_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    translator = lexbeam.load()
    words = [
        "Haus",
        "Passwort",
        "Kennwort",
        "Baum",
        "Name",
        "Server",
        "Option",
        "Schaltfläche",
        "falsch",
        "kann",
        "bitte",
        "nicht",
        "Datei",
        "Ordner",
        "Liste",
        "Fenster",
        "Seite",
    ]
    asked: list[int] = []
    decode = type(translator._decoder)._decode

    def noted(self: Any, jobs: list[Any], *others: Any) -> Any:
        asked.append(len(jobs[0].phrases))
        return decode(self, jobs, *others)

    monkeypatch.setattr(type(translator._decoder), "_decode", noted)
    orders = [{"order": [words[i], words[i + 3], words[i + 9]], "soft": 5} for i in range(8)]
    translator.translate("The password is wrong.", orders)
    # With all of them, and without those that were given up: words have their spaces.
    assert asked[0] == 8
    assert asked[1] < 8
    assert len(asked) == 2


def test_prices_are_differences_of_log_probability(translator: Translator) -> None:
    free = translator.translate(TEXT)
    result = ask(translator, "Haus", "sat", {"prefix": "The "}, prices=True)
    tokens = translator._target.spell
    price = result.constraints[0].price
    lengths = [len(translator._preparation._source.encode(text)) for text in (TEXT, result.text)]
    assert len(tokens("Haus").ids) == lengths[1] - lengths[0]
    assert price == pytest.approx(free.score * lengths[0] - result.score * lengths[1], abs=1e-6)
    assert [report.price for report in result.constraints[1:]] == pytest.approx([0, 0])


def test_the_price_of_what_was_dropped_is_that_of_one_more(translator: Translator) -> None:
    kept, dropped = ask(translator, *[{"text": "cat", "soft": 0.5}] * 2, prices=True).constraints
    assert (kept.dropped, dropped.dropped) == (False, True)
    assert dropped.price is not None
    assert dropped.price > 0.5


class TestLongTexts:
    def test_what_is_there_stays(self, translator: Translator) -> None:
        result = ask(
            translator,
            {"order": ["cat", "dog", "York"]},
            {"gap": ["dog", "house"]},
            {"any": ["city", "Stadt"]},
            text=LONG,
            prices=True,
        )
        assert result.text == LONG
        assert result.constraints
        assert all(report.met for report in result.constraints)
        assert [report.price for report in result.constraints] == [0, 0, 0]

    def test_what_is_missing_is_placed_in_one_sentence(self, translator: Translator) -> None:
        result = ask(translator, {"gap": ["York", "house"]}, {"order": ["city", "dog"]}, text=LONG)
        gap, order = result.constraints
        assert gap.met
        assert order.met
        assert gap.span is not None
        within = result.text[slice(*gap.span)]
        assert within.startswith("York")
        assert "Yes!" not in within
        assert "old house" not in within

    def test_what_stands_in_several_sentences_is_kept_in_them(self, translator: Translator) -> None:
        """Each sentence keeps its part when it is searched again for the sake of another."""
        result = ask(
            translator, {"order": ["cat", "old house"]}, "gato", "casa", text=LONG, nbest=3
        )
        for each in result.nbest:
            assert each.constraints
            assert all(report.met for report in each.constraints)

    def test_soft_ones_are_offered_once(self, translator: Translator, echo: EchoScorer) -> None:
        result = ask(translator, {"text": "Haus", "soft": 0.5}, "casa", text=LONG, prices=True)
        dropped, met = result.constraints
        assert dropped.dropped
        assert dropped.price is not None
        assert dropped.price > 0.5
        assert met.met
        assert contains(result.text, "casa")
        assert len(echo.batches) < 12

    def test_several_go_to_several(self, translator: Translator) -> None:
        (report,) = ask(translator, {"any": ["gato", "Haus"], "count": 3}, text=LONG).constraints
        assert len(set(report.spans)) == 3


class TestAvoiding:
    def test_forms_and_case(self, translator: Translator) -> None:
        result = translator.translate(TEXT, avoid=[{"any": ["cat", "mat"]}])
        assert not contains(result.text, "cat")
        assert not contains(result.text, "mat")
        result = translator.translate(TEXT, avoid=[{"text": "CAT", "case": "any"}])
        assert not contains(result.text, "cat")
        assert result.unavoided == []

    def test_a_sentence_does_not_begin_with_it_either(self, translator: Translator) -> None:
        result = translator.translate(TEXT, avoid=["the"])
        assert not contains(result.text, "the")
        assert not result.text.startswith("The ")
        exact = translator.translate(TEXT, avoid=[{"text": "the", "case": "exact"}])
        assert exact.text.startswith("The ")

    def test_but_a_large_word_may_stay_inside(self, translator: Translator) -> None:
        text = "a The cat"
        assert translator.translate(text, avoid=["the"]).text == text

    def test_what_is_demanded_large_may_begin(self, translator: Translator) -> None:
        result = translator.translate("Gato preto", ["Gato"], avoid=["gato"])
        assert contains(result.text, "Gato")
        assert result.unavoided == []

    def test_a_form_without_it_is_chosen(self, translator: Translator) -> None:
        result = ask(translator, {"any": ["the mat", "Haus"]}, avoid=["mat"])
        assert result.constraints[0].form == "Haus"


def test_the_search_is_told_in_words(translator: Translator) -> None:
    chain = {"gap": ["gato", {"any": ["casa", "Haus"]}]}
    with pytest.raises(ConstraintError, match=r'"gato … casa \| Haus" takes \d+ tokens, but max'):
        translator.translate(TEXT, [chain], max_length=1)
    with pytest.raises(
        ConstraintError, match=r'^phrases "gato … casa \| Haus", .* need \d+ tokens'
    ):
        translator.translate(TEXT, [chain, {"order": ["mat", "Haus"]}], max_length=2)


WORDS = st.sampled_from(["gato", "casa", "Haus", "New York", "o", "cat", "the", "猫", "(a)"])
ITEMS = WORDS | st.lists(WORDS, min_size=1, max_size=2).map(lambda forms: {"any": forms})
SHAPES = st.one_of(
    WORDS,
    st.fixed_dictionaries({"any": st.lists(WORDS, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"text": WORDS}, optional={"count": st.integers(1, 2)}),
    st.fixed_dictionaries({"text": WORDS, "case": st.sampled_from(["exact", "any"])}),
    st.fixed_dictionaries({"order": st.lists(ITEMS, min_size=1, max_size=3)}),
    st.fixed_dictionaries(
        {"gap": st.lists(ITEMS, min_size=2, max_size=3)},
        optional={"within": st.integers(0, 2), "count": st.integers(1, 2)},
    ),
    st.fixed_dictionaries({"suffix": WORDS}),
    st.fixed_dictionaries({"prefix": WORDS}),
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(SHAPES, max_size=4), st.lists(WORDS, max_size=1), st.sampled_from([TEXT, "", "a. B."])
)
def test_what_is_asked_for_is_there(
    translator: Translator, asked: list[Any], avoided: list[str], text: str
) -> None:
    ends = {shape.get("suffix") for shape in asked if isinstance(shape, dict)} - {None}
    assume(len(ends) < 2)
    try:
        result = ask(translator, *asked, text=text, avoid=avoided, beam_size=4)
    except ConstraintError as error:
        assert "drop one" in str(error) or avoided  # noqa: PT017
        return
    for shape, report in zip(asked, result.constraints, strict=True):
        assert report.met, (shape, result.text)
        assert text_keeps_to(result.text, shape)
    assert result.unavoided == []
    assert not any(contains(result.text, word) for word in avoided)


def text_keeps_to(text: str, shape: Any) -> bool:
    """Look a shape up in a text, with regular expressions and without what is tested here."""
    if isinstance(shape, str):
        shape = {"text": shape}
    options = dict(shape)
    (kind,) = options.keys() & {"text", "any", "order", "gap", "prefix", "suffix"}
    value = options.pop(kind)
    if kind == "prefix":
        return text.startswith(value)
    if kind == "suffix":
        return bool(re.search(rf"{form(value)}$", text))
    items = [value] if kind == "text" else [{"any": value}] if kind == "any" else value
    found = "(?s:.*)".join(
        "(?:" + "|".join(map(form, i["any"] if isinstance(i, dict) else [i])) + ")" for i in items
    )
    flags = re.IGNORECASE if options.get("case") == "any" else 0
    return bool(re.search("(?s:.*)".join([found] * options.get("count", 1)), text, flags))


def form(phrase: str) -> str:
    """Return an expression for whole words, capitalised where a sentence may begin."""
    small, large = re.escape(phrase), re.escape(phrase[0].upper() + phrase[1:])
    if not phrase[0].isascii() or phrase[0] == "(":
        return small
    left, right = r"(?<![^\W猫])", r"(?![^\W猫])"  # Chinese needs no space
    return rf"(?:{left}{small}{right}|(?:^|(?<=[.!?]\s)){large}{right})"


def test_what_has_to_be_said_is_not_avoided_on_account_of_a_tie() -> None:
    said: Any = [SimpleNamespace(spellings=[SimpleNamespace(ids=(4, 5, 6))])]
    displaced = [(5, 6), (6, 5), (7,), (4, 5, 6)]
    assert _outside_phrases(displaced, said) == [(6, 5), (7,)]
    assert _outside_phrases(displaced, []) == displaced


def test_a_part_of_a_sentence_that_is_too_long_begins_none(toy_model: Model) -> None:
    """What is written small has a capital at the beginning of a sentence, and nowhere else."""
    translator = Translator(replace(toy_model, max_source_length=16))
    begun = ask(translator, "gato", text="Gato one two three four five six")
    assert begun.constraints[0].form == "Gato"
    for more in ({}, {"nbest": 3}, {"algorithm": "beam"}):
        cut = ask(translator, "gato", text="one two three Gato four five six", **more)
        assert cut.constraints[0].form == "gato"
    limited = {"text": "gato", "exactly": 1}
    assert ask(translator, limited, text="one two three Gato four gato six").text.count("Gato") == 1
