"""Algorithms 1 and 2 of the paper, read literally: loops, lists and sets, one sentence.

It shares no code with the package and is as slow as it looks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

Phrases = Sequence[Sequence[int]]
LogProbs = Callable[[Sequence[int]], Sequence[float]]


@dataclass(frozen=True)
class Item:
    """A hypothesis: its tokens, which phrases it has, and how far it is in one of them."""

    tokens: tuple[int, ...]
    log_prob: float
    met: frozenset[int] = frozenset()
    phrase: int | None = None
    """The phrase that has begun."""
    begun: int = 0
    """How many of its tokens are there."""
    finished: bool = False
    normalised: bool = False
    """Whether its score is divided by its length: from the step on after which it has finished."""

    def bank(self, phrases: Phrases) -> int:
        """Return how many constraint tokens are met."""
        return sum(len(phrases[i]) for i in self.met) + self.begun

    @property
    def score(self) -> float:
        """Return what it is compared by."""
        return self.log_prob / len(self.tokens) if self.normalised else self.log_prob

    def unmet(self, phrases: Phrases) -> set[int]:
        """Return the tokens that go on with a constraint, or begin one."""
        asked = {phrase[0] for i, phrase in enumerate(phrases) if i not in self.met}
        if self.phrase is not None:
            asked.add(phrases[self.phrase][self.begun])
        return asked

    def extended(self, token: int, log_prob: float, phrases: Phrases, eos: int) -> Item:
        """Return the hypothesis with one more token; a phrase that is broken is unwound."""
        tokens, total = (*self.tokens, token), self.log_prob + log_prob
        if token == eos:
            return Item(tokens, total, self.met, finished=True)
        phrase, begun = self.phrase, self.begun
        if phrase is None or phrases[phrase][begun] != token:
            begun = 0
            phrase = next(
                (i for i, each in enumerate(phrases) if each[0] == token and i not in self.met),
                None,
            )
        if phrase is None:
            return Item(tokens, total, self.met)
        if begun + 1 == len(phrases[phrase]):
            return Item(tokens, total, self.met | {phrase})
        return Item(tokens, total, self.met, phrase, begun + 1)


def search(
    log_probs: LogProbs,
    phrases: Phrases,
    vocabulary: int,
    eos: int,
    k: int,
    max_length: int,
    threshold: float,
) -> Item | None:
    """Algorithm 1: return the best finished hypothesis; None if the length ran out before."""
    beam = [Item((), 0.0)]
    done: list[Item] = []
    for _ in range(max_length + 1):
        candidates = find_candidates(beam, log_probs, phrases, vocabulary, eos, k)
        chosen = fill_beam(candidates, phrases, k)
        beam = [replace(item, normalised=item.finished) for item in chosen]
        done += [item for item in beam if item.finished and item not in done]
        if done:
            best = max(item.score for item in done)
            beam = [item for item in beam if item.score >= best - threshold]
        if all(item.finished for item in beam):
            return max(done, key=lambda item: item.score)
    return None


def find_candidates(
    beam: Sequence[Item],
    log_probs: LogProbs,
    phrases: Phrases,
    vocabulary: int,
    eos: int,
    k: int,
) -> set[Item]:
    """Algorithm 2, first half: the k best of all, the unmet tokens and the best of each."""
    everything = []
    candidates: set[Item] = set()
    complete = sum(map(len, phrases))
    for item in beam:
        if item.finished:
            everything.append(item)
            continue
        row = log_probs(item.tokens)
        allowed = [t for t in range(vocabulary) if t != eos or item.bank(phrases) == complete]
        extended = {t: item.extended(t, row[t], phrases, eos) for t in allowed}
        everything += extended.values()
        candidates |= {extended[token] for token in item.unmet(phrases)}
        candidates.add(max(extended.values(), key=lambda each: each.log_prob))
    candidates |= {item for item in beam if item.finished}
    return candidates | set(sorted(everything, key=lambda item: -item.score)[:k])


def fill_beam(candidates: set[Item], phrases: Phrases, k: int) -> list[Item]:
    """Algorithm 2, second half: banks, their slots, and what fills them."""
    banks: list[list[Item]] = [[] for _ in range(sum(map(len, phrases)) + 1)]
    for item in candidates:
        banks[item.bank(phrases)].append(item)
    slots = [k // len(banks)] * len(banks)
    slots[-1] += k - sum(slots)
    slots = adjusted(slots, list(map(len, banks)))
    beam: list[Item] = []
    for bank, number in zip(reversed(banks), reversed(slots), strict=True):
        beam += sorted(bank, key=lambda item: -item.score)[:number]
    return beam


def adjusted(slots: list[int], candidates: list[int]) -> list[int]:
    """Give slots that a bank can't use to the nearest banks that can, moving outward."""
    slots = list(slots)
    for distance in range(1, len(slots)):
        for taker_is in (distance, -distance):
            for giver in range(len(slots)):
                taker = giver + taker_is
                if not 0 <= taker < len(slots):
                    continue
                moved = min(slots[giver] - candidates[giver], candidates[taker] - slots[taker])
                if moved > 0:
                    slots[giver] -= moved
                    slots[taker] += moved
    return [min(each, there) for each, there in zip(slots, candidates, strict=True)]
