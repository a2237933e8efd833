"""Phrases as tokens of a Hugging Face tokenizer, and the tokens at which words begin and end.

A phrase is demanded as the tokens that the tokenizer has for it in the middle of a sentence of
the target language. Whether it stands there as whole words can be seen with vocabularies that
mark where words begin: ``▁`` (SentencePiece), ``Ġ`` (byte-level BPE), ``##`` (WordPiece). With
others a phrase is its tokens, and nothing is said about what stands beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.counting import find_countable
from lexbeam.constraints.matching import find_excess
from lexbeam.errors import ConstraintError, InputError, quoted
from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.beam import Hypothesis
from lexbeam.text.casing import Case, compound_spellings, matches, variants
from lexbeam.text.compounds import is_letter, joining_flags, may_be_part
from lexbeam.text.word_boundaries import are_glued, is_unspaced
from lexbeam.text.word_masks import BoolArray, word_masks

_BEFORE = ("a", "1", ",")
"""Texts that a phrase is put after, to see its tokens in the middle of a sentence."""

_OPENING = ('"', "(", "-", "/")
"""What a phrase is put behind to see its tokens beside punctuation."""

_FIRST_PARTS = ("Haupt", "Arbeits")
"""First parts of compounds that a phrase is put behind, to see its tokens inside a word."""

_MOST_SPELLINGS = 200
"""How many spellings of an avoided phrase are banned, those with the fewest tokens first."""

UNKNOWN = "\ufffd"


@dataclass(frozen=True)
class Spelled:
    """The constraints of a batch as tokens, with masks of word boundaries if they are known."""

    phrases: Sequence[Sequence[Any]] | None
    avoid: Sequence[Sequence[Any]] | None
    boundary: BoolArray | None = None  # shape: (tokens of the tokenizer,)
    closing: BoolArray | None = None
    joining: NDArray[np.uint8] | None = None
    is_clean: Callable[[int, Sequence[int]], bool] | None = None
    """Return whether the text of a sentence's output has nothing avoided and nothing too often."""
    asked: Sequence[Constraints] = ()
    """The constraints as they were read, if they were given as text."""

    def clean_first(self, sentence: int, found: Sequence[Hypothesis]) -> list[Hypothesis]:
        """Return outputs with nothing avoided or too often first: other tokens may spell it."""
        if self.is_clean is None or sentence >= len(self.asked):
            return list(found)
        is_clean = self.is_clean
        return sorted(found, key=lambda hypothesis: not is_clean(sentence, hypothesis.tokens))

    def masks(
        self, vocabulary_size: int, ends: Sequence[int]
    ) -> tuple[BoolArray | None, BoolArray | None]:
        """Return the masks in the size of a model's vocabulary, which may be padded."""
        if self.boundary is None or self.closing is None:
            return None, None
        boundary = _fitted(self.boundary, vocabulary_size)
        boundary[list(ends)] = True
        return boundary, _fitted(self.closing, vocabulary_size)

    def joins(self, vocabulary_size: int) -> NDArray[np.uint8] | None:
        """Return how tokens join parts of compounds, in the size of a model's vocabulary."""
        return None if self.joining is None else _fitted(self.joining, vocabulary_size)


def _fitted(mark: NDArray[Any], vocabulary_size: int) -> NDArray[Any]:
    """Return a mask in the size of a vocabulary."""
    wide = np.zeros(vocabulary_size, mark.dtype)
    known = min(len(mark), vocabulary_size)
    wide[:known] = mark[:known]
    return wide


class Speller:
    """Spells phrases with one tokenizer."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self._tokenizer: Any = tokenizer

    def spell(self, constraints: object, avoid: object) -> Spelled:
        """Return the constraints of each sentence as tokens."""
        demanded, avoided = _lists("constraints", constraints), _lists("avoid", avoid)
        count = len(demanded if demanded is not None else avoided or ())
        phrases: list[list[Tokens | Pattern]] = []
        closed: list[list[list[int]]] = []
        read: list[Constraints] = []
        for i in range(count):
            try:
                asked = Constraints.build(
                    demanded and demanded[i],
                    avoided[i] if avoided is not None and i < len(avoided) else None,
                )
                phrases.append(self._all_demands(asked))
                read.append(asked)
                forms = _forms_of(asked.avoid)
                closed.append([ids for form in forms for ids in self.every_way(form)])
            except ConstraintError as error:
                raise ConstraintError(f"sentence {i}: {error}") from None
        boundary, closing = word_marks(self._tokenizer)
        return Spelled(
            None if demanded is None else phrases,
            None if avoided is None else closed,
            boundary,
            closing,
            joining_marks(self._tokenizer),
            lambda sentence, ids: self._is_clean(ids, read[sentence]),
            read,
        )

    def _all_demands(self, asked: Constraints) -> list[Tokens | Pattern]:
        """Return what the search has to place for all constraints of a sentence."""
        countable = find_countable(asked.counted)
        return [
            each
            for demand, is_exact in zip(asked.counted, countable, strict=True)
            for each in self.demands(demand, is_exact)
        ]

    def demands(self, asked: Constraint, is_exact: bool = False) -> list[Tokens | Pattern]:
        """Return what the search has to place, as often as it is asked for.

        Case is as it is given, or any: where a model's output begins a sentence is not known.
        ``is_exact`` says that the search sees to it that it does not occur more often.
        """
        if asked.at_start:
            raise ConstraintError(
                f"{quoted(asked.text)}: a prefix can't be given here, make it the beginning of "
                "the decoder's input"
            )
        parts = tuple(tuple(dict.fromkeys(self._part(part, asked))) for part in asked.parts)
        simple = asked.soft is None and not asked.at_end and asked.at_most is None
        if simple and len(parts) == len(parts[0]) == 1 and not parts[0][0].in_compounds:
            return [parts[0][0].tokens] * asked.count
        pattern = Pattern(
            parts,
            asked.within,
            asked.at_end,
            asked.soft,
            may_overlap=is_exact or len(asked.parts) == len(asked.parts[0]) == 1,
            exact=is_exact,
        )
        return [pattern] * asked.count

    def _part(self, part: Sequence[str], asked: Constraint) -> Iterator[Form]:
        """Yield the forms of a part, with those in compounds if they are asked for."""
        compound = asked.compound and len(asked.parts) == 1
        compound = compound and joining_marks(self._tokenizer) is not None
        for phrase in _variants(part, asked.case):
            goes_on = compound and may_be_part(phrase) and is_letter(phrase[-1])
            for form in self.forms(phrase, spaced=asked.within is not None):
                yield replace(form, goes_on=goes_on)
        for phrase in part if compound else ():
            if may_be_part(phrase) and is_letter(phrase[0]):
                for written in compound_spellings(phrase, asked.case)[1]:
                    yield from self.inside(written)

    def inside(self, phrase: str) -> Iterator[Form]:
        """Yield the tokens of a phrase right behind another word."""
        for before in _FIRST_PARTS:
            alone, together = self._encode(before), self._encode(before + phrase)
            tokens = tuple(together[len(alone) :])
            known = self._tokenizer.unk_token_id not in tokens
            if together[: len(alone)] == alone and tokens and known:
                yield Form(tokens, inside=True)

    def forms(self, phrase: str, spaced: bool = False) -> list[Form]:
        """Return the tokens of a phrase behind a space, and behind punctuation.

        With ``spaced`` only the first; so too where the vocabulary does not show where words
        begin.
        """
        forms = [Form(tuple(self.ids(phrase)))]
        boundary, _ = word_marks(self._tokenizer)
        if spaced or boundary is None or are_glued("(", phrase[0]):
            return forms
        for before in _OPENING:
            alone, together = self._encode(before), self._encode(before + phrase)
            bare = tuple(together[len(alone) :])
            if together[: len(alone)] == alone and bare:
                forms.append(Form(bare, apart=are_glued("a", phrase[0])))
        return [form for form in forms if self._tokenizer.unk_token_id not in form.tokens]

    def _is_clean(self, ids: Sequence[int], asked: Constraints) -> bool:
        """Return whether an output has nothing avoided, and nothing more often than it may."""
        if not asked.avoid and all(each.at_most is None for each in asked.demanded):
            return True
        text = self._tokenizer.decode(list(ids), skip_special_tokens=True).strip()
        return not find_excess(text, asked.counted) and not any(
            matches(text, form, "exact", (), each.compound)
            for each in asked.avoid
            for form in _variants(each.parts[0], each.case)
        )

    def ids(self, phrase: str) -> list[int]:
        """Return the tokens of a phrase in the middle of a sentence."""
        space = "" if is_unspaced(phrase[0]) else " "
        found = None
        for before in _BEFORE:
            alone, together = self._encode(before), self._encode(before + space + phrase)
            if alone and together[: len(alone)] == alone:
                found = together[len(alone) :]
                break
        ids = self._encode(phrase) if found is None else found
        if not ids:
            raise ConstraintError(f"{quoted(phrase)} has no characters that can be written")
        if self._tokenizer.unk_token_id in ids:
            raise ConstraintError(
                f"{quoted(phrase)} has characters that the tokenizer does not know"
            )
        return ids

    def every_way(self, phrase: str) -> list[list[int]]:
        """Return the ways to write a phrase, the tokenizer's own first."""
        ids = self.ids(phrase)
        written = writings(self._tokenizer)
        pieces = [written[token] if written is not None else "" for token in ids]
        if not all(pieces) or any(UNKNOWN in piece for piece in pieces):
            return [ids]
        ways = _segmentations("".join(pieces), _by_writing(self._tokenizer))
        return [ids, *(way for way in ways if way != ids)]

    def _encode(self, text: str) -> list[int]:
        encoded = self._tokenizer(text_target=text, add_special_tokens=False)
        return [int(token) for token in encoded["input_ids"]]


def _lists(name: str, given: object) -> list[Any] | None:
    if given is None:
        return None
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise InputError(f"{name} must be a list with a list of phrases for each sentence")
    return list(given)


def _segmentations(text: str, vocabulary: dict[str, int]) -> list[list[int]]:
    """Return the ways to cut a text into pieces of a vocabulary, the shortest first."""
    ways: list[tuple[int, list[int]]] = [(0, [])]
    found: list[list[int]] = []
    while ways and len(found) < _MOST_SPELLINGS:
        longer = []
        for start, ids in ways[:_MOST_SPELLINGS]:
            for end in range(start + 1, len(text) + 1):
                token = vocabulary.get(text[start:end])
                if token is None:
                    continue
                if end == len(text):
                    found.append([*ids, token])
                else:
                    longer.append((end, [*ids, token]))
        ways = sorted(longer, key=lambda way: -way[0])
    return found[:_MOST_SPELLINGS]


# --- the vocabulary ------------------------------------------------------------------------


@lru_cache(maxsize=4)
def word_marks(tokenizer: Any) -> tuple[BoolArray | None, BoolArray | None]:
    """Return masks of the tokens before which a word has ended, and after which it always has.

    None for both where the vocabulary does not show it.
    """
    written = writings(tokenizer)
    if written is None:
        return None, None
    boundary, closing = word_masks(written, len(written), UNKNOWN)
    # They write nothing, so that no word goes on with them.
    boundary[[token for token in tokenizer.all_special_ids if token < len(boundary)]] = True
    return boundary, closing


@lru_cache(maxsize=4)
def joining_marks(tokenizer: Any) -> NDArray[np.uint8] | None:
    """Return how tokens join parts of compounds; None where the vocabulary does not show it."""
    written = writings(tokenizer)
    return None if written is None else joining_flags(written, len(written))


@lru_cache(maxsize=4)
def _by_writing(tokenizer: Any) -> dict[str, int]:
    written = writings(tokenizer) or []
    return {text: token for token, text in enumerate(written) if text and UNKNOWN not in text}


@lru_cache(maxsize=4)
def writings(tokenizer: Any) -> list[str] | None:
    """Return the text of each token, with its space; an empty one if it is not known.

    None where the vocabulary does not show spaces at the beginning of tokens.
    """
    pieces: list[str] = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    shown = tokenizer.convert_ids_to_tokens(
        tokenizer(text_target="a b a", add_special_tokens=False)["input_ids"]
    )
    if any(piece.startswith("▁") for piece in shown):
        read = _sentencepiece_text
    elif any(piece.startswith("Ġ") for piece in shown):
        read = _byte_level_text
    elif any(piece is not None and piece.startswith("##") for piece in pieces):
        read = _wordpiece_text
    else:
        return None
    silent = {*tokenizer.all_special_ids, *tokenizer.added_tokens_decoder}
    return [
        "" if token in silent or not piece else read(piece) for token, piece in enumerate(pieces)
    ]


def _sentencepiece_text(piece: str) -> str:
    if len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
        code = int(piece[3:5], 16)
        return chr(code) if code < 0x80 else UNKNOWN
    return piece.replace("▁", " ")


def _byte_level_text(piece: str) -> str:
    codes = _byte_codes()
    if any(character not in codes for character in piece):
        return ""
    return bytes(codes[character] for character in piece).decode("utf-8", "replace")


def _wordpiece_text(piece: str) -> str:
    return piece[2:] if piece.startswith("##") else " " + piece


@lru_cache(maxsize=1)
def _byte_codes() -> dict[str, int]:
    """Return the byte that each character of a byte-level vocabulary stands for.

    Bytes that print in Latin-1 stand for themselves; the others were moved beyond it in order.
    """
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [byte for byte in range(0x100) if byte not in plain]
    codes = {chr(byte): byte for byte in plain}
    return codes | {chr(0x100 + index): byte for index, byte in enumerate(moved)}


def _variants(part: Sequence[str], case: Case) -> list[str]:
    """Return the spellings of a part that are allowed anywhere in a sentence."""
    spellings = (variant for form in part for variant in variants(form, case))
    return list(dict.fromkeys(variant.text for variant in spellings if not variant.first))


def _forms_of(avoided: Sequence[Constraint]) -> tuple[str, ...]:
    return tuple(form for each in avoided for form in _variants(each.parts[0], each.case))
