from __future__ import annotations

import random

import numpy as np
import pytest

from lexbeam.train.batches import EncodedPairs, plan_batches


@pytest.fixture
def pairs() -> EncodedPairs:
    rng = random.Random(3)
    sources = [[rng.randint(2, 9) for _ in range(rng.randint(1, 20))] for _ in range(200)]
    return EncodedPairs(sources, [ids[::-1] for ids in sources], max_tokens=16)


def test_long_examples_are_left_out_and_all_end(pairs: EncodedPairs) -> None:
    assert pairs.lengths[0].max() == 16
    batch = pairs.batch(np.arange(len(pairs)))
    ends = batch.source[np.arange(len(pairs)), batch.source_lengths - 1]
    assert (ends == 0).all()
    assert batch.target_tokens == pairs.lengths[1].sum()


def test_padding_keeps_each_sentence(pairs: EncodedPairs) -> None:
    batch = pairs.batch(np.array([4, 9, 0]))
    for source, target, length in zip(
        batch.source, batch.target, batch.source_lengths, strict=True
    ):
        assert source[: length - 1].tolist() == target[: length - 1][::-1].tolist()
        assert not source[length:].any()


def test_every_example_is_in_one_batch_within_the_limit(pairs: EncodedPairs) -> None:
    plan = plan_batches(pairs, 64, 3, seed=(1, 0))
    micro = [indices for step in plan for indices in step]
    assert sorted(np.concatenate(micro).tolist()) == list(range(len(pairs)))
    assert all(pairs.batch(indices).source.size <= 64 for indices in micro)
    assert all(len(step) == 3 for step in plan[:-1])


def test_order_follows_from_the_seed(pairs: EncodedPairs) -> None:
    def flat(seed: tuple[int, ...]) -> list[int]:
        return [int(i) for step in plan_batches(pairs, 64, 2, seed) for m in step for i in m]

    assert flat((1, 0)) == flat((1, 0))
    assert flat((1, 0)) != flat((1, 1))
    lengths = pairs.lengths[0][flat(())]
    assert (np.diff(lengths) >= 0).all()
