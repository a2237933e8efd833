"""The weights of a bundle: rounded to eight bits, written to one file, read back."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexbeam.errors import ModelError
from lexbeam.models.graphs.architecture import Architecture
from lexbeam.models.graphs.weights import Float32, Int8Matrix, Weights, quantise

_SCALE, _ACTIVATION = ".scale", ".activation"


def check_finite(weights: Mapping[str, Any]) -> dict[str, Float32]:
    """Return weights as arrays in single precision; NaN or infinity in one is an error."""
    arrays = {name: np.asarray(weight, np.float32) for name, weight in weights.items()}
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ModelError(f"the weight {name} has values that are not numbers")
    return arrays


def round_weights(architecture: Architecture, weights: Mapping[str, Float32]) -> Weights:
    """Round matrices to eight bits; vectors and small tables stay in single precision."""
    rounded: dict[str, Float32 | Int8Matrix] = {}
    for name, value in weights.items():
        if value.ndim != 2 or 1 in value.shape or name in architecture.float_weights:
            rounded[name] = value
        elif name.endswith("Wemb"):
            rounded[name] = quantise(value.T).T
        else:
            rounded[name] = quantise(value)
    return rounded


def with_multipliers(weights: Weights, multipliers: Mapping[str, float]) -> Weights:
    """Return rounded weights with the multipliers of their activations, where known."""
    return {
        name: replace(weight, activation=multipliers.get(name))
        if isinstance(weight, Int8Matrix)
        else weight
        for name, weight in weights.items()
    }


def write_weights(path: Path, weights: Weights) -> None:
    """Write weights to an ``.npz`` file."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, weight in weights.items():
        if isinstance(weight, Int8Matrix):
            arrays[name] = np.ascontiguousarray(weight.values)
            arrays[name + _SCALE] = weight.scale
            if weight.activation is not None:
                arrays[name + _ACTIVATION] = np.array(weight.activation, np.float32)
        else:
            arrays[name] = weight
    np.savez(path, allow_pickle=False, **arrays)


def read_weights(path: Path) -> Weights:
    """Read what `write_weights` has written."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ModelError(f"{path}: can't be read: {error}") from None
    weights: dict[str, Float32 | Int8Matrix] = {}
    for name, array in arrays.items():
        if name.endswith((_SCALE, _ACTIVATION)):
            continue
        if array.dtype == np.int8:
            if name + _SCALE not in arrays:
                raise ModelError(f"{path}: the scale of {name} is missing")
            activation = arrays.get(name + _ACTIVATION)
            multiplier = None if activation is None else float(activation)
            weights[name] = Int8Matrix(array, arrays[name + _SCALE], multiplier)
        else:
            weights[name] = array
    return weights
