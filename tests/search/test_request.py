from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from lexbeam.errors import ConstraintError, SettingError, Subject
from lexbeam.search import Form, Pattern, decode
from lexbeam.testing import HistoryScorer

PHRASE = Subject("phrase", 1, "[2, 3]")
AVOIDED = Subject("avoided", 0, "[3]")
EOS = 1
TOO_LONG = (
    "a pattern with parts of 1 tokens within 80 words is too long to be kept track of "
    "(at most 63 together)"
)


def pattern(*parts: tuple[int, ...], **settings: Any) -> Pattern:
    return Pattern(tuple((Form(tokens),) for tokens in parts), **settings)


@pytest.mark.parametrize(
    ("request_", "subjects", "says"),
    [
        (
            {"phrases": [[2], [2, 3]], "avoid": [[3]]},
            (PHRASE, AVOIDED),
            "phrase 1 [2, 3] contains what is avoided (avoided phrase 0 [3])",
        ),
        (
            {"phrases": [[2], [2, 3]], "max_length": 1},
            (PHRASE,),
            "phrase 1 [2, 3] has 2 tokens, more than max_length 1",
        ),
        (
            {"phrases": [[4], [2, 3]], "max_length": 2},
            (Subject("phrase", 0, "[4]"), PHRASE),
            "phrases [4], [2, 3] need 3 tokens, max_length is 2",
        ),
        (
            {"prefix": [2, 9]},
            (Subject("prefix", 0, "[2, 9]"),),
            "prefix [2, 9] has token 9, outside the vocabulary of 6",
        ),
        (
            {"phrases": [[2], pattern((2,), (3,))], "avoid": [[3]]},
            (Subject("phrase", 1, "[2] … [3]"),),
            "phrase 1 [2] … [3] can't be met without an avoided phrase",
        ),
        (
            {"phrases": [[2], pattern((2,), (3,), within=80)]},
            (),
            TOO_LONG,
        ),
    ],
)
def test_errors_say_which_sentence_and_phrases_they_speak_of(
    request_: dict[str, Any], subjects: tuple[Subject, ...], says: str
) -> None:
    lists: dict[str, Any] = {
        name: [[], request_[name]] for name in request_ if name != "max_length"
    }
    limit = request_.get("max_length", 10)
    with pytest.raises(ConstraintError) as caught:
        decode(HistoryScorer(6, bos=0, eos=EOS, seed=0), ["a", "b"], max_length=limit, **lists)
    error = caught.value
    assert (error.sentence, error.subjects) == (1, subjects)
    assert str(error) == f"sentence 1: {says}"


def test_a_refused_setting_says_which_sentence_it_is_about() -> None:
    phrases = [[], [[i] for i in range(2, 22)]]
    with pytest.raises(SettingError) as caught:
        decode(HistoryScorer(30, bos=0, eos=EOS), ["a", "b"], phrases, algorithm="cbs")
    assert caught.value.sentence == 1
    assert str(caught.value).startswith("sentence 1: cbs would need")


FORM = Form((2,))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (pattern((2,), (3,), within=1.5), "within must be an integer, not 1.5"),
        (pattern((2,), within="1"), "within must be an integer, not '1'"),
        (pattern((2,), within=-1), "within is -1, but must be 0 or more"),
        (pattern((2,), penalty="1"), "penalty is '1', but must be a number from 0"),
        (pattern((2,), penalty=[1]), "penalty is [1], but must be a number"),
        (pattern((2,), penalty=float("nan")), "penalty is nan"),
        (pattern((2,), penalty=10**400), "penalty is 1000"),
        (pattern((2,), penalty=1e17), "penalty is 1e+17, but must be a number from 0 to 1,000,"),
        (Pattern(((1,),)), "a part of a pattern has Forms in it, not 1"),  # type: ignore[arg-type]
        (Pattern(True), "a pattern has a tuple of parts"),  # type: ignore[arg-type]
        (Pattern((5,)), "a pattern has a tuple of parts"),  # type: ignore[arg-type]
        (Pattern(((Form(5),),)), "phrase 0 is not a list of token ids: 5"),  # type: ignore[arg-type]
        (pattern((2,), last=[]), "last must be True or False, not []"),
        (pattern((2,), may_overlap=None), "may_overlap must be True or False, not None"),
        (pattern((2,), demand=[]), "demand must be an integer, not []"),
        (Pattern(((Form((2,), first=[]),),)), "first must be True or False"),  # type: ignore[arg-type]
        (pattern((2,), exact=True), "exact counts only in a pattern of one part that may_overlap"),
        (pattern((2,), may_overlap=True, exact=True, penalty=1), "exact counts only"),
        (pattern((2,), may_overlap=True, exact=True, last=True), "exact counts only"),
        (pattern((2,), (3,), may_overlap=True, exact=True), "exact counts only"),
        (Pattern(((Form((2,), first=True),),), may_overlap=True, exact=True), "exact counts only"),
    ],
)
def test_what_a_pattern_can_not_have_is_refused(given: Pattern, says: str) -> None:
    with pytest.raises(ConstraintError, match=re.escape(says)) as caught:
        decode(HistoryScorer(6, bos=0, eos=EOS), ["s"], [[given]], max_length=6)
    assert caught.value.sentence == 0


def test_numbers_of_a_pattern_may_be_those_of_numpy() -> None:
    scorer = HistoryScorer(6, bos=0, eos=EOS)
    given = pattern((2,), (3,), within=np.int32(1), penalty=np.float32(2), last=np.False_)
    plain = pattern((2,), (3,), within=1, penalty=2)
    found = decode(scorer, ["s"], [[given]], max_length=6)
    assert found == decode(scorer, ["s"], [[plain]], max_length=6)
