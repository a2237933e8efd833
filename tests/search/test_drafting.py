"""Drafts before a search: what they show to the caller, and what the search makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from helpers.brute_force import keeps_to
from lexbeam.errors import ConstraintError
from lexbeam.search import Hypothesis, decode
from lexbeam.search.ties import ELSEWHERE, FORGIVEN
from lexbeam.testing import HistoryScorer, every_output

END, BEGIN, TERM = 0, 6, 4
EVERYTHING: dict[str, Any] = {"beam_size": 4000, "prune": None, "lag": None, "stop": "bound"}


def last_only(source: Sequence[int], prefix: Sequence[int]) -> Any:  # noqa: ARG001
    """Attend to the last source token: a term that is tied to another costs the same anywhere."""
    return np.eye(len(source))[-1]


def toy(seed: int) -> HistoryScorer:
    return HistoryScorer(7, bos=BEGIN, eos=END, seed=seed, alignment=last_only)


def greedy(scorer: HistoryScorer, source: list[int]) -> list[int]:
    tokens: list[int] = []
    while len(tokens) < 20:
        token = int(scorer.next_log_probs(source, tokens).argmax())
        if token == END:
            break
        tokens.append(token)
    return tokens


@pytest.mark.parametrize("seed", range(8))
def test_what_a_draft_shows_to_be_displaced_is_avoided(seed: int) -> None:
    scorer, sources = toy(seed), [[1, 2], [3, 1]]
    drafts: dict[int, Hypothesis] = {}

    def find(sentence: int, draft: Hypothesis) -> list[tuple[int, ...]]:
        drafts[sentence] = draft
        return [(token,) for token in set(draft.tokens) - {TERM}]

    given: dict[str, Any] = {"ties": [{0: [0]}, {}], "find_displaced": find, "max_length": 4}
    found = decode(scorer, sources, [[(TERM,)], [(TERM,)]], **given, **EVERYTHING)
    assert set(drafts) == {0}  # the other sentence has no ties
    length = len(drafts[0].tokens)
    assert drafts[0].tokens == greedy(scorer, sources[0])[:length]
    avoided = [[token] for token in set(drafts[0].tokens) - {TERM}]
    for sentence, (avoid, penalty) in enumerate([(avoided, ELSEWHERE - FORGIVEN), ([], 0.0)]):
        outputs = [
            ((log_prob - penalty) / (len(tokens) + 1), tokens)
            for tokens, log_prob in every_output(scorer, 4, sources[sentence])
            if keeps_to(tokens, [[TERM]], avoid)
        ]
        assert tuple(found[sentence][0].tokens) == max(outputs)[1]


def test_a_draft_that_will_do_is_not_searched() -> None:
    ties: list[dict[int, list[int]]] = [{0: [0]}, {0: [1]}]
    found = decode(
        toy(3),
        [[1, 2], [3, 1]],
        [[(TERM,)], [(TERM,)]],
        ties=ties,
        find_displaced=lambda sentence, _: () if sentence else None,
        max_length=6,
    )
    assert found[0] == []
    assert TERM in found[1][0].tokens


def test_drafts_of_untied_sentences_are_shown_if_there_are_any() -> None:
    shown: dict[int, list[int]] = {}

    def find(sentence: int, draft: Hypothesis) -> Any:
        shown[sentence] = draft.tokens
        return None if sentence == 2 else ()

    phrases = [[(TERM,)], [(TERM,), (2,)], [(TERM,), (3,)]]
    given: dict[str, Any] = {"max_length": 6, "algorithm": "lookahead"}
    found = decode(toy(3), [[1, 2]] * 3, phrases, find_displaced=find, **given)
    assert set(shown) == {1, 2}  # what there is to place in the first has no rival
    assert shown[1] == greedy(toy(3), [1, 2])[: len(shown[1])]
    assert found[2] == []
    plain = decode(toy(3), [[1, 2]] * 2, phrases[:2], **given)
    assert [each[0].tokens for each in found[:2]] == [each[0].tokens for each in plain]


def test_what_cannot_be_met_is_refused_with_and_without_displacement() -> None:
    for find in (None, lambda _, draft: [(token,) for token in draft.tokens]):
        with pytest.raises(ConstraintError, match="max_length"):
            decode(toy(1), [[1]], [[(1, 2, 3)]], ties=[{0: [0]}], max_length=2, find_displaced=find)
