"""The paper's appendix: constraints from a phrase table and from a dictionary of names."""

from __future__ import annotations

from collections.abc import Sequence

from lexbeam.study.constraint_sets import count_met
from lexbeam.study.dictionaries import Dictionaries, TranslatedWithDictionary
from lexbeam.study.experiment import Cell, Experiment
from lexbeam.study.plan import UNCONSTRAINED, Plan, signed
from lexbeam.study.report.blocks import Section, Table, Text, Value

TITLES = {"table": "phrase table", "names": "dictionary of names"}


class DictionaryConstraints:
    """What constraints that were chosen automatically do to BLEU."""

    name = "dictionaries"

    def cells(self, plan: Plan) -> Sequence[Cell]:
        """Return the dictionaries, and the text translated with them."""
        return [self._source(plan), plan.cell(UNCONSTRAINED), *self._searches(plan).values()]

    def show(self, plan: Plan, experiment: Experiment) -> Section:
        """Return a comparison with no constraints, and with only the right ones."""
        source = experiment.result(self._source(plan))
        free = experiment.result(plan.cell(UNCONSTRAINED))
        rows: list[list[Value]] = [["none", 0, None, None, free["bleu"], None, free["chrf"]]]
        gains = {}
        for title, cell in self._searches(plan).items():
            result, phrases = experiment.result(cell), cell.phrases(experiment)
            gains[title] = result["bleu"] - free["bleu"]
            right = _share(phrases, experiment.text.references)
            said = _share(phrases, free["texts"])
            row = [result["asked"], right, said, result["bleu"], gains[title], result["chrf"]]
            rows.append([title, *row])
        columns = ["constraints", "number", "in the reference, %", "said anyway, %"]
        columns += ["BLEU", "gain", "chrF"]
        examples: list[list[Value]] = [[s, t, n] for s, t, n in source["examples"]]
        return Section(
            self.name,
            "Appendix: constraints that nobody chose",
            [
                Text(self._say(plan, source["counts"], gains)),
                Table("dictionaries", "Constraints by dictionary", columns, rows, 1),
                Table(
                    "phrase-table",
                    "The most significant entries of the phrase table",
                    ["source", "target", "seen together"],
                    examples,
                ),
            ],
        )

    def _say(self, plan: Plan, counts: dict[str, int], gains: dict[str, float]) -> str:
        learnt = (
            "a parallel text"
            if plan.parallel
            else "the other half of the test set, which is little"
        )
        names = "given" if plan.entities else "what is written large inside its sentences"
        helped = [title for title in TITLES.values() if gains[title] > 0]
        verdict = (
            f"Here the {' and the '.join(helped)} did help."
            if helped
            else "As in the paper, neither helps."
        )
        clean = " and ".join(
            f"{signed(gains[f'{title}, clean'])} for the {title}" for title in TITLES.values()
        )
        return (
            f"Can constraints be found without a user? Phrases come from {learnt}: "
            f"{counts['pairs']:,} sentence pairs, aligned in both directions by fast_align "
            f"(Thot), gave {counts['candidates']:,} phrase pairs, of which {counts['kept']:,} "
            "are significant by Fisher's exact test. The names are "
            f"{names}: {counts['names']:,}. Each sentence gets at most three. {verdict} Cleaned "
            "of what the reference does not have, as a dictionary without noise would be, they "
            f"change BLEU by {clean}."
        )

    def _source(self, plan: Plan) -> Dictionaries:
        return Dictionaries(plan.parallel, plan.entities)

    def _searches(self, plan: Plan) -> dict[str, TranslatedWithDictionary]:
        return {
            title + (", clean" if clean else ""): TranslatedWithDictionary(
                name, plan.setting(), source=self._source(plan), clean=clean
            )
            for name, title in TITLES.items()
            for clean in (False, True)
        }


def _share(phrases: Sequence[Sequence[str]], texts: Sequence[str]) -> float | None:
    """Return the share of the phrases that are in the texts, in per cent."""
    asked = sum(map(len, phrases))
    found = sum(count_met(text, these) for text, these in zip(texts, phrases, strict=True))
    return 100 * found / asked if asked else None
