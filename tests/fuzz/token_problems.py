"""Small searches, as they are drawn: a toy model, what is asked of it, and how to search."""

from __future__ import annotations

import inspect
import textwrap
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lexbeam.search import Form, Pattern
from lexbeam.testing import HistoryScorer, TableScorer

Tokens = tuple[int, ...]
Demand = Tokens | Pattern
SOURCE = 4
"""The tokens of each source."""


@dataclass(frozen=True)
class Marks:
    """Which tokens end and begin words, or write nothing, as `decode` takes them."""

    boundary: tuple[bool, ...]
    closing: tuple[bool, ...]
    starting: tuple[bool, ...]
    joining: tuple[int, ...]
    silent: tuple[bool, ...]


@dataclass(frozen=True)
class Sentence:
    """What is asked of one output."""

    demands: tuple[Demand, ...] = ()
    avoid: tuple[Tokens, ...] = ()
    prefix: Tokens = ()
    whole: bool = False
    limit: int = 4
    source: str = "s"
    ties: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """Demands, by their indices, with the source tokens that they are tied to."""


@dataclass(frozen=True)
class Problem:
    """A search."""

    size: int
    eos: int
    seed: int
    table: bool
    holds: bool
    """Whether the scorer knows which tokens begin words."""
    marks: Marks | None
    sentences: tuple[Sentence, ...]
    settings: dict[str, Any]
    exhaustive: bool
    """Whether the beam holds everything, so that the best output must be found."""
    roomy: bool = False
    """Whether there are too many outputs to try, but room for all that is demanded."""
    attends: bool = False
    """Whether the model says where it looks; it looks anywhere."""
    other_end: int | None = None
    """A token beside ``eos`` that ends outputs, too."""
    rules_out: bool = False
    """Whether the model, a table, gives no probability at all to many tokens."""
    in_32_bits: bool = False
    """Whether the model answers in 32 bits, as most models do, and names any tokens where none are
    left."""
    neighbour: int = 0
    """How often the sentence beside a roomy one demands a token; 0: there is none."""

    @property
    def ends(self) -> tuple[int, ...]:
        """The tokens that end an output."""
        return (self.eos,) if self.other_end is None else (self.eos, self.other_end)

    @property
    def tokens(self) -> list[int]:
        """The tokens that outputs are made of."""
        return [token for token in range(self.size) if token not in self.ends]

    @property
    def cut(self) -> bool:
        """Whether an output may stop at the limit as it is."""
        return bool(self.settings.get("cut"))


class Scorers:
    """What makes the model of a problem; printed as part of a reproduction."""

    @staticmethod
    def table(
        size: int,
        eos: int,
        seed: int,
        starts: Sequence[bool] | None,
        attends: bool,
        rules_out: bool,
    ) -> TableScorer:
        """Return a model that knows the last token only, and looks anywhere."""
        random = np.random.default_rng(seed)
        table = np.log(random.dirichlet(np.full(size, 0.7), size))
        if rules_out:
            table[random.random(table.shape) < random.choice((0.3, 0.6, 0.9))] = -np.inf
        alignment = random.dirichlet(np.full(SOURCE, 0.3), size) if attends else None
        return TableScorer(table, bos=0, eos=eos, word_starts=starts, alignment=alignment)

    @staticmethod
    def history(
        size: int,
        eos: int,
        seed: int,
        starts: Sequence[bool] | None,
        attends: bool,
        rules_out: bool,
    ) -> HistoryScorer:
        """Return a model that knows all tokens before, and looks anywhere."""

        def alignment(source: Any, prefix: Sequence[int]) -> Any:
            history = zlib.crc32(repr((seed, source, [*map(int, prefix)])).encode())
            return np.random.default_rng(history).dirichlet(np.full(len(source), 0.3))

        assert not rules_out
        attention = alignment if attends else None
        return HistoryScorer(size, eos=eos, seed=seed, word_starts=starts, alignment=attention)


def answer_in_32_bits(scorer: Any) -> None:
    """Round the numbers of a model to 32 bits, and let it answer in these.

    Where fewer tokens are left than were asked for, any are named, other ones in each row.
    """
    exact, step = scorer.next_log_probs, scorer.step

    def next_log_probs(source: Any, prefix: Sequence[int]) -> Any:
        return exact(source, prefix).astype(np.float32).astype(np.float64)

    def step_in_32_bits(*args: Any, **more: Any) -> Any:
        top_scores, top_ids, ask_scores, *others = step(*args, **more)
        any_ids = np.add.outer(np.arange(len(top_ids)), np.arange(top_ids.shape[1]))
        any_ids = any_ids % scorer.vocabulary_size
        top_ids = np.where(top_scores > -np.inf, top_ids, any_ids)
        return top_scores.astype(np.float32), top_ids, ask_scores.astype(np.float32), *others

    scorer.next_log_probs, scorer.step = next_log_probs, step_in_32_bits
    if hasattr(scorer, "log_probs"):
        scorer.log_probs = scorer.log_probs.astype(np.float32).astype(np.float64)


def make_scorer(problem: Problem) -> TableScorer | HistoryScorer:
    """Return the model of a problem."""
    starts = problem.marks.boundary if problem.marks and problem.holds else None
    make = Scorers.table if problem.table else Scorers.history
    known = problem.size, problem.eos, problem.seed, starts, problem.attends
    scorer = make(*known, problem.rules_out)
    if problem.other_end is not None:
        scorer.ends = problem.ends  # type: ignore[union-attr]
    if problem.in_32_bits:
        answer_in_32_bits(scorer)
    return scorer


def arguments(problem: Problem, sentences: Sequence[Sentence]) -> dict[str, Any]:
    """Return what `decode` is called with, apart from the scorer."""
    given: dict[str, Any] = {
        "sources": [each.source for each in sentences],
        "phrases": [list(each.demands) for each in sentences],
    }
    if any(each.avoid for each in sentences):
        given["avoid"] = [list(each.avoid) for each in sentences]
    if any(each.prefix for each in sentences):
        given["prefix"] = [list(each.prefix) for each in sentences]
    given["max_length"] = [each.limit for each in sentences]
    if problem.attends:
        given["ties"] = [dict(each.ties) for each in sentences]
    if problem.marks is not None:
        given |= {name: list(value) for name, value in vars(problem.marks).items()}
        if any(each.whole for each in sentences):
            given["whole_prefix"] = [each.whole for each in sentences]
    return given | problem.settings


def show(problem: Problem) -> str:
    """Return a problem as a program."""
    starts = problem.marks.boundary if problem.marks and problem.holds else None
    known = [int(mark) for mark in starts] if starts else None
    kind = Scorers.table if problem.table else Scorers.history
    made = f"{problem.size}, {problem.eos}, {problem.seed}, {known}, {problem.attends}"
    made += f", {problem.rules_out}"
    code = textwrap.dedent(inspect.getsource(kind)).replace("@staticmethod\n", "")
    lines = [
        "import zlib",
        "import numpy as np",
        "from typing import *",
        "from lexbeam.search import Form, Pattern, decode",
        "from lexbeam.testing import HistoryScorer, TableScorer",
        f"SOURCE = {SOURCE}",
        code,
        f"scorer = {kind.__name__}({made})",
        *([] if problem.other_end is None else [f"scorer.ends = {problem.ends}"]),
    ]
    if problem.in_32_bits:
        lines += [inspect.getsource(answer_in_32_bits), "answer_in_32_bits(scorer)"]
    given = arguments(problem, problem.sentences)
    passed = (f"    {name}={_short(value)},\n" for name, value in given.items())
    return "\n".join([*lines, "print(decode(\n    scorer,\n" + "".join(passed) + "))\n"])


def _short(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(each, bool) for each in value):
        return str([int(each) for each in value])
    text = repr(value).replace(", demand=0", "")
    for name in ("first", "apart", "inside", "goes_on", "last", "may_overlap", "exact"):
        text = text.replace(f", {name}=False", "")
    return text.replace(", within=None", "").replace(", penalty=None", "")


def begins_output(pattern: Pattern) -> bool:
    """Return whether the first part of a pattern has to begin the output."""
    return all(form.first for form in pattern.parts[0])


# --- making problems simpler -----------------------------------------------------------------


def simpler(problem: Problem) -> Iterator[Problem]:
    """Yield problems with something left out."""
    sentences = problem.sentences
    for at in range(len(sentences)):
        if len(sentences) > 1:
            yield replace(problem, sentences=(*sentences[:at], *sentences[at + 1 :]))
        for other in _simpler_sentences(sentences[at]):
            yield replace(problem, sentences=(*sentences[:at], other, *sentences[at + 1 :]))
    yield from _simpler_models(problem)
    for name in (
        "aside",
        "cut",
        "word_end",
        "nbest",
        "lag",
        "length_penalty",
        "stop",
        "prune",
        "algorithm",
    ):
        if name in problem.settings and not (problem.exhaustive and name == "prune"):
            kept = {key: value for key, value in problem.settings.items() if key != name}
            yield replace(problem, settings=kept)
    if not problem.exhaustive and problem.settings["beam_size"] > 1:
        size = problem.settings["beam_size"] - 1
        yield replace(problem, settings=problem.settings | {"beam_size": size})


def _simpler_models(problem: Problem) -> Iterator[Problem]:
    if problem.marks is not None and not any(each.whole for each in problem.sentences):
        yield replace(problem, marks=None)
    if problem.marks is not None and any(problem.marks.closing):
        marks = replace(problem.marks, closing=(False,) * problem.size)
        yield replace(problem, marks=marks)
    if problem.attends:
        yield replace(problem, attends=False)
    if problem.rules_out:
        yield replace(problem, rules_out=False)
    if problem.in_32_bits:
        yield replace(problem, in_32_bits=False)
    if problem.neighbour > 1:
        yield replace(problem, neighbour=problem.neighbour // 2)


def _simpler_sentences(sentence: Sentence) -> Iterator[Sentence]:
    demands, avoid = sentence.demands, sentence.avoid
    if sentence.ties:
        yield replace(sentence, ties=())
    for at in range(len(demands)) if not sentence.ties else ():
        yield replace(sentence, demands=demands[:at] + demands[at + 1 :])
    for at in range(len(avoid)):
        yield replace(sentence, avoid=avoid[:at] + avoid[at + 1 :])
    if sentence.prefix:
        yield replace(sentence, prefix=(), whole=False)
        if len(sentence.prefix) > 1:
            yield replace(sentence, prefix=sentence.prefix[:-1])
    if sentence.whole:
        yield replace(sentence, whole=False)
    if sentence.limit > len(sentence.prefix):
        yield replace(sentence, limit=sentence.limit - 1)
    for demand in dict.fromkeys(demands):
        for other in _simpler_demands(demand):
            changed = tuple(other if each == demand else each for each in demands)
            yield replace(sentence, demands=changed)


def _simpler_demands(demand: Demand) -> Iterator[Demand]:
    if not isinstance(demand, Pattern):
        if len(demand) > 1:
            yield from (demand[1:], demand[:-1])
        return
    for parts in _simpler_parts(demand.parts):
        yield replace(demand, parts=parts)
    if demand.last:
        yield replace(demand, last=False)
    if demand.exact:
        yield replace(demand, exact=False)
    if demand.penalty is not None and not begins_output(demand):
        yield replace(demand, penalty=None)


def _simpler_parts(
    parts: tuple[tuple[Form, ...], ...],
) -> Iterator[tuple[tuple[Form, ...], ...]]:
    for at, part in enumerate(parts):
        if len(parts) > 1:
            yield parts[:at] + parts[at + 1 :]
        for number, form in enumerate(part):
            if len(part) > 1 and not all(f.first for f in part[:number] + part[number + 1 :]):
                fewer = part[:number] + part[number + 1 :]
                yield (*parts[:at], fewer, *parts[at + 1 :])
            if len(form.tokens) > 1:
                shorter = replace(form, tokens=form.tokens[:-1])
                if shorter not in part:
                    forms = (*part[:number], shorter, *part[number + 1 :])
                    yield (*parts[:at], forms, *parts[at + 1 :])
