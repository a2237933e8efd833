from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import lexbeam
from helpers import ctranslate2_models
from lexbeam.errors import ModelError
from lexbeam.models import bundle, import_cache
from lexbeam.models.importers.ctranslate2 import import_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ctranslate2_models.opennmt(tmp_path_factory.mktemp("cached") / "model", "int8")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEXBEAM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def imports(model: Path) -> tuple[list[Path], Callable[[], object]]:
    """What was written, and what loads the model."""
    written: list[Path] = []

    def write(out: Path) -> None:
        written.append(out)
        import_model(model, out)

    files = sorted(model.iterdir())
    return written, lambda: import_cache.load_imported(files, "kind", write, 1)


def test_a_model_is_imported_once(imports: tuple[list[Path], Callable[[], object]]) -> None:
    written, load = imports
    load()
    load()
    assert len(written) == 1
    assert not written[0].exists()  # it was moved when it was complete


def test_a_changed_or_damaged_model_is_imported_anew(
    imports: tuple[list[Path], Callable[[], object]], model: Path, cache: Path
) -> None:
    written, load = imports
    load()
    (kept,) = (cache / "imported").iterdir()
    (kept / "weights.npz").write_bytes(b"damaged")
    load()
    assert len(written) == 2
    (model / "README.md").unlink(missing_ok=True)
    (model / "config.json").touch()
    load()
    assert len(written) == 3
    assert len(list((cache / "imported").iterdir())) == 1  # the one before is gone


def test_a_folder_that_cannot_be_written_to_is_no_error(
    imports: tuple[list[Path], Callable[[], object]], cache: Path
) -> None:
    cache.write_text("a file where the folder should be")
    written, load = imports
    load()
    assert bundle.is_bundle(written[0])  # it stays until the process ends


def test_what_goes_wrong_leaves_nothing_behind(model: Path, cache: Path) -> None:
    def write(out: Path) -> None:
        (out / "half").write_text("")
        raise ModelError(f"{model}: wrong")

    with pytest.raises(ModelError, match="wrong"):
        import_cache.load_imported([model / "model.bin"], "kind", write, 1)
    assert not list((cache / "imported").iterdir())


def test_loading_a_folder_is_the_same_from_the_cache(model: Path) -> None:
    text = "the old cat sat on the map"
    fresh = lexbeam.load(model).translate(text, max_length=12)
    assert lexbeam.load(model).translate(text, max_length=12) == fresh
