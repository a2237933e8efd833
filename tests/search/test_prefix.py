from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lexbeam.errors import InputError
from lexbeam.search.beam_search import decode
from lexbeam.testing import TableScorer

BOS, EOS, HAUS, TUER, IST, DOT = range(6)
BOUNDARY = np.array([True, True, True, False, True, True])
CLOSING = np.array([False, False, False, False, False, True])


def compound_lover() -> TableScorer:
    """Return a model that goes on with TUER after HAUS and after DOT."""
    log_probs = np.full((6, 6), -6.0)
    log_probs[:, EOS] = -2.0
    log_probs[[HAUS, DOT], TUER] = -0.01
    return TableScorer(log_probs, bos=BOS, eos=EOS)


@pytest.mark.parametrize("phrases", [[], [[IST]], [[TUER]]])
def test_the_word_that_a_whole_prefix_ends_with_does_not_go_on(phrases: list[list[int]]) -> None:
    open_prefix, whole, ended, none = decode(
        compound_lover(),
        range(4),
        [phrases] * 4,
        prefix=[[IST, HAUS], [IST, HAUS], [IST, DOT], []],
        whole_prefix=[False, True, True, True],
        boundary=BOUNDARY,
        closing=CLOSING,
        beam_size=2,
    )
    assert open_prefix[0].tokens[:3] == [IST, HAUS, TUER]
    assert whole[0].tokens[:2] == [IST, HAUS]
    assert whole[0].tokens[2:3] != [TUER]
    assert ended[0].tokens[:3] == [IST, DOT, TUER]  # a full stop ends a word, whatever follows
    assert none[0].met == [True] * len(phrases)


def test_nor_does_it_go_on_behind_a_token_that_writes_nothing() -> None:
    log_probs = np.full((6, 6), -6.0)
    log_probs[HAUS, IST] = log_probs[IST, TUER] = -0.01
    scorer = TableScorer(log_probs, bos=BOS, eos=EOS)
    silent = np.arange(6) == IST
    request: dict[str, Any] = {"prefix": [[HAUS]], "whole_prefix": [True], "boundary": BOUNDARY}
    spoken = decode(scorer, ["s"], **request, closing=CLOSING)
    ended = decode(scorer, ["s"], **request, closing=CLOSING, silent=silent)
    assert spoken[0][0].tokens[:3] == [HAUS, IST, TUER]
    assert ended[0][0].tokens[:1] == [HAUS]
    assert ended[0][0].tokens[1:2] not in ([IST], [TUER])
    demanded = decode(scorer, ["s"], [[[IST, DOT]]], **request, silent=silent)[0][0]
    assert demanded.met == [True]
    assert demanded.tokens[1] not in (IST, TUER)  # It is not begun there though it is demanded.
    everything_is_silent = decode(scorer, ["s"], **request, silent=BOUNDARY)
    assert everything_is_silent[0][0].tokens == [HAUS]  # An end is never silent.


def test_where_words_end_must_be_known() -> None:
    with pytest.raises(InputError, match="silent is given without boundary"):
        decode(compound_lover(), ["s"], silent=BOUNDARY)
    with pytest.raises(InputError, match="whole_prefix is given without boundary"):
        decode(compound_lover(), ["s"], prefix=[[HAUS]], whole_prefix=[True])
    with pytest.raises(InputError, match="whole_prefix has 2 entries for 1 sentences"):
        decode(
            compound_lover(),
            ["s"],
            prefix=[[HAUS]],
            whole_prefix=[True, True],
            boundary=BOUNDARY,
        )
