"""The files of a checkpoint folder: weights, configuration, whatever is JSON.

A safetensors file is a JSON header and the numbers after it, so it is read directly; only the
older ``pytorch_model.bin`` takes PyTorch to open.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lexbeam.errors import MissingExtraError, ModelError
from lexbeam.models.file_reading import (
    check_file,
    read_json_object,
    refusing_damage,
)
from lexbeam.models.graphs.weights import Float32

_SAFETENSORS, _PICKLED = "model.safetensors", "pytorch_model.bin"
_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}


def read_json(path: Path) -> dict[str, Any]:
    """Read a file that holds one JSON object."""
    if not path.exists():
        raise ModelError(f"{path}: no such file")
    return read_json_object(path)


def read_json_if_there(path: Path) -> dict[str, Any]:
    """Read a file that a checkpoint may do without."""
    return read_json(path) if path.exists() else {}


def read_weights(folder: Path) -> dict[str, Float32]:
    """Return all weights of a checkpoint by name, in single precision."""
    for name, reader in ((_SAFETENSORS, _read_safetensors), (_PICKLED, _read_pickled)):
        paths = _shards(folder, name)
        weights: dict[str, Float32] = {}
        for path in paths:
            check_file(path)
            with refusing_damage(path):
                weights.update(reader(path))
        if paths:
            return weights
    raise ModelError(f"{folder}: neither {_SAFETENSORS} nor {_PICKLED} in this folder")


def _shards(folder: Path, name: str) -> list[Path]:
    """Return the files that weights are in: one, or those that an index names."""
    if (folder / name).exists():
        return [folder / name]
    index = folder / f"{name}.index.json"
    if not index.exists():
        return []
    names = read_json(index).get("weight_map")
    if not isinstance(names, dict) or not names or not all(map(_is_text, names.values())):
        raise ModelError(f'{index}: "weight_map" is missing')
    return [folder / shard for shard in sorted(set(names.values()))]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _read_safetensors(path: Path) -> Iterator[tuple[str, Float32]]:
    try:
        data = np.memmap(path, np.uint8, "r")
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: can't be read: {error}") from None
    header, start = _header(path, data)
    for name, entry in header.items():
        if name != "__metadata__":
            yield name, _tensor(path, name, entry, data[start:])


def _header(path: Path, data: Any) -> tuple[Mapping[str, Any], int]:
    """Return what a safetensors file says it holds, and where the numbers begin."""
    size = struct.unpack("<Q", data[:8].tobytes())[0] if len(data) >= 8 else len(data)
    if 8 + size > len(data):
        raise ModelError(f"{path}: cut short, or not a safetensors file")
    try:
        header = json.loads(data[8 : 8 + size].tobytes())
    except ValueError:
        raise ModelError(f"{path}: damaged, or not a safetensors file") from None
    if not isinstance(header, dict):
        raise ModelError(f"{path}: damaged, or not a safetensors file")
    return header, 8 + size


def _tensor(path: Path, name: str, entry: Any, data: Any) -> Float32:
    try:
        kind, shape, (start, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
        if kind not in _DTYPES:
            raise ModelError(f"{path}: {name}: numbers of type {kind} are not supported")
        if not 0 <= start <= end <= len(data):
            raise ValueError(f"no such place: {start}, {end}")
        values = np.frombuffer(data[start:end].tobytes(), _DTYPES[kind]).reshape(shape)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ModelError(f"{path}: {name}: cut short or damaged") from None
    if kind == "BF16":  # the upper half of a number in single precision
        return (values.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(all="ignore"):
        return values.astype(np.float32)


def _read_pickled(path: Path) -> Iterator[tuple[str, Float32]]:
    try:
        import torch  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtraError(f"reading {path.name}", "hf") from None
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        tensors = {name: tensor.to(torch.float32).numpy() for name, tensor in state.items()}
    except Exception as error:  # whatever unpickling a damaged file may raise
        raise ModelError(f"{path}: can't be read: {error}") from None
    yield from tensors.items()
