"""By which names the server may be called, so that no web page reaches it under a name of its own.

A page of ``evil.example`` may let that name point to 127.0.0.1 and then read what a server there
answers (DNS rebinding). Its requests say ``Host: evil.example``. Names that nobody else can give
to this machine do no harm: addresses, names without a dot, and those that end in ``.localhost``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

ANY = "*"


def allowed_names(host: str, given: Sequence[str]) -> frozenset[str] | None:
    """Return the names with a dot by which a server on an address may be called, None for any.

    A server for a network can't know its names: it takes any unless some are given.
    """
    if ANY in given or (not given and not _is_loopback(host)):
        return None
    return frozenset(name.lower().rstrip(".") for name in (host, *given))


def may_be_called(header: str, names: frozenset[str] | None) -> bool:
    """Return whether a request with this Host header is answered."""
    if names is None:
        return True
    name = _without_port(header).lower().rstrip(".")
    return "." not in name or name.endswith(".localhost") or name in names or _is_address(name)


def _without_port(header: str) -> str:
    header = header.strip()
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header if header.count(":") > 1 else header.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost" or host.lower().endswith(".localhost"):
        return True
    return _is_address(host) and ipaddress.ip_address(host).is_loopback
