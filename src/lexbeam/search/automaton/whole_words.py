"""Where words end, as far as tokens can tell.

With SentencePiece ``▁Haus`` followed by ``tür`` is *Haustür*, not *Haus*: a phrase counts only
if the token after it begins something new. Which tokens do so is a matter of the vocabulary.

Where compounds count, ``▁Haus`` followed by ``tür`` does have *Haus*, if what follows is long
enough to be a part of a compound. So tokens also say how they join the parts of words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexbeam.errors import InputError, represented
from lexbeam.search.arrays import IntArray, Tokens

SHORT, LONG, ENDS = 1, 2, 4
"""How a token joins parts of a compound. ``SHORT``: it is a few letters inside a word, less than
a part. ``LONG``: it goes on with a word for long enough to be a part. ``ENDS``: what it ends with
is long enough to be a part."""


@dataclass(frozen=True)
class WordBoundaries:
    """Masks that say where words begin and end. # shape of all: (vocabulary,)."""

    boundary: NDArray[np.bool_]
    """Before this token a word has ended: it starts a word, is punctuation, or is the end."""
    closing: NDArray[np.bool_]
    """After this token a word has ended, whatever follows: punctuation, Chinese characters."""
    starting: NDArray[np.bool_]
    """With this token a word begins: what the words between two parts are counted by."""
    joining: NDArray[np.uint8]
    """How each token joins parts of a compound: `SHORT`, `LONG` and `ENDS`, added up."""
    marking: NDArray[np.bool_] | None = None
    """This token only says that a word begins, and nothing of the word; None: there is none."""
    silent: NDArray[np.bool_] | None = None
    """This token writes nothing, and ends no output; None: there is none."""

    @classmethod
    def of(
        cls,
        boundary: ArrayLike | None,
        closing: ArrayLike | None,
        vocabulary_size: int,
        ends: int | Sequence[int],
        starting: ArrayLike | None = None,
        joining: ArrayLike | None = None,
        marking: ArrayLike | None = None,
        silent: ArrayLike | None = None,
    ) -> WordBoundaries | None:
        """Return the masks as checked arrays; None where phrases are plain token sequences."""
        if boundary is None:
            more = {"closing": closing, "starting": starting, "joining": joining}
            for name, given in (more | {"marking": marking, "silent": silent}).items():
                if given is not None:
                    raise InputError(f"{name} is given without boundary")
            return None
        marks = []
        starting = boundary if starting is None else starting
        named = {"boundary": boundary, "closing": closing, "starting": starting}
        for name, given in (named | {"marking": marking, "silent": silent}).items():
            marks.append(_read_marks(name, given, vocabulary_size))
        begins, closes, starts, only_marks, says_nothing = marks
        begins[ends], says_nothing[ends] = True, False
        if joining is None:
            none = np.zeros(vocabulary_size, np.uint8)
            return cls(begins, closes, starts, none, only_marks, says_nothing)
        joins = _as_array(joining)
        if joins is None or joins.shape != (vocabulary_size,) or not _are_marks_of_joining(joins):
            raise InputError(
                f"joining must have a number from 0 to 7 for each of {vocabulary_size} tokens"
            )
        # What begins something new goes on with no word, and what ends a word leaves none to.
        joins = np.where(begins, joins & ENDS, joins)
        joins = np.where(closes, joins & (SHORT | LONG), joins)
        return cls(begins, closes, starts, joins.astype(np.uint8), only_marks, says_nothing)

    def waits(self, phrase: Tokens) -> bool:
        """Return whether the phrase counts only if a boundary follows."""
        return not self.closing[phrase[-1]]

    def is_mark(self, token: int) -> bool:
        """Return whether a symbol is a token that only says that a word begins."""
        return self.marking is not None and token >= 0 and bool(self.marking[token])

    def ends(self, token: int) -> bool:
        """Return whether a word has ended before this token."""
        return bool(self.boundary[token])

    @cached_property
    def unfinished(self) -> NDArray[np.bool_]:
        """A mask of the tokens that leave a word unfinished: they go on with it, or are silent."""
        return ~self.boundary if self.silent is None else ~self.boundary | self.silent

    def ended(self, tokens: IntArray) -> NDArray[np.bool_]:
        """Return a mask of the tokens before which a word has ended."""
        return self.boundary[tokens]


def _read_marks(name: str, given: Any, size: int) -> NDArray[np.bool_]:
    """Return marks of all tokens, none if nothing is given; or say that there are others."""
    if given is None:
        return np.zeros(size, np.bool_)
    marks = _as_array(given)
    if marks is None or marks.dtype.kind not in "biu":
        raise InputError(
            f"{name} must be a list of True or False for each token, not {represented(given)}"
        )
    if marks.shape != (size,):
        raise InputError(f"{name} has shape {marks.shape}, the vocabulary has {size} tokens")
    return marks.astype(np.bool_)


def _as_array(given: Any) -> NDArray[Any] | None:
    """Return a list as an array; None if it is none, or lists of several lengths are in it."""
    try:
        return np.array(given)
    except Exception:  # a class of the caller's own may raise anything
        return None


def _are_marks_of_joining(joins: NDArray[Any]) -> bool:
    """Return whether all are whole numbers from 0 to 7."""
    if joins.dtype.kind == "u":  # as they mostly come: a search should not wait for this
        return bool(joins.max(initial=0) <= SHORT | LONG | ENDS)
    return joins.dtype.kind in "bi" and bool(np.isin(joins, np.arange(8)).all())


def count_units(tokens: Tokens, words: WordBoundaries | None) -> int:
    """Return how many words begin in some tokens, or how many there are if words aren't known."""
    return len(tokens) if words is None else int(words.starting[list(tokens)].sum())
