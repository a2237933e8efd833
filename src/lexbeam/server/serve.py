"""Start a server and run it until it is told to stop."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from lexbeam.constraints.glossary import Glossary
from lexbeam.models.paths import data_home
from lexbeam.server.app import build_app
from lexbeam.server.context import Context
from lexbeam.server.keys import Keys, read_keys, this_month
from lexbeam.server.models import Models
from lexbeam.server.scheduler import Scheduler
from lexbeam.server.store import Store

_CONNECTIONS_WAITING = 2048
_STOP_SECONDS = 130


@dataclass(frozen=True)
class ServerOptions:
    """What a server is started with."""

    models: Sequence[str] = ()
    host: str = "127.0.0.1"
    port: int = 5000
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
    )


def run(options: ServerOptions, say: Callable[[str], object]) -> None:
    """Serve until SIGTERM or SIGINT; what was accepted is answered before it ends."""
    context = open_context(options)
    config = uvicorn.Config(
        build_app(context),
        host=options.host,
        port=options.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        backlog=_CONNECTIONS_WAITING,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
    names = ", ".join(served.name for served in context.models.all)
    say(f"lexbeam serves {names} on http://{options.host}:{options.port}/ (Ctrl+C stops it)")
    uvicorn.Server(config).run()
