"""Real Ray: three raylets on this machine, of which one is killed, with workers and a driver."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpus.fake_ray import FakeRay
from corpus.toy_corpus import everything, manifest, parts, write_lines
from helpers import ray_data
from helpers.corpus_runs import finish, processes_of, short_lines, start, wait_for
from helpers.ray_cluster import LOOPBACK, RunningCluster, cluster
from lexbeam.corpus import ray_pool
from lexbeam.corpus.formats import Slice, Writing
from lexbeam.corpus.plan import Shard
from lexbeam.corpus.ray_pool import _check_reachable, pool_size
from lexbeam.corpus.retries import ATTEMPTS
from lexbeam.corpus.worker import Task
from lexbeam.errors import InputError
from lexbeam.translation.asked import Asked

pytest.importorskip("ray")

FAST = ("--shard", "10", "-k", "1")


@pytest.fixture(scope="module")
def raylets() -> Iterator[RunningCluster]:
    with cluster() as running:
        yield running


@pytest.mark.parametrize(
    ("cpus", "threads", "processes", "size"),
    [(2, 1, None, 1), (8, 1, None, 7), (8, 1, 7, 7), (8, 3, None, 2), (8, 2, 3, 3), (2.5, 1, 1, 1)],
)
def test_one_cpu_is_left_to_ray(
    cpus: float, threads: int, processes: int | None, size: int
) -> None:
    assert pool_size(cpus, threads, processes) == size


@pytest.mark.parametrize(
    ("cpus", "threads", "processes", "advice"),
    [
        (2, 1, 2, "2 processes with 1 CPU each .* of its 2 CPUs: give at most --processes 1, or"),
        (1, 1, None, "1 process with 1 CPU each .* 1 CPUs: add machines, or start Ray with more"),
        (8, 4, 2, "2 processes with 4 CPUs each .* 8 CPUs: give at most --processes 1"),
        (1.4, 1, 1, "1 process with 1 CPU each would leave Ray none of its 1.4 CPUs"),
    ],
)
def test_a_pool_that_leaves_ray_nothing_is_an_error(
    cpus: float, threads: int, processes: int | None, advice: str
) -> None:
    with pytest.raises(InputError, match=advice):
        pool_size(cpus, threads, processes)


def test_an_address_where_nobody_answers_is_an_error() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        port = taken.getsockname()[1]
        for host in ("127.0.0.1", "[::1]", "no.such.host.invalid"):
            with pytest.raises(InputError, match=r"--ray .*: can't connect: "):
                _check_reachable(f"{host}:{port}")
    for word in ("auto", "local", "ray://host:10001"):
        _check_reachable(word)


SHARDS = [Shard(f"part-{n}", 0, Slice(n + 1, 1)) for n in range(9)]
TASK = Task("out", (), None, 1, Asked(), Writing())


def test_a_cluster_that_has_no_cpu_free_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_pool, "START_SECONDS", 0)
    pool = ray_pool._Actors(FakeRay(dies=False), TASK, SHARDS, 2)
    with pytest.raises(InputError, match=r"no process could be started .*: 0\.5 of its CPUs are"):
        next(pool.outcomes())


def test_actors_that_do_nothing_but_die_are_an_error() -> None:
    ray = FakeRay(dies=True)
    pool = ray_pool._Actors(ray, TASK, SHARDS, 2)
    with pytest.raises(InputError, match=r"has died, the last one of this: ModuleNotFoundError: "):
        next(pool.outcomes())
    assert ray.started == 2 * ATTEMPTS + 1
    pool.stop()
    assert ray.killed == 1


def workers(raylets: RunningCluster) -> list[int]:
    """Return the processes in which actors of a run work."""
    found = processes_of("ray::RayWorker.run")
    return [each.id for each in found if raylets.address in each.parent_command]


def test_batches_in_ray_data(raylets: RunningCluster, tmp_path: Path) -> None:
    texts = [*short_lines(20), ""]
    records = [json.dumps({"id": i, "text": text}) for i, text in enumerate(texts)]
    records[7] = json.dumps({"id": 7, "text": "a\0b"})
    source = write_lines(tmp_path / "in.jsonl", records)
    out = tmp_path / "out.json"
    script = [sys.executable, str(Path(ray_data.__file__)), raylets.address, source, str(out)]
    environment = {**os.environ, **LOOPBACK, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_bytes())
    assert [row["id"] for row in rows] == list(range(21))
    assert [row["id"] for row in rows if row["error"]] == [7]
    assert [row["id"] for row in rows if not row["translation"]] == [7, 20]


def test_a_pool_as_large_as_the_cluster_is_one_line(
    raylets: RunningCluster, tmp_path: Path
) -> None:
    write_lines(tmp_path / "in.txt", short_lines(2))
    command = ["in.txt", "-o", "out", "--ray", raylets.address, "--processes", "5"]
    said = finish(command, tmp_path, LOOPBACK)
    assert said.startswith("1 lexbeam: 5 processes with 1 CPU each would leave Ray none of its 5 ")
    assert said.count("\n") == 1


def test_nothing_is_lost_and_nothing_twice(raylets: RunningCluster, tmp_path: Path) -> None:
    """Kill a worker, a machine and the driver; the next run ends with one process's bytes."""
    lines = short_lines(160)
    lines[33] = "a\0b"
    write_lines(tmp_path / "in.txt", lines)
    assert finish(["in.txt", "-o", "one", *FAST], tmp_path).startswith("1 lexbeam: in.txt, line 34")
    command = ["in.txt", "-o", "out", *FAST, "--ray", raylets.address, "--processes", "4"]
    out = tmp_path / "out"
    run = start(command, tmp_path, LOOPBACK)
    # A worker goes by this name only while it works: the first that is seen is the one.
    at_work: list[int] = []

    def is_one_seen() -> bool:
        at_work.extend(workers(raylets))
        return bool(at_work)

    wait_for(is_one_seen, run)
    os.kill(at_work[0], signal.SIGKILL)
    wait_for(lambda: len(parts(out)) >= 2, run)
    raylets.kill_node()
    seen = len(parts(out))
    wait_for(lambda: len(parts(out)) >= seen + 2, run)
    run.kill()
    run.communicate()
    assert manifest(out)["counts"] is None
    command[-1] = "2"  # of three CPUs that are left
    said = finish(command, tmp_path, LOOPBACK)
    assert said.startswith("1 ")
    assert everything(out) == everything(tmp_path / "one")
