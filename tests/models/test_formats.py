from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

import pytest

from lexbeam.errors import ModelError
from lexbeam.models import formats
from lexbeam.models.model import Model

NEW_FORMAT = """
from lexbeam.models import formats

formats.register("a new model", "*.new", lambda path: path.suffix == ".new", lambda *given: given)
"""


@pytest.fixture
def new_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more file among the importers, and nothing else."""
    list(formats._all_formats())  # they are registered once, when they are first imported
    package = tmp_path / "more"
    package.mkdir()
    (package / "new_format_of_a_test.py").write_text(NEW_FORMAT)
    from lexbeam.models import importers  # noqa: PLC0415

    monkeypatch.setattr(importers, "__path__", [*importers.__path__, str(package)])
    monkeypatch.setattr(formats, "_FORMATS", dict(formats._FORMATS))
    monkeypatch.delitem(sys.modules, "lexbeam.models.importers.new_format_of_a_test", raising=False)


@pytest.mark.usefixtures("new_format")
def test_a_format_is_one_file(tmp_path: Path) -> None:
    path = tmp_path / "model.new"
    path.write_text("")
    assert cast(tuple[Path, int], formats.load_path(path, 3)) == (path, 3)


@pytest.mark.usefixtures("new_format")
def test_what_no_format_recognises_names_them_all(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        formats.load_path(tmp_path, 1)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path}: no model that can be loaded")
    for sign in (
        "manifest.json (a bundle)",
        "model.*.bin (a Firefox model)",
        "*.new (a new model)",
    ):
        assert sign in message


def test_the_first_format_that_recognises_a_path_loads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(path: Path, threads: int) -> Model:
        raise ModelError(f"{path}: {threads}")

    (tmp_path / "manifest.json").write_text("{}")
    (tmp_path / "model.ende.bin").write_bytes(b"")
    with pytest.raises(ModelError, match=r"manifest\.json"):
        formats.load_path(tmp_path, 1)
    list(formats._all_formats())
    monkeypatch.setattr(formats, "_FORMATS", {})
    formats.register("mine", "any", lambda _: True, load)
    with pytest.raises(ModelError, match=": 7"):
        formats.load_path(tmp_path, 7)
