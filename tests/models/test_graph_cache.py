from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grimp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lexbeam.models import graph_cache as cache
from lexbeam.models.paths import cache_home

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
    assert list(cache.build_once([source], "test", build)) == PARTS
    assert list(cache.build_once([source], "test", build)) == PARTS
    assert len(calls) == 1
    assert list(cache.build_once([source], "other", build)) == PARTS
    assert len(calls) == 2


def test_built_anew_when_the_source_changes(source: Path) -> None:
    calls, build = counter()
    cache.build_once([source], "test", build)
    source.write_bytes(b"something else")
    cache.build_once([source], "test", build)
    os.utime(source, ns=(1, 1))
    cache.build_once([source], "test", build)
    assert len(calls) == 3
    assert len(list(cache_home().iterdir())) == 1


def test_built_anew_when_the_code_changes(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, build = counter()
    for digest in ("one", "one", "two"):
        monkeypatch.setattr(cache, "code_digest", lambda digest=digest: digest)
        cache.build_once([source], "test", build)
    assert len(calls) == 2


def test_any_module_of_the_package_changes_the_digest(tmp_path: Path) -> None:
    package = tmp_path / "models"
    shutil.copytree(Path(cache.__file__).parent, package, ignore=shutil.ignore_patterns("embedded"))
    cache.code_digest.cache_clear()
    seen = {cache.code_digest(package)}
    modules = sorted(package.rglob("*.py"))
    assert package / "graphs" / "distances.py" in modules
    for module in modules:
        module.write_text(module.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        cache.code_digest.cache_clear()
        seen.add(cache.code_digest(package))
    assert len(seen) == len(modules) + 1


def test_graphs_depend_on_no_code_outside_of_the_digest() -> None:
    """Code elsewhere that shapes a graph would have to count as well."""
    modules = grimp.build_graph("lexbeam", cache_dir=None)
    builders = modules.find_descendants("lexbeam.models.graphs") | {
        "lexbeam.models.importers.marian_binary",
        "lexbeam.models.importers.marian_config",
    }
    used = {used for builder in builders for used in modules.find_upstream_modules(builder)}
    assert {name for name in used if not name.startswith("lexbeam.models")} <= {"lexbeam.errors"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damage_is_noticed(source: Path, data: st.DataObject) -> None:
    cache.build_once([source], "test", lambda: PARTS)
    (file,) = cache_home().iterdir()
    whole = file.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    cut = data.draw(st.booleans())
    flipped = whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]
    file.write_bytes(whole[:at] if cut else flipped)
    assert list(cache.build_once([source], "test", lambda: PARTS)) == PARTS
    assert file.read_bytes() == whole


def test_a_folder_that_can_not_be_made(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXBEAM_CACHE", str(source / "below a file"))
    calls, build = counter()
    for _ in range(2):
        assert list(cache.build_once([source], "test", build)) == PARTS
    assert len(calls) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


def test_a_source_that_is_not_there(source: Path) -> None:
    assert list(cache.build_once([source / "nowhere"], "test", lambda: PARTS)) == PARTS


@pytest.mark.parametrize("sizes", [[-5, 610], [5, 0], [5, 0, 601], [True], "5", [5.0, 600.0], None])
@pytest.mark.parametrize("forged", [False, True])
def test_sizes_that_can_not_be(source: Path, sizes: Any, forged: bool) -> None:
    """Whoever changed the header, and whether or not the check was changed to match."""
    cache.build_once([source], "test", lambda: PARTS)
    (file,) = cache_home().iterdir()
    magic, head, body = file.read_bytes().split(b"\n", 2)
    header = json.loads(head) | {"sizes": sizes}
    if forged:
        header["check"] = cache._check(header["key"], sizes, [body])
    file.write_bytes(b"\n".join([magic, json.dumps(header).encode(), body]))
    calls, build = counter()
    assert list(cache.build_once([source], "test", build)) == PARTS
    assert len(calls) == 1


def _make_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _make_longer(file: Path) -> None:
    with file.open("r+b") as stream:
        stream.truncate(1 << 40)  # nothing of it is written


def _make_endless(file: Path) -> None:
    file.unlink()
    file.symlink_to("/dev/zero")


@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
@pytest.mark.parametrize("damage", [_make_pipe, _make_longer, _make_endless])
def test_what_is_no_file_of_a_cache_is_not_read(
    source: Path, damage: Callable[[Path], None]
) -> None:
    calls, build = counter()
    cache.build_once([source], "test", build)
    (file,) = cache_home().iterdir()
    damage(file)
    assert list(cache.build_once([source], "test", build)) == PARTS
    assert list(cache.build_once([source], "test", build)) == PARTS
    assert len(calls) == 2
