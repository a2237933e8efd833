from __future__ import annotations

from pathlib import Path

from helpers.toy_study import make_bench
from lexbeam.models.model import Model
from lexbeam.study.measures import Setting
from lexbeam.study.watch import Watched


def test_the_beam_is_counted_at_every_step(toy_model: Model, tmp_path: Path) -> None:
    bench = make_bench(toy_model, tmp_path)
    setting = Setting(beam_size=3, prune=0.0)
    searches = bench.result(Watched("rand1", setting, 2))["searches"]
    pruned = bench.result(Watched("rand1", Setting(beam_size=3, prune=3.0), 2))["searches"]
    assert [search["sentence"] for search in searches] == [0, 2]
    for search, short in zip(searches, pruned, strict=True):
        beams = zip(search["live"], search["finished"], strict=True)
        assert all(0 < live + finished <= 3 for live, finished in beams)
        assert all(search["live"][: search["ended"]])  # nobody waits for the best to end
        assert search["finished"][search["ended"]] > 0
        assert search["live"][-1] == 0
        assert len(search["live"]) <= search["limit"] + 1
        assert sum(short["live"]) < sum(search["live"])
        first, *others = search["beam"]
        assert first["finished"]
        assert bench.constraints("rand1")[search["sentence"]][0] in first["text"]
        assert not any(shown["finished"] for shown in others)
        assert {shown["tokens"] for shown in others} == {len(search["live"]) - 1}
