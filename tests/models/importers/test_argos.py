from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import lexbeam
from helpers import ctranslate2_models
from lexbeam.cli.main import main
from lexbeam.errors import ModelError
from lexbeam.models import bundle
from lexbeam.models.importers.argos import import_package, is_argos_package


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ctranslate2_models.opennmt(tmp_path_factory.mktemp("argos") / "model", "int8")


@pytest.fixture
def package(model: Path, tmp_path: Path) -> Path:
    return ctranslate2_models.argos_package(model, tmp_path / "translate-en_de.argosmodel")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEXBEAM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_package_is_loaded_with_constraints(package: Path, cache: Path) -> None:
    loaded = lexbeam.load(package)
    result = loaded.translate("the cat sat on the mat", ["Katze"], max_length=15)
    assert result.constraints[0].met
    assert "Katze" in result.text
    info = loaded.info
    assert (info["type"], info["files"]) == ("argos", [str(package)])
    assert (info["source_language"], info["target_language"]) == ("en", "de")
    assert info["origin"] == "Argos Translate: translate-en_de"
    assert len(list((cache / "imported").iterdir())) == 1


def test_a_package_that_is_installed_is_the_same(package: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(package) as archive:
        archive.extractall(tmp_path / "installed")
    folder = tmp_path / "installed" / "en_de"
    assert is_argos_package(folder)
    one, other = lexbeam.load(package), lexbeam.load(folder)
    text = "the dog ran from the red house"
    assert one.translate(text, max_length=15) == other.translate(text, max_length=15)


def test_the_command_imports_a_package(package: Path, tmp_path: Path) -> None:
    out = tmp_path / "bundle"
    done = CliRunner().invoke(main, ["import", "argos", str(package), str(out)])
    assert done.exit_code == 0, done.output
    assert done.output.strip() == str(out)
    assert bundle.load(out).info["precision"] == "int8"
    exact = ["import", "argos", str(package), str(out), "--precision", "float32"]
    assert CliRunner().invoke(main, exact).exit_code == 0
    assert bundle.load(out).info["precision"] == "float32"


def test_a_package_may_say_what_outputs_begin_with(model: Path, tmp_path: Path) -> None:
    path = ctranslate2_models.argos_package(
        model, tmp_path / "en_de.argosmodel", target_prefix="</s>"
    )
    assert bundle.load(import_package(path, tmp_path / "out")).framing.output_start == (2, 3)


def rewrite(package: Path, change: Callable[[dict[str, bytes]], Any]) -> None:
    with zipfile.ZipFile(package) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)


METADATA, PIECES = "en_de/metadata.json", "en_de/sentencepiece.model"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda files: files.pop(METADATA), "metadata.json is missing"),
        (lambda files: files.update({METADATA: b"["}), "metadata.json can't be read"),
        (lambda files: files.update({METADATA: b"[]"}), "does not describe a package"),
        (lambda files: files.update({METADATA: b'{"from_code": 3}'}), "does not describe"),
        (lambda files: files.update({METADATA: b'{"type": "sbd"}'}), '"sbd" does not translate'),
        (lambda files: files.pop("en_de/model/model.bin"), "model.bin"),
        (lambda files: files.pop(PIECES), "sentencepiece.model"),
        (lambda files: files.update({"en_de/bpe.model": files.pop(PIECES)}), "BPE"),
        (lambda files: files.update({"en_de/model/model.bin": b"x" * 99}), "model.bin"),
        (
            lambda files: files.update({"en_de/model/model.bin": bytes(1 << 26)}),
            "too large for a file of this size",
        ),
        (
            lambda files: files.update({METADATA: b'{"target_prefix": "__xx__"}'}),
            "'__xx__' is missing",
        ),
    ],
)
def test_what_is_wrong_is_named(
    package: Path, change: Callable[[dict[str, bytes]], Any], named: str
) -> None:
    rewrite(package, change)
    with pytest.raises(ModelError) as caught:
        lexbeam.load(package)
    assert named in str(caught.value)
    assert str(package) in str(caught.value)


def test_names_that_lead_elsewhere_are_ignored(package: Path, tmp_path: Path) -> None:
    rewrite(package, lambda files: files.update({"en_de/model/../../../outside": b"x"}))
    lexbeam.load(package)
    assert not list(tmp_path.rglob("outside"))


@pytest.mark.parametrize("size", [0, 10, 1000])
def test_a_package_that_is_cut_short_is_an_error(package: Path, size: int) -> None:
    package.write_bytes(package.read_bytes()[:size])
    with pytest.raises(ModelError, match=r"translate-en_de\.argosmodel: can't be read"):
        lexbeam.load(package)
