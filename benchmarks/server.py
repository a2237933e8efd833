"""How fast the server answers, beside the translator alone.

    python benchmarks/server.py                  # everything, some minutes
    python benchmarks/server.py --requests 2000  # less of the long run

Starts ``lexbeam serve`` with the model that comes along in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import lexbeam

_SUBJECTS = ["computer", "printer", "password", "file", "folder"]
_SUBJECTS += ["window", "network", "server", "document", "image"]
_VERBS = ["restart", "select", "open", "close", "delete", "copy", "move", "rename", "print", "save"]


def sentences(count: int, first: int = 0) -> list[str]:
    """Return different sentences, so that none is in the cache."""
    made = []
    for n in range(first, first + count):
        verb, subject = _VERBS[n % 10].capitalize(), _SUBJECTS[n // 10 % 10]
        made.append(f"{verb} the {subject} number {n} before you go on with the installation.")
    return made


@contextmanager
def server(threads: int) -> Iterator[tuple[int, int]]:
    """Run a server; gives its port and its process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "lexbeam", "serve", "--port", str(port)]
        command += ["--data", folder, "--threads", str(threads)]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            for _ in range(300):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield port, process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


class Connection:
    """One connection that is kept open."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def translate(self, text: str) -> tuple[int, float]:
        """Send a text; return the status and the seconds it took."""
        if not hasattr(self, "_reader"):
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        body = json.dumps({"q": text, "source": "en", "target": "de"}).encode()
        head = (
            "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        start = time.perf_counter()
        self._writer.write(head.encode() + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        lines = answer.decode().lower().split("\r\n")
        length = next(int(x.split(":")[1]) for x in lines if x.startswith("content-length"))
        await self._reader.readexactly(length)
        return int(lines[0].split()[1]), time.perf_counter() - start


async def load(port: int, texts: list[str], connections: int) -> tuple[float, list[float], int]:
    """Send texts over some connections; return seconds, the times of each, and refusals."""
    waiting = iter(texts)
    times: list[float] = []
    refused = 0

    async def work() -> None:
        nonlocal refused
        connection = Connection(port)
        for text in waiting:
            status, seconds = await connection.translate(text)
            times.append(seconds)
            refused += status != 200

    start = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(connections)))
    return time.perf_counter() - start, times, refused


def percentile(times: list[float], share: float) -> float:
    """Return a percentile in milliseconds."""
    return 1000 * sorted(times)[min(len(times) - 1, int(share * len(times)))]


def memory(pid: int) -> float:
    """Return the memory of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def beside_a_book(port: int, texts: list[str]) -> list[float]:
    """Return the times of short requests while texts of 100 kB are translated."""
    book = " ".join(sentences(1400, 10_000_000))[:100_000]
    other = Connection(port)
    running = asyncio.ensure_future(other.translate(book))
    await asyncio.sleep(0.5)
    times: list[float] = []
    connection = Connection(port)
    for text in texts:
        if running.done():
            break
        times.append((await connection.translate(text))[1])
        await asyncio.sleep(0.05)
    running.cancel()
    return times


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--sentences", type=int, default=256)
    parser.add_argument("--requests", type=int, default=20_000)
    given = parser.parse_args()
    translator = lexbeam.load(threads=given.threads)
    texts = sentences(given.sentences)
    translator.translate(texts[:32])
    start = time.perf_counter()
    translator.translate(texts)
    direct = len(texts) / (time.perf_counter() - start)
    print(f"one call of translate, {given.threads} threads: {direct:.1f} sentences/s")
    one = lexbeam.load()
    single = []
    for text in sentences(30, 5000):
        start = time.perf_counter()
        one.translate(text)
        single.append(time.perf_counter() - start)
    print(f"translate, one sentence: median {1000 * statistics.median(single):.1f} ms")
    with server(given.threads) as (port, pid):
        asyncio.run(load(port, sentences(64, 900_000), 8))
        seconds, times, _ = asyncio.run(load(port, sentences(30, 5000), 1))
        print(f"server, one connection: median {1000 * statistics.median(times):.1f} ms")
        for connections in (1, 8, 64):
            some = sentences(given.sentences, 100_000 * connections)
            seconds, times, refused = asyncio.run(load(port, some, connections))
            rate = len(some) / seconds
            print(
                f"{connections} connections: {rate:.1f} sentences/s ({rate / direct:.2f} of the "
                f"call), p50 {percentile(times, 0.5):.0f} ms, "
                f"p95 {percentile(times, 0.95):.0f} ms, {refused} refused"
            )
        _, idle, _ = asyncio.run(load(port, sentences(60, 2_000_000), 1))
        busy = asyncio.run(beside_a_book(port, sentences(60, 3_000_000)))
        print(
            f"short requests, idle: p50 {percentile(idle, 0.5):.0f} ms, "
            f"p95 {percentile(idle, 0.95):.0f} ms; beside 100 kB: p50 {percentile(busy, 0.5):.0f} "
            f"ms, p95 {percentile(busy, 0.95):.0f} ms ({len(busy)} requests)"
        )
        seconds, times, refused = asyncio.run(load(port, sentences(1000, 7_000_000), 1000))
        print(f"1000 connections at once: {refused} refused, {seconds:.0f} s, {memory(pid):.0f} MB")
        before = memory(pid)
        for first in range(0, given.requests, 1000):
            asyncio.run(load(port, sentences(1000, 20_000_000 + first), 64))
        print(f"memory: {before:.0f} MB, after {given.requests} requests {memory(pid):.0f} MB")


if __name__ == "__main__":
    main()
