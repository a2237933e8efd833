from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from lexbeam.server.context import Context, Limits
from lexbeam.server.serve import ServerOptions, make_server, open_context


@contextmanager
def running(context: Context) -> Iterator[str]:
    """Serve on loopback in a thread; gives the address."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(2048)
    server = make_server(context)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()


@contextmanager
def serving(
    data: Path, keys: str = "", glossaries: Sequence[Path] = (), limits: Limits | None = None
) -> Iterator[str]:
    """Serve the model that comes along, with its data in a folder."""
    path = None
    if keys:
        path = data / "keys.txt"
        path.write_text(keys)
    options = ServerOptions(keys=path, data=data, glossaries=glossaries, threads=2)
    context = open_context(options)
    context.limits = limits or replace(context.limits, patience=20.0)
    with running(context) as address:
        yield address


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that needs no key."""
    with serving(tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.fixture(scope="session")
def locked_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with two keys: ``good``, and ``small``, which may translate 50 characters."""
    with serving(tmp_path_factory.mktemp("locked"), "good\nsmall 50 # of a guest\n") as address:
        yield address
