from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lexbeam.errors import ConstraintError, SettingError
from lexbeam.search.beam import Hypothesis
from lexbeam.translation.jobs import Answer, Conversation, Job, Refusal, TextSettings, converse


def echo(jobs: list[Job]) -> list[Answer]:
    return [[Hypothesis(list(job.source), 0.0, 0.0, [], True)] for job in jobs]


def count_down(start: int) -> Conversation[list[int]]:
    """Ask for as many jobs as the round says, down to none."""
    heard = []
    for left in range(start, 0, -1):
        answers = yield [Job((start, left))] * left
        assert len(answers) == left
        heard += [token for answer in answers for token in answer[0].tokens]
    return heard


def test_conversations_share_their_rounds() -> None:
    rounds = []

    def run(jobs: list[Job]) -> list[Answer]:
        rounds.append(len(jobs))
        return echo(jobs)

    results = converse([count_down(2), count_down(0), count_down(3)], run)
    assert results == [[2, 2, 2, 2, 2, 1], [], [3, 3] * 3 + [3, 2] * 2 + [3, 1]]
    assert rounds == [2 + 3, 1 + 2, 1]


def refuse(bad: int) -> Callable[[list[Job]], list[Answer]]:
    def run(jobs: list[Job]) -> list[Answer]:
        if any(job.source[0] == bad for job in jobs):
            raise ConstraintError(f"{bad} is bad")
        return echo(jobs)

    return run


def test_a_refusal_names_the_conversation() -> None:
    with pytest.raises(Refusal) as caught:
        converse([count_down(1), count_down(3), count_down(2)], refuse(3))
    assert caught.value.index == 1
    assert str(caught.value.reason) == "3 is bad"


def test_a_conversation_can_put_a_refusal_in_its_own_words() -> None:
    def polite() -> Conversation[None]:
        try:
            yield [Job((7,))]
        except ConstraintError as error:
            raise ConstraintError(f"sorry: {error}") from error

    with pytest.raises(Refusal) as caught:
        converse([polite()], refuse(7))
    assert str(caught.value.reason) == "sorry: 7 is bad"


@pytest.mark.parametrize(
    "given", [{"batch_size": 0}, {"batch_size": "3"}, {"max_length": 0}, {"beam_size": -1}]
)
def test_settings_are_checked(given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(SettingError, match=name):
        TextSettings(**given)
