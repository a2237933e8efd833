from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sys
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lexbeam
from helpers.attention import attention_of
from helpers.networks import (
    CORPUS,
    TINY,
    VOCABULARY,
    Reference,
    random_weights,
    shortlist_file,
    vocabulary_file,
)
from lexbeam.errors import MissingExtraError, ModelError
from lexbeam.models import bundle
from lexbeam.models.model import Framing
from lexbeam.search.beam_search import decode
from lexbeam.text.moses_vocabulary import MosesBpe

SOURCE = [5, 9, 3, 0]


@pytest.fixture
def spm(tmp_path: Path) -> Path:
    path = tmp_path / "some.spm"
    path.write_bytes(vocabulary_file())
    return path


@pytest.fixture
def folder(tmp_path: Path, spm: Path) -> Path:
    path = tmp_path / "bundle"
    weights = random_weights(TINY)
    bundle.write(TINY, weights, spm, path, source_language="en", target_language="de")
    return path


def test_what_was_written_translates_as_the_network(folder: Path) -> None:
    model = bundle.load(folder)
    reference = Reference(TINY, random_weights(TINY))
    state = model.engine.start([SOURCE], [[]])
    everything = np.arange(VOCABULARY)[None]
    none = np.zeros((1, 0), np.int64)
    scores = model.engine.step(
        state, np.array([model.engine.bos]), np.array([0]), everything, none, 1
    )
    expected = reference.log_probs(SOURCE, [])
    assert np.abs(scores.ask_scores[0] - expected).mean() < 0.1
    assert model.info["source_language"] == "en"
    assert model.info["target_language"] == "de"
    assert model.max_source_length == 256
    assert decode(model.engine, [model.encode("the cat")], beam_size=2)[0]


def test_matrices_take_a_byte_a_number(folder: Path) -> None:
    numbers = sum(weight.size for weight in random_weights(TINY).values())
    with np.load(folder / "weights.npz") as archive:
        stored = {name: archive[name] for name in archive.files}
    assert stored["encoder_l1_ffn_W1"].dtype == np.int8
    assert stored["encoder_l1_ffn_b1"].dtype == np.float32
    assert sum(array.nbytes for array in stored.values()) < 2 * numbers


def test_two_vocabularies_and_a_shortlist(tmp_path: Path, spm: Path) -> None:
    config = replace(
        TINY, source_vocabulary=36, source_embedding="encoder_Wemb", target_embedding="Wemb"
    )
    (tmp_path / "source.spm").write_bytes(vocabulary_file(36))
    (tmp_path / "lex.bin").write_bytes(shortlist_file([[3, 4]] * 36))
    bundle.write(
        config,
        random_weights(config),
        tmp_path / "source.spm",
        tmp_path / "bundle",
        target_spm=spm,
        shortlist_file=tmp_path / "lex.bin",
        calibration_text=CORPUS,
    )
    model = bundle.load(tmp_path / "bundle")
    assert (len(model.source), len(model.target)) == (36, VOCABULARY)
    assert model.info["shortlist"] is True
    assert decode(model.engine, [model.encode("the cat")], beam_size=2)[0]


def test_a_shortlist_can_be_added_and_replaced(folder: Path) -> None:
    before = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    expected = decode(bundle.load(folder).engine, [[5, 9, 0]], beam_size=2, max_length=5)
    every = shortlist_file([[*range(VOCABULARY)]] * VOCABULARY)
    bundle.add_shortlist(folder, shortlist_file([[3, 4]] * VOCABULARY))
    assert json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["format"] == 2
    bundle.add_shortlist(folder, every, sample=VOCABULARY, longest=VOCABULARY)
    after = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert [after.pop(name) for name in ("format", "sample", "longest")] == [4, 40, 40]
    assert set(after.pop("files")) == {*before.pop("files"), "shortlist.bin"}
    assert after == {name: value for name, value in before.items() if name != "format"}
    model = bundle.load(folder)
    assert model.info["shortlist"] is True
    found = decode(model.engine, [[5, 9, 0]], beam_size=2, max_length=5)
    assert found[0][0].tokens == expected[0][0].tokens
    assert found[0][0].score == pytest.approx(expected[0][0].score, abs=1e-4)


def test_a_shortlist_for_other_vocabularies_leaves_a_bundle_as_it_was(folder: Path) -> None:
    before = (folder / "manifest.json").read_bytes()
    with pytest.raises(ModelError, match="source tokens"):
        bundle.add_shortlist(folder, shortlist_file([[3]] * 7))
    assert (folder / "manifest.json").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == [
        "manifest.json",
        "source.spm",
        "weights.npz",
    ]


def test_a_network_that_lacks_a_weight_is_not_written(tmp_path: Path, spm: Path) -> None:
    weights = random_weights(TINY)
    del weights["decoder_l2_rnn_bf"]
    with pytest.raises(ModelError, match="decoder_l2_rnn_bf"):
        bundle.write(TINY, weights, spm, tmp_path / "bundle")
    assert not bundle.is_bundle(tmp_path / "bundle")


def test_weights_that_are_not_numbers_are_named(tmp_path: Path, spm: Path) -> None:
    weights = random_weights(TINY)
    weights["decoder_l2_rnn_bf"][0, 3] = np.nan
    with pytest.raises(ModelError, match="decoder_l2_rnn_bf"):
        bundle.write(TINY, weights, spm, tmp_path / "bundle")


@pytest.mark.parametrize("name", ["weights.npz", "source.spm"])
def test_damaged_and_missing_files_are_named(folder: Path, name: str) -> None:
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[:-1])
    with pytest.raises(ModelError, match=f"{name}: damaged"):
        bundle.load(folder)
    (folder / name).unlink()
    with pytest.raises(ModelError, match=name):
        bundle.load(folder)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"format": 5}, "format 5; this lexbeam reads 1 to 4"),
        ({"format": "1"}, '"format"'),
        ({"network": {"type": "organ"}}, "organ"),
        ({"network": {"type": "transformer", "colour": 1}}, "colour"),
        ({"files": {}}, "weights.npz"),
        ({"max_source_length": None}, "max_source_length"),
        ({"framing": {"mood": []}}, '"framing" must have'),
        ({"framing": {"output_start": [VOCABULARY + 1]}}, '"output_start" must be a list of ids'),
        ({"framing": {"never": None}}, '"never"'),
        ({"alignment": [1, 0]}, '"alignment" must have the fields layer and head'),
        ({"alignment": {"layer": 0}}, '"alignment" must have the fields'),
        ({"alignment": {"layer": TINY.decoder_layers, "head": 0}}, "layer must be below"),
        ({"alignment": {"layer": 0, "head": TINY.heads}}, "head must be below"),
        ({"alignment": {"layer": 0, "head": True}}, "head must be below"),
    ],
)
def test_manifests_that_make_no_sense(folder: Path, change: dict[str, Any], named: str) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ModelError, match=named):
        bundle.load(folder)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff"])
def test_manifests_that_are_none(folder: Path, content: bytes) -> None:
    (folder / "manifest.json").write_bytes(content)
    assert bundle.is_bundle(folder)
    with pytest.raises(ModelError, match=r"manifest\.json"):
        bundle.load(folder)


def test_a_folder_without_manifest_is_no_bundle(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    assert not bundle.is_bundle(folder)
    with pytest.raises(ModelError, match=r"manifest\.json"):
        bundle.load(folder)


def test_what_stands_around_texts_is_kept(tmp_path: Path, spm: Path) -> None:
    framing = Framing((5,), (0, 6), (7, 8), (9,))
    weights = random_weights(TINY)
    bundle.write(TINY, weights, spm.read_bytes(), tmp_path / "b", framing=framing, origin="here")
    model = bundle.load(tmp_path / "b")
    assert model.framing == framing
    assert model.encode("the cat") == [5, *model.source.encode("the cat"), 0, 6]
    assert model.engine.bos == 8
    assert model.info["origin"] == "here"


def test_the_head_that_aligns_is_named(folder: Path, tmp_path: Path, spm: Path) -> None:
    assert "alignment" not in bundle.load(folder).info
    weights = random_weights(TINY)
    bundle.write(TINY, weights, spm, tmp_path / "b", alignment=(0, 1))
    assert bundle.load(tmp_path / "b").info["alignment"] == {"layer": 0, "head": 1}
    with pytest.raises(ModelError, match="head must be below"):
        bundle.write(TINY, weights, spm, tmp_path / "c", alignment=(0, TINY.heads))
    assert not (tmp_path / "c").exists()


def test_the_network_of_a_bundle_can_be_read_alone(folder: Path) -> None:
    config, weights = bundle.read_network(folder)
    assert config == TINY
    for name, weight in random_weights(TINY).items():
        assert weights[name].dtype == np.float32
        np.testing.assert_allclose(weights[name], weight, atol=np.abs(weight).max() / 60)


def test_in_float_a_bundle_is_the_network(tmp_path: Path, spm: Path) -> None:
    weights = random_weights(TINY)
    bundle.write(TINY, weights, spm, tmp_path / "b", precision="float32")
    model = bundle.load(tmp_path / "b")
    state = model.engine.start([SOURCE], [[]])
    everything, none = np.arange(VOCABULARY)[None], np.zeros((1, 0), np.int64)
    start = np.array([model.engine.bos])
    scores = model.engine.step(state, start, np.array([0]), everything, none, 1)
    expected = Reference(TINY, weights).log_probs(SOURCE, [])
    np.testing.assert_allclose(scores.ask_scores[0], expected, atol=2e-4)
    assert model.info["precision"] == "float32"


def test_bundles_of_the_first_format_are_read(folder: Path) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for name in ("framing", "precision", "origin"):
        del manifest[name]
    path.write_text(json.dumps(manifest | {"format": 1}))
    model = bundle.load(folder)
    assert model.framing == Framing()
    assert model.info["precision"] == "int8"


def test_what_was_there_before_is_no_part_of_a_new_bundle(tmp_path: Path, spm: Path) -> None:
    weights = random_weights(TINY)
    bundle.write(TINY, weights, spm, tmp_path / "b", target_spm=spm)
    bundle.write(TINY, weights, tmp_path / "b" / "source.spm", tmp_path / "b")
    assert not (tmp_path / "b" / "target.spm").exists()
    assert bundle.load(tmp_path / "b").info["type"] == "bundle"


# --- Moses vocabularies ------------------------------------------------------------------------


@pytest.fixture
def moses_folder(tmp_path: Path, moses: MosesBpe) -> Path:
    config = replace(TINY, source_vocabulary=len(moses), target_vocabulary=len(moses))
    path = tmp_path / "moses"
    bundle.write(
        config, random_weights(config), moses, path, target_language="de", calibration_text=CORPUS
    )
    return path


def test_a_moses_vocabulary_is_kept(moses_folder: Path, moses: MosesBpe) -> None:
    manifest = json.loads((moses_folder / bundle.MANIFEST).read_text())
    assert manifest["format"] == 3
    assert sorted(manifest["files"]) == ["bpe.codes", "bpe.json", "weights.npz"]
    model = bundle.load(moses_folder)
    assert model.info["vocabulary"] == "moses-bpe"
    ids = model.encode("The cat's mat.")
    assert ids == [*moses.encode("The cat's mat."), moses.eos_id()]
    assert model.decode(ids) == "The cat's mat."


def test_a_text_is_translated_with_a_moses_vocabulary(moses_folder: Path) -> None:
    asked = ["and/or", '"Haus"', "20 %"]
    found = lexbeam.load(moses_folder).translate("The cat sat.", asked, avoid=["mat"])
    assert all(phrase in found.text for phrase in asked)
    assert found.constraints
    assert all(report.met for report in found.constraints)
    assert not found.unavoided


def test_a_moses_vocabulary_that_is_not_the_networks(moses_folder: Path) -> None:
    _change(moses_folder, "bpe.json", b'{"rules": "en", "pieces": ["</s>", "<unk>", "a"]}')
    with pytest.raises(ModelError, match=r"bpe\.json: 3 pieces, but the network has 520"):
        bundle.load(moses_folder)
    _change(moses_folder, "bpe.codes", b"a")
    with pytest.raises(ModelError, match=rf"{moses_folder}.*bpe\.codes: not a file"):
        bundle.load(moses_folder)


def test_a_moses_bundle_has_both_files(moses_folder: Path) -> None:
    path = moses_folder / bundle.MANIFEST
    manifest = json.loads(path.read_text())
    del manifest["files"]["bpe.codes"]
    path.write_text(json.dumps(manifest))
    with pytest.raises(ModelError, match=r"bpe\.codes is not among the files"):
        bundle.load(moses_folder)


def test_a_moses_vocabulary_needs_its_extra(
    moses_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(MissingExtraError, match=r"lexbeam\[moses\]"):
        bundle.load(moses_folder)


def test_nothing_of_a_moses_bundle_is_left(moses_folder: Path, spm: Path) -> None:
    bundle.write(TINY, random_weights(TINY), spm, moses_folder)
    assert not list(moses_folder.glob("bpe.*"))
    assert bundle.load(moses_folder).info["vocabulary"] == "sentencepiece"


def _change(folder: Path, name: str, content: bytes) -> None:
    """Put other content into a bundle, as if it had been written so."""
    (folder / name).write_bytes(content)
    path = folder / bundle.MANIFEST
    manifest = json.loads(path.read_text())
    manifest["files"][name] = hashlib.sha256(content).hexdigest()
    path.write_text(json.dumps(manifest))


def test_a_bundle_looks_with_the_head_that_its_manifest_names(tmp_path: Path) -> None:
    weights, spm = random_weights(TINY), vocabulary_file()
    sources, outputs = [[5, 9, 3, 0], [8, 0]], [[3, 4], [6]]
    reference = Reference(TINY, weights)
    for name, alignment in {"a": (0, 1), "b": None}.items():
        folder = tmp_path / name
        bundle.write(TINY, weights, spm, folder, precision="float32", alignment=alignment)
        rows, _ = attention_of(bundle.load(folder).engine, sources, outputs)
        heads = reference.attention_to_source(sources[0], outputs[0])
        expected = heads[0][1] if alignment else heads[1].mean(axis=0)
        np.testing.assert_allclose(rows[-1], expected, atol=2e-5)


def test_weights_that_changed_after_loading_are_reported_when_they_are_read_again(
    tmp_path: Path,
) -> None:
    bundle.write(TINY, random_weights(TINY), vocabulary_file(), tmp_path)
    engine = bundle.load(tmp_path).engine
    (tmp_path / "weights.npz").write_bytes(b"other")
    with pytest.raises(ModelError, match=r"weights\.npz: damaged"):
        attention_of(engine, [[5, 0]], [[3]])


# --- damage ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", True),
        ("files", {"../weights.npz": "0" * 64}),
        ("files", {"weights.npz": 3}),
        ("max_source_length", 0),
        ("max_source_length", 10**30),
        ("source_language", ["en"]),
        ("target_language", "\ud800"),
        ("precision", []),
        ("origin", 7),
        ("framing", []),
    ],
)
def test_every_field_of_a_manifest_is_checked(folder: Path, field: str, value: Any) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    with pytest.raises(ModelError, match=rf'manifest\.json: "{field}" is missing or of the wrong'):
        bundle.load(folder)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("target_embedding", []),
        ("postprocess_top", 2**31),
        ("postprocess", "dan" * 100),
        ("encoder_ffn_depth", ""),
        ("decoder_layers", 10**9),
        ("source_vocabulary", None),
        ("target_vocabulary", 2**63),
        ("heads", [10**9]),
        ("dim", 10**9),
        ("epsilon", {"a": 1}),
        ("epsilon", 1e308),
        ("embedding_factor", 10**400),
        ("head_size", -1),
        ("tied_layers", [[]]),
        ("type", ["rnn"]),
        ("biases", 1),
    ],
)
def test_every_option_of_a_network_is_checked(folder: Path, option: str, value: Any) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["network"][option] = value
    path.write_text(json.dumps(manifest))
    with pytest.raises(ModelError, match=r"(manifest\.json|weights\.npz): "):
        bundle.load(folder)


def test_a_manifest_nested_too_deeply(folder: Path) -> None:
    (folder / "manifest.json").write_text("[" * 100_000)
    with pytest.raises(ModelError, match=r"manifest\.json: can't be read"):
        bundle.load(folder)


@pytest.mark.parametrize("name", ["manifest.json", "weights.npz", "source.spm"])
def test_what_is_no_file_is_not_waited_for(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(ModelError, match=f"{name}: can't be read: not a file"):
        bundle.load(folder)


MATRIX = "encoder_l1_ffn_W1"


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (MATRIX, lambda array: array.astype("U8"), "values of type <U8"),
        (MATRIX, lambda array: array.astype(complex), "values of type complex128"),
        (MATRIX, lambda array: array.astype(np.int64), "values of type int64"),
        (MATRIX, lambda array: array.ravel(), "has the shape"),
        (MATRIX, lambda array: array.ravel()[0], "has the shape"),
        (MATRIX, lambda array: array[:0], "don't fit the shape"),
        (MATRIX, lambda array: array.astype(np.float32) * np.float32(np.nan), "not numbers"),
        (MATRIX, lambda _: None, f"the weight '{MATRIX}' is missing"),
        (f"{MATRIX}.scale", lambda _: None, f"the scale of {MATRIX} is missing"),
        (f"{MATRIX}.scale", np.zeros_like, f"a scale of {MATRIX} makes no sense"),
        (f"{MATRIX}.scale", np.negative, f"a scale of {MATRIX} makes no sense"),
        (f"{MATRIX}.scale", lambda array: array * np.float32(np.inf), "not numbers"),
        (f"{MATRIX}.scale", lambda array: array[:, :1], "and scales"),
        (f"{MATRIX}.activation", lambda _: np.ones(2, np.float32), "is not one number"),
        (f"{MATRIX}.activation", lambda _: np.float32(0), "makes no sense"),
        (f"{MATRIX}.activation", lambda _: np.float32(-3), "makes no sense"),
        (f"{MATRIX}.activation", lambda _: np.complex64(3), "values of type complex64"),
        ("encoder_l1_ffn_b1", lambda array: np.full_like(array, 3e38), "not numbers below"),
        ("encoder_l1_ffn_b1", lambda array: array[:, :1], "or its bias another"),
        ("Wemb", lambda array: array[:1], "has the shape"),
        ("Wemb", lambda array: array.ravel()[0], "has the shape"),
        ("decoder_ff_logit_out_b", lambda array: array[:, :1], "it must be 40"),
    ],
)
def test_every_array_that_is_used_is_checked(
    folder: Path, name: str, change: Any, message: str
) -> None:
    arrays = dict(np.load(folder / "weights.npz"))
    changed = change(arrays.pop(name, None))
    np.savez(folder / "weights.npz", **arrays, **({} if changed is None else {name: changed}))
    _change(folder, "weights.npz", (folder / "weights.npz").read_bytes())
    with pytest.raises(ModelError, match=rf"weights\.npz: .*{re.escape(message)}"):
        bundle.load(folder)


def _add_array(folder: Path, name: str, claimed: int, size: int) -> None:
    """Add an array of zeros, packed, whose header says another size."""
    header = io.BytesIO()
    claim = {"descr": "|i1", "fortran_order": False, "shape": (claimed,)}
    np.lib.format.write_array_header_1_0(header, claim)
    path = folder / "weights.npz"
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.npy", header.getvalue() + bytes(size))
    _change(folder, "weights.npz", path.read_bytes())


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "header", ["{'descr': '|i1'\n", "'''x\n", "(" * 300 + "\n", "\x00\n", "7\n"]
)
def test_a_damaged_header_of_an_array_is_named(folder: Path, header: str) -> None:
    path = folder / "weights.npz"
    packed = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode("latin-1")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"{MATRIX}.npy", packed)
    _change(folder, "weights.npz", path.read_bytes())
    with pytest.raises(ModelError, match=rf"weights\.npz: .*{re.escape(MATRIX)}"):
        bundle.load(folder)


def _peak_of_loading(folder: Path, message: str | None) -> int:
    tracemalloc.start()
    try:
        if message is None:
            bundle.load(folder)
        else:
            with pytest.raises(ModelError, match=rf"weights\.npz: .*{message}"):
                bundle.load(folder)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_sizes_are_checked_before_anything_is_unpacked(folder: Path) -> None:
    _add_array(folder, "more", 50_000_000, 50_000_000)
    assert _peak_of_loading(folder, None) < 20_000_000, "what nobody asks for stays packed"
    _add_array(folder, MATRIX, 10**10, 100)
    assert _peak_of_loading(folder, "don't fit the shape") < 20_000_000
    _add_array(folder, MATRIX, 50_000_000, 50_000_000)
    assert _peak_of_loading(folder, "too large for a file of this size") < 20_000_000


def test_weights_may_be_packed(folder: Path) -> None:
    arrays = dict(np.load(folder / "weights.npz"))
    np.savez_compressed(folder / "weights.npz", allow_pickle=False, **arrays)
    _change(folder, "weights.npz", (folder / "weights.npz").read_bytes())
    assert bundle.load(folder).info["type"] == "bundle"


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)
@given(st.data())
def test_an_archive_that_is_damaged_anywhere(folder: Path, data: st.DataObject) -> None:
    whole = _WHOLE.setdefault(folder, (folder / "weights.npz").read_bytes())
    near_the_end = data.draw(st.booleans())
    at = data.draw(st.integers(len(whole) - 9000 if near_the_end else 0, len(whole) - 1))
    junk = data.draw(st.binary(min_size=1, max_size=8))
    _change(folder, "weights.npz", whole[:at] + junk + whole[at + len(junk) :])
    said = _what_is_wrong(folder)
    assert said is None or f"{folder / 'weights.npz'}: " in said


_WHOLE: dict[Path, bytes] = {}


def _what_is_wrong(folder: Path) -> str | None:
    try:
        bundle.load(folder)
    except ModelError as error:
        return str(error)
    return None
