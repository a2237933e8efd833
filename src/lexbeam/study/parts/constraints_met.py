"""How many constraints were met, over all cells of the report."""

from __future__ import annotations

from collections.abc import Iterable

from lexbeam.study.cells import Translated
from lexbeam.study.experiment import Cell, Experiment
from lexbeam.study.report.blocks import Block, Section, Table, Text, Value


def show_constraints_met(experiment: Experiment, cells: Iterable[Cell]) -> list[Section]:
    """Return the section that counts met constraints and lists missed ones, if there were any."""
    asked: dict[str, int] = {}
    met: dict[str, int] = {}
    settings: dict[str, int] = {}
    missed: list[list[Value]] = []
    for cell in dict.fromkeys(cells):
        if not isinstance(cell, Translated):
            continue
        result = experiment.result(cell)
        if "refused" in result or not result["asked"]:
            continue
        name = cell.set_name
        settings[name] = settings.get(name, 0) + 1
        asked[name] = asked.get(name, 0) + result["asked"]
        met[name] = met.get(name, 0) + result["met"]
        phrases, chosen = cell.phrases(experiment), cell.chosen(experiment)
        for i in result["missed"]:
            sentence = chosen[i]
            missed.append([cell.name, sentence, "; ".join(phrases[sentence]), result["texts"][i]])
    if not asked:
        return []
    total, kept = sum(asked.values()), sum(met.values())
    share = f"{100 * kept / total:.2f} %"
    text = (
        f"Every output was searched for its constraints as whole words, independently of the "
        f"search. Of {total:,} constraints in {sum(settings.values())} settings, {kept:,} are "
        f"there: **{share}**."
    )
    rows: list[list[Value]] = [
        [name, settings[name], asked[name], met[name], 100 * met[name] / asked[name]]
        for name in sorted(asked)
    ]
    columns = ["set", "settings", "constraints", "met", "met, %"]
    blocks: list[Block] = [Text(text), Table("met", "Constraints met", columns, rows, 2)]
    if missed:
        columns = ["setting", "sentence", "constraints", "output"]
        blocks.append(Table("missed", "Sentences that lack a constraint", columns, missed))
    return [Section("met", "Constraints met", blocks)]
