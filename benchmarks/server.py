"""How fast the server answers, beside the translator alone.

    python benchmarks/server.py                       # everything, some minutes
    python benchmarks/server.py throughput latency    # some of it
    python benchmarks/server.py memory --requests 2000

Starts ``lexbeam serve`` with the model that comes along in a process of its own. What is compared
is measured in turns, so that whatever else the machine does goes for both.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
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
from typing import NamedTuple

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


class Reply(NamedTuple):
    """An answer, the seconds it took, and what was asked."""

    status: int
    seconds: float
    text: str
    asked: str


class Connection(asyncio.Protocol):
    """One connection that is kept open.

    It shares the cores with the server, so it does as little as it can: requests are written
    before the clock starts, and of an answer only the length is looked at until it is whole.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._transport: asyncio.Transport | None = None
        self._got = b""
        self._answer: asyncio.Future[bytes] | None = None

    async def translate(self, text: str, request: bytes | None = None) -> Reply:
        """Send a text and wait for the answer."""
        loop = asyncio.get_running_loop()
        if self._transport is None:
            self._transport, _ = await loop.create_connection(lambda: self, "127.0.0.1", self._port)
        request = request or http_request(text)
        self._got, self._answer = b"", loop.create_future()
        start = time.perf_counter()
        self._transport.write(request)
        answer = await self._answer
        seconds = time.perf_counter() - start
        head, _, body = answer.partition(b"\r\n\r\n")
        found = json.loads(body)
        return Reply(int(head.split()[1]), seconds, found.get("translatedText", ""), text)

    def data_received(self, data: bytes) -> None:
        """Take a part of an answer."""
        self._got += data
        end = self._got.find(b"\r\n\r\n")
        length = _LENGTH.search(self._got) if end >= 0 else None
        if length and len(self._got) >= end + 4 + int(length[1]) and self._answer is not None:
            self._answer.set_result(self._got)

    def connection_lost(self, error: Exception | None) -> None:
        """Tell who waits that nothing more will come."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error or ConnectionResetError("closed"))


_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


def http_request(text: str) -> bytes:
    """Return what is sent for a text."""
    body = json.dumps({"q": text, "source": "en", "target": "de"}).encode()
    head = (
        "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def load(port: int, texts: list[str], connections: int) -> tuple[float, list[Reply]]:
    """Send texts over some connections; return the seconds it took, and the answers."""
    waiting = iter([(text, http_request(text)) for text in texts])
    replies: list[Reply] = []

    async def work() -> None:
        connection = Connection(port)
        for text, request in waiting:
            replies.append(await connection.translate(text, request))

    start = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(connections)))
    return time.perf_counter() - start, replies


def percentile(replies: list[Reply], share: float) -> float:
    """Return a percentile of the times in milliseconds."""
    times = sorted(reply.seconds for reply in replies)
    return 1000 * times[min(len(times) - 1, int(share * len(times)))]


def memory(pid: int) -> float:
    """Return the memory of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_throughput(port: int, pid: int, given: argparse.Namespace) -> None:
    """Compare 1, 8 and 64 connections with one call of ``translate``, in turns.

    The client runs on the same cores, so what it costs counts against the server. Time on a
    machine that does other things varies; CPU time does less, so its ratio is shown as well.
    """
    translator = lexbeam.load(threads=given.threads)
    translator.translate(sentences(32, 900_000))
    for connections in given.connections:
        turns = []
        for turn in range(given.turns):
            first = 1_000_000 * connections + 10_000 * turn
            count = given.sentences if connections > 1 else given.sentences // 4
            start, used = time.perf_counter(), time.process_time()
            translator.translate(sentences(count, first))
            direct, call = time.perf_counter() - start, time.process_time() - used
            before, used = cpu_seconds(pid), time.process_time()
            seconds, replies = asyncio.run(load(port, sentences(count, first + 5000), connections))
            served, client = cpu_seconds(pid) - before, time.process_time() - used
            assert all(reply.status == 200 for reply in replies)
            turns.append([count / seconds, direct / seconds, call / served])
            turns[-1] += [1000 * each / count for each in (served, call, client)]
        rate, ratio, of_cpu, *cpu = map(statistics.median, zip(*turns, strict=True))
        print(
            f"{connections} connections: {rate:.1f} sentences/s, {ratio:.2f} of one call of "
            f"translate, {of_cpu:.2f} by CPU time; CPU time of a sentence {cpu[0]:.1f} ms, in the "
            f"call {cpu[1]:.1f} ms, of the client {cpu[2]:.2f} ms"
        )


def measure_latency(port: int, pid: int, given: argparse.Namespace) -> None:
    """Compare one connection with single calls of ``translate``, in turns."""
    translator = lexbeam.load()
    translator.translate("Hello.")
    texts = sentences(given.sentences // 4, 5_000_000)

    async def compare() -> tuple[list[float], float]:
        connection = Connection(port)
        await connection.translate("Hello.")
        added, used, before = [], 0.0, cpu_seconds(pid)
        for text in texts:
            start, used_before = time.perf_counter(), time.process_time()
            translator.translate(text)
            direct = time.perf_counter() - start
            used += time.process_time() - used_before
            added.append((await connection.translate(text)).seconds - direct)
        return added, cpu_seconds(pid) - before - used

    added, more = asyncio.run(compare())
    added.sort()
    print(
        f"one connection adds {1000 * statistics.median(added):.1f} ms to a call "
        f"(quartiles {1000 * added[len(added) // 4]:.1f} and "
        f"{1000 * added[-len(added) // 4]:.1f}), {1000 * more / len(texts):.1f} ms of CPU time"
    )


def measure_beside_a_book(port: int, _pid: int, given: argparse.Namespace) -> None:
    """Compare short requests with nothing else to do and beside a text of 100 kB."""
    book = " ".join(sentences(1400, 10_000_000))[:100_000]

    async def beside(texts: list[str]) -> list[Reply]:
        running = asyncio.ensure_future(Connection(port).translate(book))
        await asyncio.sleep(0.5)
        connection, replies = Connection(port), []
        for text in texts:
            if running.done():
                break
            replies.append(await connection.translate(text))
            await asyncio.sleep(0.05)
        running.cancel()
        return replies

    count = given.sentences // 4
    _, idle = asyncio.run(load(port, sentences(count, 12_000_000), 1))
    busy = asyncio.run(beside(sentences(count, 13_000_000)))
    ratio = percentile(busy, 0.95) / percentile(idle, 0.95)
    print(
        f"short requests, idle: p50 {percentile(idle, 0.5):.0f} ms, p95 "
        f"{percentile(idle, 0.95):.0f} ms; beside 100 kB: p50 {percentile(busy, 0.5):.0f} ms, "
        f"p95 {percentile(busy, 0.95):.0f} ms, {ratio:.1f} times the idle one"
    )


def measure_thousand(port: int, pid: int, _given: argparse.Namespace) -> None:
    """Open 1,000 connections at once; an answer is crossed if it is that of another sentence."""
    before = memory(pid)
    seconds, replies = asyncio.run(load(port, sentences(1000, 17_000_000), 1000))
    answered = [reply for reply in replies if reply.status == 200]
    told = sum(reply.status == 429 for reply in replies)
    asked = [reply.asked for reply in answered]
    found = [each.text for each in lexbeam.load().translate(asked)]
    right = sum(reply.text == text for reply, text in zip(answered, found, strict=True))
    crossed = sum(
        reply.text != text and reply.text in found
        for reply, text in zip(answered, found, strict=True)
    )
    print(
        f"1000 connections at once: {len(answered)} answered, {told} told to come back, "
        f"{1000 - len(answered) - told} others; {right} as by translate, {crossed} crossed; "
        f"{seconds:.0f} s, "
        f"{before:.0f} MB before, {memory(pid):.0f} MB after"
    )


def measure_memory(port: int, pid: int, given: argparse.Namespace) -> None:
    """Send many different short texts."""
    texts = [f"Open page {n}." for n in range(given.requests)]
    sizes = [memory(pid)]
    for first in range(0, len(texts), max(1, len(texts) // 4)):
        asyncio.run(load(port, texts[first : first + max(1, len(texts) // 4)], 64))
        sizes.append(memory(pid))
    shown = ", ".join(f"{size:.0f}" for size in sizes)
    print(f"memory over {given.requests} requests: {shown} MB")


PARTS = {
    "throughput": measure_throughput,
    "latency": measure_latency,
    "book": measure_beside_a_book,
    "thousand": measure_thousand,
    "memory": measure_memory,
}


def main() -> None:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="|".join(PARTS))
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--sentences", type=int, default=320)
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--requests", type=int, default=20_000)
    given = parser.parse_args()
    with server(given.threads) as (port, pid):
        asyncio.run(load(port, sentences(64, 900_000), 8))
        for name in given.parts or PARTS:
            PARTS[name](port, pid, given)


if __name__ == "__main__":
    main()
