"""Fetch files over HTTP; an interrupted download continues where it stopped."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from pathlib import Path

from lexbeam.errors import ModelError

Report = Callable[[int, int | None], None]
"""Called with the bytes fetched so far and, if known, the size of the file."""

ATTEMPTS = 3
TIMEOUT_SECONDS = 30
_CHUNK = 1 << 16
_GZIP_MAGIC = b"\x1f\x8b"
_LARGEST = 1 << 32  # no model file is larger; a gzip that swells beyond it is damaged


def fetch_bytes(url: str, limit: int = 1 << 26) -> bytes:
    """Return a small file whole."""
    try:
        with _open(url, {}) as response:
            data: bytes = response.read(limit + 1)
    except (OSError, http.client.HTTPException) as error:
        raise ModelError(f"can't fetch {url}: {_reason(error)}") from error
    if len(data) > limit:
        raise ModelError(f"{url} is larger than {limit} bytes: this can't be right")
    return data


def fetch_file(url: str, destination: Path, report: Report | None = None) -> None:
    """Download a file; continue what an earlier attempt has left in ``destination``."""
    fault: Exception = OSError("nothing was received")
    for _ in range(ATTEMPTS):
        try:
            if _fetch_rest(url, destination, report or _silent):
                return
            fault = OSError("the connection was cut")
        except urllib.error.HTTPError as error:
            error.close()
            if error.code < 500:  # the answer would be the same again
                raise ModelError(f"can't fetch {url}: {_reason(error)}") from error
            fault = error
        except (OSError, http.client.HTTPException) as error:
            fault = error
    raise ModelError(
        f"can't fetch {url}: {_reason(fault)}; run the same command to go on from there"
    ) from fault


def unpack(packed: Path, destination: Path, size: int | None = None) -> str:
    """Unpack a gzipped file; return the SHA-256 of its content.

    A file that is not gzipped is copied. ``size`` is the size it must have, if known.
    """
    digest = hashlib.sha256()
    written = 0
    with packed.open("rb") as reader, destination.open("wb") as writer:
        zipped = reader.read(2) == _GZIP_MAGIC
        reader.seek(0)
        decompressor = zlib.decompressobj(wbits=31) if zipped else None
        while chunk := reader.read(_CHUNK):
            try:
                data = decompressor.decompress(chunk) if decompressor else chunk
            except zlib.error as error:
                raise ModelError(f"{packed.name} is damaged: {error}") from error
            written += len(data)
            if written > (size if size is not None else _LARGEST):
                raise ModelError(f"{packed.name} is larger than it should be")
            digest.update(data)
            writer.write(data)
    if decompressor and not decompressor.eof:
        raise ModelError(f"{packed.name} is damaged: it ends too early")
    if size is not None and written != size:
        raise ModelError(f"{packed.name} has {written} bytes unpacked, but should have {size}")
    return digest.hexdigest()


def _fetch_rest(url: str, destination: Path, report: Report) -> bool:
    """Fetch what follows the bytes in the file; return whether it is complete."""
    done = destination.stat().st_size if destination.exists() else 0
    try:
        response = _open(url, {"Range": f"bytes={done}-"} if done else {})
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        with error:
            complete = error.headers.get("Content-Range") == f"bytes */{done}"
        if not complete:
            destination.unlink()
        return complete
    with response:
        resumed = response.status == http.HTTPStatus.PARTIAL_CONTENT
        if resumed and not _starts_at(response.headers.get("Content-Range"), done):
            destination.unlink()
            return False
        done = done if resumed else 0
        length = response.headers.get("Content-Length")
        total = done + int(length) if length and length.isdigit() else None
        with destination.open("ab" if resumed else "wb") as writer:
            report(done, total)
            while chunk := response.read(_CHUNK):
                writer.write(chunk)
                done += len(chunk)
                report(done, total)
    return total is None or done == total


def _starts_at(content_range: str | None, start: int) -> bool:
    return (content_range or "").startswith(f"bytes {start}-")


def _open(url: str, headers: dict[str, str]) -> http.client.HTTPResponse:
    if not url.startswith(("http://", "https://")):
        raise ModelError(f"can't fetch {url!r}: only http and https addresses are supported")
    request = urllib.request.Request(url, headers=headers)
    response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)
    return response


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        error.close()
        return f"the server answers {error.code} {error.reason}"
    if isinstance(error, urllib.error.URLError):
        return str(error.reason)
    return str(error) or type(error).__name__


def _silent(done: int, total: int | None) -> None:
    """Report nothing."""
