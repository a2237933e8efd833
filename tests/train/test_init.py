from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lexbeam.errors import MissingExtraError
from lexbeam.train import run


def test_without_pytorch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"lexbeam\[train\]"):
        run(tmp_path / "any.toml")
