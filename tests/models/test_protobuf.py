from __future__ import annotations

import struct

import pytest

from lexbeam.errors import ModelError
from lexbeam.models.protobuf import bytes_field, float_field, int_field, read_fields


def test_what_was_written_is_read_back() -> None:
    fields = [int_field(1, 300), bytes_field(2, "ä"), float_field(19, 1.5), int_field(4, -1)]
    found = list(read_fields(b"".join(fields)))
    assert [number for number, _, _ in found] == [1, 2, 19, 4]
    values = [value for _, value, _ in found]
    assert values == [300, "ä".encode(), struct.pack("<f", 1.5), (1 << 64) - 1]
    assert [raw for _, _, raw in found] == fields


def test_a_message_within_a_message() -> None:
    ((number, inner, _),) = read_fields(bytes_field(7, int_field(1, 5)))
    assert isinstance(inner, bytes)
    assert (number, next(read_fields(inner))[1]) == (7, 5)


@pytest.mark.parametrize("damaged", [b"\x0a", b"\x0a\x05ab", b"\xff" * 12, b"\x0f", b"\x15\x00"])
def test_damage_is_an_error(damaged: bytes) -> None:
    with pytest.raises(ModelError, match="protocol-buffer"):
        list(read_fields(damaged))
