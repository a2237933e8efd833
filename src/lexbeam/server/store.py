"""One SQLite file for what a server keeps: glossaries, documents, and what each key has used.

Every change is one transaction that is on the disk before it is answered, so that nothing that
was acknowledged is lost, whenever the server is killed.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lexbeam.errors import InputError

_TABLES = """
CREATE TABLE IF NOT EXISTS glossaries (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, created TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS dictionaries (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    position INTEGER NOT NULL DEFAULT 0,
    glossary TEXT NOT NULL REFERENCES glossaries(id) ON DELETE CASCADE,
    source TEXT NOT NULL, target TEXT NOT NULL, entries TEXT NOT NULL, count INTEGER NOT NULL,
    UNIQUE (glossary, source, target)
);
CREATE TABLE IF NOT EXISTS documents (
    id TEXT PRIMARY KEY, digest TEXT NOT NULL, name TEXT NOT NULL, created REAL NOT NULL,
    status TEXT NOT NULL, characters INTEGER NOT NULL, error TEXT, content BLOB
);
CREATE TABLE IF NOT EXISTS usage (
    digest TEXT NOT NULL, month TEXT NOT NULL, characters INTEGER NOT NULL,
    PRIMARY KEY (digest, month)
);
"""


class Store:
    """The file; any thread may use it."""

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                folder / "server.sqlite3", check_same_thread=False, isolation_level=None
            )
            self._connection.row_factory = sqlite3.Row
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("PRAGMA foreign_keys = ON")
            self._connection.executescript(_TABLES)
            self._add_missing_columns()
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"{folder}: can't keep data there: {error}") from error
        self._lock = threading.Lock()

    def _add_missing_columns(self) -> None:
        """Bring a file of an earlier version up to date."""
        columns = self._connection.execute("PRAGMA table_info(dictionaries)").fetchall()
        if "position" not in [column["name"] for column in columns]:
            self._connection.execute(
                "ALTER TABLE dictionaries ADD COLUMN position INTEGER NOT NULL DEFAULT 0"
            )

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """Make changes that are all kept, or none of them if there is an error."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        """Return what a query finds."""
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    def usage(self, month: str) -> dict[str, int]:
        """Return the characters of a month by the digests of their keys."""
        rows = self.rows("SELECT digest, characters FROM usage WHERE month = ?", month)
        return {row["digest"]: row["characters"] for row in rows}

    def keep_usage(self, month: str, used: Mapping[str, int]) -> None:
        """Keep the characters of a month."""
        with self.changing() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO usage VALUES (?, ?, ?)",
                [(digest, month, characters) for digest, characters in used.items()],
            )

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()
