from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest

from lexbeam.errors import ModelError
from lexbeam.models.paths import cache_home, data_home, models_home

VARIABLES = ("XDG_DATA_HOME", "XDG_CACHE_HOME", "LEXBEAM_HOME", "LEXBEAM_CACHE")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="every system has its own folders")
def test_the_folders_on_linux(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert data_home() == home / ".local" / "share" / "lexbeam"
    assert models_home() == home / ".local" / "share" / "lexbeam" / "models"
    assert cache_home() == home / ".cache" / "lexbeam"
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert data_home() == Path("/data/lexbeam")
    assert cache_home() == Path("/cache/lexbeam")


@pytest.mark.parametrize(
    ("variable", "folder"), [("LEXBEAM_HOME", data_home), ("LEXBEAM_CACHE", cache_home)]
)
def test_a_folder_of_ones_own_choice(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str, folder: Callable[[], Path]
) -> None:
    monkeypatch.setenv(variable, "here")
    assert folder() == Path("here")
    monkeypatch.setenv(variable, "~/there")
    assert folder() == home / "there"
    monkeypatch.setenv(variable, "")
    assert folder().name == "lexbeam"


def test_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = Path("~/.cache/lexbeam")  # what is left of a home that is not there
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: nowhere)
    with pytest.raises(ModelError, match="LEXBEAM_CACHE"):
        cache_home()
