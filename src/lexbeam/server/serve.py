"""Start a server and run it until it is told to stop."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from lexbeam.constraints.glossary import Glossary
from lexbeam.errors import InputError
from lexbeam.models.paths import data_home
from lexbeam.server.app import build_app
from lexbeam.server.context import Context
from lexbeam.server.hosts import allowed_names
from lexbeam.server.keys import Keys, read_keys, this_month
from lexbeam.server.models import Models
from lexbeam.server.protocol import BoundedProtocol
from lexbeam.server.scheduler import Scheduler
from lexbeam.server.store import Store

_CONNECTIONS_WAITING = 2048
_STOP_SECONDS = 130
_IDLE_SECONDS = 75  # clients that look after a document every 5 s keep their connection
_SWITCH_SECONDS = 0.0005
"""For how long a thread that searches keeps the interpreter from one that has an answer to send."""


@dataclass(frozen=True)
class ServerOptions:
    """What a server is started with."""

    models: Sequence[str] = ()
    host: str = "127.0.0.1"
    port: int = 5000
    names: Sequence[str] = ()
    """Names by which the server may be called, beside those that are safe."""
    keys: Path | None = None
    data: Path | None = None
    glossaries: Sequence[Path] = ()
    threads: int | None = None


def open_context(options: ServerOptions) -> Context:
    """Load models and data; everything is ready when this returns.

    Raises:
        LexbeamError: a model, a glossary or the folder can't be used.
    """
    keys = read_keys(options.keys)
    glossary = Glossary.load(*options.glossaries) if options.glossaries else None
    models = Models.load(list(options.models))
    models.warm_up()
    store = Store(options.data or data_home())
    threads = options.threads or os.cpu_count() or 1
    return Context(
        models,
        Scheduler(threads),
        store,
        Keys(keys, store.usage(this_month())),
        glossary,
        names=allowed_names(options.host, options.names),
    )


def run(options: ServerOptions, say: Callable[[str], object]) -> None:
    """Serve until SIGTERM or SIGINT; what was accepted is answered before it ends.

    Raises:
        LexbeamError: a model, a glossary, the folder or the address can't be used.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    with _bound(options.host, options.port) as listening:
        context = open_context(options)
        listening.listen(_CONNECTIONS_WAITING)
        names = ", ".join(served.name for served in context.models.all)
        host = f"[{options.host}]" if ":" in options.host else options.host
        port = listening.getsockname()[1]
        say(f"lexbeam serves {names} on http://{host}:{port}/ (Ctrl+C stops it)")
        make_server(context).run(sockets=[listening])


def make_server(context: Context) -> uvicorn.Server:
    """Return what speaks HTTP."""
    config = uvicorn.Config(
        build_app(context),
        log_level="warning",
        access_log=False,
        server_header=False,
        backlog=_CONNECTIONS_WAITING,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_STOP_SECONDS,
        http=BoundedProtocol,
        ws="none",
    )
    return uvicorn.Server(config)


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket that has an address, but does not listen yet."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"can't listen on {host}, port {port}: {reason}") from None
    return bound
