"""How other words begin that a model might have written at a place of a translation.

Most of what a model would write instead of a word begins with another token. What begins with
the same one and goes on otherwise is a choice only where the model is in real doubt: below that
are misspelt words.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lexbeam.models.model import Model
from lexbeam.search.arrays import Tokens
from lexbeam.search.scorer import Scorer
from lexbeam.text.spelling import TargetText

MOST = 6
"""Beginnings at most."""

_TOP = 16  # tokens looked at, at each token of the word
_LEAST = math.log(0.003)  # a model that was trained with smoothed labels gives any token this much
_LEAST_INSIDE = math.log(0.02)


class Beginning(NamedTuple):
    """A translation up to the first token by which it differs, and how likely that token is."""

    text: str
    log_prob: float


class WordChoices:
    """What a model might have written at a place of a translation."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def length(self, translation: str) -> int:
        """Return the tokens by which the model writes a translation, its end not counted."""
        if not translation.strip():
            return 0
        return len(self._model.target_text.spell_prefix(translation).ids)

    def beginnings(self, text: str, before: str, word: str) -> list[Beginning]:
        """Return how the translation of a text might go on after ``before``, if not by ``word``.

        What follows from each can be had with it as prefix.
        """
        model = self._model
        source = tuple(model.source_text.encode(text))
        if len(source) > model.max_source_length:
            return []
        return word_beginnings(model.engine, model.target_text, source, before, word)


def word_beginnings(
    scorer: Scorer, target: TargetText, source: Tokens, before: str, word: str
) -> list[Beginning]:
    """Return how a translation might begin that has another word after ``before``, best first."""
    fixed = target.spell_prefix(before).ids if before.strip() else ()
    whole = target.spell_prefix(before + word).ids
    if whole[: len(fixed)] != fixed:
        return []  # the word shares a token with what stands before it
    state = scorer.start([source], [[]])
    nothing = np.empty((1, 0), dtype=np.int64)
    found: list[Beginning] = []
    for place, token in enumerate((scorer.bos, *whole[:-1])):
        scores = scorer.step(state, np.array([token]), np.array([0]), nothing, nothing, _TOP)
        state = scores.state
        if place < len(fixed):
            continue
        least = _LEAST if place == len(fixed) else _LEAST_INSIDE
        for other, log_prob in zip(
            scores.top_ids[0].tolist(), scores.top_scores[0].tolist(), strict=True
        ):
            text = target.decode([*whole[:place], other])
            if log_prob >= least and _is_other_word(text, before, word):
                found.append(Beginning(text, log_prob))
    return sorted(found, key=lambda each: -each.log_prob)[:MOST]


def _is_other_word(text: str, before: str, word: str) -> bool:
    """Return whether a text has the beginning of another word after a beginning."""
    begun = text.removeprefix(before) if before else text
    return text.startswith(before) and begun[:1].isalnum() and not word.startswith(begun)
