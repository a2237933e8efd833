from __future__ import annotations

import contextlib
import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.networks import TINY, marian_container, marian_file, marian_yaml, random_weights
from lexbeam.errors import ModelError
from lexbeam.models.graphs.weights import Int8Matrix
from lexbeam.models.importers import marian_binary

WEIGHTS = random_weights(TINY)
WHOLE = marian_file(TINY, WEIGHTS)


def read(folder: Path, data: bytes) -> marian_binary.MarianModel:
    path = folder / "model.bin"
    path.write_bytes(data)
    return marian_binary.read(path)


@pytest.mark.parametrize("packed", [False, True])
def test_what_was_written_is_read(tmp_path: Path, packed: bool) -> None:
    model = read(tmp_path, gzip.compress(WHOLE) if packed else WHOLE)
    assert model.config == marian_yaml(TINY)
    assert set(model.weights) == set(WEIGHTS)
    assert model.activations["none"] == 24
    for name, weight in WEIGHTS.items():
        found = model.weights[name]
        if isinstance(found, Int8Matrix):
            peak = np.abs(weight).max()
            np.testing.assert_allclose(found.to_float(), weight, atol=1.5 * peak / 127)
            assert found.activation == (None if name == "Wemb" else 24)
        else:
            np.testing.assert_array_equal(found, weight)


def test_float_models(tmp_path: Path) -> None:
    model = read(tmp_path, marian_file(TINY, WEIGHTS, int8=False))
    for name, weight in WEIGHTS.items():
        np.testing.assert_array_equal(np.asarray(model.weights[name]), weight)


@given(st.integers(0, len(WHOLE) - 256))
def test_a_file_cut_anywhere_is_refused(
    tmp_path_factory: pytest.TempPathFactory, size: int
) -> None:
    folder = tmp_path_factory.getbasetemp()
    with pytest.raises(ModelError, match=r"model\.bin"):
        read(folder, WHOLE[:size])


@given(st.integers(0, 4000), st.binary(min_size=1, max_size=9))
def test_damage_in_the_headers_is_a_model_error_if_anything(
    tmp_path_factory: pytest.TempPathFactory, at: int, junk: bytes
) -> None:
    folder = tmp_path_factory.getbasetemp()
    with contextlib.suppress(ModelError):
        read(folder, WHOLE[:at] + junk + WHOLE[at + len(junk) :])


@given(st.binary(max_size=300))
def test_other_files_are_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    with pytest.raises(ModelError, match=r"model\.bin"):
        read(tmp_path_factory.getbasetemp(), data)


def test_a_cut_gzip_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"model\.bin"):
        read(tmp_path, gzip.compress(WHOLE)[:-2000])


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.bin"):
        marian_binary.read(tmp_path / "nowhere.bin")


@pytest.mark.parametrize(
    ("item", "named"),
    [
        (("W", 0x4102, (2, 2), b"\0" * 16), "W: weights of type intgemm16"),
        (("W", 0x777, (2, 2), b"\0" * 16), "W: weights of type 0x777"),
        (("W", 0x404, (2, 200), b"\0" * 16), "too few"),
        (("W", 0x404, (-2, -2), b"\0" * 16), "impossible shape"),
        (("W", 0x404, (1, 1), struct.pack("<f", np.nan)), "not numbers"),
        (("W", 0x4101, (2, 2), b"\1" * 4 + struct.pack("<f", -1)), "multiplier"),
        (("W", 0x4101, (200, 2), b"\0" * 16), "don't fit"),
    ],
)
def test_what_is_wrong_is_named(
    tmp_path: Path, item: tuple[str, int, tuple[int, ...], bytes], named: str
) -> None:
    config = ("special:model.yml", 0x101, (3,), b"a: ")
    with pytest.raises(ModelError, match=named):
        read(tmp_path, marian_container([item, config]))


def test_a_file_without_configuration(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"special:model\.yml"):
        read(tmp_path, marian_container([("W", 0x404, (1,), b"\0" * 4)]))
