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


class Connection:
    """One connection that is kept open."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def translate(self, text: str) -> Reply:
        """Send a text and wait for the answer."""
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
        found = json.loads(await self._reader.readexactly(length))
        seconds = time.perf_counter() - start
        return Reply(int(lines[0].split()[1]), seconds, found.get("translatedText", ""), text)


async def load(port: int, texts: list[str], connections: int) -> tuple[float, list[Reply]]:
    """Send texts over some connections; return the seconds it took, and the answers."""
    waiting = iter(texts)
    replies: list[Reply] = []

    async def work() -> None:
        connection = Connection(port)
        for text in waiting:
            replies.append(await connection.translate(text))

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
    """Compare 1, 8 and 64 connections with one call of ``translate``, in turns."""
    translator = lexbeam.load(threads=given.threads)
    translator.translate(sentences(32, 900_000))
    for connections in (1, 8, 64):
        ratios, rates, cpu = [], [], []
        for turn in range(given.turns):
            first = 1_000_000 * connections + 10_000 * turn
            count = given.sentences if connections > 1 else given.sentences // 4
            start, used = time.perf_counter(), time.process_time()
            translator.translate(sentences(count, first))
            direct = count / (time.perf_counter() - start)
            used = time.process_time() - used
            before = cpu_seconds(pid)
            seconds, replies = asyncio.run(load(port, sentences(count, first + 5000), connections))
            assert all(reply.status == 200 for reply in replies)
            rates.append(count / seconds)
            ratios.append(rates[-1] / direct)
            cpu.append(((cpu_seconds(pid) - before) / count, used / count))
        mine, theirs = (1000 * statistics.median(each) for each in zip(*cpu, strict=True))
        print(
            f"{connections} connections: {statistics.median(rates):.1f} sentences/s, "
            f"{statistics.median(ratios):.2f} of one call of translate; "
            f"CPU time of a sentence {mine:.1f} ms, in the call {theirs:.1f} ms"
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
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--requests", type=int, default=20_000)
    given = parser.parse_args()
    with server(given.threads) as (port, pid):
        asyncio.run(load(port, sentences(64, 900_000), 8))
        for name in given.parts or PARTS:
            PARTS[name](port, pid, given)


if __name__ == "__main__":
    main()
