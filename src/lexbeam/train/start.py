"""Going on from a bundle: its vocabulary, and its weights as if they had never been rounded."""

from __future__ import annotations

import shutil
from pathlib import Path

from lexbeam.errors import InputError
from lexbeam.models import bundle
from lexbeam.text.moses_vocabulary import CODES, PIECES
from lexbeam.train.config import RunConfig
from lexbeam.train.parts import TiedNetwork
from lexbeam.train.vocabulary import MODEL

SENTENCEPIECE = "source.spm"
"""A bundle's SentencePiece model of both languages."""


def copy_vocabulary(config: RunConfig) -> None:
    """Copy the vocabulary of the bundle that a run starts from into the run's directory."""
    folder, directory = Path(config.training.start), Path(config.directory)
    moses = config.vocabulary.kind == "moses-bpe"
    files = {CODES: CODES, PIECES: PIECES} if moses else {SENTENCEPIECE: MODEL}
    one_for_both = not (folder / "target.spm").exists()
    if not one_for_both or not all((folder / name).is_file() for name in files):
        kind = config.vocabulary.kind
        raise InputError(f"training.start: {folder} is no bundle with one {kind} vocabulary")
    for name, kept in files.items():
        shutil.copyfile(folder / name, directory / kept)


def load_weights(config: RunConfig, network: TiedNetwork) -> None:
    """Give a network the weights of the bundle that its run starts from."""
    folder = Path(config.training.start)
    shape, weights = bundle.read_network(folder)
    wanted = network.architecture()
    if shape != wanted:
        raise InputError(
            f"training.start: {folder} holds a network of another shape: {shape.describe()}, not "
            f"{wanted.describe()}"
        )
    network.load_named_weights(weights)


def mix_with_start(config: RunConfig, network: TiedNetwork) -> None:
    """Give a network the mean of its weights and those of the bundle that its run started from.

    A run that goes on for a while forgets some of what its start knew; the mean of both is often
    better than either.
    """
    trained = {name: weight.clone() for name, weight in network.state_dict().items()}
    load_weights(config, network)
    share = config.training.start_share
    mixed = {
        name: share * weight + (1.0 - share) * trained[name]
        for name, weight in network.state_dict().items()
    }
    network.load_state_dict(mixed)
