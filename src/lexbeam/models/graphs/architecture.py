"""What a kind of network has to provide, and the kinds that there are.

A kind is one class, a dataclass of the network's sizes and options, in a module of this package.
The class registers itself under the name that a bundle's manifest uses for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from math import prod
from typing import Any, ClassVar, Self, get_type_hints

from lexbeam.errors import ModelError
from lexbeam.models.discovery import register_all
from lexbeam.models.graphs import Graphs
from lexbeam.models.graphs.weights import Float32, Weights

LARGEST_SIZE, MOST_LAYERS = 10_000_000, 1000
"""Of vocabularies and layers, and how many layers. Networks that can be loaded are far below."""

_KINDS: dict[str, type[Architecture]] = {}
_PLAIN = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


class Architecture(ABC):
    """What has to be known of a network besides its weights.

    Subclasses are dataclasses and name their kind: ``class RnnConfig(Architecture, kind="rnn")``.
    """

    kind: ClassVar[str]
    sizes: ClassVar[Mapping[str, str]] = {}
    """Fields that must be at least 1, and what they are called in an error."""

    source_vocabulary: int
    target_vocabulary: int

    def __init_subclass__(cls, *, kind: str) -> None:
        super().__init_subclass__()
        cls.kind = kind
        _KINDS[kind] = cls

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read the sizes and options back from JSON; raise ModelError if they make no sense."""
        try:
            config = cls(**values)
        except TypeError as error:
            raise ModelError(f"configuration of the network: {error}") from None
        for name, kind in get_type_hints(cls).items():
            value = getattr(config, name)
            if kind in _PLAIN and type(value) is not kind and (kind, type(value)) != (float, int):
                wrong = f'"{name}" must be {_PLAIN[kind]}, not {value!r:.60}'
                raise ModelError(f"configuration of the network: {wrong}")
        config.check()
        return config

    def check(self) -> None:
        """Raise ModelError for sizes and options that no graph can be built from."""
        for name in ("source_vocabulary", "target_vocabulary", *self.sizes):
            size = getattr(self, name)
            most = MOST_LAYERS if name.endswith(("layers", "depth")) else LARGEST_SIZE
            if not 1 <= size <= most:
                raise ModelError(
                    f"the {self.sizes.get(name, name)} is {size}, it must be at least 1 and at "
                    f"most {most}"
                )

    def stays_float(self, name: str) -> bool:  # noqa: ARG002
        """Return whether a matrix is never rounded to eight bits."""
        return False

    @property
    def aligned_layers_and_heads(self) -> tuple[int, int]:
        """Numbers of decoder layers and of heads that attend to the source: any may align."""
        return 1, 1

    def shapes(self) -> Iterable[tuple[str, tuple[int | None, ...]]]:
        """Return the shapes that weights must have; None stands for any size.

        Those weights are named whose shape the runtime does not check: tables of which it reads
        the rows that it is asked for. A vector may have any shape with its number of values.
        """
        return ()

    def check_shapes(self, weights: Weights) -> None:
        """Raise ModelError for a weight that does not have the shape that `shapes` gives it."""
        for name, expected in self.shapes():
            if name not in weights:
                continue  # building the graph says so, if it is needed
            shape = weights[name].shape
            found = shape if len(expected) > 1 else (prod(shape),)
            if len(found) != len(expected) or any(
                size not in (None, other) for size, other in zip(expected, found, strict=True)
            ):
                shown = " × ".join("any" if size is None else str(size) for size in expected)
                raise ModelError(f"the weight {name} has the shape {shape}, it must be {shown}")

    @abstractmethod
    def describe(self) -> str:
        """Return a short description for people."""

    @abstractmethod
    def build(
        self,
        weights: Weights,
        *,
        shortlist: bool = False,
        sample: Sequence[int] = (),
        bare: bool = False,
    ) -> Graphs:
        """Write the graphs of the network; with a shortlist only its tokens are scored.

        ``sample`` names tokens that stand for all that a shortlist leaves out, so that scores are
        shares of the whole vocabulary. Without any they are shares of the list. With ``bare``
        the output layer is left out of the graphs, if engines can compute it.
        """

    @abstractmethod
    def build_attending(
        self,
        weights: Weights,
        *,
        single: bool = False,
        shortlist: bool = False,
        sample: Sequence[int] = (),
        alignment: tuple[int, int] | None = None,
        bare: bool = False,
    ) -> bytes:
        """Write a decoder, or the one for a single sentence, that also says where it looks.

        ``alignment`` is the decoder layer and head, counted from 0, whose attention it gives;
        None is the mean over all heads of the last layer.
        """

    def build_draft(
        self,
        weights: Weights,  # noqa: ARG002
        *,
        attends: bool = False,  # noqa: ARG002
        shortlist: bool = False,  # noqa: ARG002
        sample: Sequence[int] = (),  # noqa: ARG002
        alignment: tuple[int, int] | None = None,  # noqa: ARG002
    ) -> bytes | None:
        """Write a graph that takes all steps of a draft at once, if the kind has one.

        With ``attends`` it also says where it looks.
        """
        return None

    def position_tables(self, weights: Weights) -> tuple[Float32, Float32] | None:  # noqa: ARG002
        """Return the embeddings of positions for encoder and decoder, if the weights have any."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return what `read_architecture` reads."""
        return {"type": self.kind, **asdict(self)}  # type: ignore[call-overload]


def read_architecture(values: Mapping[str, Any]) -> Architecture:
    """Read a network's kind, sizes and options back from JSON."""
    options = dict(values)
    kind = f"{options.pop('type', None)!s:.60}"
    if kind not in _KINDS:
        register_all(__package__)
    if kind not in _KINDS:
        raise ModelError(f"networks of type {kind} are not supported")
    return _KINDS[kind].from_dict(options)
