from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from lexbeam.errors import InputError
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.beam import Hypothesis
from lexbeam.translation.effort import Effort, counted
from lexbeam.translation.jobs import Job, JobGenerator

PLAIN = Job((1,), ((2, 3),))
TIED = Job((1,), ((2, 3),), ties={0: (0,)})
DRAFTED: Any = SimpleNamespace(find=lambda _: None)
FREE = Job((1,), max_length=30)


def found(length: int, steps: int = 0) -> Hypothesis:
    return Hypothesis([5] * length, -1.0, -2.0, [], True, steps=steps)


def gap(**settings: Any) -> Job:
    return Job((1,), (Pattern(((Form((2,)),), (Form((3,)),)), **settings),))


@pytest.mark.parametrize(
    ("job", "hypotheses", "written"),
    [
        (PLAIN, [found(10)], 10),
        (PLAIN, [found(10), found(12)], 12),
        (PLAIN, [found(10, steps=14)], 14),
        (TIED, [found(10)], 20),
        (gap(within=3), [found(10)], 20),
        (Job((1,), (Pattern(((Form((2,)),),), may_overlap=True, exact=True),)), [found(10)], 20),
        (Job((1,), (Pattern(((Form((2,)), Form((4,))),)),)), [found(10)], 10),
        (FREE, [found(10)], 4),
        (FREE, [], 12),
        (replace(TIED, max_length=30), [], 60),
        (replace(TIED, source=(1,) * 5, displacement=DRAFTED), [], 2),
    ],
)
def test_what_takes_longer_counts_more(
    job: Job, hypotheses: list[Hypothesis], written: float
) -> None:
    effort = Effort(100)
    effort.count([job], [hypotheses])
    assert effort.written == written


def test_ten_times_what_is_expected_is_allowed() -> None:
    effort = Effort(20)
    assert effort.allows_another(lambda: PLAIN, found(200))
    assert not effort.allows_another(lambda: PLAIN, found(201))
    assert effort.allows_another(lambda: TIED, found(100))
    effort.count([TIED], [[found(50)]])
    assert not effort.allows_another(lambda: TIED, found(51))


def test_a_short_text_is_taken_to_have_some_tokens() -> None:
    assert Effort(1).allows_another(lambda: PLAIN, found(120))


def test_a_generator_is_counted_and_not_changed() -> None:
    def search() -> JobGenerator[str]:
        first = yield [PLAIN]
        try:
            yield [TIED]
        except InputError as error:
            second = yield [FREE, PLAIN]
            return f"{len(first[0])} {error} {len(second)}"
        return "not refused"

    def run(generator: JobGenerator[str]) -> tuple[list[Sequence[Job]], str]:
        yielded: list[Sequence[Job]] = [next(generator), generator.send([[found(10)]])]
        yielded.append(generator.throw(InputError("no way")))
        with pytest.raises(StopIteration) as end:
            generator.send([[found(10)], [found(3)]])
        return yielded, end.value.value

    effort = Effort(50)
    assert run(counted(effort, search())) == run(search())
    assert effort.written == 10 + 4 + 3
