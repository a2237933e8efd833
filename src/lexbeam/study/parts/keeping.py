"""Constraints met, in every cell that the report rests on."""

from __future__ import annotations

from collections.abc import Iterable

from lexbeam.study.bench import Bench, Measurable
from lexbeam.study.blocks import Block, Section, Table, Text, Value
from lexbeam.study.measures import Translated


def show_met(bench: Bench, cells: Iterable[Measurable]) -> Section:
    """Count over all settings; the text has been searched, nobody has been asked."""
    asked: dict[str, int] = {}
    met: dict[str, int] = {}
    settings: dict[str, int] = {}
    missed: list[list[Value]] = []
    for cell in dict.fromkeys(cells):
        if not isinstance(cell, Translated):
            continue
        result = bench.result(cell)
        if "refused" in result or not result["asked"]:
            continue
        name = cell.set_name
        settings[name] = settings.get(name, 0) + 1
        asked[name] = asked.get(name, 0) + result["asked"]
        met[name] = met.get(name, 0) + result["met"]
        phrases, chosen = cell.phrases(bench), cell.chosen(bench)
        for i in result["missed"]:
            sentence = chosen[i]
            missed.append([cell.name, sentence, "; ".join(phrases[sentence]), result["texts"][i]])
    total, kept = sum(asked.values()), sum(met.values())
    share = f"{100 * kept / total:.2f} %" if total else "none"
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
    return Section("met", "Constraints met", blocks)
