from __future__ import annotations

from pathlib import Path

import pytest

from helpers.networks import TINY, marian_file, random_weights, vocabulary_file
from lexbeam.errors import ModelError
from lexbeam.models import bundle, loading, registry
from lexbeam.models.loading import find_model
from lexbeam.text.word_boundaries import contains
from lexbeam.translation.translator import load


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEXBEAM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LEXBEAM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(loading, "EMBEDDED", tmp_path / "package" / "en-de")
    return tmp_path / "home"


@pytest.fixture
def pulled(home: Path) -> Path:
    """A Firefox model where a pull would have put it."""
    folder = home / "models" / "en-de"
    folder.mkdir(parents=True)
    (folder / "model.ende.bin").write_bytes(marian_file(TINY, random_weights(TINY)))
    (folder / "vocab.ende.spm").write_bytes(vocabulary_file())
    (folder / registry.METADATA).write_text("{}")
    return folder


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A bundle of our own."""
    (tmp_path / "some.spm").write_bytes(vocabulary_file())
    bundle.write(TINY, random_weights(TINY), tmp_path / "some.spm", tmp_path / "own")
    return tmp_path / "own"


def test_a_model_is_found_by_folder_by_pair_or_alone(pulled: Path, own: Path) -> None:
    assert find_model(own) == own
    assert find_model("en-de") == find_model(None) == pulled
    with pytest.raises(ModelError, match="run: lexbeam pull de-en"):
        find_model("de-en")


def test_the_model_of_the_package_is_the_default(pulled: Path) -> None:
    loading.EMBEDDED.mkdir(parents=True)
    assert find_model(None) == loading.EMBEDDED
    assert find_model("en-de") == pulled, "what was pulled is the better one"
    (pulled / registry.METADATA).unlink()
    assert find_model("en-de") == loading.EMBEDDED


def test_a_folder_comes_before_a_pair_of_its_name(
    pulled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "en-de").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_model("en-de").resolve() == tmp_path / "en-de" != pulled


@pytest.mark.parametrize("kind", ["own", "pulled"])
def test_every_kind_of_model_translates(kind: str, request: pytest.FixtureRequest) -> None:
    translator = load(request.getfixturevalue(kind))
    result = translator.translate("the cat", ["mat", "dog"], ["the"], beam_size=4, max_length=20)
    assert [report.met for report in result.constraints] == [True, True]
    assert not contains(result.text, "the")


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no model"):
        load(tmp_path)
