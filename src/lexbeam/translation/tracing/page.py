"""One page that shows searches step by step and needs nothing but a browser.

Style, script and data all stand in the page, and its content security policy lets nothing else
in. The data is JSON in which no character can end its element; the script writes it as text
only, so that whatever a source or a vocabulary holds is shown, never run.
"""

from __future__ import annotations

import hashlib
import html
import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import Any

from lexbeam.search.allocation import POLICIES
from lexbeam.search.automaton.patterns import Pattern, TokenConstraint
from lexbeam.text.literals import Aliases
from lexbeam.text.vocabulary import SPACE
from lexbeam.translation.tracing.collect import ORIGINS, Candidate, SearchTrace, Standing, Step

Pieces = Callable[[Sequence[int]], list[str]]

FATES = ("live", "finished", "pruned", "lagging")
_TITLE_LENGTH = 60
_DIGITS = 4


def render(
    searches: Sequence[tuple[str, str, SearchTrace]],
    pieces: Pieces,
    model: Mapping[str, Any],
    others: int,
) -> str:
    """Return the page for searches, each with its source and its output as text.

    ``pieces`` writes tokens, ``others`` says how many searches are not shown.
    """
    style, script = _file("page.css"), _file("page.js")
    data = to_data(searches, pieces, model, others)
    first = searches[0][0] if searches else "nothing to translate"
    short = first if len(first) <= _TITLE_LENGTH else first[: _TITLE_LENGTH - 1] + "…"
    return Template(_file("page.html")).substitute(
        title=html.escape(short),
        policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}",
        style=style,
        script=script,
        data=_embed(data),
        plain="".join(
            f'<p dir="auto">{html.escape(source)}</p><p dir="auto">{html.escape(output)}</p>'
            for source, output, _ in searches
        ),
    )


def to_data(
    searches: Sequence[tuple[str, str, SearchTrace]],
    pieces: Pieces,
    model: Mapping[str, Any],
    others: int,
) -> dict[str, Any]:
    """Return everything the page shows; tokens are indices into one list of pieces."""
    vocabulary = _Vocabulary(pieces)
    shown = [_search(*search, vocabulary) for search in searches]
    return {
        "model": str(model.get("name", "")),
        "others": others,
        "origins": ORIGINS,
        "fates": FATES,
        "searches": shown,
        "pieces": vocabulary.written(),
    }


class _Vocabulary:
    """The tokens that occur, numbered, so that each piece is written into the page once."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._numbers: dict[int | str, int] = {}
        self._own: dict[int, str] = {}

    def turn_to(self, aliases: Aliases) -> None:
        """Know the tokens that a search has beyond the vocabulary, by what they write."""
        written = enumerate(aliases.written, aliases.first)
        self._own = {token: text.replace(" ", SPACE) for token, text in written}

    def __getitem__(self, token: int) -> int:
        return self._numbers.setdefault(self._own.get(token, token), len(self._numbers))

    def all(self, tokens: Iterable[int]) -> list[int]:
        """Return the numbers of tokens."""
        return [self[token] for token in tokens]

    def written(self) -> list[str]:
        """Return the pieces by number."""
        known = [token for token in self._numbers if isinstance(token, int)]
        pieces = dict(zip(known, self._pieces(known), strict=True))
        return [t if isinstance(t, str) else pieces[t] for t in self._numbers]


def _search(
    source: str, output: str, search: SearchTrace, vocabulary: _Vocabulary
) -> dict[str, Any]:
    settings, job = search.settings, search.job
    vocabulary.turn_to(job.aliases)
    constraints = [
        {"times": times, "size": size, **_constraint(demand, vocabulary)}
        for (demand, times), size in zip(search.times.items(), search.sizes, strict=True)
    ]
    return {
        "source": source,
        "sourceTokens": search.source_tokens,
        "output": output,
        "algorithm": settings.algorithm,
        "k": settings.beam_size,
        "prune": settings.prune,
        "lag": settings.lag,
        "stop": settings.stop,
        "perBank": POLICIES[settings.algorithm].beam_per_bank,
        "bySet": search.by_set,
        "constraints": constraints,
        "avoid": [vocabulary.all(tokens) for tokens in job.avoid],
        "prefix": vocabulary.all(job.prefix),
        "path": search.path,
        "ended": search.ended,
        "steps": [_step(step, vocabulary) for step in search.steps],
    }


def _constraint(demand: TokenConstraint, vocabulary: _Vocabulary) -> dict[str, Any]:
    """Return a constraint as parts in order, each in one or more forms."""
    if not isinstance(demand, Pattern):
        return {"parts": [[vocabulary.all(demand)]]}
    parts = [[vocabulary.all(form.tokens) for form in part] for part in demand.parts]
    return {
        "parts": parts,
        "first": [[form.first for form in part] for part in demand.parts],
        "last": demand.last,
        "within": demand.within,
        "price": demand.penalty,
    }


def _step(step: Step, vocabulary: _Vocabulary) -> dict[str, Any]:
    return {
        "banks": [[bank.met, bank.candidates, bank.given, bank.filled] for bank in step.banks],
        "moves": step.moves,
        "candidates": [_candidate(candidate, vocabulary) for candidate in step.candidates],
        "leftOff": step.left_off,
        "beam": [standing and _standing(standing) for standing in step.beam],
        "bestFinished": step.best_finished and round(step.best_finished, _DIGITS),
    }


def _standing(standing: Standing) -> list[Any]:
    shown = [standing.candidate, round(standing.score, _DIGITS), FATES.index(standing.fate)]
    attention = [[token, round(share, 2)] for token, share in standing.attention]
    return [*shown, attention] if attention else shown


def _candidate(candidate: Candidate, vocabulary: _Vocabulary) -> list[Any]:
    return [
        candidate.parent,
        vocabulary[candidate.token],
        round(candidate.score, _DIGITS),
        candidate.bank,
        sum(1 << ORIGINS.index(origin) for origin in candidate.origins),
        -1 if candidate.slot is None else candidate.slot,
        candidate.progress,
        None if candidate.worth == candidate.score else round(candidate.worth, _DIGITS),
    ]


def _embed(data: Mapping[str, Any]) -> str:
    """Return JSON that is safe inside a script element: nothing in it looks like markup."""
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return written


def _file(name: str) -> str:
    return files("lexbeam.translation.tracing").joinpath(name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """Return what a content security policy allows an inline element by."""
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{b64encode(digest).decode()}'"
