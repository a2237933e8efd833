from __future__ import annotations

import pytest
import sentencepiece

from lexbeam.text.spelling import TargetText
from lexbeam.translation.spelled_prefix import SpelledPrefix


@pytest.fixture
def target(processor: sentencepiece.SentencePieceProcessor) -> TargetText:
    return TargetText(processor)


def test_an_open_word_may_be_finished_in_any_way(target: TargetText) -> None:
    assert SpelledPrefix.spell("", target) == SpelledPrefix()
    whole = SpelledPrefix.spell("O gato ", target)
    assert whole.forced == target.spell_prefix("O gato").ids
    assert not whole.patterns
    begun = SpelledPrefix.spell("O ga", target)
    (pattern,) = begun.patterns
    assert not begun.forced
    assert all(form.first for form in pattern.parts[0])
    assert target.spell_prefix("O gato").ids in [form.tokens for form in pattern.parts[0]]
    assert begun.longest == max(len(form.tokens) for form in pattern.parts[0])


def test_where_others_are_tried_it_is_written_as_it_was_or_as_they_want_it(
    target: TargetText,
) -> None:
    begun = SpelledPrefix.spell("O ga", target)
    gato, other = target.spell_prefix("O gato").ids, begun.spellings[0].ids
    free = [*gato, *target.spell("no tapete").ids]
    assert [way.ids for way in begun.as_begun(free, ()).spellings] == [gato]
    assert {way.ids for way in begun.as_begun(free, other[-1:]).spellings} >= {gato, other}
    assert begun.as_begun(target.spell("tapete").ids, ()) == begun  # It begins in no such way.
    assert SpelledPrefix().as_begun(free, ()) == SpelledPrefix()
