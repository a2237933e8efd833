from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lexbeam.models import graph_cache as cache

PARTS = [b"first", b"", b"third\n" * 100]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEXBEAM_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "source"
    path.write_bytes(b"something")
    return path


def counter() -> tuple[list[int], Callable[[], list[bytes]]]:
    calls: list[int] = []

    def build() -> list[bytes]:
        calls.append(1)
        return PARTS

    return calls, build


def test_built_once(source: Path) -> None:
    calls, build = counter()
    assert list(cache.remember([source], "test", build)) == PARTS
    assert list(cache.remember([source], "test", build)) == PARTS
    assert len(calls) == 1
    assert list(cache.remember([source], "other", build)) == PARTS
    assert len(calls) == 2


def test_built_anew_when_the_source_changes(source: Path) -> None:
    calls, build = counter()
    cache.remember([source], "test", build)
    source.write_bytes(b"something else")
    cache.remember([source], "test", build)
    os.utime(source, ns=(1, 1))
    cache.remember([source], "test", build)
    assert len(calls) == 3
    assert len(list(cache.folder().iterdir())) == 1


def test_built_anew_when_the_code_changes(source: Path, tmp_path: Path) -> None:
    calls, build = counter()
    module = ModuleType("builder")
    module.__file__ = str(tmp_path / "builder.py")
    for text in ("one", "one", "two"):
        Path(module.__file__).write_text(text)
        cache.remember([source], "test", build, [module])
    assert len(calls) == 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damage_is_noticed(source: Path, data: st.DataObject) -> None:
    cache.remember([source], "test", lambda: PARTS)
    (file,) = cache.folder().iterdir()
    whole = file.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    cut = data.draw(st.booleans())
    flipped = whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]
    file.write_bytes(whole[:at] if cut else flipped)
    assert list(cache.remember([source], "test", lambda: PARTS)) == PARTS
    assert file.read_bytes() == whole


def test_a_folder_that_can_not_be_made(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXBEAM_CACHE", str(source / "below a file"))
    calls, build = counter()
    for _ in range(2):
        assert list(cache.remember([source], "test", build)) == PARTS
    assert len(calls) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


def test_a_source_that_is_not_there(source: Path) -> None:
    assert list(cache.remember([source / "nowhere"], "test", lambda: PARTS)) == PARTS


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "lexbeam"),
        ("win32", "LOCALAPPDATA", "lexbeam/cache"),
    ],
)
def test_where_things_are_remembered(
    monkeypatch: pytest.MonkeyPatch, platform: str, variable: str, expected: str
) -> None:
    monkeypatch.delenv("LEXBEAM_CACHE", raising=False)
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setenv(variable, "base")
    assert cache.folder() == Path("base") / expected
    monkeypatch.delenv(variable)
    assert cache.folder().is_relative_to(Path.home())
