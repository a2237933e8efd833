"""Types of the compiled functions; what they do is said in ``_kernel.c``."""

from typing import Any

from numpy.typing import NDArray

_Array = NDArray[Any]
_Tables = object

CHECKSUM: int

def tables(arrays: tuple[_Array, ...], symbols: int, /) -> _Tables: ...
def ask(tables: _Tables | None, first: int, /, *arrays: _Array | None) -> tuple[int, int]: ...
def take(tables: _Tables, eos: int, /, *arrays: _Array | None) -> None: ...
def fewest_steps(
    following: _Array, closed: _Array, done: _Array, never: int, need: _Array, /
) -> None: ...
def select(
    bank: _Array,
    score: _Array,
    slots: _Array | None,
    sentences: int,
    k: int,
    handicap: float,
    indices: _Array,
    taken: _Array,
    /,
) -> int: ...
def is_sound(
    top_scores: _Array,
    top_ids: _Array,
    ask_scores: _Array,
    rows: int,
    eos: int,
    vocabulary: int,
    rounding: float,
    /,
) -> bool: ...
def advance(
    tables: _Tables | None, numbers: _Array, /, *arrays: _Array | None
) -> tuple[int, bool, bool] | None: ...
