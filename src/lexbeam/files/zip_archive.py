"""ZIP archives that hold documents: read within limits, written part by part."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping

from lexbeam.errors import InputError

MAX_UNPACKED = 200_000_000
MAX_PARTS = 10_000


class Archive:
    """An archive whose parts have been looked over; nothing is ever unpacked to disk.

    Raises:
        InputError: it is damaged, encrypted or too large, or has names that lead out of it.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            infos = self._zip.infolist()
        except (
            zipfile.BadZipFile,
            OSError,
            ValueError,
            NotImplementedError,
            struct.error,
        ) as error:
            raise InputError(f"not a ZIP archive: {error}") from None
        if len(infos) > MAX_PARTS:
            raise InputError(f"the archive has more than {MAX_PARTS} parts")
        if sum(info.file_size for info in infos) > MAX_UNPACKED:
            raise InputError(f"the archive unpacks to more than {MAX_UNPACKED // 1_000_000} MB")
        names = set()
        for info in infos:
            _check(info)
            if info.filename in names:
                raise InputError(f"the archive has {info.filename!r} twice")
            names.add(info.filename)
        self.infos = infos
        for info in infos:
            self._read(info, keep=False)

    def read(self, name: str) -> bytes:
        """Return a part."""
        return self._read(self._zip.getinfo(name))

    def _read(self, info: zipfile.ZipInfo, keep: bool = True) -> bytes:
        """Read a part piece by piece; return it, or nothing if it is only to be checked."""
        name, pieces, size = info.filename, [], 0
        try:
            with self._zip.open(info) as part:
                while piece := part.read(1 << 20):
                    size += len(piece)
                    pieces += [piece] if keep else []
        except (
            zipfile.BadZipFile,
            OSError,
            zlib.error,
            EOFError,
            RuntimeError,
            ValueError,
            NotImplementedError,
        ) as error:
            raise InputError(f"{name} in the archive is damaged: {error}") from None
        if size != info.file_size:
            raise InputError(f"{name} in the archive is not as large as it says")
        return b"".join(pieces)

    def written(self, changed: Mapping[str, bytes]) -> bytes:
        """Return the archive with some parts changed: same order, same dates."""
        result = io.BytesIO()
        with zipfile.ZipFile(result, "w") as target:
            target.comment = self._zip.comment
            for info in self.infos:
                copy = zipfile.ZipInfo(info.filename, info.date_time)
                copy.compress_type = info.compress_type
                copy.external_attr = info.external_attr
                copy.create_system = info.create_system
                copy.comment = info.comment
                data = (
                    changed[info.filename] if info.filename in changed else self.read(info.filename)
                )
                target.writestr(copy, data)
        return result.getvalue()


def _check(info: zipfile.ZipInfo) -> None:
    name = info.filename.replace("\\", "/")
    if name.startswith("/") or ".." in name.split("/") or ":" in name.split("/")[0] or "\0" in name:
        raise InputError(f"the archive has a part that leads out of it: {info.filename!r}")
    if info.flag_bits & 1:
        raise InputError("the archive is encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"{info.filename} in the archive is packed in a way that is not known")
    if (info.external_attr >> 16) & 0o170000 == 0o120000:
        raise InputError(f"the archive has a link: {info.filename!r}")
    if info.file_size > 1_000_000 and info.file_size > 1000 * max(1, info.compress_size):
        raise InputError(f"{info.filename} in the archive unpacks to a thousand times its size")
