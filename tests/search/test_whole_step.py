"""Steps that the compiled kernel takes as a whole give what the steps of `SearchStep` give."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from lexbeam.errors import ScorerError
from lexbeam.search import Form, Pattern, decode, kernel, whole_step
from lexbeam.search.scorer import Scores
from lexbeam.search.step import SearchStep
from lexbeam.search.whole_step import WholeStep
from lexbeam.testing import HistoryScorer

pytestmark = pytest.mark.skipif(kernel.compiled is None, reason="the kernel does not run")

PHRASES = [[(3, 4), (5,)], [(6,), (7, 2), (3,)], []]


def taken_by(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Count the steps that each class takes."""
    counts = {"whole": 0, "single": 0}
    classes: list[tuple[str, Any, str]] = [
        ("whole", WholeStep, "advance"),
        ("single", SearchStep, "choose_beam"),
    ]
    for name, owner, method in classes:
        original = getattr(owner, method)

        def count(*args: Any, _name: str = name, _original: Any = original) -> Any:
            counts[_name] += 1
            return _original(*args)

        monkeypatch.setattr(owner, method, count)
    return counts


@pytest.mark.parametrize("algorithm", ["dba", "lookahead"])
@pytest.mark.parametrize("boundary", [None, [True, True, True, False, True, True, False, True]])
def test_phrases_are_searched_by_whole_steps(
    algorithm: str, boundary: list[bool] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts, found = taken_by(monkeypatch), []
    for on in (True, False):
        with kernel.switched(on):
            scorer = HistoryScorer(8, bos=1, eos=0, seed=4)
            given: dict[str, Any] = {"algorithm": algorithm, "boundary": boundary, "max_length": 30}
            found.append(decode(scorer, [0, 1, 2], PHRASES, beam_size=6, lag=2.0, **given))
        if on:
            assert counts["whole"] > counts["single"]
    assert found[0] == found[1]


def test_plain_search_takes_whole_steps_only(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = taken_by(monkeypatch)
    scorer = HistoryScorer(8, bos=1, eos=0, seed=4)
    whole = decode(scorer, [0, 1], beam_size=4, max_length=100, stop="first")
    assert counts["whole"] > 0 == counts["single"]
    with kernel.switched(on=False):
        assert decode(scorer, [0, 1], beam_size=4, max_length=100, stop="first") == whole


def parts(*forms: tuple[int, ...], **more: Any) -> Pattern:
    """Return a pattern of several parts."""
    return Pattern(tuple((Form(form),) for form in forms), **more)


PATTERNS: dict[str, list[list[Any]]] = {
    "order": [[parts((3,), (4, 5)), parts((6,), (3,), (7,))], [parts((2, 3), (2,)), (4,)], []],
    "gap": [[parts((2,), (4,), within=1)], [parts((5,), (7, 6), within=3), (2, 3)], [(4,)]],
    "copies": [[parts((3,), (4,)), parts((3,), (4,))], [parts((5,), (5,), within=2), (5,)], []],
    "soft": [
        [parts((3,), (4,), penalty=1.0), parts((5,), penalty=30.0)],
        [parts((6, 7), penalty=3.0), (3,)],
        [parts((2,), (5,), within=4, penalty=5.0)],
    ],
    "last": [[parts((3,), (4,), last=True), (5,)], [parts((5, 6), last=True), (7,)], [(2,)]],
}

WORDS: dict[str, dict[str, list[bool]]] = {
    "tokens": {},
    "words": {"boundary": [True, True, True, False, True, True, False, True]},
    "punctuation": {  # token 6
        "boundary": [True, True, True, False, True, True, True, True],
        "closing": [False, False, False, False, False, False, True, False],
        "starting": [False, False, True, False, True, True, False, True],
    },
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", PATTERNS)
@pytest.mark.parametrize("algorithm", ["dba", "lookahead"])
@pytest.mark.parametrize("words", WORDS)
def test_patterns_of_several_parts_are_searched_by_whole_steps(
    algorithm: str, words: str, kind: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts, found = taken_by(monkeypatch), []
    for on in (True, False):
        with kernel.switched(on):
            scorer = HistoryScorer(8, bos=1, eos=0, seed=seed)
            given: dict[str, Any] = {"algorithm": algorithm, **WORDS[words]}
            given |= {"beam_size": 6, "nbest": 3, "max_length": 40}
            found.append(decode(scorer, [0, 1, 2], PATTERNS[kind], **given))
        if on:
            assert counts["whole"] > counts["single"]
    assert found[0] == found[1]


class Endless(HistoryScorer):
    """A scorer that gives the end no probability."""

    def step(self, *args: Any, **more: Any) -> Scores:
        """Answer, and rule the end out."""
        scores = super().step(*args, **more)
        ask_scores = scores.ask_scores.copy()
        ask_scores[:, 0] = -np.inf
        return scores._replace(ask_scores=ask_scores)


@pytest.mark.parametrize("algorithm", ["dba", "lookahead"])
def test_penalties_come_off_ends_that_the_model_rules_out(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    soft = [parts((3,), penalty=1e6), parts((4, 5), penalty=2e6)]
    counts, found = taken_by(monkeypatch), []
    for on in (True, False):
        with kernel.switched(on):
            scorer = Endless(8, bos=1, eos=0, seed=4)
            given: dict[str, Any] = {"algorithm": algorithm, "beam_size": 60, "nbest": 9}
            found.append(decode(scorer, [0], [soft], stop="first", **given))
        if on:
            assert counts["whole"] > counts["single"]
    assert found[0] == found[1]
    assert found[0][0][0].log_prob < -0.9e9


@pytest.mark.parametrize("avoid", [[[(5, 6), (7,)], [], [(2,)]], [[], [(1, 2)], [(3, 3)]]])
def test_avoided_phrases_are_searched_by_whole_steps(
    avoid: list[list[tuple[int, ...]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    counts, found = taken_by(monkeypatch), []
    for on in (True, False):
        with kernel.switched(on):
            scorer = HistoryScorer(8, bos=1, eos=0, seed=6)
            phrases: list[list[tuple[int, ...]]] = [[(3, 4), (5,)], [(6,), (7,), (3,)], []]
            found.append(decode(scorer, [0, 1, 2], phrases, avoid, beam_size=6, max_length=30))
        if on:
            assert counts["whole"] > counts["single"]
    assert found[0] == found[1]


SAID_OFTEN_ENOUGH: dict[str, list[list[Any]]] = {
    "exactly": [
        [Pattern(((Form((3,)),),), may_overlap=True, exact=True), (4,)],
        [(5, 6), (3,)],
        [],
    ],
    "exactly, at the end": [
        [Pattern(((Form((5,)),),), may_overlap=True, exact=True), parts((4,), last=True)],
        [Pattern(((Form((4,)), Form((7,))),), may_overlap=True, exact=True)],
        [(2,)],
    ],
    "exactly, or not at all": [
        [Pattern(((Form((5,)),),), may_overlap=True, exact=True), parts((4, 7), penalty=2.0)],
        [parts((2,), (4,), within=1), Pattern(((Form((7,)),),), may_overlap=True, exact=True)],
        [parts((5,), penalty=30.0)],
    ],
    "at the start": [
        [Pattern(((Form((2, 4), first=True),),)), (5,)],
        [Pattern(((Form((5, 7), first=True), Form((4,), first=True)),)), (7,)],
        [(2,)],
    ],
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("algorithm", ["dba", "lookahead"])
@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("kind", SAID_OFTEN_ENOUGH)
def test_what_depends_on_more_than_nodes_is_searched_by_whole_steps(
    kind: str, words: str, algorithm: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts, found = taken_by(monkeypatch), []
    avoid: list[list[tuple[int, ...]]] = [[(6, 2)], [], [(4,), (7, 6)]]
    for on in (True, False):
        with kernel.switched(on):
            scorer = HistoryScorer(8, bos=1, eos=0, seed=seed)
            given: dict[str, Any] = {"algorithm": algorithm, **WORDS[words]}
            given |= {"beam_size": 6, "nbest": 3, "max_length": 40}
            found.append(decode(scorer, [0, 1, 2], SAID_OFTEN_ENOUGH[kind], avoid, **given))
        if on and kind != "at the start":  # What has to begin so may come too late at any step.
            assert counts["whole"] > counts["single"]
    assert found[0] == found[1]


class Stubborn(HistoryScorer):
    """A scorer that proposes tokens although they are banned."""

    def step(self, *args: Any, **more: Any) -> Scores:
        """Answer as if nothing were banned."""
        state, tokens, parents, ask, ban, top = args
        return super().step(state, tokens, parents, ask, ban[:, :0], top, **more)


def test_banned_tokens_are_refused() -> None:
    with pytest.raises(ScorerError, match="banned"):
        decode(Stubborn(8, bos=1, eos=0, seed=4), [0], [[(3, 4)]], [[(2,)]], max_length=30)


def test_what_needs_more_is_left_to_single_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = taken_by(monkeypatch)
    scorer = HistoryScorer(8, bos=1, eos=0, seed=4)
    decode(scorer, [0], [[(3, 4)]], algorithm="gbs", max_length=9)
    decode(scorer, [0], observer=lambda _: None, max_length=9)
    assert counts["whole"] == 0 < counts["single"]


class Wrong(HistoryScorer):
    """A scorer that gives probabilities, not their logarithms, from its third step on."""

    steps = 0

    def __init__(self, *args: Any, name: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.name = name

    def step(self, *args: Any, **more: Any) -> Scores:
        """Answer, at some time wrongly."""
        self.steps += 1
        scores = super().step(*args, **more)
        if self.steps < 3:
            return scores
        return scores._replace(**{self.name: np.exp(getattr(scores, self.name))})


@pytest.mark.parametrize("phrases", [None, [[(3, 4)]], [[parts((3, 4), penalty=9.0)]]])
@pytest.mark.parametrize("name", ["top_scores", "ask_scores"])
def test_nonsense_is_refused(phrases: list[list[Any]] | None, name: str) -> None:
    with pytest.raises(ScorerError, match="log-probability is at most 0"):
        decode(Wrong(8, bos=1, eos=0, seed=4, name=name), [0], phrases, max_length=30)


class OtherArrays(HistoryScorer):
    """Answers in small integers and arrays that do not lie in one piece."""

    def step(self, *args: Any, **more: Any) -> Scores:
        top_scores, top_ids, ask_scores, state, _ = super().step(*args, **more)
        return Scores(
            np.asfortranarray(top_scores),
            top_ids.astype(np.int32),
            np.asfortranarray(ask_scores),
            state,
        )


@pytest.mark.parametrize("phrases", [None, PHRASES])
def test_answers_may_be_arrays_of_other_kinds(
    phrases: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts, found = taken_by(monkeypatch), []
    for on in (True, False):
        with kernel.switched(on):
            scorer = OtherArrays(8, bos=1, eos=0, seed=4)
            found.append(decode(scorer, [0, 1, 2], phrases, beam_size=6, max_length=30))
    assert counts["whole"] > 0
    assert found[0] == found[1]


def test_beams_are_written_to_two_rooms_by_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    room = whole_step._Room

    def make(*args: Any) -> Any:
        made.append(room(*args))
        return made[-1]

    monkeypatch.setattr(whole_step, "_Room", make)
    counts = taken_by(monkeypatch)
    decode(HistoryScorer(8, bos=1, eos=0, seed=4), [0], [[(3, 4), (5,)]], beam_size=6)
    assert len(made) == 2 < counts["whole"]


def test_beams_of_earlier_steps_are_left_as_they_were() -> None:
    kept: list[tuple[Any, Any]] = []
    original = WholeStep.advance

    def keep(self: WholeStep, beam: Any, *args: Any) -> Any:
        advanced = original(self, beam, *args)
        for one, copy in kept[-1:]:
            assert all(np.array_equal(a, b) for a, b in zip(one[:7], copy, strict=True))
        kept.append((advanced.beam, [array.copy() for array in advanced.beam[:7]]))
        return advanced

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WholeStep, "advance", keep)
        decode(HistoryScorer(8, bos=1, eos=0, seed=4), [0, 1, 2], PHRASES, beam_size=6)
    assert len(kept) > 5
    tokens = [one.token for one, _ in kept]
    assert all(np.array_equal(a, copy[0]) for a, (_, copy) in zip(tokens, kept, strict=True))


def _many(kind: str, seed: int) -> list[Any]:
    """Return constraints whose states take more than one number of 64 bits, often three."""
    random = Random(seed)

    def phrase() -> tuple[int, ...]:
        return tuple(random.randrange(2, 40) for _ in range(random.randrange(1, 3)))

    def one(kind: str) -> Any:
        if kind == "phrases":
            return phrase()
        if kind == "order":
            return parts(phrase(), phrase())
        if kind == "gap":
            return parts(phrase(), phrase(), within=random.randrange(5))
        if kind == "soft":
            return parts(phrase(), penalty=random.choice([0.5, 5.0, 50.0]))
        if kind == "any":
            return Pattern(((Form(phrase()), Form(phrase())),))
        return one(random.choice(["phrases", "order", "gap", "soft", "any"]))

    count = {"order": 8, "gap": 8, "mixed": 20}.get(kind, 40)
    few = [one(kind) for _ in range(count)]
    return [*few, *few[:10], *[(3,)] * 16]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["phrases", "any", "order", "gap", "soft", "mixed"])
@pytest.mark.parametrize("algorithm", ["dba", "lookahead"])
def test_states_may_take_many_bits(
    algorithm: str, kind: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts, found = taken_by(monkeypatch), []
    constraints = [_many(kind, seed), [(5, 6)]]
    for on in (True, False):
        with kernel.switched(on):
            scorer = HistoryScorer(40, bos=1, eos=0, seed=seed)
            given: dict[str, Any] = {"algorithm": algorithm, "max_length": 300, "nbest": 2}
            if seed and kind not in ("gap", "mixed"):  # parts with a limit have to begin words
                given |= {"boundary": [token % 7 != 5 for token in range(40)]}
            found.append(decode(scorer, [0, 1], constraints, beam_size=4, **given))
        if on:
            assert counts["whole"] > counts["single"]
    assert found[0] == found[1]
