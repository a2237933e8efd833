from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import lexbeam
from lexbeam.search.beam import Hypothesis
from lexbeam.text.phrases import Spelling
from lexbeam.translation.completeness import has_everything
from lexbeam.translation.spelled_prefix import SpelledPrefix


@pytest.mark.parametrize(
    ("text", "whole", "complete"),
    [
        ("Baum neu", True, True),
        ("Baum", True, True),
        ("Baum.", True, True),
        ("Baumablauf", True, False),
        ("Baumablauf", False, True),
    ],
)
def test_a_whole_prefix_does_not_go_on(text: str, whole: bool, complete: bool) -> None:
    document: Any = SimpleNamespace(
        text_of=lambda *_: text, avoidance=SimpleNamespace(find=lambda _: []), demands=[]
    )
    prefix = SpelledPrefix((Spelling((5,), "Baum"),), whole=whole)
    sentence: Any = SimpleNamespace(prefix=prefix, assigned=[], left=(), starts=(0,))
    found = Hypothesis([5, 6], -1.0, -2.0, [], True)
    assert has_everything(document, sentence, found) == complete


def test_a_term_in_a_compound_does_not_go_on_with_a_whole_prefix() -> None:
    asked = [{"any": ["Baum"], "compound": True, "source": "The"}]
    translator = lexbeam.load()
    found = translator.translate("The restarted", asked, prefix="Baum ", beam_size=1)
    assert found.text.startswith("Baum ")
