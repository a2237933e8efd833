"""What a translation is when it comes back: text, score, and what became of the constraints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lexbeam.spans import Span


@dataclass(frozen=True)
class ConstraintReport:
    """What became of one demanded phrase.

    ``text`` is the phrase as it was asked for. ``span`` says where it stands in the
    translation, as whole words; it is None when the phrase is not there.
    """

    text: str
    span: Span | None

    @property
    def met(self) -> bool:
        """Whether the phrase stands in the translation: looked up in the text itself."""
        return self.span is not None

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; ``start`` and ``end`` are null for a phrase that is missing."""
        start, end = self.span or (None, None)
        return {"text": self.text, "met": self.met, "start": start, "end": end}


@dataclass(frozen=True)
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

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object with ``translation``, ``score`` and ``constraints``."""
        record = {
            "translation": self.text,
            "score": self.score,
            "constraints": [report.to_json() for report in self.constraints],
        }
        return {**record, "unavoided": self.unavoided} if self.unavoided else record


@dataclass(frozen=True)
class Translation(Alternative):
    """The best translation of a text; ``nbest`` lists it and the next best ones."""

    nbest: list[Alternative] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the fields of the best one, and ``nbest`` when there are several."""
        record = super().to_json()
        if len(self.nbest) > 1:
            record["nbest"] = [alternative.to_json() for alternative in self.nbest]
        return record
