"""The truth about small cases, found by listing every output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from lexbeam.testing import HistoryScorer, TableScorer, every_output

Phrases = Sequence[Sequence[int]]


def occurrences(
    phrase: Sequence[int], tokens: Sequence[int], boundary: Sequence[bool] | None = None
) -> int:
    """Count by plain comparison at every position; with a boundary, whole words only."""
    n = len(phrase)
    return sum(
        list(tokens[end - n : end]) == list(phrase)
        and (boundary is None or end == len(tokens) or boundary[tokens[end]])
        for end in range(n, len(tokens) + 1)
    )


def keeps_to(
    tokens: Sequence[int],
    phrases: Phrases,
    avoid: Phrases = (),
    boundary: Sequence[bool] | None = None,
) -> bool:
    """Say whether all phrases occur as often as they are given, and no avoided one."""
    wanted = Counter(tuple(phrase) for phrase in phrases)
    return all(occurrences(p, tokens, boundary) >= n for p, n in wanted.items()) and not any(
        occurrences(p, tokens, boundary) for p in avoid
    )


def best_output(
    scorer: TableScorer | HistoryScorer,
    max_length: int,
    phrases: Phrases = (),
    avoid: Phrases = (),
    *,
    prefix: Sequence[int] = (),
    source: Any = None,
    length_penalty: float = 1.0,
    boundary: Sequence[bool] | None = None,
) -> tuple[float, tuple[int, ...]] | None:
    """Return score and tokens of the best output that keeps to the request; None: there is none."""
    found = [
        (log_prob / (len(tokens) + 1) ** length_penalty, tokens)
        for tokens, log_prob in every_output(scorer, max_length, source)
        if keeps_to(tokens, phrases, avoid, boundary)
        and list(tokens[: len(prefix)]) == list(prefix)
    ]
    return max(found, default=None)


def plain_beam_search(
    scorer: TableScorer | HistoryScorer,
    source: Any,
    *,
    beam_size: int,
    max_length: int,
    prune: float | None = 20.0,
) -> tuple[list[int], float]:
    """Search as a textbook does it, one hypothesis at a time; return tokens and score."""
    beam: list[tuple[float, list[int], bool]] = [(0.0, [], False)]
    pool: list[tuple[float, list[int]]] = []
    for step in range(max_length + 1):
        candidates: list[tuple[float, list[int], bool, bool]] = []
        for score, tokens, finished in beam:
            if finished:
                candidates.append((score, tokens, True, False))
                continue
            row = scorer.next_log_probs(source, tokens)
            candidates.append((score + row[scorer.eos], tokens, True, True))
            if step < max_length:
                candidates += [
                    (score + row[token], [*tokens, token], False, False)
                    for token in range(scorer.vocabulary_size)
                    if token != scorer.eos
                ]
        candidates.sort(key=lambda candidate: -candidate[0])
        beam = []
        for score, tokens, finished, newly in candidates[:beam_size]:
            normalised = score / (len(tokens) + 1) if newly else score
            beam.append((normalised, tokens, finished))
            if newly:
                pool.append((normalised, tokens))
        if pool and prune:
            floor = max(pool)[0] - prune
            beam = [hypothesis for hypothesis in beam if hypothesis[0] >= floor]
        if all(finished for _, _, finished in beam):
            break
    score, tokens = max(pool, key=lambda result: result[0])
    return tokens, score
