"""A whole run: check everything, train, average, measure, export.

What can go wrong with text and settings goes wrong in the first minutes, before training.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import nn

from lexbeam.errors import InputError
from lexbeam.models.bundle import add_shortlist
from lexbeam.train import checkpoint
from lexbeam.train.alignment import Alignments, align, concatenate
from lexbeam.train.batches import EncodedPairs, Ids
from lexbeam.train.config import Corpus, RunConfig, read_config, to_table
from lexbeam.train.corpus import Pair, read_clean, read_pairs
from lexbeam.train.evaluate import measure_bleu
from lexbeam.train.examples import Example, build_examples
from lexbeam.train.export import export
from lexbeam.train.guide import Guide
from lexbeam.train.inserted_terms import TermInsertion
from lexbeam.train.loop import DECAY, LAST, Trainer, final_weights
from lexbeam.train.networks import make_network
from lexbeam.train.parts import TiedNetwork
from lexbeam.train.replacement import WordReplacement
from lexbeam.train.shortlist import from_alignments
from lexbeam.train.start import copy_vocabulary, load_weights, mix_with_start
from lexbeam.train.vocabulary import Vocabulary, load_vocabulary, train_vocabulary
from lexbeam.train.words import PieceWords

CONFIG = "config.json"
BUNDLE = "bundle"
AVERAGE = "average.pt"
SCORES = "scores.json"
CALIBRATION = 40
"""Sentences of each corpus on which the ranges of activations are measured."""
CHARACTERS_A_TOKEN = 3
"""Joined examples stay shorter than this many characters for each token that is allowed."""
FIXED = ("network", "vocabulary", "seed")
"""Sections of the configuration that can't change while a run goes on."""

EditSources = Callable[..., Ids]
"""Changes sources: takes them, the targets, the pairs of each example and a random generator."""


@dataclass(frozen=True)
class Material:
    """Text that has been read and checked, and the vocabulary made from it."""

    train: Sequence[tuple[Corpus, Sequence[Pair]]]
    dev: Sequence[tuple[Corpus, Sequence[Pair]]]
    vocabulary: Vocabulary
    guide: Guide | None = None
    """Alignments of the text to train on, where attention is to learn them."""
    dev_guides: Sequence[Guide | None] = ()
    alignments: Sequence[Alignments] = ()
    """Of the text to train on, by corpus."""


def run_file(path: Path) -> Path | None:
    """Train as the file says; return the bundle, or None when the run was interrupted."""
    config = read_config(path)
    torch.set_num_threads(config.threads or os.cpu_count() or 1)
    material = align_material(config, prepare(config))
    torch.manual_seed(config.seed)
    network = make_network(config.network, material.vocabulary.size)
    if config.training.start and not (Path(config.directory) / LAST).exists():
        load_weights(config, network)
    if not make_trainer(config, material, network).run():
        return None
    return finish(config, material, network)


def export_file(path: Path) -> Path:
    """Write the bundle of a run as it stands, also while it goes on; return the bundle."""
    config = read_config(path)
    directory = Path(config.directory)
    if not (directory / LAST).exists():
        raise InputError(f"{directory}: no checkpoint to export yet")
    torch.set_num_threads(config.threads or os.cpu_count() or 1)
    material = prepare(config)
    if config.shortlist.translations:
        material = align_material(config, material)
    network = make_network(config.network, material.vocabulary.size)
    return write_bundle(config, material, network)


def ask_to_decay(path: Path, minutes: float) -> None:
    """Tell a run to let its rate fall to zero within some minutes, and to end."""
    directory = Path(read_config(path).directory)
    if not (directory / CONFIG).exists():
        raise InputError(f"{directory}: no run has been started here")
    (directory / DECAY).write_text(f"{minutes}\n", encoding="utf-8")


def prepare(config: RunConfig) -> Material:
    """Read and check all text, and make or load the vocabulary."""
    train = [(corpus, read_clean(corpus, config.data.max_ratio)) for corpus in config.data.train]
    dev = [(corpus, read_pairs(corpus)) for corpus in config.data.dev]
    directory = Path(config.directory)
    directory.mkdir(parents=True, exist_ok=True)
    _keep_config(config, directory / CONFIG)
    vocabulary = load_vocabulary(directory, config.vocabulary)
    if vocabulary is None and config.training.start:
        copy_vocabulary(config)
        vocabulary = load_vocabulary(directory, config.vocabulary)
    if vocabulary is None:
        sentences = [side for _, pairs in train for pair in pairs for side in pair]
        random.Random(config.seed).shuffle(sentences)
        vocabulary = train_vocabulary(sentences, config.vocabulary, directory, config.seed)
    return Material(train, dev, vocabulary)


def align_material(config: RunConfig, material: Material) -> Material:
    """Align all text, if attention is to learn it or a shortlist is to be made from it."""
    if not config.alignment.weight and not config.shortlist.translations:
        return material
    corpora = [pairs for _, pairs in (*material.train, *material.dev)]
    found = align(Path(config.directory), material.vocabulary, corpora)
    words = PieceWords(material.vocabulary.pieces)
    trained = len(material.train)
    material = replace(material, alignments=found[:trained])
    if not config.alignment.weight:
        return material
    return replace(
        material,
        guide=Guide(words, concatenate(found[:trained])),
        dev_guides=[Guide(words, alignments) for alignments in found[trained:]],
    )


def make_trainer(config: RunConfig, material: Material, network: TiedNetwork) -> Trainer:
    """Make a trainer that stands where the last run in its directory stopped."""
    longest = config.data.max_tokens
    edit_sources = make_source_edits(config, material)

    def make_epoch(epoch: int) -> EncodedPairs:
        pairs = build_examples(material.train, config.seed, epoch, longest * CHARACTERS_A_TOKEN)
        rng = np.random.default_rng((config.seed, epoch))
        edits = [partial(edit, rng=rng) for edit in edit_sources]
        return encode_pairs(material.vocabulary, pairs, longest, material.guide, edits)

    def measure(_: nn.Module) -> dict[str, float]:
        return measure_bleu(network, material.vocabulary, material.dev)

    dev = []
    for number, (corpus, pairs) in enumerate(material.dev):
        guide = material.dev_guides[number] if material.dev_guides else None
        examples = [Example(*pair, (i,)) for i, pair in enumerate(pairs)]
        dev.append((corpus.name, encode_pairs(material.vocabulary, examples, longest, guide)))
    trainer = Trainer(config, network, make_epoch, dev, measure)
    trainer.resume()
    return trainer


def make_source_edits(config: RunConfig, material: Material) -> list[EditSources]:
    """Return what changes the words of sources, in this order, as far as it is asked for."""
    shares = config.alignment
    if not shares.replace and not shares.terms:
        return []
    vocabulary, alignments = material.vocabulary, concatenate(material.alignments)
    edits: list[EditSources] = []
    if shares.replace:  # word for word, so that the alignments stay
        edits.append(WordReplacement(vocabulary.pieces, alignments, shares.replace).replace)
    if shares.terms:
        insertion = TermInsertion(vocabulary, alignments, shares.terms, config.target_language)
        edits.append(insertion.insert)
    return edits


def encode_pairs(
    vocabulary: Vocabulary,
    examples: Sequence[Example],
    max_tokens: int,
    guide: Guide | None = None,
    edits: Sequence[Callable[[Ids, Ids, Sequence[Sequence[int]]], Ids]] = (),
) -> EncodedPairs:
    """Cut examples into pieces and leave out those that are too long.

    ``edits`` return the sources with some words changed.
    """
    sources: Ids = vocabulary.encode([example.source for example in examples])
    targets = vocabulary.encode([example.target for example in examples])
    parts = [example.parts for example in examples]
    for edit in edits:
        sources = edit(sources, targets, parts)
    encoded = EncodedPairs(sources, targets, max_tokens, guide, parts)
    if not len(encoded):
        raise InputError(f"no pair has fewer than data.max_tokens = {max_tokens} tokens a side")
    return encoded


def finish(config: RunConfig, material: Material, network: TiedNetwork) -> Path:
    """Write the bundle of the averaged weights, and measure them."""
    directory = Path(config.directory)
    bundle = write_bundle(config, material, network)
    checkpoint.save(directory / AVERAGE, {"network": network.state_dict()})
    scores = measure_bleu(network, material.vocabulary, material.dev)
    (directory / SCORES).write_text(json.dumps(scores, indent=1) + "\n", encoding="utf-8")
    return bundle


def write_bundle(config: RunConfig, material: Material, network: TiedNetwork) -> Path:
    """Give a network the averaged weights of its run, and write them as a bundle."""
    network.load_state_dict(final_weights(Path(config.directory)))
    if config.training.start_share:
        mix_with_start(config, network)
    network.eval()
    bundle = Path(config.directory) / BUNDLE
    export(config, network, material.vocabulary, bundle, _sample(material.train))
    if config.shortlist.translations:
        corpora = [pairs for _, pairs in material.train]
        listed = from_alignments(
            config.shortlist, material.vocabulary, corpora, material.alignments
        )
        options = config.shortlist
        add_shortlist(bundle, listed, sample=options.sample, longest=options.longest)
    return bundle


def _sample(corpora: Sequence[tuple[Corpus, Sequence[Pair]]]) -> list[str]:
    """Choose source sentences that show the range of the text, always the same ones."""
    rng = random.Random(0)
    return [
        source
        for _, pairs in corpora
        for source, _ in rng.sample(pairs, min(CALIBRATION, len(pairs)))
    ]


def _keep_config(config: RunConfig, path: Path) -> None:
    """Write down what was asked for; refuse to go on with another network or vocabulary."""
    table = to_table(config)
    if path.exists():
        old = json.loads(path.read_text(encoding="utf-8"))
        for key in FIXED:
            if old.get(key) != json.loads(json.dumps(table[key])):
                raise InputError(
                    f"{path.parent}: holds a run with another `{key}`; go on with that one or "
                    "choose a new `directory`"
                )
    path.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
