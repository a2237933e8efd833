from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lexbeam.models.paths import data_home


@pytest.mark.parametrize(
    ("platform", "variable", "value", "expected"),
    [
        ("linux", "XDG_DATA_HOME", "data", Path("data/lexbeam")),
        ("win32", "LOCALAPPDATA", "local", Path("local/lexbeam")),
        ("linux", None, "", Path("home/.local/share/lexbeam")),
        ("darwin", None, "", Path("home/Library/Application Support/lexbeam")),
        ("win32", None, "", Path("home/AppData/Local/lexbeam")),
        ("linux", "LEXBEAM_HOME", "here", Path("here")),
    ],
)
def test_each_system_has_its_custom(
    monkeypatch: pytest.MonkeyPatch, platform: str, variable: str | None, value: str, expected: Path
) -> None:
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA", "LEXBEAM_HOME"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    assert data_home() == expected
