"""Between text and tokens: sentences and phrases as tokens, tokens as text.

A phrase is demanded as the pieces that the model itself would write for it in the middle of a
sentence. Everything that depends on how a vocabulary writes word boundaries is in this module;
`lexbeam.text.moses_spelling` has what is different where Moses joins the words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import sentencepiece

from lexbeam.errors import ConstraintError, ModelError, quoted
from lexbeam.text.languages import base_language
from lexbeam.text.prefixes import completions
from lexbeam.text.subsequences import find_subsequence
from lexbeam.text.token_offsets import token_offsets
from lexbeam.text.vocabulary import SPACE, Processor
from lexbeam.text.word_boundaries import Span, is_unspaced, locate
from lexbeam.text.word_masks import BoolArray, continues_word, word_masks

_REMEMBERED = 1 << 16  # phrases whose spellings are kept

UNSPACED_LANGUAGES = frozenset(
    {"zh", "yue", "wuu", "ja", "th", "lo", "km", "my", "bo", "dz"}
    | {"zho", "cmn", "jpn", "tha", "lao", "khm", "mya", "bod", "dzo"}
)
"""Languages written without spaces between words, by their codes of two and three letters."""


@dataclass(frozen=True)
class Spelling:
    """A phrase as tokens, and how it looks in the output."""

    ids: tuple[int, ...]
    surface: str
    """The phrase in the output."""
    spaced: bool = True
    """Whether its first token begins with a space, so that it starts a word wherever it is."""
    pieces: tuple[str, ...] = ()
    """Its pieces if some of its characters are not in the vocabulary, else nothing.

    To the model these characters are all the same unknown token; the pieces say what to write
    for it in the output.
    """
    written: str = ""
    """What the tokens write if the vocabulary normalises the phrase: 1o for 1º, else nothing."""
    begins: bool = False
    """Whether the output begins with it and may go on with its last word."""


class SourceText:
    """The source side of a model: text in, tokens out.

    ``prefix`` and ``suffix`` are the tokens that a network expects around each sentence. Without
    a suffix that is the end of sentence after it.
    """

    def __init__(
        self,
        processor: Processor,
        prefix: Sequence[int] = (),
        suffix: Sequence[int] | None = None,
    ) -> None:
        self._processor = processor
        self._prefix = list(prefix)
        self._suffix = [_eos(processor)] if suffix is None else list(suffix)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a sentence, with prefix and suffix."""
        return [*self._prefix, *self._processor.encode(text), *self._suffix]

    def token_spans(self, text: str) -> list[Span]:
        """Return where in a sentence each token stands; prefix and suffix have empty spans."""
        pieces: list[str] = self._processor.encode(text, out_type=str)
        spans, end = token_offsets(text, pieces), (len(text), len(text))
        return [(0, 0)] * len(self._prefix) + spans + [end] * len(self._suffix)


class TargetText:
    """The target side of a model: phrases in, text out.

    ``language`` is the code of the target language if it is known. In Chinese text even a name
    in Latin letters has no space before it, which the name alone does not show.
    """

    def __init__(self, processor: Processor, language: str | None = None) -> None:
        self._processor = processor
        self._eos = _eos(processor)
        if processor.encode("a", out_type=str)[-1].endswith(SPACE):
            raise ModelError(
                "the target vocabulary writes spaces at the end of pieces "
                "(treat_whitespace_as_suffix); only spaces at the beginning are supported"
            )
        self._bare = _without_space(processor)
        self.is_unspaced = base_language(language) in UNSPACED_LANGUAGES
        self._known: dict[str, list[Spelling]] = {}

    @property
    def separator(self) -> str:
        """What the target language puts between two sentences."""
        return "" if self.is_unspaced else " "

    def decode(self, ids: Iterable[int], spellings: Sequence[Spelling] = ()) -> str:
        """Return the text of tokens, without the end of sentence and other control tokens.

        Phrases are written as ``spellings`` say: with their unknown characters, and as they were
        asked for.
        """
        return self._write(self._pieces(ids, spellings), spellings)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return the pieces of tokens as the vocabulary writes them."""
        return self._pieces(ids, ())

    def tokens_at(
        self, ids: Sequence[int], span: Span, spellings: Sequence[Spelling] = ()
    ) -> tuple[int, ...]:
        """Return the tokens that write a span of the decoded text.

        If the first of them begins exactly there, without a space, the token before it is
        returned with them: only both together show that a word starts there.
        """
        pieces = self._pieces(ids, spellings)
        ends = self._ends(pieces, spellings)
        first = sum(end <= span[0] for end in ends)
        last = sum(end < span[1] for end in ends)
        if first > 0 and ends[first - 1] == span[0] and not pieces[first].startswith(SPACE):
            first -= 1
        return tuple(int(i) for i in ids[first : last + 1])

    def _write(self, pieces: list[str], spellings: Sequence[Spelling]) -> str:
        """Return pieces as a text in which phrases look as they were asked for."""
        text: str = self._processor.decode(pieces)
        return _as_asked(text.strip(), spellings)

    def _ends(self, pieces: list[str], spellings: Sequence[Spelling]) -> list[int]:  # noqa: ARG002
        """Return the offset in the text of pieces at which each of them ends."""
        written = [self._processor.decode(pieces[: i + 1]) for i in range(len(pieces))]
        offset = len(written[-1]) - len(written[-1].lstrip())
        return [len(text) - offset for text in written]

    def masks(self, vocabulary_size: int) -> tuple[BoolArray, BoolArray]:
        """Return a mask of the tokens that can't continue a word, and of those that end one.

        See `lexbeam.text.word_masks`. The end of sentence is in the first mask. The unknown token
        and a byte of a longer character might be anything, so they are in neither. A model's
        vocabulary may be larger than this one, padded with tokens that are never used.
        """
        return _masks(self._processor, vocabulary_size)

    def spaced_tokens(self, vocabulary_size: int) -> BoolArray:
        """Return a mask of the tokens that begin with a space."""
        size = min(self._processor.get_piece_size(), vocabulary_size)
        spaced = np.zeros(vocabulary_size, dtype=bool)  # shape: (vocabulary,)
        pieces: list[str] = self._processor.id_to_piece(list(range(size)))
        spaced[:size] = [piece.startswith(SPACE) for piece in pieces]
        return spaced

    def spell(self, phrase: str) -> Spelling:
        """Return the tokens that spell a phrase in the middle of a sentence."""
        with_unknowns = None
        for spelling in self._ways(phrase):
            if not spelling.pieces:
                return asked_as(phrase, spelling)
            with_unknowns = with_unknowns or spelling
        if with_unknowns is None:
            raise ConstraintError(f"{quoted(phrase)} has no characters that can be written")
        return asked_as(phrase, with_unknowns)

    def spell_all(self, phrase: str) -> list[Spelling]:
        """Return the spellings of a phrase with and without a space before it, the likelier first.

        For a phrase with unknown characters the list is empty: the model never writes it.
        """
        return [spelling for spelling in self._ways(phrase) if not spelling.pieces]

    def spell_prefix(self, prefix: str) -> Spelling:
        """Return the beginning of an output as tokens."""
        spelling = self._spelling(self._processor, prefix, spaced=True)
        if not spelling.surface:
            raise ConstraintError(f"{quoted(prefix)} has no characters that can be written")
        return replace(spelling, begins=True)

    def spell_beginnings(self, prefix: str) -> list[tuple[int, ...]]:
        """Return the token sequences for a prefix whose last word may go on."""
        spelling = self.spell_prefix(prefix)
        if spelling.pieces:
            return [spelling.ids]
        return completions(self._processor, spelling.surface, spelling.ids)

    def _ways(self, phrase: str) -> list[Spelling]:
        """Return the possible spellings; they are cached, since terms of a glossary come again."""
        if phrase not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[phrase] = list(dict.fromkeys(self._spellings(phrase)))
        return self._known[phrase]

    def demands(
        self, spellings: Sequence[Spelling], prefix: Spelling | None = None
    ) -> list[tuple[int, ...]]:
        """Return the token sequences to search for, so that every spelling gets an occurrence.

        All unknown characters are the same token. Where the tokens of one spelling also occur
        inside another, or in the prefix, the search would count that occurrence. So one more is
        asked for.
        """
        with_unknowns = [spelling for spelling in spellings if spelling.pieces]
        demanded = [spelling.ids for spelling in spellings]
        for inner in with_unknowns:
            for outer in [*with_unknowns, prefix] if prefix else with_unknowns:
                if outer.pieces and (inner.ids != outer.ids or outer is prefix):
                    demanded += [inner.ids] * self._count_inside(inner.ids, outer)
        return demanded

    def _count_inside(self, ids: tuple[int, ...], outer: Spelling) -> int:
        """Count the occurrences of tokens inside a spelling at the end of which a word ends."""
        ends = [start + len(ids) for start in find_subsequence(outer.ids, ids)]
        return sum(end == len(outer.ids) or _begins_apart(outer.pieces[end]) for end in ends)

    def _spellings(self, phrase: str) -> Iterator[Spelling]:
        """Yield the possible spellings, the likeliest first."""
        unspaced = self.is_unspaced or is_unspaced(phrase[0])
        for written in dict.fromkeys((phrase, unicodedata.normalize("NFC", phrase))):
            for spaced in (not unspaced, unspaced):
                encoder = self._processor if spaced else self._bare
                if encoder is None:
                    continue
                spelling = self._spelling(encoder, written, spaced)
                if spelling.surface:
                    yield self._in_context(spelling) if spaced else spelling

    def _spelling(self, encoder: Processor, phrase: str, spaced: bool) -> Spelling:
        ids, pieces = tuple(encoder.encode(phrase)), tuple(encoder.encode(phrase, out_type=str))
        has_unknowns = self._processor.unk_id() in ids
        surface = self._processor.decode(list(pieces)).strip()
        return Spelling(ids, surface, spaced, pieces if has_unknowns else ())

    def _in_context(self, alone: Spelling) -> Spelling:
        """Return the spelling of a phrase between two other words, if it differs there."""
        word: list[int] = self._processor.encode("a")
        inside = self._processor.encode(f"a {alone.surface} a")
        middle = tuple(inside[len(word) : len(inside) - len(word)])
        surrounded = inside[: len(word)] == word == inside[len(inside) - len(word) :]
        if not alone.pieces and surrounded and self.decode(middle) == alone.surface:
            return replace(alone, ids=middle)
        return alone

    def _pieces(self, ids: Iterable[int], spellings: Sequence[Spelling]) -> list[str]:
        """Return the pieces of an output, unknown ones replaced by those of the spellings."""
        size = self._processor.get_piece_size()
        tokens = [int(i) if i < size else self._eos for i in ids]
        pieces: list[str] = self._processor.id_to_piece(tokens)
        plain = list(pieces)
        taken = [False] * len(pieces)
        unknown = [(_occurrences(tokens, plain, s), s) for s in spellings if s.pieces]
        # Those that have the least choice come first, of these the longest.
        for starts, spelling in sorted(unknown, key=lambda one: (len(one[0]), -len(one[1].ids))):
            width = len(spelling.ids)
            free = [start for start in starts if not any(taken[start : start + width])]
            shared = [
                start
                for start in starts
                if all(
                    not is_taken or before == piece
                    for is_taken, before, piece in zip(
                        taken[start:], pieces[start:], spelling.pieces, strict=False
                    )
                )
            ]
            for start in (free or shared)[:1]:
                pieces[start : start + width] = spelling.pieces
                taken[start : start + width] = [True] * width
        return pieces


def _occurrences(tokens: Sequence[int], pieces: Sequence[str], spelling: Spelling) -> list[int]:
    """Return the indices at which a spelling begins among tokens.

    If it ends a word at any of them, only those are returned.
    """
    width = len(spelling.ids)
    indices = find_subsequence(tokens, spelling.ids)
    if spelling.begins:
        indices = [i for i in indices if i == 0]
    ending = [i for i in indices if i + width == len(pieces) or _begins_apart(pieces[i + width])]
    return ending or indices


@lru_cache(maxsize=4)
def _masks(processor: Processor, vocabulary_size: int) -> tuple[BoolArray, BoolArray]:
    """Return the masks of a vocabulary; cached, since engine and search both ask for them."""
    size = min(processor.get_piece_size(), vocabulary_size)
    boundary, closing = word_masks(_written_by_pieces(processor, size), vocabulary_size)
    boundary[_eos(processor)] = True
    boundary.flags.writeable = closing.flags.writeable = False
    return boundary, closing


def _written_by_pieces(processor: Processor, size: int) -> Iterator[str]:
    """Yield what each piece adds to a text; nothing if that is not known."""
    ids = list(range(size))
    silent = (processor.is_control, processor.is_unknown)
    flags = zip(*(is_silent(ids) for is_silent in silent), strict=True)
    for piece, is_byte, flag in zip(
        processor.id_to_piece(ids), processor.is_byte(ids), flags, strict=True
    ):
        if is_byte:
            code = int(piece[3:5], 16)  # written as <0xNN>
            yield chr(code) if code < 0x80 else ""
        else:
            yield "" if any(flag) else piece.replace(SPACE, " ")


def asked_as(phrase: str, spelling: Spelling) -> Spelling:
    """Return a spelling that shows a phrase as it was asked for, not as the model normalises it."""
    same = unicodedata.normalize("NFC", spelling.surface) == unicodedata.normalize("NFC", phrase)
    return spelling if same else replace(spelling, surface=phrase, written=spelling.surface)


def _as_asked(text: str, spellings: Sequence[Spelling]) -> str:
    """Return a text with an occurrence of each phrase written as it was asked for."""
    normalised = [spelling for spelling in spellings if spelling.written]
    spans = locate(text, [spelling.written for spelling in normalised])
    found = [(span, s.surface) for span, s in zip(spans, normalised, strict=True) if span]
    changed_from = len(text)
    for (start, end), surface in sorted(found, reverse=True):
        if end <= changed_from:
            text = text[:start] + surface + text[end:]
            changed_from = start
    return text


def _begins_apart(piece: str) -> bool:
    """Return whether a word has ended before a piece."""
    return bool(piece) and not continues_word(piece.replace(SPACE, " "))


def _without_space(processor: Processor) -> Processor | None:
    """Return the same vocabulary without the space that SentencePiece puts before every text.

    None for other vocabularies: they write whole words only.
    """
    if not isinstance(processor, sentencepiece.SentencePieceProcessor):
        return None
    bare = sentencepiece.SentencePieceProcessor(model_proto=processor.serialized_model_proto())
    bare.override_normalizer_spec(add_dummy_prefix=False)
    return bare


def _eos(processor: Processor) -> int:
    eos = processor.eos_id()
    if eos < 0:
        raise ModelError("the vocabulary has no end of sentence (</s>)")
    return eos
