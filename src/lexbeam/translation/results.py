"""What a translation is when it comes back: text, score, and what became of the constraints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from lexbeam.text.word_boundaries import Span
from lexbeam.translation.signature import Signature


def marked(text: str, spans: Sequence[Span]) -> str:
    """Return a text as HTML with some spans marked."""
    written, end = [], 0
    for start, stop in sorted(spans):
        if start >= end:
            written += [escape(text[end:start]), f"<mark>{escape(text[start:stop])}</mark>"]
            end = stop
    return "".join([*written, escape(text[end:])])


@dataclass(frozen=True)
class ConstraintReport:
    """What became of one constraint.

    ``text`` is what was asked for, in short. ``span`` says where it stands in the translation,
    as whole words, from the beginning of its first part to the end of its last; it is None
    when the constraint is not met. One that must occur several times has the span of the first.
    """

    text: str
    span: Span | None
    spans: tuple[Span, ...] = ()
    """Where every part of every occurrence stands, for what has several."""
    form: str | None = None
    """How the translation writes it: which of several forms, in which case."""
    dropped: bool = False
    """Whether it was given up: it would have cost more than it may, or for another reason."""
    price: float | None = None
    """What it costs: the log-probability that the text loses by it. Measured on request only."""
    asked: Any = None
    """The constraint in the shape it was given in, where that was more than a phrase."""
    sources: tuple[Span, ...] = ()
    """Where in the source stands what it translates, one span per occurrence, if it is known."""
    reason: str | None = None
    """Why it was given up, if not for its cost: a glossary's noun whose source is a verb."""

    @property
    def met(self) -> bool:
        """Whether the translation keeps to it: looked up in the text itself."""
        return self.span is not None

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for JSON; ``start`` and ``end`` are None for what is missing.

        The rest is there only where there is something to say.
        """
        start, end = self.span or (None, None)
        record: dict[str, Any] = {"text": self.text, "met": self.met, "start": start, "end": end}
        if self.form is not None and (self.asked is not None or self.form != self.text):
            record["form"] = self.form
        if len(self.spans) > 1:
            record["spans"] = [list(span) for span in self.spans]
        if self.dropped:
            record["dropped"] = True
        if self.reason is not None:
            record["reason"] = self.reason
        if self.price is not None:
            record["price"] = self.price
        if self.asked is not None:
            record["asked"] = self.asked
        if self.sources:
            record["sources"] = [list(span) for span in self.sources]
        return record


def _spans(report: ConstraintReport) -> tuple[Span, ...]:
    return report.spans or ((report.span,) if report.span else ())


def _shown(report: ConstraintReport) -> str:
    """Return a constraint in short: what was asked for, and where it stands."""
    if report.span is None:
        return f"{report.text!r} {'dropped' if report.dropped else 'not met'}"
    return f"{report.text!r} at {report.span[0]}:{report.span[1]}"


@dataclass(frozen=True, slots=True)
class Link:
    """A word of the source and a word of the translation that translates it, or a part of it."""

    source: Span
    """Where it stands in the source, in characters."""
    target: Span
    """Where it stands in the translation."""

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for JSON: ``source`` and ``target``, each a start and an end."""
        return {"source": list(self.source), "target": list(self.target)}


@dataclass(frozen=True, repr=False)
class Alternative:
    """One of the best translations of a text.

    ``score`` is the length-normalised log-probability; for a text of several sentences, the
    mean of theirs. ``unavoided`` lists what should have been avoided and is there all the
    same; it is empty unless the model leaves no other way.
    """

    text: str
    score: float
    constraints: list[ConstraintReport] = field(default_factory=list)
    unavoided: list[str] = field(default_factory=list)
    alignment: list[Link] | None = None
    """Which words translate which, by the order of the translation. On request only."""

    def __repr__(self) -> str:
        """Return text, score and constraints: what a reader wants to see first."""
        met = "".join(f", {_shown(report)}" for report in self.constraints)
        return f"<{type(self).__name__} {self.text!r}, score {self.score:.3f}{met}>"

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for JSON with ``translation``, ``score`` and ``constraints``.

        The rest is there only where there is something to say, or where it was asked for.
        """
        record: dict[str, Any] = {
            "translation": self.text,
            "score": self.score,
            "constraints": [report.to_dict() for report in self.constraints],
        }
        if self.unavoided:
            record["unavoided"] = self.unavoided
        if self.alignment is not None:
            record["alignment"] = [link.to_dict() for link in self.alignment]
        return record


@dataclass(frozen=True, repr=False)
class Translation(Alternative):
    """The best translation of a text; ``nbest`` lists it and the next best ones."""

    nbest: list[Alternative] = field(default_factory=list)
    signature: Signature | None = field(default=None, compare=False)
    """The version, model and settings that made it."""
    source: str | None = field(default=None, compare=False)
    """The text that was translated."""

    def _repr_html_(self) -> str:
        """Return what a notebook shows: source and translation, with the constraints marked."""
        met = [report for report in self.constraints if report.met]
        lines = [marked(self.text, [span for report in met for span in _spans(report)])]
        if self.source is not None:
            sources = [span for report in met for span in report.sources]
            lines.insert(0, f"<small>{marked(self.source, sources)}</small>")
        missing = [escape(report.text) for report in self.constraints if not report.met]
        lines += [f"<small>not met: {', '.join(missing)}</small>"] if missing else []
        return "<br>".join(lines)

    def to_dict(self, signature: bool = False) -> dict[str, Any]:
        """Return the fields of the best one, and ``nbest`` when there are several.

        With ``signature``, also what made it.
        """
        record = super().to_dict()
        if len(self.nbest) > 1:
            record["nbest"] = [alternative.to_dict() for alternative in self.nbest]
        if signature and self.signature is not None:
            record["signature"] = self.signature.to_dict()
        return record

    def to_json(self, signature: bool = False) -> str:
        """Return what `to_dict` returns as one line of JSON."""
        return json.dumps(self.to_dict(signature), ensure_ascii=False)
