"""Choose the head of attention that aligns best, for a bundle that does not say which one does.

A statistical aligner (the same as for guided alignment, `lexbeam.train.alignment`) learns from
some parallel text which words belong together. The model is made to write the translations; the
head that attends most to the source words of what it is writing is the one that aligns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from lexbeam.errors import InputError, ModelError
from lexbeam.models import bundle
from lexbeam.models.bundle_manifest import ALIGNMENT, MANIFEST
from lexbeam.models.graphs.architecture import read_architecture
from lexbeam.models.model import Model
from lexbeam.search.beam_search import decode
from lexbeam.text.atomic_write import write_file
from lexbeam.text.token_offsets import tokens_in
from lexbeam.text.word_boundaries import Span
from lexbeam.train.alignment import ROUNDS, import_thot
from lexbeam.train.corpus import Pair

FEWEST_PAIRS = 100
"""Fewer pairs teach an aligner nothing."""
TRIED = 60
"""Pairs that each head is tried on."""

_WORD = re.compile(r"\w+|[^\w\s]")


class Head(NamedTuple):
    """A head of attention to the source, and how well it aligns."""

    layer: int
    head: int
    share: float
    """The mean attention of words to the source words that the aligner links them with."""


class _Example(NamedTuple):
    """A pair of texts, and the words of both that belong together."""

    source: str
    target: str
    links: list[tuple[Span, Span]]


def rank_heads(folder: Path, pairs: Sequence[Pair]) -> list[Head]:
    """Return all heads of a bundle, those that agree best with an aligner first.

    Raises:
        InputError: there are too few pairs.
        ModelError: the network has no heads to choose from.
        MissingExtraError: there is no aligner.
    """
    if len(pairs) < FEWEST_PAIRS:
        raise InputError(f"{len(pairs)} pairs are too few to align: at least {FEWEST_PAIRS}")
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    layers, heads = read_architecture(manifest["network"]).aligned_layers_and_heads
    if layers * heads < 2:
        raise ModelError(f"{folder}: the network has no heads of attention to choose from")
    examples = _align(pairs)
    ranked = []
    with TemporaryDirectory() as name:
        for layer, head in np.ndindex(layers, heads):
            copy = Path(name) / f"{layer}-{head}"
            _link(folder, copy, manifest | {"alignment": _named(layer, head)})
            shares = list(_shares(bundle.load(copy), examples))
            ranked.append(Head(layer, head, float(np.mean(shares))))
    return sorted(ranked, key=lambda each: -each.share)


def keep_head(folder: Path, head: Head) -> None:
    """Write into a bundle which head aligns."""
    path = folder / MANIFEST
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["alignment"] = _named(head.layer, head.head)
    write_file(path, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def _named(layer: int, head: int) -> dict[str, int]:
    return dict(zip(ALIGNMENT, (layer, head), strict=True))


def _link(folder: Path, copy: Path, manifest: dict[str, Any]) -> None:
    """Make a bundle of the same files with another manifest."""
    copy.mkdir()
    for path in folder.iterdir():
        if path.is_file() and path.name != MANIFEST:
            (copy / path.name).symlink_to(path.resolve())
    (copy / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def _align(pairs: Sequence[Pair]) -> list[_Example]:
    """Learn from all pairs; return some of them with their links."""
    thot = import_thot()
    spans = [[[m.span() for m in _WORD.finditer(text)] for text in pair] for pair in pairs]
    words = [
        [[text[slice(*at)].lower() for at in each] for text, each in zip(pair, both, strict=True)]
        for pair, both in zip(pairs, spans, strict=True)
    ]
    models = []
    for first, second in ((0, 1), (1, 0)):
        model = thot.FastAlignModel()
        for sides in words:
            model.add_sentence_pair(sides[first], sides[second], 1)
        model.start_training()
        for _ in range(ROUNDS):
            model.train()
        model.end_training()
        models.append(model)
    aligner = thot.SymmetrizedAligner(*models)
    aligner.heuristic = thot.SymmetrizationHeuristic.INTERSECTION
    step = max(len(pairs) // TRIED, 1)
    chosen = range(0, len(pairs), step)[:TRIED]
    best = aligner.get_best_alignments([words[i][0] for i in chosen], [words[i][1] for i in chosen])
    return [
        _Example(
            *pairs[i],
            [(spans[i][0][s], spans[i][1][t]) for s, t in np.argwhere(matrix.to_numpy()).tolist()],
        )
        for i, (_, matrix) in zip(chosen, best, strict=True)
    ]


def _shares(model: Model, examples: Sequence[_Example]) -> Iterator[float]:
    """Yield the attention of each linked word to the word that it is linked with."""
    for source, target, links in examples:
        prefix = model.target_text.spell_prefix(target).ids
        (best, *_), *_ = decode(
            model.engine,
            [tuple(model.encode(source))],
            prefix=[prefix],
            max_length=len(prefix),
            beam_size=1,
            align=True,
        )
        if best.attention is None:
            raise ModelError("the model does not say where it attends")
        given = model.source_text.token_spans(source)
        written = model.target_text.token_spans(prefix)
        for at_source, at_target in links:
            rows, columns = tokens_in(written, at_target), tokens_in(given, at_source)
            if rows and columns:
                yield float(best.attention[np.ix_(rows, columns)].sum(axis=1).mean())
