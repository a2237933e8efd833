from __future__ import annotations

import pytest

from lexbeam.translation.translator import Translator


@pytest.fixture
def toy_model(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> Translator:
    """Let runs and batches load the toy model, where they work in this process."""

    def load(*_: object) -> Translator:
        return translator

    monkeypatch.setattr("lexbeam.corpus.run.load", load)
    monkeypatch.setattr("lexbeam.translation.translator.load", load)
    return translator
