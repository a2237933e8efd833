"""What searches count, and which are made: work is counted here, never time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import lexbeam
from lexbeam.errors import InputError
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.beam import Hypothesis
from lexbeam.translation.effort import FEW, Effort, counted
from lexbeam.translation.jobs import BatchDecoder, Job, JobGenerator

PLAIN = Job((1,), ((2, 3),))
TIED = Job((1,), ((2, 3),), ties={0: (0,)})
DRAFTED: Any = SimpleNamespace(find=lambda _: None)
FREE = Job((1,), max_length=30)


def found(length: int, steps: int = 0) -> Hypothesis:
    return Hypothesis([5] * length, -1.0, -2.0, [], True, steps=steps)


def gap(**settings: Any) -> Job:
    return Job((1,), (Pattern(((Form((2,)),), (Form((3,)),)), **settings),))


def effort_of(free: float, demands: int = 4) -> Effort:
    """Return an account, without what it takes to read what is demanded."""
    effort = Effort(free, 10, demands)
    effort.written = 0.0
    return effort


def counts(job: Job, *hypotheses: Hypothesis) -> float:
    """Return what is counted of a search."""
    effort = effort_of(100)
    effort.count([job], [list(hypotheses)])
    return effort.written


def test_a_step_of_a_free_search_counts_one() -> None:
    assert counts(FREE, found(12)) - counts(FREE, found(2)) == pytest.approx(10)
    assert counts(FREE, found(5), found(12)) == counts(FREE, found(12))
    assert counts(FREE, found(5, steps=12)) == counts(FREE, found(12))


def test_hundreds_of_forms_have_to_be_compiled() -> None:
    def one_of(number: int) -> Job:
        return Job((1,), (Pattern((tuple(Form((each,)) for each in range(2, number + 2)),)),))

    few, more, many = (counts(one_of(number), found(10)) for number in (16, 28, 400))
    assert few == counts(PLAIN, found(10))
    assert more - few == pytest.approx(2)
    assert many - few == pytest.approx(64)


def test_states_that_are_worked_out_count() -> None:
    def prepared(states: int) -> Hypothesis:
        return replace(found(10), prepared=states)

    few, more, many = (counts(PLAIN, prepared(states)) for states in (48, 68, 2_048))
    assert few == counts(PLAIN, found(10))
    assert more - few == pytest.approx(1)
    assert many - few == pytest.approx(100)
    assert counts(FREE, prepared(2_048)) == counts(FREE, found(10))
    effort = effort_of(20)
    assert effort.allows_another(lambda: PLAIN, prepared(48))
    assert not effort.allows_another(lambda: PLAIN, prepared(6_000))


def test_what_takes_longer_counts_more() -> None:
    several = replace(PLAIN, phrases=((2, 3),) * 30)
    alternatives = Job((1,), (Pattern(((Form((2,)), Form((4,))),)),))
    limited = Job((1,), (Pattern(((Form((2,)),),), may_overlap=True, exact=True),))
    assert counts(FREE, found(10)) < counts(PLAIN, found(10)) < counts(several, found(10))
    assert counts(alternatives, found(10)) == counts(PLAIN, found(10))
    assert counts(PLAIN, found(10)) < counts(gap(within=3), found(10)) < counts(TIED, found(10))
    assert counts(gap(within=3), found(10)) < counts(limited, found(10))
    assert counts(TIED, found(10)) < counts(replace(TIED, thorough=True), found(10))
    narrow = replace(FREE, settings=replace(FREE.settings, beam_size=1))
    wide = replace(FREE, settings=replace(FREE.settings, beam_size=32))
    assert counts(narrow, found(10)) < counts(FREE, found(10)) < counts(wide, found(10))


def test_what_finds_nothing_has_run_to_its_limit() -> None:
    assert counts(FREE) == FREE.max_length
    assert counts(replace(TIED, max_length=30)) > 2 * counts(FREE)
    assert counts(replace(TIED, source=(1,) * 5, displacement=DRAFTED)) < counts(FREE, found(8))


def test_fourteen_times_a_free_translation_is_allowed() -> None:
    effort = effort_of(20)
    assert effort.allows_another(lambda: FREE, found(277))
    assert not effort.allows_another(lambda: FREE, found(278))
    effort.count([FREE], [[found(97)]])
    assert effort.allows_another(lambda: FREE, found(177))
    assert not effort.allows_another(lambda: FREE, found(178))
    effort.reserved = 100.0
    assert effort.left_in_free == pytest.approx(4)


def test_a_few_demands_are_allowed_more() -> None:
    assert effort_of(20, FEW).left > effort_of(20, FEW + 1).left


def test_what_is_demanded_has_to_be_read() -> None:
    assert Effort(20, 10, 64).left < Effort(20, 10, 5).left


def test_the_first_things_are_affordable() -> None:
    effort = effort_of(10)
    assert effort.affordable([("a", 100.0), ("b", 50.0), ("c", 40.0), ("d", 1.0)]) == ["a", "c"]
    assert effort.affordable([("a", 140.0)]) == ["a"]
    assert effort.affordable([]) == []


def test_a_short_text_is_taken_to_have_some_tokens() -> None:
    def left(tokens: int) -> float:
        sentence: Any = SimpleNamespace(source=(1,) * tokens)
        return Effort.of([sentence], 10, 5).left

    assert left(1) == left(8) < left(9)


def test_a_refused_search_counts_once_for_all_its_sentences() -> None:
    effort = effort_of(10)
    effort.count_refused([FREE, replace(FREE, max_length=20)])
    assert effort.written == 30
    effort.count_refused([])
    assert effort.written == 30


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

    effort, each = effort_of(50), effort_of(50)
    assert run(counted(effort, search())) == run(search())
    each.count([PLAIN], [[found(10)]])
    each.count_refused([TIED])
    each.count([FREE, PLAIN], [[found(10)], [found(3)]])
    assert effort.written == each.written


TEXT = "The company wants to build a new factory in Berlin."
TIED_WORD = {"text": "Dampfschiff", "source": "factory"}
WORDS = ["Wolke", "Gabel", "Brief", "Mond", "Kissen", "Hammer"]
WORDS += ["Zwiebel", "Lampe", "Insel", "Teller", "Geige"]


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """Return the searches that are made, as they are made."""
    made: list[Job] = []
    run = BatchDecoder.run

    def watched(self: BatchDecoder, jobs: Sequence[Job], batch_size: int) -> Any:
        made.extend(jobs)
        return run(self, jobs, batch_size)

    monkeypatch.setattr(BatchDecoder, "run", watched)
    return made


def test_what_few_words_ask_for_is_looked_at_again_and_what_many_do_is_not(
    searches: list[Job],
) -> None:
    translator = lexbeam.load()
    translator.translate(TEXT, [TIED_WORD, *WORDS[:2]])
    assert [job.thorough for job in searches if job.phrases] == [False, True, False]
    searches.clear()
    translator.translate(TEXT, [TIED_WORD, *WORDS])
    assert [job.thorough for job in searches] == [False]


def test_no_more_trials_are_made_than_there_is_time_for(searches: list[Job]) -> None:
    translator = lexbeam.load()
    text = f"{TEXT} It is raining today. We will see the old house."
    wanted = [*WORDS, *(f"{word} {WORDS[0]}" for word in WORDS[1:8])]
    for words, least, most in ((WORDS[:3], 9, 9), (wanted, 1, 20)):
        searches.clear()
        translator.translate(text, [TIED_WORD, *words])
        assert least <= sum(job.settings.beam_size == 2 for job in searches) <= most
