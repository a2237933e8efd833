"""Which words of a translation translate which words of its source.

At every step a model that attends says how much it looks at each source token. The attention of
the tokens of a word is pooled, on both sides, and each word of the output is linked to the source
words that it attends to most. A word that attends to nothing in particular has no link.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lexbeam.search.arrays import FloatArray, ScoreArray
from lexbeam.search.beam import Hypothesis
from lexbeam.text.word_boundaries import Span, are_glued
from lexbeam.translation.document import Document
from lexbeam.translation.results import Link

CLEAR = 0.2
"""The least share of its attention that a word pays to the source word it is linked to."""

FURTHER = 0.3
"""The least share that it pays to any further source word it is linked to."""


class TokenText(NamedTuple):
    """A text, and where its tokens stand in it."""

    text: str
    tokens: Sequence[Span]
    start: int = 0
    """The offset of the text in a longer one."""


def align_document(
    document: Document, hypotheses: Sequence[Hypothesis], starts: Sequence[int]
) -> list[Link] | None:
    """Return the links of a text whose sentences have these hypotheses.

    ``starts`` are the offsets of the translated sentences in the whole translation. Returns None
    if the model did not say where it attends.
    """
    links: list[Link] = []
    for sentence, hypothesis, start in zip(document.sentences, hypotheses, starts, strict=True):
        if hypothesis.attention is None:
            return None
        part = sentence.part
        source = TokenText(part.text, document.token_spans(sentence, sentence.searched), part.start)
        text = document.text_of(sentence, hypothesis)
        tokens = document.target.token_spans(hypothesis.tokens, document.shown(sentence))
        output = TokenText(text, tokens, start)
        links += link_words(source, output, hypothesis.attention)
    return links


def link_words(source: TokenText, output: TokenText, attention: ScoreArray) -> list[Link]:
    """Return the links between the words of a sentence and those of its translation.

    ``attention`` may have more rows than the output has tokens (the end of sentence) and more
    columns than the source has (padding). # shape: (output tokens, source tokens)
    """
    source_words, output_words = words_of(source), words_of(output)
    if not source_words or not output_words:
        return []
    weights = np.nan_to_num(attention[: len(output.tokens), : len(source.tokens)])
    to_source = _belonging(source.tokens[: weights.shape[1]], source_words)
    to_output = _belonging(output.tokens[: weights.shape[0]], output_words)
    tokens = np.maximum(to_output.sum(axis=0), 1.0)
    share = (to_output.T @ weights @ to_source) / tokens[:, None]  # shape: (output, source) words
    best = share.argmax(axis=1)
    linked = share >= FURTHER
    linked[np.arange(len(best)), best] = share.max(axis=1) >= CLEAR
    return [
        Link(_moved(source_words[i], source.start), _moved(output_words[o], output.start))
        for o, i in np.argwhere(linked).tolist()
    ]


def words_of(side: TokenText) -> list[Span]:
    """Return the spans of the words of a text, each mark of punctuation being one.

    What one token writes is never cut, so that in scripts without spaces tokens are the words.
    """
    text = side.text
    inside = {offset for start, end in side.tokens for offset in range(start + 1, end)}
    words: list[Span] = []
    for offset, character in enumerate(text):
        if character.isspace():
            continue
        before = text[offset - 1] if offset else " "
        goes_on = offset in inside or are_glued(before, character)
        if words and goes_on and not before.isspace():
            words[-1] = words[-1][0], offset + 1
        else:
            words.append((offset, offset + 1))
    return words


def pharaoh(source: str, output: str, links: Sequence[Link]) -> str:
    """Return links as ``0-0 1-2``: the numbers of words with white space between them."""
    sources, outputs = _numbered(source), _numbered(output)
    pairs = {
        (i, o)
        for link in links
        for i in _overlapping(sources, link.source)
        for o in _overlapping(outputs, link.target)
    }
    return " ".join(f"{i}-{o}" for i, o in sorted(pairs))


def _numbered(text: str) -> list[Span]:
    return [word.span() for word in re.finditer(r"\S+", text)]


def _overlapping(words: Sequence[Span], span: Span) -> list[int]:
    return [i for i, (start, end) in enumerate(words) if start < span[1] and end > span[0]]


def _belonging(tokens: Sequence[Span], words: Sequence[Span]) -> FloatArray:
    """Return which token belongs to which word. # shape: (tokens, words)."""
    first = np.array(tokens).reshape(-1, 1, 2)
    second = np.array(words).reshape(1, -1, 2)
    shared = np.minimum(first, second)[..., 1] - np.maximum(first, second)[..., 0]
    belongs: FloatArray = (shared > 0).astype(np.float64)
    return belongs


def _moved(span: Span, by: int) -> Span:
    return span[0] + by, span[1] + by
