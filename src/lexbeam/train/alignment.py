"""Word alignments of the training text, from a library, computed once and kept beside the run.

Thot's fast_align learns from all text in both directions; the two are symmetrised. Each part of
the work is kept as soon as it is done: the model of each direction, the links of each corpus. A
run that is killed goes on with the next part.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexbeam.errors import MissingExtraError, ModelError
from lexbeam.train.corpus import Pair
from lexbeam.train.vocabulary import Vocabulary
from lexbeam.train.words import PieceWords

FOLDER = "alignments"
ROUNDS = 5
"""Passes over the text in which the aligner learns."""
AT_ONCE = 5000
"""Pairs that are aligned in one call."""

Links = NDArray[np.int16]
Words = list[list[str]]


@dataclass(frozen=True)
class Alignments:
    """Which words of each pair belong together; pairs by number."""

    starts: NDArray[np.int64]  # shape: (pairs + 1,)
    links: Links  # shape: (links, 2): word of the source, word of the target
    words: NDArray[np.int32]  # shape: (pairs, 2): words of each side

    def of(self, number: int) -> Links:
        """Return the links of a pair."""
        return self.links[self.starts[number] : self.starts[number + 1]]

    def join(self, numbers: Sequence[int], words: tuple[int, int]) -> Links | None:
        """Return the links of pairs joined to one example, which must have so many words.

        None if it has not: something in it was cut otherwise than in its pairs.
        """
        joined, before = [], np.zeros(2, np.int32)
        for number in numbers:
            joined.append(self.of(number) + before.astype(np.int16))
            before = before + self.words[number]
        return np.concatenate(joined) if tuple(before.tolist()) == words else None


def concatenate(parts: Sequence[Alignments]) -> Alignments:
    """Return the alignments of several corpora as one, numbered through."""
    lengths = [np.diff(part.starts) for part in parts]
    return Alignments(
        np.concatenate([[0], np.cumsum(np.concatenate(lengths))]),
        np.concatenate([part.links for part in parts]),
        np.concatenate([part.words for part in parts]),
    )


def align(
    directory: Path, vocabulary: Vocabulary, corpora: Sequence[Sequence[Pair]]
) -> list[Alignments]:
    """Align the words of all corpora, or read the links that an earlier start has kept."""
    folder = directory / FOLDER / _digest(vocabulary, corpora)
    files = [folder / f"{number}.npz" for number in range(len(corpora))]
    if not all(file.exists() for file in files):
        folder.mkdir(parents=True, exist_ok=True)
        _align_missing(files, _all_words(vocabulary, corpora))
    for model in folder.glob("model-*"):
        shutil.rmtree(model)
    return [_read(file) for file in files]


def _align_missing(files: Sequence[Path], corpora: Sequence[tuple[Words, Words]]) -> None:
    """Align each corpus whose links are not kept yet."""
    sources = [words for source, _ in corpora for words in source]
    targets = [words for _, target in corpora for words in target]
    aligner = _learn_both(files[0].parent, sources, targets)
    for file, sides in zip(files, corpora, strict=True):
        if not file.exists():
            _say(f"aligning {len(sides[0]):,} pairs")
            _write(file, sides, list(_best(aligner, *sides)))


def align_words(folder: Path, sources: Words, targets: Words) -> Iterator[Links]:
    """Align the words of each pair; models that are learnt meanwhile are kept in a folder."""
    yield from _best(_learn_both(folder, sources, targets), sources, targets)


def _learn_both(folder: Path, sources: Words, targets: Words) -> Any:
    """Learn to align in both directions; return what makes one alignment of the two."""
    thot = import_thot()
    forth = _learn(thot.FastAlignModel, folder / "model-forth", sources, targets)
    back = _learn(thot.FastAlignModel, folder / "model-back", targets, sources)
    aligner = thot.SymmetrizedAligner(forth, back)
    aligner.heuristic = thot.SymmetrizationHeuristic.GROW_DIAG_FINAL_AND
    return aligner


def _learn(kind: Any, folder: Path, sources: Words, targets: Words) -> Any:
    """Learn to align in one direction, or load what has been learnt."""
    model = kind()
    if folder.exists():
        if not model.load(str(folder / "model")):
            raise ModelError(f"{folder}: can't be read; remove it and start again")
        return model
    for source, target in zip(sources, targets, strict=True):
        model.add_sentence_pair(source, target, 1)
    model.start_training()
    for number in range(ROUNDS):
        _say(f"learning to align, {folder.name}, pass {number + 1} of {ROUNDS}")
        model.train()
    model.end_training()
    scratch = folder.with_name(folder.name + ".part")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    if not model.print(str(scratch / "model")):
        raise ModelError(f"{folder}: can't be written")
    scratch.rename(folder)
    return model


def _best(aligner: Any, sources: Words, targets: Words) -> Iterator[Links]:
    for start in range(0, len(sources), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        for _, matrix in aligner.get_best_alignments(sources[part], targets[part]):
            yield np.argwhere(matrix.to_numpy()).astype(np.int16).reshape(-1, 2)


def _write(file: Path, sides: tuple[Words, Words], links: Sequence[Links]) -> None:
    lengths = np.array([len(each) for each in links], np.int64)
    words = np.array([[len(words) for words in side] for side in sides], np.int32).T
    scratch = file.with_suffix(".part.npz")
    np.savez(
        scratch,
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        links=np.concatenate(links),
        words=words,
    )
    scratch.replace(file)


def _read(file: Path) -> Alignments:
    with np.load(file, allow_pickle=False) as kept:
        return Alignments(kept["starts"], kept["links"], kept["words"])


def _all_words(
    vocabulary: Vocabulary, corpora: Sequence[Sequence[Pair]]
) -> list[tuple[Words, Words]]:
    """Return the words of both sides of all corpora."""
    words = PieceWords(vocabulary.pieces)

    def split(sentences: list[str]) -> Words:
        return [words.split(ids) for ids in vocabulary.encode(sentences)]

    return [(split([s for s, _ in pairs]), split([t for _, t in pairs])) for pairs in corpora]


def _digest(vocabulary: Vocabulary, corpora: Sequence[Sequence[Pair]]) -> str:
    """Return a name for links between just these words."""
    digest = hashlib.sha256("\n".join(vocabulary.pieces).encode())
    for pairs in corpora:
        digest.update(b"\0")
        for pair in pairs:
            digest.update("\t".join(pair).encode() + b"\n")
    return digest.hexdigest()[:16]


def import_thot() -> Any:
    """Return the library that aligns words."""
    try:
        import thot.alignment as thot  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("word alignment", "train") from error
    return thot


def _say(message: str) -> None:
    sys.stderr.write(message + "\n")
    sys.stderr.flush()
