from __future__ import annotations

import json
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)


def ask(
    server: str,
    method: str,
    path: str,
    body: Any = None,
    form: Any = None,
    headers: dict[str, str] | None = None,
) -> Reply:
    """Send one request: ``body`` as JSON (bytes as they are), ``form`` as a form."""
    address = urlsplit(server)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=60)
    sent = {"Content-Type": "application/json"} if body is not None else {}
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    if form is not None:
        sent = {"Content-Type": "application/x-www-form-urlencoded"}
        data = urlencode(form, doseq=True).encode()
    try:
        connection.request(method, path, data, {**sent, **(headers or {})})
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Reply(answer.status, found, answer.read())
    finally:
        connection.close()
