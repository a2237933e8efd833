"""A cluster of three raylets on this machine, in a process of its own.

As a program it starts the cluster, prints its address, and waits: a line on its standard input
kills a raylet that is not the head, hard; the end of it ends the cluster.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

LOOPBACK = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # 15 of Ray's own is next to nothing on a busy machine
}
"""What keeps Ray on the addresses of this machine, and lets its workers work."""


_ATTEMPTS = 3  # a busy machine may need more than one


class RunningCluster:
    """Speaks with the process of a cluster."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.address = address
        self._process = process

    def kill_node(self) -> None:
        """Kill a raylet and all that runs below it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("kill\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "killed\n"


@contextmanager
def cluster(cpus: Sequence[int] = (1, 2, 2)) -> Iterator[RunningCluster]:
    """Start a cluster of raylets with so many CPUs each; the first is the head."""
    process, address = _start(cpus)
    for _ in range(_ATTEMPTS - 1):
        if address:
            break
        process.communicate(timeout=100)
        process, address = _start(cpus)
    try:
        assert address, f"Ray did not start in {_ATTEMPTS} attempts"
        yield RunningCluster(process, address)
    finally:
        process.communicate(timeout=100)


def _start(cpus: Sequence[int]) -> tuple[subprocess.Popen[str], str]:
    """Start a cluster; without an address, it could not be: a raylet has half a minute for it."""
    process = subprocess.Popen(
        [sys.executable, __file__, *map(str, cpus)],
        env={**os.environ, **LOOPBACK},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    address = next((line for line in process.stdout if line.startswith("127.0.0.1:")), "")
    return process, address.strip()


def main(cpus: Sequence[int]) -> None:
    """Run a cluster until standard input ends."""
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    common = {"object_store_memory": 100_000_000, "node_ip_address": "127.0.0.1"}
    head = {"num_cpus": cpus[0], "include_dashboard": False, **common}
    raylets = Cluster(initialize_head=True, head_node_args=head)
    nodes = [raylets.add_node(num_cpus=count, wait=False, **common) for count in cpus[1:]]
    raylets.wait_for_nodes()
    print(raylets.address, flush=True)  # noqa: T201
    for _ in sys.stdin:
        raylets.remove_node(nodes.pop(), allow_graceful=False)
        print("killed", flush=True)  # noqa: T201
    raylets.shutdown()


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]])
