"""Kill ``lexbeam corpus`` at random, and compare what it makes with a run that nobody disturbs.

    scripts/faults                                   # 2,000 lines, 5 kills of the whole run
    scripts/faults --lines 100000 --kills 5 --shard 1000 --processes 2
    scripts/faults --ray                             # on three raylets of this machine

Each kill hits, by turns, one worker and the whole run (its driver; workers notice). A run that was
killed is started again with the same command. In the end the folder must have the same bytes as
the undisturbed one, and each line must be there once.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from helpers.corpus_runs import Started, children, processes_of, short_lines, start
from helpers.ray_cluster import LOOPBACK, RunningCluster, cluster


class Campaign:
    """One input, one undisturbed run, one run that is killed."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self._folder = folder
        self._random = random.Random(options.seed)
        self._options = options
        self._common = ["in.txt", "-k", str(options.beam), "--shard", str(options.shard)]
        self._raylets: RunningCluster | None = None
        lines = "".join(f"{line}\n" for line in short_lines(options.lines))
        (folder / "in.txt").write_text(lines, encoding="utf-8")

    def run(self) -> bool:
        """Return whether both runs have made the same."""
        seconds = self._undisturbed()
        print(f"undisturbed: {seconds:.0f} s", flush=True)
        with ExitStack() as stack:
            if self._options.ray:
                self._raylets = stack.enter_context(cluster((1, 2, 2)))
            self._disturbed(seconds)
        return self._compare()

    def _undisturbed(self) -> float:
        begin = time.monotonic()
        processes = ["--processes", str(self._options.processes)]
        run = start([*self._common, "-o", "whole", *processes], self._folder)
        self._end(run)
        return time.monotonic() - begin

    def _disturbed(self, seconds: float) -> None:
        command = [*self._common, "-o", "killed", "--processes", str(self._options.processes)]
        if self._raylets:
            command += ["--ray", self._raylets.address]
        run = start(command, self._folder, LOOPBACK)
        total = -(-self._options.lines // self._options.shard)
        moments = sorted(self._random.uniform(0, total) for _ in range(self._options.kills))
        for number, moment in enumerate(moments):
            is_dead = self._wait(run, moment, seconds / total)
            what = "nothing: it was done" if is_dead else self._kill(run, number)
            print(f"kill {number + 1}: {what}, with {self._parts()} parts there", flush=True)
            if run.poll() is not None:
                run.communicate()
                run = start(command, self._folder, LOOPBACK)
        self._end(run)

    def _parts(self) -> int:
        return sum(1 for _ in (self._folder / "killed").glob("part-*"))

    def _wait(self, run: Started, moment: float, part_seconds: float) -> bool:
        """Wait until so many parts are there; return whether the run has ended before."""
        while self._parts() < int(moment):
            if run.poll() is not None:
                return True
            time.sleep(0.05)
        time.sleep((moment - int(moment)) * part_seconds)  # in the middle of the next
        return run.poll() is not None

    def _kill(self, run: Started, number: int) -> str:
        """Kill a worker, a machine or the whole run; say which."""
        if self._raylets and number == 1:
            self._raylets.kill_node()
            return "a machine"
        victims = self._workers(run)
        if number % 2 and victims:
            os.kill(self._random.choice(victims), signal.SIGKILL)
            return "a worker"
        run.kill()
        run.wait()
        return "the run"

    def _workers(self, run: Started) -> list[int]:
        if self._raylets is None:
            return children(run.pid, "worker_process")
        found = processes_of("ray::RayWorker.run")
        return [each.id for each in found if self._raylets.address in each.parent_command]

    def _end(self, run: Started) -> None:
        output, errors = run.communicate()
        if run.returncode:
            raise SystemExit(f"exit status {run.returncode}: {output}{errors}")

    def _compare(self) -> bool:
        whole, killed = (
            {path.name: path.read_bytes() for path in (self._folder / name).iterdir()}
            for name in ("whole", "killed")
        )
        lines = sum(killed[name].count(b"\n") for name in killed if name.startswith("part-"))
        print(f"{len(killed) - 2} parts, {lines} lines of {self._options.lines}")
        return whole == killed and lines == self._options.lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a campaign; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--shard", type=int, default=50)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ray", action="store_true")
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="lexbeam-faults-"))
    try:
        is_same = Campaign(folder, options).run()
    finally:
        shutil.rmtree(folder)
    print("the same bytes" if is_same else "NOT THE SAME")
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
