"""A server as a process of its own: how it stops, and what it keeps when it is killed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path

from helpers.http_client import Reply, ask


@contextmanager
def process(data: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "lexbeam", "serve", "--port", str(port), "--data", str(data)]
    running = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            if ask(address, "GET", "/health").status == 200:
                break
        except OSError:
            time.sleep(0.1)
    try:
        yield address, running
    finally:
        running.kill()
        running.wait()


def change_glossaries(address: str, there: dict[str, int]) -> None:
    """Make, replace and delete glossaries until the server is gone; note what it acknowledged."""
    dictionary = {"source_lang": "en", "target_lang": "de", "entries_format": "tsv"}
    with contextlib.suppress(OSError, HTTPException, json.JSONDecodeError):
        for n in range(200):
            sent = {**dictionary, "entries": "\n".join(f"a{i}\tb{i}" for i in range(n + 1))}
            oldest = next(iter(there), "")
            if n % 4 == 2:
                there.pop(oldest)  # whether it is there is not known until it is answered
                path = f"/v3/glossaries/{oldest}/dictionaries"
                there[oldest] = ask(address, "PUT", path, sent).json["entry_count"]
            elif n % 4 == 3:
                there.pop(oldest)
                assert ask(address, "DELETE", f"/v3/glossaries/{oldest}").status == 204
            else:
                made = {"name": f"G{n}", "dictionaries": [sent]}
                there[ask(address, "POST", "/v3/glossaries", made).json["glossary_id"]] = n + 1


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    acknowledged: dict[str, int] = {}
    with process(tmp_path) as (address, running):
        thread = threading.Thread(target=change_glossaries, args=(address, acknowledged))
        thread.start()
        time.sleep(random.uniform(0.1, 0.6))
        os.kill(running.pid, signal.SIGKILL)
        thread.join()
    assert acknowledged
    with process(tmp_path) as (address, _):
        listed = ask(address, "GET", "/v3/glossaries").json["glossaries"]
        found = {each["glossary_id"]: each["dictionaries"][0]["entry_count"] for each in listed}
    assert acknowledged.items() <= found.items()


def test_what_was_accepted_is_answered_before_it_stops(tmp_path: Path) -> None:
    text = " ".join(f"Page {n} of the book has {n} words." for n in range(60))
    replies: list[Reply] = []
    with process(tmp_path) as (address, running):
        sent = {"q": text, "source": "en", "target": "de"}

        def send() -> None:
            replies.append(ask(address, "POST", "/translate", sent))

        thread = threading.Thread(target=send)
        thread.start()
        time.sleep(0.5)
        running.send_signal(signal.SIGTERM)
        thread.join(60)
        assert running.wait(60) is not None
    assert replies[0].status == 200
    assert "60" not in replies[0].json["translatedText"][:20]


def test_a_port_that_is_taken_is_one_clear_error(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "lexbeam", "serve", "--port", str(port)]
        found = subprocess.run(
            [*command, "--data", str(tmp_path)], capture_output=True, text=True, check=False
        )
    assert found.returncode != 0
    assert f"port {port}" in found.stderr
    assert "Traceback" not in found.stderr


def test_the_port_that_was_free_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lexbeam", "serve", "--port", "0", "--data", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        address = running.stderr.readline().split()[4]
        assert ask(address, "GET", "/health").status == 200
        running.terminate()
