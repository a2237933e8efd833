from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.toy_corpus import everything, manifest, parts, write_lines
from helpers.corpus_runs import children, finish, is_running, short_lines, start, wait_for
from helpers.poison import POISON, write_poison

LINES = [*short_lines(58), "a\0b", "Open the window."]
FAST = ("--shard", "5", "-k", "1")
WORKER = "worker_process"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an input, and what one process makes of it."""
    folder = tmp_path_factory.mktemp("corpus")
    write_lines(folder / "in.txt", LINES)
    said = finish(["in.txt", "-o", "one", *FAST], folder)
    assert said.startswith("1 lexbeam: in.txt, line 59: ")
    assert said.count("\n") == 1
    return folder


def count_parts(folder: Path) -> int:
    return len(parts(folder))


def test_processes_that_are_killed_cost_nothing(source: Path, tmp_path: Path) -> None:
    """A worker is killed, then the one who gives out work, then an interrupt ends the next."""
    out = tmp_path / "out"
    command = ["in.txt", "-o", str(out), *FAST, "--processes", "2"]
    run = start(command, source)
    wait_for(lambda: count_parts(out) >= 1, run)
    os.kill(children(run.pid, WORKER)[0], signal.SIGKILL)
    seen = count_parts(out)
    wait_for(lambda: count_parts(out) >= seen + 1, run)
    workers = children(run.pid, WORKER)
    run.kill()
    run.communicate()
    assert workers
    wait_for(lambda: not any(map(is_running, workers)))  # they notice, in the middle of a shard
    assert manifest(out)["counts"] is None

    run = start(command, source)
    wait_for(lambda: children(run.pid, WORKER), run)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=60)
    if run.returncode == 130:
        assert errors.startswith("lexbeam: stopped with ")
        assert errors.count("\n") == 1
    assert not list(out.glob("*.part"))

    said = finish(command, source)
    assert said.startswith("1 ")
    assert everything(out) == everything(source / "one")


def test_a_row_that_kills_every_process_costs_its_shard_alone(source: Path, tmp_path: Path) -> None:
    lines = LINES[:20]
    lines[7] = POISON
    write_lines(tmp_path / "in.txt", lines)
    path = os.pathsep.join(
        [write_poison(tmp_path / "poison"), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    command = ["in.txt", "-o", "out", *FAST, "--processes", "2"]
    said = finish(command, tmp_path, {"PYTHONPATH": path})
    assert said == (
        "1 lexbeam: in.txt: rows 6 to 10 (part-00001.txt) were given up, their worker died each "
        "time, by signal 9 (out of memory?)\n"
    )
    made = parts(tmp_path / "out")
    assert list(made) == ["part-00000.txt", "part-00002.txt", "part-00003.txt"]
    expected = parts(source / "one")
    assert all(content == expected[name] for name, content in made.items())
    assert manifest(tmp_path / "out")["counts"] is None


def limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_full_disk_is_one_line(tmp_path: Path, processes: str) -> None:
    write_lines(tmp_path / "in.txt", short_lines(300))
    command = [sys.executable, "-m", "lexbeam", "corpus", "in.txt", "-o", "out", "-k", "1"]
    done = subprocess.run(
        [*command, "--shard", "300", "--processes", processes],
        cwd=tmp_path,
        env={**os.environ, "LEXBEAM_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit_files,
    )
    assert done.returncode == 1
    assert done.stderr.endswith("part-00000.txt: can't be written: File too large\n")
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [".lock", "manifest.json"]
