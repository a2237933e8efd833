from __future__ import annotations

from pathlib import Path

from helpers.toy_study import make_experiment
from lexbeam.models.model import Model
from lexbeam.study.beam_observer import ObservedSearches
from lexbeam.study.cells import Setting


def test_the_beam_is_counted_at_every_step(toy_model: Model, tmp_path: Path) -> None:
    experiment = make_experiment(toy_model, tmp_path)
    setting = Setting(beam_size=3, prune=0.0)
    searches = experiment.result(ObservedSearches("rand1", setting, 2))["searches"]
    pruned = experiment.result(ObservedSearches("rand1", Setting(beam_size=3, prune=3.0), 2))[
        "searches"
    ]
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
        assert experiment.constraints("rand1")[search["sentence"]][0] in first["text"]
        assert not any(shown["finished"] for shown in others)
        assert {shown["tokens"] for shown in others} == {len(search["live"]) - 1}
