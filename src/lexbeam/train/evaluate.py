"""BLEU of a network in training, by the search that its users will meet.

Development sets are translated twice: freely, and with one word of each reference demanded (the
paper's *rand1*), because a model is only as good here as what it makes of constraints.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from lexbeam.errors import MissingExtraError
from lexbeam.search.beam_search import decode
from lexbeam.train.config import Corpus
from lexbeam.train.corpus import Pair
from lexbeam.train.scorer import Decodable, NetworkScorer
from lexbeam.train.vocabulary import EOS, Vocabulary

BEAM_SIZE = 5
BATCH = 32
MOST_SENTENCES = 500
"""Of each development set: enough to steer by, few enough to wait for."""


def measure_bleu(
    network: Any,
    vocabulary: Vocabulary,
    corpora: Sequence[tuple[Corpus, Sequence[Pair]]],
) -> dict[str, float]:
    """Return BLEU by development set, free and with one demanded word (``+rand1``)."""
    scores = {}
    was_training = network.training
    network.eval()
    for corpus, pairs in corpora:
        chosen = list(pairs[:MOST_SENTENCES])
        sources = [source for source, _ in chosen]
        references = [target for _, target in chosen]
        free = translate(network, vocabulary, sources)
        scores[corpus.name] = bleu(free, references)
        words = [_random_word(target) for target in references]
        demanded = translate(network, vocabulary, sources, words)
        scores[f"{corpus.name}+rand1"] = bleu(demanded, references)
    network.train(was_training)
    return scores


def translate(
    network: Decodable,
    vocabulary: Vocabulary,
    sources: Sequence[str],
    words: Sequence[str] | None = None,
) -> list[str]:
    """Translate sentences, each with a word in it if ``words`` are given; likes together."""
    scorer = NetworkScorer(network, vocabulary.size)
    encoded = vocabulary.encode(sources)
    phrases = vocabulary.encode(words) if words else [[]] * len(sources)
    outputs: list[Sequence[int]] = [()] * len(sources)
    order = np.argsort([len(ids) for ids in encoded], kind="stable")
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH].tolist()
        found = decode(
            scorer,
            [[*encoded[i], EOS] for i in batch],
            [[phrases[i]] if phrases[i] else [] for i in batch],
            beam_size=BEAM_SIZE,
            stop="bound",
            max_length=[2 * len(encoded[i]) + len(phrases[i]) + 10 for i in batch],
        )
        for i, hypotheses in zip(batch, found, strict=True):
            outputs[i] = hypotheses[0].tokens if hypotheses else ()
    return vocabulary.decode(outputs)


def bleu(outputs: Sequence[str], references: Sequence[str]) -> float:
    """Return sacreBLEU's score with its standard settings."""
    try:
        import sacrebleu  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("measuring BLEU", "train") from error
    return round(sacrebleu.corpus_bleu(list(outputs), [list(references)]).score, 2)


def _random_word(reference: str) -> str:
    """Choose a word of the reference, always the same one."""
    return random.Random(reference).choice(reference.split())
