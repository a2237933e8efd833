"""The beginning of a report: what was measured, and whether the paper's shapes appear."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from lexbeam.study.bench import Bench
from lexbeam.study.blocks import Section, Table, Text, Value
from lexbeam.study.measures import Compared
from lexbeam.study.plan import FREE, Plan, listed, signed
from lexbeam.version import __version__


def model_name(bench: Bench) -> str:
    """Return what to call the model in a title."""
    info = bench.model.info
    pair = [str(info[key]) for key in ("source_language", "target_language") if info.get(key)]
    return f"a model {'→'.join(pair)}" if pair else "a model"


def show_set_up(plan: Plan, bench: Bench) -> Section:
    """Say what was measured, and how."""
    info, text = bench.model.info, bench.text
    facts: list[list[Value]] = [
        ["model", str(info.get("network", info.get("type", "")))],
        ["its files, SHA-256", bench.identity[:16]],
        ["sentences", len(text.sources)],
        ["seed", bench.seed],
        ["algorithms", ", ".join(plan.algorithms)],
        ["lag", f"{plan.lag:g}"],
        ["lexbeam", __version__],
    ]
    signatures = [f"`{signature}`" for signature in bench.metrics.signatures(text.references)]
    return Section(
        "set-up",
        "Set-up",
        [
            Text(
                "The experiments of Post and Vilar (NAACL 2018) on this model and text. Unless "
                f"said otherwise: `{plan.algorithms[0]}`, k = {plan.usual_beam}, a pruning "
                "threshold of 20, search until all on the beam have finished. Scores are "
                f"sacreBLEU's on plain text: {listed(signatures)}."
            ),
            Table(
                "set-up", "What was measured, and how", ["", "value"], [_words(f) for f in facts]
            ),
        ],
    )


def _words(fact: list[Value]) -> list[Value]:
    return [str(value) for value in fact]


def show_summary(plan: Plan, bench: Bench) -> list[Section]:
    """Say whether the paper's shapes appear, where the usual cells are there."""
    cells = {name: plan.cell(name) for name in plan.sets}
    if not all(map(bench.has, cells.values())) or FREE not in cells:
        return []
    found = {name: bench.result(cell) for name, cell in cells.items()}
    rows: list[list[Value]] = [
        [
            name,
            result["bleu"],
            bench.result(Compared(cells[name], cells[FREE]))["p"] if name != FREE else None,
            result["chrf"],
            sum(result["scores"]) / len(result["scores"]),
            100 * result["met"] / result["asked"] if result["asked"] else None,
        ]
        for name, result in found.items()
    ]
    columns = ["set", "BLEU", "p", "chrF", "score a sentence", "met, %"]
    caption = f"The sets with {plan.algorithms[0]}, k = {plan.usual_beam}"
    note = (
        "p is the chance of so great a difference in BLEU to no constraints, by paired bootstrap "
        "resampling of the sentences."
    )
    said = _shapes({name: result["bleu"] for name, result in found.items()})
    table = Table("summary", caption, columns, rows, 2)
    return [Section("summary", "Summary", [Text(said), table, Text(note)])]


def _shapes(bleu: Mapping[str, float]) -> str:
    """Say what the paper's sets gain, and where the paper found otherwise."""
    gains = {name: bleu[name] - bleu[FREE] for name in bleu if name != FREE}
    words = [name for name in gains if name.startswith("rand")]
    phrases = [name for name in gains if name.startswith("phr")]
    told = listed([f"{name} {signed(gain)}" for name, gain in gains.items()])
    said = [f"Against {bleu[FREE]:.1f} BLEU without constraints: {told}."]
    falls = [f"from {a} to {b}" for a, b in pairwise(words) if bleu[b] <= bleu[a]]
    lost = [name for name in words if gains[name] <= 0]
    if not falls and not lost:
        said.append("As in the paper, every further word helps.")
    if falls:
        said.append(f"Unlike with the paper's wide beams, BLEU does not rise {listed(falls)}.")
    if lost:
        said.append(f"No gain from {listed(lost)}.")
    if phrases and words:
        above = bleu[phrases[-1]] > max(bleu[name] for name in words)
        how = "as in the paper far above" if above else "not above"
        said.append(f"{phrases[-1]}, a phrase, is {how} the random words.")
    return " ".join(said)
