"""How fast ``lexbeam corpus`` is with one process, with two, and on Ray with two CPUs.

    python benchmarks/corpus.py                    # three rounds of 800 sentences
    python benchmarks/corpus.py --rounds 1 --no-ray

All ways run one after the other in each round, so that a machine that is busy for a while slows
down all of them. Shown is the median of the rounds. ``sentences/s`` counts from the first answers
on, without the start of processes, model and Ray, which a long run pays once; ``CPU`` is the
processor time of the whole run, start included, with all its processes but Ray's own.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from lexbeam.corpus.run import Corpus, translate_corpus
from lexbeam.translation.asked import Asked
from lexbeam.translation.settings import TextSettings


@dataclass
class Watch:
    """Notes when rows are done."""

    times: list[tuple[float, int]] = field(default_factory=list)

    def begin(self, total: int, done: int) -> None:
        """Forget what was."""
        self.times = []

    def rows(self, count: int) -> None:
        """Note that rows are done."""
        self.times.append((time.perf_counter(), count))

    def failed(self, where: str, error: str) -> None:
        """Stop: no row may fail here."""
        raise SystemExit(f"{where}: {error}")

    def rate(self, processes: int) -> float:
        """Return rows per second, from when each process may have given an answer."""
        times = [(at, count) for at, count in self.times if count][processes - 1 :]
        return sum(count for _, count in times[1:]) / (times[-1][0] - times[0][0])


def sentences(count: int) -> list[str]:
    """Return different sentences of the same length."""
    verbs = ("Restart", "Select", "Open", "Close", "Delete", "Copy", "Move", "Rename", "Print")
    nouns = ("computer", "printer", "password", "file", "folder", "window", "network", "server")
    return [
        f"{verbs[n % 9]} the {nouns[n // 9 % 8]} number {n} before you go on with the installation."
        for n in range(count)
    ]


def measure(source: Path, ways: dict[str, dict[str, object]], rounds: int, rows: int) -> None:
    """Run all ways in turn, and print a table."""
    rates: dict[str, list[float]] = {name: [] for name in ways}
    times: dict[str, list[float]] = {name: [] for name in ways}
    made = set()
    for _ in range(rounds):
        for name, how in ways.items():
            with tempfile.TemporaryDirectory() as folder:
                watch = Watch()
                settings = TextSettings(batch_size=8)
                corpus = Corpus(
                    (str(source),), Path(folder), shard_rows=rows, asked=Asked(settings=settings)
                )
                before = os.times()
                translate_corpus(corpus, watch, **how)  # type: ignore[arg-type]
                after = os.times()
                times[name].append(sum(after[:4]) - sum(before[:4]))
                rates[name].append(watch.rate(int(str(how["processes"]))))
                parts = sorted(Path(folder).glob("part-*"))
                made.add(b"".join(path.read_bytes() for path in parts))
    one = statistics.median(rates[next(iter(ways))])
    print(f"{'':22}{'sentences/s':>12}{'of one':>8}{'CPU s':>8}")
    for name in ways:
        rate = statistics.median(rates[name])
        cpu = "" if "ray" in name else f"{statistics.median(times[name]):.1f}"
        print(f"{name:22}{rate:12.1f}{rate / one:8.2f}{cpu:>8}")
    print("all outputs are equal" if len(made) == 1 else "OUTPUTS DIFFER")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=800)
    parser.add_argument("--shard", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-ray", action="store_true")
    given = parser.parse_args()
    ways: dict[str, dict[str, object]] = {
        "1 process": {"processes": 1},
        "2 processes": {"processes": 2},
    }
    if not given.no_ray:
        import ray  # noqa: PLC0415

        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # only this machine
        os.environ.setdefault("RAY_worker_niceness", "0")  # 15 unless told otherwise
        ray.init(
            num_cpus=3,  # one is left to Ray itself
            include_dashboard=False,
            log_to_driver=False,
            object_store_memory=200_000_000,
            logging_level="ERROR",
        )
        ways["2 processes of ray"] = {"ray": "local", "processes": 2}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in.txt"
        source.write_text("\n".join(sentences(given.sentences)) + "\n", encoding="utf-8")
        measure(source, ways, given.rounds, given.shard)


if __name__ == "__main__":
    main()
