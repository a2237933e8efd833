"""Write and read protocol-buffer messages, as far as model files need them.

A message is a sequence of fields, each a number with a type and a value. That is simple enough to
need no package.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from lexbeam.errors import ModelError

_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5
_FIXED = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # negative numbers are written in two's complement
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def int_field(number: int, value: int) -> bytes:
    """Write an integer."""
    return _varint(number << 3 | _VARINT) + _varint(value)


def float_field(number: int, value: float) -> bytes:
    """Write a number in single precision."""
    return _varint(number << 3 | _FOUR_BYTES) + struct.pack("<f", value)


def bytes_field(number: int, value: bytes | str) -> bytes:
    """Write a text, or a message within this one."""
    data = value.encode() if isinstance(value, str) else value
    return field_head(number, len(data)) + data


def field_head(number: int, size: int) -> bytes:
    """Write the head of a text or message of this size."""
    return _varint(number << 3 | _LENGTH) + _varint(size)


def read_fields(message: bytes) -> Iterator[tuple[int, int | bytes, bytes]]:
    """Yield the number of each field, its value and all of its bytes.

    Integers are given as such, anything else as the bytes of its value.
    """
    at = 0
    while at < len(message):
        start = at
        key, at = _read_varint(message, at)
        kind = key & 7
        value: int | bytes
        if kind == _VARINT:
            value, at = _read_varint(message, at)
        elif kind == _LENGTH or kind in _FIXED:
            size, at = (_FIXED[kind], at) if kind in _FIXED else _read_varint(message, at)
            value = message[at : at + size]
            at += size
        else:
            raise ModelError("damaged, or not a protocol-buffer message")
        if at > len(message):
            raise ModelError("cut short, or not a protocol-buffer message")
        yield key >> 3, value, message[start:at]


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(message) or shift > 63:
            raise ModelError("cut short, or not a protocol-buffer message")
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
