"""What a request carries, whatever it is encoded in: JSON, a form, a multipart form, a query.

Clients send all four, and a form in the body of a GET. A handler asks for fields by name and type.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from math import isinf
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from python_multipart.exceptions import FormParserError
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from lexbeam.arguments import read_json_integer
from lexbeam.server.errors import ApiError, bad_request

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})
_MOST_FIELDS = 50_000


@dataclass(frozen=True)
class File:
    """A file that was sent along."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Fields:
    """The fields of a request by name; a form has lists of strings, JSON whatever was sent."""

    values: dict[str, Any] = field(default_factory=dict)
    files: dict[str, File] = field(default_factory=dict)
    is_json: bool = False

    def __contains__(self, name: str) -> bool:
        return self.values.get(name) is not None

    def get(self, name: str) -> Any:
        """Return a field as it was sent; of a form, the last value."""
        value = self.values.get(name)
        if not self.is_json and isinstance(value, list):
            return value[-1]
        return value

    def string(self, name: str, or_number: bool = False) -> str | None:
        """Return a field that must be a string, or may be a number; None if it is missing."""
        value = self.get(name)
        if value is None or isinstance(value, str):
            return value
        if or_number and isinstance(value, int):
            return str(int(value))
        raise bad_request(f"Value for '{name}' must be a string.")

    def strings(self, name: str) -> list[str]:
        """Return a field that may be given several times, or as a list; empty if missing."""
        value = self.values.get(name, self.values.get(f"{name}[]"))
        if value is None:
            return []
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(each, str) for each in values):
            raise bad_request(f"Value for '{name}' must be a list of strings.")
        return values

    def names(self, name: str) -> list[str]:
        """Return a list of names, which a form has in one field with commas between."""
        return [
            part.strip() for each in self.strings(name) for part in each.split(",") if part.strip()
        ]

    def flag(self, name: str) -> bool:
        """Return a field that is true or false, in any way that clients write this."""
        value = self.get(name)
        written = str(value).lower() if isinstance(value, str | bool | int) else "?"
        if value is None or written in _FALSE:
            return False
        if written in _TRUE:
            return True
        raise bad_request(f"Value for '{name}' must be true or false.")

    def number(self, name: str, most: int) -> int:
        """Return a field that is a whole number from 0; 0 if missing."""
        value = self.get(name)
        if value is None or value == "":
            return 0
        try:
            found = int(value) if isinstance(value, str | int) else -1
        except ValueError:
            found = -1
        if isinstance(value, bool) or not 0 <= found <= most:
            raise bad_request(f"Value for '{name}' must be a whole number from 0 to {most}.")
        return found

    def data(self, name: str) -> Any:
        """Return a field that may be a list or an object, which a form has as JSON.

        A form may also have the strings of a list one by one.
        """
        value = self.get(name)
        if self.is_json or not isinstance(value, str):
            return value
        if value.lstrip()[:1] in ("[", "{"):
            try:
                return parse_json(value)
            except ApiError:
                pass  # a string that begins like JSON
        listed: list[Any] = self.values[name]
        return listed


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ApiError: it is none.
    """
    try:
        return _DECODER.decode(text if isinstance(text, str) else _decoded(text))
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise bad_request(f"The body is not valid JSON: {reason}") from None


def _decoded(text: bytes) -> str:
    return text.decode(json.detect_encoding(text), "surrogatepass")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _read_integer(digits: str) -> int:
    if read_json_integer(digits) == float("inf"):
        raise ValueError(f"a number of {len(digits)} digits is too large")
    return int(digits)


def _read_float(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise ValueError(f"{digits[:20]} is too large a number")
    return number


_DECODER = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_int=_read_integer, parse_float=_read_float
)


async def read_body(request: Request, limit: int) -> bytes:
    """Return the body of a request, unpacked.

    Raises:
        ApiError: it is larger than the limit, or can't be unpacked.
    """
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limit:
        raise _too_large(limit)
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
            chunks.append(chunk)
    except ClientDisconnect:
        raise bad_request("The client has gone") from None
    return _unpacked(b"".join(chunks), request.headers.get("content-encoding", ""), limit)


def _unpacked(body: bytes, encoding: str, limit: int) -> bytes:
    """Return a body without its compression, of which no more than the limit is undone."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity") or not body:
        return body
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise ApiError(415, f"Content-Encoding {encoding[:20]} not supported: use gzip")
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # finds out which of the two it is
    try:
        unpacked = unpacker.decompress(body, limit + 1)
    except zlib.error:
        raise bad_request(f"The body is not {encoding}") from None
    if len(unpacked) > limit:
        raise _too_large(limit)
    if not unpacker.eof:
        raise bad_request(f"The body is not whole {encoding}")
    return unpacked


def _too_large(limit: int) -> ApiError:
    return ApiError(413, f"The request is larger than {limit} bytes")


async def read_fields(request: Request, limit: int) -> Fields:
    """Return the fields of a request, those of its query included; the body's come first."""
    body = await read_body(request, limit)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    query = _listed(list(request.query_params.multi_items()))
    if not body:
        return Fields(query)
    if kind == "multipart/form-data":
        return await _multipart(request, body, query)
    if kind.endswith("json") or (not kind.endswith("urlencoded") and body.lstrip()[:1] == b"{"):
        values = parse_json(body)
        if not isinstance(values, dict):
            raise bad_request(f"The body must be a JSON object, not {type(values).__name__}")
        return Fields({**{name: v[-1] for name, v in query.items()}, **values}, is_json=True)
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS
        )
    except (UnicodeDecodeError, ValueError):
        raise bad_request("The body is no form that can be read") from None
    return Fields({**query, **_listed(pairs)})


def _listed(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return values


async def _multipart(request: Request, body: bytes, query: dict[str, Any]) -> Fields:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    parser = MultiPartParser(
        request.headers,
        stream(),
        max_files=5,
        max_fields=_MOST_FIELDS,
        max_part_size=len(body),
    )
    try:
        form: FormData = await parser.parse()
    except (MultiPartException, FormParserError, KeyError, ValueError):
        raise bad_request("The body is no multipart form that can be read") from None
    files: dict[str, File] = {}
    pairs: list[tuple[str, str]] = []
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            files[name] = File(value.filename or "", await value.read())
        else:
            pairs.append((name, value))
    await form.close()
    return Fields({**query, **_listed(pairs)}, files)
