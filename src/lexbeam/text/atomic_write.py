"""Write files in one step: a reader, or a kill at any moment, finds the old file or the new one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_UNFINISHED = ".part"


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that replaces ``path`` at the end of the block, unless the block raises.

    Several processes and threads may write the same path: the last to finish wins.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}{_UNFINISHED}")
    try:
        with unfinished.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file in one step; text is encoded as UTF-8."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def remove_unfinished(folder: Path) -> None:
    """Remove what killed processes left behind; nobody else may be writing to the folder."""
    for path in folder.glob(f"*{_UNFINISHED}"):
        path.unlink(missing_ok=True)
