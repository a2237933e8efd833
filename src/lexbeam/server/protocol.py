"""How HTTP is read: by httptools, which takes a fraction of the time of h11."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_HEAD = 256 * 1024
"""Bytes of an address with all headers, which the parser itself does not limit."""

_LONGEST_ADDRESS = 65_000  # bytes; httptools reads no more than 65,535


class BoundedProtocol(HttpToolsProtocol):
    """Reads requests, and ends a connection that sends a head without end.

    What is counted are the bytes since the last head, piece of a body or end of a body, so that
    neither headers nor what may stand around the pieces of a body can fill the memory.
    """

    _unread = 0

    def data_received(self, data: bytes) -> None:
        """Read what has come."""
        self._unread += len(data)
        super().data_received(data)
        if self._unread > LONGEST_HEAD and not self.transport.is_closing():
            self.send_400_response("The headers are too long.")

    def on_headers_complete(self) -> None:
        """Begin to answer; the application refuses an address by the length that is left of it."""
        self._unread = 0
        self.url = self.url[:_LONGEST_ADDRESS]
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that the body is whole."""
        self._unread = 0
        super().on_message_complete()
