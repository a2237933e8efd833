"""The glossaries that a server keeps: each with a name and a dictionary per language pair."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from lexbeam.constraints.glossary import Glossary
from lexbeam.server.errors import ApiError, bad_request, not_found
from lexbeam.server.glossary_entries import Entries
from lexbeam.server.store import Store

MOST_GLOSSARIES = 1000
_CACHED = 64

Pair = tuple[str, str]


@dataclass(frozen=True)
class DictionaryInfo:
    """A dictionary without its entries."""

    source: str
    target: str
    count: int


@dataclass(frozen=True)
class GlossaryInfo:
    """A glossary without the entries of its dictionaries."""

    id: str
    name: str
    created: str
    dictionaries: tuple[DictionaryInfo, ...]


class GlossaryStore:
    """Glossaries of all owners; each sees only its own."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ready: OrderedDict[tuple[int, ...], Glossary] = OrderedDict()

    def create(self, owner: str, name: str, dictionaries: dict[Pair, Entries]) -> GlossaryInfo:
        """Keep a new glossary."""
        number = str(uuid.uuid4())
        created = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        with self._store.changing() as connection:
            (count,) = connection.execute(
                "SELECT COUNT(*) FROM glossaries WHERE owner = ?", (owner,)
            ).fetchone()
            if count >= MOST_GLOSSARIES:
                raise ApiError(456, f"There are {MOST_GLOSSARIES} glossaries: delete some first")
            connection.execute(
                "INSERT INTO glossaries VALUES (?, ?, ?, ?)", (number, owner, name, created)
            )
            for pair, entries in dictionaries.items():
                _write(connection, number, pair, entries)
        return self.get(owner, number)

    def all(self, owner: str) -> list[GlossaryInfo]:
        """Return the glossaries of an owner, the oldest first."""
        rows = self._store.rows(
            "SELECT * FROM glossaries WHERE owner = ? ORDER BY created, id", owner
        )
        return [self._info(row) for row in rows]

    def get(self, owner: str, number: str) -> GlossaryInfo:
        """Return a glossary.

        Raises:
            ApiError: there is none with this number.
        """
        try:
            checked = str(uuid.UUID(number))
        except ValueError:
            raise bad_request("Invalid or missing glossary id") from None
        rows = self._store.rows(
            "SELECT * FROM glossaries WHERE id = ? AND owner = ?", checked, owner
        )
        if not rows:
            raise not_found("Glossary")
        return self._info(rows[0])

    def _info(self, row: sqlite3.Row) -> GlossaryInfo:
        found = self._store.rows(
            "SELECT source, target, count FROM dictionaries WHERE glossary = ? "
            "ORDER BY position, version",
            row["id"],
        )
        dictionaries = tuple(DictionaryInfo(*each) for each in found)
        return GlossaryInfo(row["id"], row["name"], row["created"], dictionaries)

    def delete(self, owner: str, number: str) -> None:
        """Delete a glossary."""
        info = self.get(owner, number)
        with self._store.changing() as connection:
            connection.execute("DELETE FROM glossaries WHERE id = ?", (info.id,))

    def update(
        self, owner: str, number: str, name: str | None, added: Mapping[Pair, Entries]
    ) -> GlossaryInfo:
        """Give a glossary another name, and add entries; what it had for the same terms is lost."""
        info = self.get(owner, number)
        with self._store.changing() as connection:
            if name is not None:
                connection.execute("UPDATE glossaries SET name = ? WHERE id = ?", (name, info.id))
            for pair, entries in added.items():
                row = connection.execute(
                    "SELECT entries FROM dictionaries "
                    "WHERE glossary = ? AND source = ? AND target = ?",
                    (info.id, *pair),
                ).fetchone()
                known = json.loads(row["entries"]) if row else {}
                _write(connection, info.id, pair, {**known, **entries})
        return self.get(owner, number)

    def entries(self, owner: str, number: str, pair: Pair) -> Entries:
        """Return the entries of a dictionary.

        Raises:
            ApiError: there is no such dictionary.
        """
        info = self.get(owner, number)
        rows = self._store.rows(
            "SELECT entries FROM dictionaries WHERE glossary = ? AND source = ? AND target = ?",
            info.id,
            *pair,
        )
        if not rows:
            raise not_found("Dictionary")
        return dict(json.loads(rows[0]["entries"]))

    def put(self, owner: str, number: str, pair: Pair, entries: Entries) -> DictionaryInfo:
        """Replace a dictionary, or begin one."""
        info = self.get(owner, number)
        with self._store.changing() as connection:
            _write(connection, info.id, pair, entries)
        return DictionaryInfo(*pair, len(entries))

    def delete_dictionary(self, owner: str, number: str, pair: Pair) -> None:
        """Delete a dictionary."""
        info = self.get(owner, number)
        with self._store.changing() as connection:
            deleted = connection.execute(
                "DELETE FROM dictionaries WHERE glossary = ? AND source = ? AND target = ?",
                (info.id, *pair),
            )
            if not deleted.rowcount:
                raise not_found("Dictionary")

    def ready(self, owner: str, numbers: Sequence[str], pair: Pair) -> Glossary:
        """Return the terms of glossaries for two languages; a later one overrides earlier ones.

        Raises:
            ApiError: a glossary is not there or has no terms for these languages.
        """
        versions = tuple(self._version(owner, number, pair) for number in numbers)
        known = self._ready.get(versions)
        if known is None:
            terms: Entries = {}
            for number in numbers:
                terms.update(self.entries(owner, number, pair))
            known = self._ready[versions] = Glossary.from_terms(terms)
            while len(self._ready) > _CACHED:
                self._ready.popitem(last=False)
        return known

    def _version(self, owner: str, number: str, pair: Pair) -> int:
        info = self.get(owner, number)
        rows = self._store.rows(
            "SELECT version FROM dictionaries WHERE glossary = ? AND source = ? AND target = ?",
            info.id,
            *pair,
        )
        if not rows:
            raise bad_request(
                f"The glossary has no dictionary for source_lang {pair[0]} and target_lang "
                f"{pair[1]}"
            )
        return int(rows[0]["version"])


def _write(connection: sqlite3.Connection, number: str, pair: Pair, entries: Entries) -> None:
    """Write a dictionary at its place; each writing has a version of its own."""
    places = {
        (row["source"], row["target"]): row["position"]
        for row in connection.execute(
            "SELECT source, target, position FROM dictionaries WHERE glossary = ?", (number,)
        )
    }
    place = places.get(pair, max(places.values(), default=0) + 1)
    try:
        connection.execute(
            "INSERT OR REPLACE INTO dictionaries "
            "(glossary, source, target, entries, count, position) VALUES (?, ?, ?, ?, ?, ?)",
            (number, *pair, json.dumps(entries), len(entries), place),
        )
    except sqlite3.IntegrityError:  # it was deleted by another request just now
        raise not_found("Glossary") from None
