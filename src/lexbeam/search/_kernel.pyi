"""Types of the compiled functions; what they do is said in ``_kernel.c``."""

from typing import Any

from numpy.typing import NDArray

_Array = NDArray[Any]
_Tables = object

CHECKSUM: int

def tables(arrays: tuple[_Array, ...], symbols: int, /) -> _Tables: ...
def ask(
    tables: _Tables,
    node: _Array,
    seen: _Array,
    stages: _Array | None,
    hold: _Array | None,
    tokens: _Array,
    targets: _Array,
    /,
) -> int: ...
def best(k: int, /, *arrays: _Array | None) -> int: ...
def collect(tables: _Tables, k: int, flags: int, /, *arrays: _Array | None) -> int: ...
def sum_by_kind(
    tokens: _Array,
    targets: _Array,
    scores: _Array,
    sentence: _Array,
    kind_of_node: _Array,
    lowest: float,
    sums: _Array,
    counts: _Array,
    /,
) -> None: ...
def add_costs(*arrays: _Array | None) -> None: ...
def select_by_slots(
    bank: _Array, score: _Array, slots: _Array, sentences: int, indices: _Array, taken: _Array, /
) -> int: ...
def select_by_price(
    bank: _Array,
    score: _Array,
    sentences: int,
    k: int,
    handicap: float,
    indices: _Array,
    taken: _Array,
    /,
) -> None: ...
def drop_behind(
    score: _Array, live: _Array, bank: _Array | None, sentences: int, lag: float, /
) -> None: ...
def is_sound(
    top_scores: _Array,
    top_ids: _Array,
    ask_scores: _Array,
    ban: _Array,
    eos: int,
    vocabulary: int,
    rounding: float,
    /,
) -> bool: ...
def ask_live(tables: _Tables | None, eos: int, /, *arrays: _Array | None) -> tuple[int, int]: ...
def advance(
    tables: _Tables | None, k: int, flags: int, eos: int, vocabulary: int, /, *arrays: _Array | None
) -> tuple[int, bool, bool] | None: ...
