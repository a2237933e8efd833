"""Translates a JSON file of lines with Ray Data on a cluster, as ``docs/scale.md`` shows it.

``python ray_data.py ADDRESS IN OUT``: OUT gets the rows, sorted by their ids, as JSON.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path


def main(address: str, source: str, target: str) -> None:
    """Translate a file."""
    import ray  # noqa: PLC0415

    import lexbeam  # noqa: PLC0415

    ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    records = [json.loads(line) for line in Path(source).read_text(encoding="utf-8").splitlines()]
    rows = ray.data.from_items(records, override_num_blocks=4)
    done = rows.map_batches(
        lexbeam.Batches,
        fn_constructor_kwargs={"beam_size": 1},
        batch_size=8,
        num_cpus=1,
        concurrency=1,
    )
    made = sorted(done.take_all(), key=lambda row: int(row["id"]))
    Path(target).write_text(json.dumps(made), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
