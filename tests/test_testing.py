from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from helpers.attention import attention_of
from lexbeam.errors import InputError
from lexbeam.search.arrays import PAD
from lexbeam.testing import HistoryScorer, TableScorer, every_output


def first_step(scorer: TableScorer | HistoryScorer, ask: list[int], ban: list[int], top: int):  # type: ignore[no-untyped-def]
    state = scorer.start(["s"], [[]])
    arrays = np.array([scorer.bos]), np.array([0]), np.array([ask]), np.array([ban], dtype=int)
    return scorer.step(state, *arrays, top)


def test_a_table_answers_narrowly() -> None:
    table = np.log([[0.1, 0.2, 0.3, 0.4]] * 4)
    scores = first_step(TableScorer(table, bos=0, eos=3), [3, 1, PAD], [2], 4)
    assert scores.top_ids[0, :2].tolist() == [1, 0]
    assert np.exp(scores.top_scores[0]).round(6).tolist() == [0.2, 0.1, 0.0, 0.0]
    assert np.exp(scores.ask_scores[0]).round(6).tolist() == [0.4, 0.2, 0.0]


def test_history_matters_whole() -> None:
    scorer = HistoryScorer(6, seed=1)
    same = scorer.next_log_probs("s", [2, 3])
    assert np.exp(same).sum() == pytest.approx(1)
    for source, prefix in (("t", [2, 3]), ("s", [3, 3]), ("s", [3]), ("s", [2, 3, 3])):
        assert not np.allclose(same, scorer.next_log_probs(source, prefix))
    assert (same == HistoryScorer(6, seed=1).next_log_probs("s", [2, 3])).all()


def test_every_output_is_priced_and_all_together_are_certain() -> None:
    scorer = HistoryScorer(3, seed=2)
    outputs = dict(every_output(scorer, 9, "s"))
    assert len(outputs) == sum(2**n for n in range(10))
    assert 0.8 < sum(np.exp(list(outputs.values()))) < 1


def test_bad_tables_are_refused() -> None:
    with pytest.raises(InputError, match="square"):
        TableScorer(np.zeros((2, 3)), bos=0, eos=1)
    with pytest.raises(InputError, match="eos 5"):
        TableScorer(np.zeros((2, 2)), bos=0, eos=5)
    with pytest.raises(InputError, match="bos -1"):
        HistoryScorer(4, bos=-1)


def look_at_last(source: str, prefix: Sequence[int]) -> list[float]:
    """Look at one source token after the other, and stay at the last."""
    at = min(len(prefix), len(source) - 1)
    return [float(i == at) for i in range(len(source))]


def test_a_history_looks_where_its_alignment_says() -> None:
    scorer = HistoryScorer(6, alignment=look_at_last)
    long, short = attention_of(scorer, ["abc", "d"], [[2, 3, 4], [5, 5]])
    assert long.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    assert short.tolist() == [[1, 0, 0]] * 3
    assert scorer.next_attention("abc", [2]).tolist() == [0, 1, 0]
    assert first_step(scorer, [1], [], 2).attention is None


def test_a_table_looks_where_its_alignment_says() -> None:
    alignment = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    table = TableScorer(np.zeros((3, 3)), bos=0, eos=1, alignment=alignment)
    (rows,) = attention_of(table, ["ab"], [[2, 0]])
    assert rows.tolist() == [[1, 0], [0.5, 0.5], [1, 0]]
    assert table.next_attention("ab", [0, 2]).tolist() == [0.5, 0.5]


def test_bad_alignments_are_refused() -> None:
    with pytest.raises(InputError, match="row per token"):
        TableScorer(np.zeros((2, 2)), bos=0, eos=1, alignment=[[1, 0]])
    with pytest.raises(InputError, match="no distribution"):
        TableScorer(np.zeros((2, 2)), bos=0, eos=1, alignment=[[1, 0], [1, 1]])
    for weights, named in (([1.0], "source of 2"), ([0.5, 0.6], "no distribution")):
        scorer = HistoryScorer(4, alignment=lambda *_, given=weights: given)
        with pytest.raises(InputError, match=named):
            attention_of(scorer, ["ab"], [[2]])
    with pytest.raises(InputError, match="no alignment"):
        HistoryScorer(4).next_attention("ab", [])
