from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lexbeam.errors import InputError
from lexbeam.search import decode
from lexbeam.search.lists import count_sources, per_sentence
from lexbeam.testing import TableScorer

TABLE = np.log(np.full((4, 4), 0.25))
PLAIN = TableScorer(TABLE, bos=0, eos=1)
ATTENDING = TableScorer(TABLE, bos=0, eos=1, alignment=np.ones((4, 1)))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"phrases": 5}, "phrases must be a list with one entry a sentence, not 5"),
        ({"phrases": {0: [[2]]}}, "phrases must be a list"),
        ({"phrases": "2"}, "phrases must be a list"),
        ({"phrases": [5]}, "phrases: expected a list of phrases, got 5"),
        ({"phrases": [{(2,): 3}]}, "phrases: expected a list of phrases"),
        ({"avoid": 1.5}, "avoid must be a list"),
        ({"avoid": [1.5]}, "avoid: expected a list of phrases, got 1.5"),
        ({"prefix": 3}, "prefix must be a list"),
        ({"prefix": [3]}, "prefix is not a list of token ids: 3"),
        ({"whole_prefix": True, "boundary": [1] * 4}, "whole_prefix must be a list"),
        ({"whole_prefix": [np.ones(2)], "boundary": [1] * 4}, "whole_prefix must be True or False"),
        ({"ties": True}, "ties must be a list"),
        ({"ties": {0: [0]}}, "ties must be a list"),
        ({"ties": [5]}, "ties must be a mapping from phrases to source tokens, not 5"),
        ({"ties": [{0: 2}]}, "ties has 0: 2, but"),
        ({"ties": [{None: [0]}]}, r"ties has None: \[0\], but"),
        ({"ties": [{0: [None]}]}, r"ties has 0: \[None\], but"),
        ({"ties": [{0: [0]}], "sources": [7]}, "ties need sources that are lists of tokens, not 7"),
        ({"sources": 5}, "sources must be a list with one entry a sentence, not 5"),
        ({"sources": {"a": 7}}, "sources must be a list"),
        ({"settings": 5}, "settings must be of the class Settings, not 5"),
        ({"settings": ()}, "settings must be of the class Settings"),
        ({"observer": 5}, "observer must be a function, not 5"),
        ({"find_displaced": 5}, "find_displaced must be a function, not 5"),
    ],
)
def test_what_is_no_list_or_function_is_refused_by_name(given: dict[str, Any], says: str) -> None:
    request: dict[str, Any] = {"sources": [[7]], "phrases": [[[2]]], "max_length": 5, **given}
    with pytest.raises(InputError, match=says):
        decode(ATTENDING, **request)


@pytest.mark.parametrize("name", ["algorithm", "stop", "aside", "cut", "align", "thorough"])
@pytest.mark.parametrize("value", [np.ones(2), np.array("dba"), None, ["all"]])
def test_arrays_and_none_are_no_choices(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=name):
        decode(PLAIN, [[7]], [[[2]]], max_length=5, **{name: value})


def test_lists_of_all_kinds_are_read() -> None:
    plain = decode(PLAIN, [[7]], [[[2], [3]]], max_length=5)
    for phrases in ([[[2], [3]]], (((2,), (3,)),), np.array([[[2], [3]]]), iter([[[2], [3]]])):
        assert decode(PLAIN, [[7]], phrases, max_length=5) == plain  # type: ignore[arg-type]
    flags: Any = {"thorough": np.True_, "aside": np.False_, "cut": 0}
    assert decode(PLAIN, [[7]], [[[2], [3]]], max_length=5, **flags) == plain


def test_none_stands_for_a_list_of_none() -> None:
    assert per_sentence("phrases", None, 2) == [None, None]
    assert count_sources(range(3)) == count_sources(np.zeros(3)) == 3
