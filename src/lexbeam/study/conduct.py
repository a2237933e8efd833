"""A study from beginning to end: read, measure what has not been, write up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import lexbeam
from lexbeam.constraints import unusable
from lexbeam.errors import InputError, SettingError
from lexbeam.study.bench import Bench, Progress, TestSet
from lexbeam.study.blocks import Section, Table, Text, Value
from lexbeam.study.measures import Compared
from lexbeam.study.parts.appendix import Appendix
from lexbeam.study.parts.aversion import Aversion
from lexbeam.study.parts.beams import Beams, Oracle
from lexbeam.study.parts.constraint_sets import ConstraintSets
from lexbeam.study.parts.garbage import Garbage
from lexbeam.study.parts.keeping import show_met
from lexbeam.study.parts.placement import Placement
from lexbeam.study.parts.speed import Speed
from lexbeam.study.parts.stopping import Pruning, Stopping
from lexbeam.study.plan import FREE, Part, Plan, listed, signed
from lexbeam.study.report import write_report

PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        ConstraintSets(),
        Beams(),
        Oracle(),
        Speed(),
        Pruning(),
        Stopping(),
        Placement(),
        Aversion(),
        Garbage(),
        Appendix(),
    )
}


def read_text(source: Path, reference: Path, limit: int | None) -> TestSet:
    """Read a test set: two files, a sentence a line."""
    sources, references = (_lines(path) for path in (source, reference))
    if len(sources) != len(references):
        raise InputError(
            f"{source} has {len(sources)} lines, {reference} has {len(references)}: "
            "each line needs its translation"
        )
    sources, references = sources[:limit], references[:limit]
    for number, pair in enumerate(zip(sources, references, strict=True), 1):
        for path, line in zip((source, reference), pair, strict=True):
            fault = "nothing in it" if not line.strip() else unusable(line)
            if fault:
                raise InputError(f"{path}: line {number} has {fault}: drop the pair")
    if not sources:
        raise InputError(f"{source} is empty: a study needs sentences")
    return TestSet(sources, references)


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")  # line ends of all systems become one
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    # Not splitlines: it takes rarer characters, which a sentence may hold, for line ends too.
    return text.removesuffix("\n").split("\n") if text else []


def choose_parts(names: Sequence[str] | None) -> list[Part]:
    """Return the parts that are asked for; all if none are named."""
    for name in names or ():
        if name not in PARTS:
            raise SettingError(f"unknown part {name!r} of a study: there are {', '.join(PARTS)}")
    return [part for name, part in PARTS.items() if not names or name in names]


def conduct(bench: Bench, plan: Plan, parts: Sequence[Part], out: Path, progress: Progress) -> Path:
    """Measure what the parts need and write the report.

    Parts that were not asked for are in it too if all they rest on has been measured before.
    """
    bench.measure((cell for part in parts for cell in part.cells(plan)), progress)
    ready = [
        part
        for part in PARTS.values()
        if part in parts or (part.cells(plan) and all(map(bench.has, part.cells(plan))))
    ]
    cells = [cell for part in ready for cell in part.cells(plan)]
    sections = [_set_up(plan, bench), *_summary(plan, bench)]
    sections += [part.show(plan, bench) for part in ready]
    sections.append(show_met(bench, cells))
    title = f"What constraints do to {_model_name(bench)}"
    write_report(out, "report", title, sections, ("tables", "figures"))
    for part in ready:
        if isinstance(part, Speed):
            times = [part.times(plan, bench)]
            write_report(out, "times", f"{title}: seconds", times, ("times", "times"))
    return out / "report.html"


def _model_name(bench: Bench) -> str:
    info = bench.model.info
    pair = [str(info[key]) for key in ("source_language", "target_language") if info.get(key)]
    return f"a model {'→'.join(pair)}" if pair else "a model"


def _set_up(plan: Plan, bench: Bench) -> Section:
    info, text = bench.model.info, bench.text
    facts: list[list[Value]] = [
        ["model", str(info.get("network", info.get("type", "")))],
        ["its files, SHA-256", bench.identity[:16]],
        ["sentences", len(text.sources)],
        ["seed", bench.seed],
        ["algorithms", ", ".join(plan.algorithms)],
        ["lag", f"{plan.lag:g}"],
        ["lexbeam", lexbeam.__version__],
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


def _summary(plan: Plan, bench: Bench) -> list[Section]:
    """Say whether the paper's shapes appear, where the usual cells are there."""
    cells = {name: plan.cell(name) for name in plan.sets}
    if not all(map(bench.has, cells.values())) or FREE not in cells:
        return []
    found = {name: bench.result(cell) for name, cell in cells.items()}
    bleu = {name: result["bleu"] for name, result in found.items()}
    gains = {name: bleu[name] - bleu[FREE] for name in plan.demanding}
    words = [name for name in plan.demanding if name.startswith("rand")]
    phrases = [name for name in plan.demanding if name.startswith("phr")]
    rising = [a for a, b in pairwise(words) if bleu[b] > bleu[a]]
    told = listed([f"{name} {signed(gain)}" for name, gain in gains.items()])
    said = [f"Against {bleu[FREE]:.1f} BLEU without constraints: {told}."]
    if all(gains[name] > 0 for name in words) and len(rising) == len(words) - 1:
        said.append("As in the paper, every further word helps.")
    else:
        falls = [f"from {a} to {b}" for a, b in pairwise(words) if bleu[b] <= bleu[a]]
        lost = [name for name in words if gains[name] <= 0]
        if falls:
            said.append(f"Unlike with the paper's wide beams, BLEU does not rise {listed(falls)}.")
        if lost:
            said.append(f"No gain from {listed(lost)}.")
    longest = phrases[-1] if phrases else None
    if longest and words:
        above = bleu[longest] > max(bleu[name] for name in words)
        how = "far above" if above else "not above"
        said.append(f"{longest}, a phrase, is {how} the random words.")
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
    return [
        Section(
            "summary",
            "Summary",
            [
                Text(" ".join(said)),
                Table("summary", caption, columns, rows, 2),
                Text(
                    "p is the chance of so great a difference in BLEU to no constraints, by paired "
                    "bootstrap resampling of the sentences."
                ),
            ],
        )
    ]
