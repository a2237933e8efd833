"""Between text and tokens: sentences and phrases as tokens, tokens as text.

A phrase is demanded as the pieces that the model itself would write for it in the middle of a
sentence. Everything that depends on how a vocabulary writes word boundaries is in this module;
`lexbeam.text.moses_spelling` has what is different where Moses joins the words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lexbeam.errors import ConstraintError, ModelError, quoted
from lexbeam.text.compounds import is_letter
from lexbeam.text.languages import UNSPACED_LANGUAGES, base_language
from lexbeam.text.literals import Aliases, Literals, Placed, fill_marks, mark_placed, unchanged
from lexbeam.text.phrases import Spelling, asked_as
from lexbeam.text.prefixes import completions
from lexbeam.text.surroundings import spell_beside_punctuation
from lexbeam.text.token_marks import edges_of_words, joins_of_compounds, silent_tokens
from lexbeam.text.token_offsets import spans_between, token_offsets
from lexbeam.text.vocabulary import (
    SPACE,
    Processor,
    end_token,
    without_blank_bytes,
    without_space,
)
from lexbeam.text.word_boundaries import Span, are_glued, is_unspaced
from lexbeam.text.word_masks import BoolArray

_REMEMBERED = 1 << 16  # phrases whose spellings are kept


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
        self._suffix = [end_token(processor)] if suffix is None else list(suffix)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a sentence, with prefix and suffix."""
        return [*self._prefix, *self._processor.encode(text), *self._suffix]

    def can_read(self, text: str) -> bool:
        """Return whether the vocabulary has every character of a text."""
        return not any(self._processor.is_unknown(self._processor.encode(text)))

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
        self._eos = end_token(processor)
        if processor.encode("a", out_type=str)[-1].endswith(SPACE):
            raise ModelError(
                "the target vocabulary writes spaces at the end of pieces "
                "(treat_whitespace_as_suffix); only spaces at the beginning are supported"
            )
        self._bare = without_space(processor)
        self.language = language
        self.is_unspaced = base_language(language) in UNSPACED_LANGUAGES
        self._known: dict[str, list[Spelling]] = {}
        self._literals: Literals | None = None

    def with_literals(self, vocabulary_size: int) -> Self:
        """Return the same target side for one text, in which any character can be written.

        What the vocabulary lacks or normalises is spelled with tokens beyond those of the model,
        of which there are ``vocabulary_size`` (`lexbeam.text.literals`).
        """
        own = copy(self)
        own._literals = Literals(vocabulary_size)
        return own

    @property
    def aliases(self) -> Aliases:
        """The tokens beyond the vocabulary that phrases were spelled with."""
        return Aliases() if self._literals is None else self._literals.aliases

    @property
    def separator(self) -> str:
        """What the target language puts between two sentences."""
        return "" if self.is_unspaced else " "

    def decode(self, ids: Iterable[int], phrases: Sequence[Spelling] = ()) -> str:
        """Return the text of tokens, without the end of sentence and other control tokens.

        ``phrases`` are those that were asked for; where words are joined by rules
        (`lexbeam.text.moses_spelling`), they say how. An unknown token writes nothing.
        """
        return self._write(*self._place(ids), phrases)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return the pieces of tokens as the vocabulary writes them."""
        size, tokens = self._processor.get_piece_size(), [int(i) for i in ids]
        known = tokens if self._literals is None else self._literals.known(tokens)
        return self._processor.id_to_piece([i if i < size else self._eos for i in known])

    def tokens_at(
        self, ids: Sequence[int], span: Span, phrases: Sequence[Spelling] = ()
    ) -> tuple[int, ...]:
        """Return the tokens that write a span of the decoded text.

        If the first of them begins exactly there, without a space, the token before it is
        returned with them: only both together show that a word starts there.
        """
        pieces, placed = self._place(ids)
        ends = self._ends(pieces, placed, phrases)
        first = sum(end <= span[0] for end in ends)
        last = sum(end < span[1] for end in ends)
        if first > 0 and ends[first - 1] == span[0] and not pieces[first].startswith(SPACE):
            first -= 1
        return tuple(int(i) for i in ids[first : last + 1])

    def token_spans(self, ids: Sequence[int], phrases: Sequence[Spelling] = ()) -> list[Span]:
        """Return where in the decoded text each token stands, without white space.

        A token that writes nothing of its own has an empty span.
        """
        pieces, placed = self._place(ids)
        text = self._write(pieces, placed, phrases)
        ends = self._ends(pieces, placed, phrases) if pieces else []
        return spans_between(text, ends)

    def _place(self, ids: Iterable[int]) -> tuple[list[str], list[Placed]]:
        """Return the pieces of an output, and what it shows otherwise than they write it."""
        tokens = [int(i) for i in ids]
        pieces, unknown = without_blank_bytes(self.pieces(tokens)), self._processor.unk_id()
        placed = [] if self._literals is None else list(self._literals.placed(tokens))
        shown = {index for each in placed for index in range(each.start, each.end)}
        known = tokens if self._literals is None else self._literals.known(tokens)
        for index, token in enumerate(known):
            if token == unknown and index not in shown:
                pieces[index] = ""
                if index and pieces[index - 1] == SPACE:
                    pieces[index - 1] = ""
                if self._literals is not None and self._literals.ends_word_before(tokens[index]):
                    # To the search a word has ended here: what follows must not go on with it.
                    follows = "".join(pieces[index + 1 : index + 2])
                    pieces[index] = "" if follows.startswith(SPACE) else SPACE
        return pieces, placed

    def _write(
        self,
        pieces: list[str],
        placed: Sequence[Placed],
        phrases: Sequence[Spelling],  # noqa: ARG002
    ) -> str:
        """Return pieces as a text in which phrases look as they were asked for."""
        marked = mark_placed(pieces, placed)
        text: str = self._processor.decode(marked)
        return fill_marks(text.strip(), placed)

    def _ends(
        self,
        pieces: list[str],
        placed: Sequence[Placed],
        phrases: Sequence[Spelling],  # noqa: ARG002
    ) -> list[int]:
        """Return the offset in the text of pieces at which each of them ends."""
        marked = mark_placed(pieces, placed)
        written = [
            fill_marks(self._processor.decode(marked[: i + 1]), placed) for i in range(len(marked))
        ]
        offset = len(written[-1]) - len(written[-1].lstrip())
        return [len(text) - offset for text in written]

    def masks(self, vocabulary_size: int) -> tuple[BoolArray, BoolArray]:
        """Return a mask of the tokens that can't continue a word, and of those that end one.

        See `lexbeam.text.word_masks`. The end of sentence is in the first mask, and so is all that
        writes nothing: the unknown token, and those with which a model's vocabulary may be padded.
        A byte of a longer character might be anything, so it is in neither.
        """
        return edges_of_words(self._processor, vocabulary_size)

    def spaced_tokens(self, vocabulary_size: int) -> BoolArray:
        """Return a mask of the tokens that begin with a space."""
        size = min(self._processor.get_piece_size(), vocabulary_size)
        spaced = np.zeros(vocabulary_size, dtype=bool)  # shape: (vocabulary,)
        pieces: list[str] = self._processor.id_to_piece(list(range(size)))
        spaced[:size] = [piece.startswith(SPACE) for piece in pieces]
        return spaced

    def spell(self, phrase: str) -> Spelling:
        """Return the tokens that spell a phrase in the middle of a sentence."""
        return self.spell_all(phrase)[0]

    def spell_all(self, phrase: str) -> list[Spelling]:
        """Return the spellings of a phrase, the likeliest first.

        They are those with and without a space before it, and those that its surroundings may
        lead to. With unknown characters it is spelled only if there is no other way.
        """
        ways = self._ways(phrase)
        known = [spelling for spelling in ways if not spelling.pieces]
        if not ways:
            raise ConstraintError(f"{quoted(phrase)} has no characters that can be written")
        return [self._literal(spelling) for spelling in known or ways]

    def spell_prefix(self, prefix: str) -> Spelling:
        """Return the beginning of an output as tokens."""
        return self._literal(self._spell_prefix(prefix))

    def _spell_prefix(self, prefix: str) -> Spelling:
        spelling = self._spelling(self._processor, prefix, spaced=True)
        if not spelling.surface:
            raise ConstraintError(f"{quoted(prefix)} has no characters that can be written")
        return replace(asked_as(prefix, spelling), begins=True)

    def spell_beginnings(self, prefix: str) -> list[Spelling]:
        """Return the spellings of a prefix whose last word may go on, as far as one token more."""
        spelling = self._spell_prefix(prefix)
        if spelling.pieces:
            return [self._literal(spelling)]
        written = spelling.written or spelling.surface
        return [
            self._literal(
                replace(
                    spelling,
                    ids=ids,
                    surface=spelling.surface + rest,
                    written=spelling.written and written + rest,
                )
            )
            for ids, rest in completions(self._processor, written, spelling.ids)
        ]

    def _literal(self, spelling: Spelling) -> Spelling:
        """Return a spelling that shows its phrase as it was asked for, if it does not yet."""
        if self._literals is None or not spelling.is_rewritten:
            return spelling
        pieces = list(spelling.pieces) or self.pieces(spelling.ids)
        ids: list[int] = []
        for start, cut, end, word in _words_of(spelling, pieces):
            ids += self._literal_word(spelling.ids[start:cut], pieces[start:cut], word)
            ids += spelling.ids[cut:end]
        return replace(spelling, ids=tuple(ids))

    def _literal_word(self, ids: Sequence[int], pieces: Sequence[str], word: str) -> Sequence[int]:
        """Return the tokens of a word, of which those that can't write it are replaced."""
        assert self._literals is not None
        if self._processor.decode(list(pieces)).strip() != word:
            space = " " if pieces[0].startswith(SPACE) else ""
            return self._literals.tokens_for(space + word, ids)
        return self._literal_pieces(ids, pieces)

    def _literal_pieces(self, ids: Sequence[int], pieces: Sequence[str]) -> list[int]:
        """Return tokens, of which the unknown ones are replaced."""
        assert self._literals is not None
        unknown = self._processor.unk_id()
        found = []
        for token, piece in zip(ids, pieces, strict=True):
            text = " " + piece[1:] if piece.startswith(SPACE) else piece
            found.append(self._literals.tokens_for(text, [token])[0] if token == unknown else token)
        return found

    def _ways(self, phrase: str) -> list[Spelling]:
        """Return the possible spellings; they are cached, since terms of a glossary come again."""
        if phrase not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[phrase] = list(dict.fromkeys(self._spellings(phrase)))
        return self._known[phrase]

    def _spellings(self, phrase: str) -> Iterator[Spelling]:
        """Yield the possible spellings, the likeliest first."""
        unspaced = self.is_unspaced or is_unspaced(phrase[0])
        for written in dict.fromkeys((phrase, unicodedata.normalize("NFC", phrase))):
            for spaced in (not unspaced, unspaced):
                encoder = self._processor if spaced else self._bare
                if encoder is None or (not spaced and are_glued("(", phrase[0])):
                    continue
                spelling = self._spelling(encoder, written, spaced)
                if spelling.surface:
                    in_text = _in_context(self, encoder, spelling) if spaced else spelling
                    yield asked_as(phrase, in_text)
        if self._bare is not None and not are_glued("(", phrase[0]):
            yield from self._beside_punctuation(phrase)

    def _beside_punctuation(self, phrase: str) -> Iterator[Spelling]:
        alone = self._spelling(self._processor, phrase, spaced=True)
        if alone.surface == phrase and not alone.pieces:
            for ids, text, spaced in spell_beside_punctuation(self._processor, phrase):
                yield Spelling(ids, text, spaced)

    def _spelling(self, encoder: Processor, phrase: str, spaced: bool) -> Spelling:
        ids, pieces = tuple(encoder.encode(phrase)), tuple(encoder.encode(phrase, out_type=str))
        has_unknowns = self._processor.unk_id() in ids
        surface = self._processor.decode(list(pieces)).strip()
        return Spelling(ids, surface, spaced, pieces if has_unknowns else ())


def _words_of(spelling: Spelling, pieces: list[str]) -> Iterator[tuple[int, int, int, str]]:
    """Yield where the pieces of each word begin, where they write it as it is, and where they end.

    Also yields the word up to there. Only of a prefix anything is left as it is.
    """
    starts = [i for i, piece in enumerate(pieces) if not i or piece.startswith(SPACE)]
    words = spelling.surface.split(" ")
    if len(starts) != len(words):
        starts, words = [0], [spelling.surface]
    is_shared = spelling.begins and not spelling.pieces
    for start, end, word in zip(starts, [*starts[1:], len(pieces)], words, strict=True):
        cut = end - (unchanged(pieces[start:end], word) if is_shared else 0)
        yield start, cut, end, word[: len(word) - sum(map(len, pieces[cut:end]))]


def token_of(target: TargetText, piece: str) -> int | None:
    """Return the token of a piece, None if the vocabulary does not have it."""
    token = target._processor.piece_to_id(piece)
    return None if token == target._processor.unk_id() else int(token)


def spell_inside(target: TargetText, phrase: str) -> list[Spelling]:
    """Return the spellings of a phrase right behind a letter; none if that is not known."""
    if target._bare is None or not is_letter(phrase[0]):
        return []
    spelling = target._spelling(target._bare, phrase, spaced=False)
    known = spelling.surface == phrase and not spelling.pieces
    return [replace(spelling, inside=True)] if known else []


def word_marks(
    target: TargetText, vocabulary_size: int
) -> tuple[BoolArray, BoolArray, BoolArray, NDArray[np.uint8], BoolArray, BoolArray]:
    """Return the tokens that can't continue a word, that end one, that begin with a space.

    Then how each token joins parts of compounds (`lexbeam.text.compounds`): not at all in
    vocabularies that write the end of a word into its pieces, where a word that goes on is
    spelled otherwise. Then the tokens that are nothing but a space, and those that write nothing.
    """
    boundary, closing = target.masks(vocabulary_size)
    joining = np.zeros(vocabulary_size, np.uint8)
    if target._bare is not None:
        joining = joins_of_compounds(target._processor, vocabulary_size)
    starting = target.spaced_tokens(vocabulary_size)
    marking = np.arange(vocabulary_size) == token_of(target, SPACE)
    silent = silent_tokens(target._processor, vocabulary_size)
    return boundary, closing, starting, joining, marking, silent


def _in_context(target: TargetText, processor: Processor, alone: Spelling) -> Spelling:
    """Return the spelling of a phrase between two other words, if it differs there."""
    word: list[int] = processor.encode("a")
    inside = processor.encode(f"a {alone.surface} a")
    middle = tuple(inside[len(word) : len(inside) - len(word)])
    surrounded = inside[: len(word)] == word == inside[len(inside) - len(word) :]
    if not alone.pieces and surrounded and target.decode(middle) == alone.surface:
        return replace(alone, ids=middle)
    return alone
