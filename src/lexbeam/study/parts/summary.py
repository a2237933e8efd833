"""The beginning of a report: what was measured, and whether the paper's findings hold."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from statistics import fmean

from lexbeam.study.cells import Compared, Translated
from lexbeam.study.experiment import Experiment
from lexbeam.study.plan import FEW_SENTENCES, UNCONSTRAINED, Plan, listed, signed
from lexbeam.study.report.blocks import Section, Table, Text, Value
from lexbeam.version import __version__


def model_name(experiment: Experiment) -> str:
    """Return the name of the model for a title."""
    info = experiment.model.info
    pair = [str(info[key]) for key in ("source_language", "target_language") if info.get(key)]
    return f"a model {'→'.join(pair)}" if pair else "a model"


def show_set_up(plan: Plan, experiment: Experiment) -> Section:
    """Return the section that says what was measured, and how."""
    info, text = experiment.model.info, experiment.text
    facts: list[list[Value]] = [
        ["model", str(info.get("network", info.get("type", "")))],
        ["its files, SHA-256", experiment.identity[:16]],
        ["sentences", len(text.sources)],
        ["seed", experiment.seed],
        ["algorithms", ", ".join(plan.algorithms)],
        ["lag", f"{plan.lag:g}"],
        ["lexbeam", __version__],
    ]
    signatures = [f"`{signature}`" for signature in experiment.metrics.signatures(text.references)]
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
                "set-up",
                "What was measured, and how",
                ["", "value"],
                [list(map(str, f)) for f in facts],
            ),
        ],
    )


def show_summary(plan: Plan, experiment: Experiment) -> list[Section]:
    """Return the section on the paper's findings, if its cells have been measured."""
    cells = {name: plan.cell(name) for name in plan.sets}
    if not all(map(experiment.has, cells.values())) or UNCONSTRAINED not in cells:
        return []
    found = {name: experiment.result(cell) for name, cell in cells.items()}
    rows: list[list[Value]] = [
        [
            name,
            result["bleu"],
            _p_value(experiment, cells[name], cells[UNCONSTRAINED]),
            result["chrf"],
            fmean(result["scores"]),
            100 * result["met"] / result["asked"] if result["asked"] else None,
        ]
        for name, result in found.items()
    ]
    columns = ["set", "BLEU", "p", "chrF", "score per sentence", "met, %"]
    caption = f"The sets with {plan.algorithms[0]}, k = {plan.usual_beam}"
    note = (
        "p is the chance of so great a difference in BLEU to no constraints, by paired bootstrap "
        "resampling of the sentences."
    )
    bleu = {name: result["bleu"] for name, result in found.items()}
    count = len(experiment.text.sources)
    said = _compare_with_paper(bleu) if count >= FEW_SENTENCES else say_few(count)
    table = Table("summary", caption, columns, rows, 2)
    return [Section("summary", "Summary", [Text(said), table, Text(note)])]


def say_few(sentences: int) -> str:
    """Say that figures of few sentences show nothing for sure."""
    return (
        f"These are figures of {sentences} sentences. That is too few for conclusions: look at p, "
        f"and use at least {FEW_SENTENCES}."
    )


def _p_value(experiment: Experiment, cell: Translated, baseline: Translated) -> float | None:
    if cell == baseline:
        return None
    found: float | None = experiment.result(Compared(cell, baseline))["p"]
    return found


def _compare_with_paper(bleu: Mapping[str, float]) -> str:
    """Say what each set gains, and where that differs from the paper."""
    gains = {name: bleu[name] - bleu[UNCONSTRAINED] for name in bleu if name != UNCONSTRAINED}
    words = [name for name in gains if name.startswith("rand")]
    phrases = [name for name in gains if name.startswith("phr")]
    told = listed([f"{name} {signed(gain)}" for name, gain in gains.items()])
    said = [f"Against {bleu[UNCONSTRAINED]:.1f} BLEU without constraints: {told}."]
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
