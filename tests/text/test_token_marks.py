from __future__ import annotations

import numpy as np

from lexbeam.text.token_marks import edges_of_words, joins_of_compounds, silent_tokens
from lexbeam.text.vocabulary import Processor


def test_no_word_goes_on_with_what_is_silent(processor: Processor) -> None:
    size = processor.get_piece_size() + 8  # A model may have more tokens than its vocabulary.
    silent = silent_tokens(processor, size)
    boundary, closing = edges_of_words(processor, size)
    assert np.flatnonzero(silent).tolist() == [processor.unk_id(), *range(size - 8, size)]
    assert boundary[silent].all()
    assert boundary[processor.eos_id()]
    assert not closing[silent].any()
    assert not joins_of_compounds(processor, size)[silent].any()
