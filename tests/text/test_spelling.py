from __future__ import annotations

import numpy as np
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.errors import ConstraintError, ModelError
from lexbeam.text.spelling import SourceText, TargetText
from lexbeam.text.word_boundaries import contains
from lexbeam.text.word_masks import BoolArray

Processor = sentencepiece.SentencePieceProcessor


@pytest.fixture(scope="module")
def target(processor: Processor) -> TargetText:
    return TargetText(processor)


@pytest.fixture
def literal(target: TargetText, processor: Processor) -> TargetText:
    """One for a text of its own, in which everything can be written."""
    return target.with_literals(processor.get_piece_size() + 7)


def pieces(processor: Processor, ids: tuple[int, ...]) -> list[str]:
    return [processor.id_to_piece(i) for i in ids]


def test_source_ends_with_the_end_of_sentence(processor: Processor) -> None:
    ids = SourceText(processor).encode("The cat")
    assert ids[-1] == processor.eos_id()
    assert processor.decode(ids[:-1]) == "The cat"
    assert SourceText(processor).encode("") == [processor.eos_id()]


def test_a_phrase_is_spelled_as_in_a_sentence(processor: Processor, target: TargetText) -> None:
    spelling = target.spell("no tapete")
    assert spelling.surface == "no tapete"
    assert pieces(processor, spelling.ids)[0].startswith("▁")
    sentence, width = processor.encode("O gato sentou no tapete."), len(spelling.ids)
    assert spelling.ids in [tuple(sentence[i : i + width]) for i in range(len(sentence))]


def test_composed_and_decomposed_characters_are_the_same(target: TargetText) -> None:
    assert target.spell("cafe\u0301").surface == "café"
    assert target.spell("cafe\u0301").written == ""


@pytest.mark.parametrize(("phrase", "written"), [("ﬁm", "fim"), ("２０", "20"), ("m²", "m2")])
def test_a_phrase_looks_as_it_was_asked_for(
    target: TargetText, literal: TargetText, phrase: str, written: str
) -> None:
    usual, spelling = target.spell(phrase), literal.spell(phrase)
    assert (usual.surface, usual.written) == (spelling.surface, spelling.written)
    assert (spelling.surface, spelling.written) == (phrase, written)
    ids = [*target.spell("casa").ids, *spelling.ids, *usual.ids]
    assert literal.decode(ids) == f"casa {phrase} {written}"
    assert literal.decode([*spelling.ids[:-1], *usual.ids]).endswith(written)


def test_words_of_a_phrase_that_can_be_written_keep_their_tokens(
    target: TargetText, literal: TargetText
) -> None:
    spelling = literal.spell("gato ﬁm casa")
    first, last = target.spell("gato").ids, target.spell("casa").ids
    assert spelling.ids[: len(first)] == first
    assert spelling.ids[-len(last) :] == last
    assert set(target.spell("fim").ids).isdisjoint(spelling.ids)
    assert literal.decode(spelling.ids) == "gato ﬁm casa"


def test_no_space_goes_before_scripts_without_spaces(
    processor: Processor, target: TargetText
) -> None:
    spelling = target.spell("中国")
    assert pieces(processor, spelling.ids) == ["中", "国"]
    assert not spelling.spaced
    assert [s.spaced for s in target.spell_all("中国")] == [False, True]


def test_in_a_language_without_spaces_nothing_gets_one(processor: Processor) -> None:
    chinese = TargetText(processor, language="zh-Hans")
    assert chinese.separator == ""
    assert not pieces(processor, chinese.spell("GDP").ids)[0].startswith("▁")
    assert TargetText(processor, language="pt").spell("GDP").spaced


def test_unknown_characters_are_written_all_the_same(
    processor: Processor, target: TargetText, literal: TargetText
) -> None:
    assert processor.unk_id() in target.spell("20 €").ids
    spelling = literal.spell("20 €")
    assert processor.unk_id() not in spelling.ids
    assert spelling.surface == "20 €"
    tokens = [*processor.encode("The cat"), *spelling.ids, *processor.encode("sat")]
    assert literal.decode(tokens) == "The cat 20 € sat"
    assert "€" not in target.decode([*target.spell("20 €").ids])
    assert [s.pieces for s in literal.spell_all("€")] == [("▁", "€"), ("€",)]


def test_the_ways_in_which_a_prefix_goes_on_share_their_tokens(
    processor: Processor, literal: TargetText
) -> None:
    ways = literal.spell_beginnings("m²-ca")
    assert len(ways) > 2
    assert len({way.ids[0] for way in ways}) == 1
    beyond = {token for way in ways for token in way.ids if token >= processor.get_piece_size()}
    assert len(beyond) < len(ways[0].ids)
    for way in ways:
        assert literal.decode(way.ids) == way.surface
        assert way.surface.startswith("m²-ca")


def test_unknown_characters_are_not_taken_for_one_another(literal: TargetText) -> None:
    first, second = literal.spell("€1"), literal.spell("¥1")
    assert first.ids != second.ids
    assert literal.decode([*first.ids, *second.ids, *first.ids]) == "€1 ¥1 €1"
    assert literal.spell("€1") == first


def test_the_beginning_of_an_unknown_text_ends_the_word_before_it(
    processor: Processor, literal: TargetText
) -> None:
    """It writes nothing by itself, but to the search no word goes on behind it."""
    (glued,) = [each for each in literal.spell_all("€²") if not each.spaced]
    first = glued.ids[0]
    casa, letter = processor.encode("casa"), processor.piece_to_id("o")
    assert literal.decode([*casa, *glued.ids]) == "casa€²"
    assert literal.decode([*casa, first, letter]) == "casa o"
    assert literal.decode([*casa, first, *casa]) == "casa casa"
    assert literal.decode([*casa, first]) == "casa"


def test_unknown_characters_inside_each_other_are_shared(literal: TargetText) -> None:
    short, long = literal.spell("¥"), literal.spell("a¥€ ¥")
    assert long.ids[-len(short.ids) :] == short.ids
    assert literal.decode([*long.ids, *short.ids]) == "a¥€ ¥ ¥"


def test_the_search_is_told_what_tokens_of_a_text_are(
    processor: Processor, literal: TargetText
) -> None:
    assert not literal.aliases
    unknown, spaced, joined = literal.spell("€"), literal.spell("m²"), literal.spell_all("中Ж")[0]
    aliases = literal.aliases
    assert aliases.first == processor.get_piece_size() + 7
    assert len(aliases.tokens) == 2 + 2 * len(spaced.ids)  # with a space before it and without
    marks = {
        text: (begins, space)
        for text, begins, space in zip(
            aliases.written, aliases.boundary, aliases.starting, strict=True
        )
        if text
    }
    assert marks == {
        "€": (True, False),
        " m²": (True, True),
        "m²": (False, False),
        "Ж": (False, False),
    }
    assert unknown.ids[-1] in range(aliases.first, aliases.first + len(aliases.tokens))
    assert joined.ids[-1] == aliases.first + len(aliases.tokens) - 1


def test_a_phrase_of_nothing_visible_is_refused(target: TargetText) -> None:
    with pytest.raises(ConstraintError, match="no characters that can be written"):
        target.spell("\u200b")
    with pytest.raises(ConstraintError, match="no characters that can be written"):
        target.spell_prefix("\u200b")


def test_bytes_can_spell_anything(byte_processor: Processor) -> None:
    target = TargetText(byte_processor)
    spelling = target.spell("20 € 🎉")
    assert byte_processor.unk_id() not in spelling.ids
    assert spelling.surface == "20 € 🎉"
    assert spelling.pieces == ()


@pytest.mark.parametrize("byte", ["00", "09", "0A", "0D"])
def test_no_byte_writes_nul_or_ends_a_line(byte_processor: Processor, byte: str) -> None:
    target = TargetText(byte_processor)
    blank, letter = (byte_processor.piece_to_id(f"<0x{each}>") for each in (byte, "61"))
    assert target.decode([letter, blank, letter, blank]) == "a a"
    assert target.decode([blank, letter]) == "a"
    assert target.token_spans([letter, blank, letter]) == [(0, 1), (2, 2), (2, 3)]


def test_decoding_leaves_control_and_padding_out(processor: Processor, target: TargetText) -> None:
    ids = [*target.spell("gato").ids, processor.eos_id(), processor.get_piece_size() + 3]
    assert target.decode(np.array(ids)) == "gato"


def test_masks_tell_where_words_end(processor: Processor, target: TargetText) -> None:
    size = processor.get_piece_size()
    begins, ends = target.masks(size + 8)
    assert begins.shape == ends.shape == (size + 8,)
    marked = {processor.id_to_piece(i): (begins[i], ends[i]) for i in range(size)}
    assert marked["▁Haus"] == (True, False)
    assert marked["t"] == (False, False)
    assert marked["."] == (True, True)
    assert marked["中"] == (True, True)
    assert marked["\u0e31"] == (False, True)  # a Thai vowel sign belongs to what is before it
    assert marked["</s>"][0]
    assert marked["<unk>"] == (True, False)
    assert begins[size:].all()  # they write nothing, so that no word goes on with them
    assert not ends[size:].any()


def test_masks_leave_bytes_of_longer_characters_open(byte_processor: Processor) -> None:
    begins, ends = TargetText(byte_processor).masks(byte_processor.get_piece_size())
    byte = {code: byte_processor.piece_to_id(f"<0x{code:02X}>") for code in (0x20, 0x61, 0xE2)}
    assert begins[byte[0x20]]
    assert ends[byte[0x20]]
    assert not begins[byte[0x61]]
    assert not begins[byte[0xE2]]
    assert not ends[byte[0xE2]]


def test_tokens_of_a_span(processor: Processor, target: TargetText) -> None:
    ids = processor.encode("O (gato) no tapete")
    text = target.decode(ids)
    start = text.index("tapete")
    assert target.tokens_at(ids, (start, start + 6)) == target.spell("tapete").ids
    start = text.index("gato")
    written = target.decode(target.tokens_at(ids, (start, start + 4)))
    assert written == "(gato"  # what comes before shows that a word starts here


def test_spaces_at_the_end_of_pieces_are_refused() -> None:
    class SuffixProcessor:
        def eos_id(self) -> int:
            return 0

        def encode(self, _text: str, out_type: type) -> list[str]:
            assert out_type is str
            return ["a▁"]

    with pytest.raises(ModelError, match="treat_whitespace_as_suffix"):
        TargetText(SuffixProcessor())  # type: ignore[arg-type]


def test_a_vocabulary_without_an_end_is_refused() -> None:
    class EndlessProcessor:
        def eos_id(self) -> int:
            return -1

    with pytest.raises(ModelError, match="end of sentence"):
        SourceText(EndlessProcessor())  # type: ignore[arg-type]


WORDS = st.lists(
    st.text(alphabet="abcdgotéçHausür中国แมวน.,-(", min_size=1, max_size=6), min_size=1, max_size=4
)


@pytest.fixture(scope="module")
def masks(target: TargetText) -> tuple[BoolArray, BoolArray]:
    return target.masks(500)


@given(WORDS, WORDS, WORDS)
def test_what_is_spelled_in_a_sentence_is_found_in_its_text(
    target: TargetText,
    masks: tuple[BoolArray, BoolArray],
    before: list[str],
    phrase: list[str],
    after: list[str],
) -> None:
    """Tokens that keep to the whole-word rule make a text that keeps to it too."""
    spelling = target.spell(" ".join(phrase))
    begins, ends = masks
    left = target.spell(" ".join(before)).ids
    right = target.spell(" ".join(after)).ids
    text = target.decode([*left, *spelling.ids, *right])
    if begins[right[0]] or ends[spelling.ids[-1]]:
        if spelling.spaced:
            assert contains(text, spelling.surface)
    else:
        assert spelling.surface in text


@given(WORDS)
def test_spelling_a_surface_gives_the_same_tokens(target: TargetText, phrase: list[str]) -> None:
    spelling = target.spell(" ".join(phrase))
    assert target.spell(spelling.surface) == spelling
