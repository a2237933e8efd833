from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.toy_text import EchoScorer
from lexbeam.errors import ConstraintError
from lexbeam.models.model import Model, cannot_continue_word
from lexbeam.text.moses_spelling import MosesText
from lexbeam.text.moses_vocabulary import MosesBpe
from lexbeam.text.word_boundaries import contains
from lexbeam.translation.translator import Translator


@pytest.fixture(scope="module")
def target(moses: MosesBpe) -> MosesText:
    return MosesText(moses).with_literals(1000)


@pytest.fixture(scope="module")
def translator(moses: MosesBpe) -> Translator:
    echo = EchoScorer(len(moses), cannot_continue_word(moses))
    info = {"name": "echo", "target_language": "de"}
    return Translator(Model(echo, moses, moses, max_source_length=64, info=info))


def moses_id(target: MosesText, piece: str) -> int:
    """Return the id of a piece, which must be known."""
    (number,) = [i for i in range(520) if target.pieces([i]) == [piece]]
    return number


# --- how phrases look ----------------------------------------------------------------------


PHRASES = ["Haus", "no tapete", "and/or", '"no"', "1,000", "20 %", "20%", "It's", "A.B.", "a_b"]


@pytest.mark.parametrize("phrase", [*PHRASES, "AT&T", "20 €", "20€", "¥", "(a) b", "'s", "..."])
@pytest.mark.parametrize("around", [("The cat", "sat."), ('He said: "', 'no "'), ("", "")])
def test_a_phrase_looks_as_it_was_asked_for(
    moses: MosesBpe, target: MosesText, phrase: str, around: tuple[str, str]
) -> None:
    spelling = target.spell(phrase)
    before, after = map(moses.encode, around)
    text = target.decode([*before, *spelling.ids, *after], [spelling])
    assert contains(text, phrase)


def test_what_nobody_asked_for_is_spaced_by_moses(moses: MosesBpe, target: MosesText) -> None:
    assert target.decode(moses.encode("and/or, 20 %.")) == "and / or, 20%."


def test_phrases_of_the_same_words_get_a_place_each(target: MosesText) -> None:
    tight, loose = target.spell("and/or"), target.spell("and / or")
    assert tight.ids == loose.ids
    ids = [*tight.ids, *target.spell("cat").ids, *tight.ids]
    assert target.decode(ids, [tight]) == "and/or cat and / or"
    assert target.decode(ids, [tight, loose]) == "and / or cat and/or"
    assert target.decode(ids, [tight, tight]) == "and/or cat and/or"


@pytest.mark.parametrize(
    ("words", "phrases", "text"),
    [
        ('" no " mat "', ['"no"', '"mat"'], '"no" "mat"'),
        ('" no " no "', ['"no"', '"no"'], '"no" "no"'),
        ("a / b c / d", ["a/b c", "b c/d"], "a/b c/d"),
        ("a / b c / d", ["a/b", "a/b c"], "a/b c / d"),
        ("a / b / c", ["a/b", "b/c", "a"], "a/b/c"),
    ],
)
def test_phrases_that_share_words(
    moses: MosesBpe, target: MosesText, words: str, phrases: list[str], text: str
) -> None:
    ids = moses.wordwise.encode(words)
    spellings = [target.spell(phrase) for phrase in phrases]
    assert target.decode(ids, spellings) == text
    assert target.decode(ids, spellings[::-1]) == text


def test_unknown_characters_are_written_all_the_same(moses: MosesBpe, target: MosesText) -> None:
    first, second = target.spell("€1"), target.spell("¥1")
    assert first.ids != second.ids
    ids = [*second.ids, *moses.encode("cat"), *first.ids]
    assert target.decode(ids, [second, first]) == "¥1 cat €1"
    assert [spelling.surface for spelling in target.spell_all("€1")] == ["€1"]


def test_a_phrase_whose_last_word_goes_on(moses: MosesBpe, target: MosesText) -> None:
    bracket, slash = target.spell("(a)"), target.spell("and/or")
    letter, hyphen = moses.piece_to_id("o"), moses.piece_to_id("-")
    assert target.decode([*bracket.ids, letter]) == "(a )o"
    assert target.decode([*bracket.ids, letter], [bracket]) == "(a)o"
    assert target.decode([*slash.ids, hyphen, letter], [slash]) == "and/or-o"
    assert target.decode([*slash.ids, letter], [slash]) == "and / oro"  # another word


def test_phrases_with_unknown_words_share_known_ones(target: MosesText) -> None:
    begun, phrase = target.spell_prefix("§ a"), target.spell("a € b")
    ids = [*begun.ids, *phrase.ids[1:]]
    text = target.decode(ids, [begun, phrase])
    assert text == "§ a € b"


def test_unknown_words_are_not_shared(target: MosesText, translator: Translator) -> None:
    plus, markup = target.spell("C++"), target.spell("<b>")
    assert set(plus.ids).isdisjoint(markup.ids)
    found = translator.translate("The cat sat.", ["C++", "<b>", "<b>"])
    assert found.constraints
    assert all(report.met for report in found.constraints)


def test_a_phrase_of_nothing_visible_is_refused(target: MosesText) -> None:
    with pytest.raises(ConstraintError, match="no characters that can be written"):
        target.spell("\u200b")


WORDS = st.lists(
    st.text(alphabet="abcdgotéçHausür中国.,-('\"&/", min_size=1, max_size=6), min_size=1, max_size=4
)


@given(WORDS, WORDS, WORDS)
def test_what_is_spelled_in_a_sentence_is_found_in_its_text(
    moses: MosesBpe, target: MosesText, before: list[str], phrase: list[str], after: list[str]
) -> None:
    asked = " ".join(phrase)
    spelling = target.spell(asked)
    left, right = moses.encode(" ".join(before)), moses.encode(" ".join(after))
    text = target.decode([*left, *spelling.ids, *right], [spelling])
    assert contains(text, asked)


# --- tokens --------------------------------------------------------------------------------


def test_masks_tell_where_words_end(moses: MosesBpe, target: MosesText) -> None:
    begins, ends = target.masks(len(moses) + 8)
    starts = target.spaced_tokens(len(moses) + 8)
    marked = {moses.id_to_piece([i])[0]: (begins[i], ends[i], starts[i]) for i in range(len(moses))}
    assert marked["▁Haus"] == (True, False, True)
    assert marked["t"] == (False, False, False)
    assert marked["▁."] == (True, True, True)
    assert marked["-"] == (True, True, False)
    assert marked["</s>"][0]
    assert marked["<unk>"] == (True, False, False)
    assert begins[len(moses) :].all()


@pytest.mark.parametrize("phrase", ["tapete", "gato", "no", "and/or"])
def test_tokens_of_a_span(moses: MosesBpe, target: MosesText, phrase: str) -> None:
    spelling = target.spell("and/or")
    ids = moses.encode('O (gato) "no" and/or tapete.')
    text = target.decode(ids, [spelling])
    assert text == 'O (gato) "no" and/or tapete.'
    start = text.index(phrase)
    found = target.tokens_at(ids, (start, start + len(phrase)), [spelling])
    assert found == target.spell(phrase).ids


def test_an_unfinished_word_may_go_on_in_any_way(moses: MosesBpe, target: MosesText) -> None:
    ways = [moses.id_to_piece(list(way.ids)) for way in target.spell_beginnings("a/b, ga")]
    assert ways[0][:4] == ["▁a", "▁/", "▁b", "▁,"]
    assert ["▁a", "▁/", "▁b", "▁,", "▁gato"] in ways


# --- translating ---------------------------------------------------------------------------


def test_a_demanded_word_is_a_word_of_its_own(translator: Translator) -> None:
    found = translator.translate("Die Haustür ist alt.", constraints=["Haus"])
    (report,) = found.constraints
    assert report.span is not None
    assert found.text[slice(*report.span)] == "Haus"
    assert contains(found.text, "Haus")
    assert "Haustür" in found.text


def test_an_avoided_word_may_be_part_of_another(translator: Translator) -> None:
    text = "Die Haustür ist alt."
    assert translator.translate(text, avoid=["Haus"]).text == text
    found = translator.translate(text, avoid=["Haustür", "alt"])
    assert not contains(found.text, "Haustür")
    assert not contains(found.text, "alt")
    assert not found.unavoided


def test_everything_demanded_is_in_the_text(translator: Translator) -> None:
    asked = ['"no"', '"mat"', '"mat"', "and/or", "20 %", "AT&T", "¥1", "€1", "Haus"]
    found = translator.translate('The cat said: "no house".', constraints=asked)
    for phrase, report in zip(asked, found.constraints, strict=True):
        assert report.met
        assert report.span is not None
        assert found.text[slice(*report.span)] == phrase
    assert found.text.count('"mat"') == 2


@pytest.mark.parametrize("prefix", ["Der Hu", "Der Hund ", "a/b", "a/b ", '"No" (', "20 % €"])
def test_a_prefix_is_what_the_text_begins_with(translator: Translator, prefix: str) -> None:
    found = translator.translate("The cat sat on the mat.", ["Haus"], prefix=prefix)
    assert found.text.startswith(prefix)
    assert found.constraints[0].met


def test_richer_shapes(translator: Translator) -> None:
    found = translator.translate(
        "The cat sat on the mat.",
        [
            {"suffix": "Haus."},
            {"any": ["Lisboa", "tapete"]},
            {"gap": ["cat", "mat"], "within": 2},
            {"prefix": "O ga"},
        ],
    )
    assert found.constraints
    assert all(report.met for report in found.constraints)
    assert found.text.endswith("Haus.")
    assert found.text.startswith("O ga")


def test_alternatives_and_several_sentences(translator: Translator) -> None:
    text = "The cat sat. The dog sat on the mat, near the house."
    found = translator.translate(text, ["Tür", "and/or"], avoid=["mat"], nbest=3)
    assert len({each.text for each in found.nbest}) == 3
    for each in found.nbest:
        assert contains(each.text, "Tür")
        assert contains(each.text, "and/or")
        assert not contains(each.text, "mat")
