"""Spellings that depend on what stands before them, and phrases that may not occur too often."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lexbeam.errors import ConstraintError
from lexbeam.search import Form, Pattern, decode
from lexbeam.search.allocation import POLICIES
from lexbeam.search.automaton.trace import trace
from lexbeam.search.automaton.whole_words import WordBoundaries
from lexbeam.testing import HistoryScorer, every_output

# A quotation mark, a word after a space, the same word in two pieces, and another word.
END, QUOTE, WORD, FIRST_HALF, SECOND_HALF, OTHER = range(6)
BOUNDARY = [True, True, True, False, False, True]
CLOSING = [False, True, False, False, False, False]
STARTING = [False, False, True, False, False, True]
FORMS = (Form((WORD,)), Form((FIRST_HALF, SECOND_HALF), apart=True))
PHRASE = Pattern((FORMS,), may_overlap=True)
EXACT = Pattern((FORMS,), may_overlap=True, exact=True)


def occurrences(output: Sequence[int]) -> int:
    """Count the phrase in an output, by the definition and nothing else."""

    def ends(index: int) -> bool:
        return index == len(output) or BOUNDARY[output[index]]

    count = 0
    for i in range(len(output)):
        starts_apart = i == 0 or CLOSING[output[i - 1]]
        count += output[i] == WORD and ends(i + 1)
        in_halves = list(output[i : i + 2]) == [FIRST_HALF, SECOND_HALF]
        count += in_halves and starts_apart and ends(i + 2)
    return count


@pytest.mark.parametrize(
    ("output", "met"),
    [
        ([OTHER, QUOTE, FIRST_HALF, SECOND_HALF], [True, False]),
        ([OTHER, FIRST_HALF, SECOND_HALF], [False, False]),
        ([FIRST_HALF, SECOND_HALF], [True, False]),
        ([WORD], [True, False]),
        ([QUOTE, FIRST_HALF, SECOND_HALF, FIRST_HALF], [False, False]),
        ([QUOTE, FIRST_HALF, SECOND_HALF, QUOTE, FIRST_HALF, SECOND_HALF, OTHER], [True, True]),
        ([WORD, WORD], [True, True]),
    ],
)
def test_a_spelling_without_a_space_counts_only_where_no_word_goes_on(
    output: list[int], met: list[bool]
) -> None:
    words = WordBoundaries.of(BOUNDARY, CLOSING, 6, END, STARTING)
    assert trace([PHRASE, PHRASE], output, words).met == met


def test_without_word_boundaries_every_spelling_counts_anywhere() -> None:
    assert trace([PHRASE], [OTHER, FIRST_HALF, SECOND_HALF]).met == [True]


def search(seed: int, phrases: list[Pattern | tuple[int, ...]], **settings: object) -> list[int]:
    scorer = HistoryScorer(6, bos=OTHER, eos=END, seed=seed, word_starts=BOUNDARY)
    (found,) = decode(
        scorer,
        ["source"],
        [phrases],
        boundary=BOUNDARY,
        closing=CLOSING,
        starting=STARTING,
        **settings,  # type: ignore[arg-type]
    )
    return found[0].tokens


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("times", [1, 2])
def test_a_wide_beam_finds_the_best_output_with_an_exact_count(seed: int, times: int) -> None:
    scorer = HistoryScorer(6, bos=OTHER, eos=END, seed=seed, word_starts=BOUNDARY)
    best = max(
        (log_prob / (len(output) + 1), output)
        for output, log_prob in every_output(scorer, 4, "source")
        if occurrences(output) == times
    )
    found = search(seed, [EXACT] * times, beam_size=3000, max_length=4, prune=None)
    assert tuple(found) == best[1]


@pytest.mark.parametrize("algorithm", [name for name in POLICIES if name != "cbs"])
@pytest.mark.parametrize("beam_size", [1, 2, 5])
def test_narrow_beams_keep_to_the_count(algorithm: str, beam_size: int) -> None:
    for seed in range(20):
        for phrases in ([EXACT], [EXACT, EXACT], [EXACT, (OTHER,)]):
            found = search(seed, [*phrases], beam_size=beam_size, algorithm=algorithm, max_length=7)
            assert occurrences(found) == phrases.count(EXACT)


def test_without_a_model_that_can_hold_words_the_count_is_kept_too() -> None:
    for seed in range(20):
        scorer = HistoryScorer(6, bos=OTHER, eos=END, seed=seed)
        found = decode(scorer, [0], [[EXACT]], max_length=7, boundary=BOUNDARY, closing=CLOSING)
        assert occurrences(found[0][0].tokens) == 1


def test_a_prefix_that_has_a_phrase_too_often_is_refused() -> None:
    with pytest.raises(ConstraintError):
        search(0, [EXACT], prefix=[[WORD, WORD, OTHER]], max_length=7)
