"""Documents that were sent to be translated: kept until they are fetched, an hour at most."""

from __future__ import annotations

import hmac
import secrets
import time
from dataclasses import dataclass

from lexbeam.server.errors import ApiError, not_found
from lexbeam.server.keys import digest
from lexbeam.server.store import Store

KEPT_SECONDS = 3600.0


@dataclass(frozen=True)
class DocumentStatus:
    """How far a document is: queued, translating, done or error."""

    id: str
    name: str
    status: str
    characters: int
    error: str | None


class DocumentStore:
    """The documents of a server."""

    def __init__(self, store: Store) -> None:
        self._store = store
        with store.changing() as connection:  # what a server had begun that is no more
            connection.execute(
                "UPDATE documents SET status = 'error', error = 'the server was stopped' "
                "WHERE status IN ('queued', 'translating')"
            )

    def add(self, name: str, characters: int) -> tuple[str, str]:
        """Begin a document; return its number and the key that it can be fetched with."""
        number, key = secrets.token_hex(16).upper(), secrets.token_hex(32).upper()
        with self._store.changing() as connection:
            connection.execute(
                "DELETE FROM documents WHERE created < ?", (time.time() - KEPT_SECONDS,)
            )
            connection.execute(
                "INSERT INTO documents VALUES (?, ?, ?, ?, 'queued', ?, NULL, NULL)",
                (number, digest(key), name, time.time(), characters),
            )
        return number, key

    def finish(self, number: str, content: bytes) -> None:
        """Keep the translation of a document."""
        with self._store.changing() as connection:
            connection.execute(
                "UPDATE documents SET status = 'done', content = ? WHERE id = ?", (content, number)
            )

    def fail(self, number: str, reason: str) -> None:
        """Note that a document can't be translated."""
        with self._store.changing() as connection:
            connection.execute(
                "UPDATE documents SET status = 'error', error = ? WHERE id = ?", (reason, number)
            )

    def status(self, number: str, key: str | None) -> DocumentStatus:
        """Return how far a document is.

        Raises:
            ApiError: there is none with this number and key.
        """
        rows = self._store.rows("SELECT * FROM documents WHERE id = ?", number)
        fresh = [row for row in rows if row["created"] > time.time() - KEPT_SECONDS]
        if not fresh or not hmac.compare_digest(fresh[0]["digest"], digest(key or "")):
            raise not_found("Document")
        row = fresh[0]
        return DocumentStatus(
            row["id"], row["name"], row["status"], row["characters"], row["error"]
        )

    def fetch(self, number: str, key: str | None, keep: bool = False) -> tuple[str, bytes]:
        """Return the name and the translation of a document, which is gone then unless kept.

        Raises:
            ApiError: there is none, or it is not ready.
        """
        status = self.status(number, key)
        if status.status == "error":
            raise ApiError(404, f"Document not found: {status.error}")
        if status.status != "done":
            raise ApiError(503, "Document is not ready yet")
        with self._store.changing() as connection:
            row = connection.execute(
                "SELECT content FROM documents WHERE id = ?", (number,)
            ).fetchone()
            if not keep:
                connection.execute("DELETE FROM documents WHERE id = ?", (number,))
        if row is None:
            raise not_found("Document")
        return status.name, bytes(row["content"])
