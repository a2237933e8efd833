"""The models of a server: which pairs there are, and which language a text is in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lexbeam.errors import MissingExtraError, ModelError
from lexbeam.server.errors import unsupported
from lexbeam.server.languages import known_language
from lexbeam.text.languages import base_language
from lexbeam.translation.translator import Translator, load

_WARM_UP = "Hello, world!"
_LOOKED_AT = 2000  # characters of a text by which its language is detected


@dataclass(frozen=True, eq=False)
class ServedModel:
    """A model and its languages."""

    source: str
    target: str
    translator: Translator

    @property
    def name(self) -> str:
        """The pair that the model translates."""
        return f"{self.source}-{self.target}"


class Models:
    """All models of a server; of two for one pair, the first is used."""

    def __init__(self, translators: Iterable[Translator]) -> None:
        self._served: dict[tuple[str, str], ServedModel] = {}
        for translator in translators:
            pair = tuple(
                base_language(translator.info.get(f"{side}_language"))
                for side in ("source", "target")
            )
            source, target = pair
            if not source or not target:
                raise ModelError(
                    "a model that does not say its languages can't be served: import it again "
                    "with its languages"
                )
            self._served.setdefault((source, target), ServedModel(source, target, translator))

    @classmethod
    def load(cls, names: Sequence[str | None]) -> Models:
        """Load models by their paths or pairs; without any, the bundled one."""
        return cls([load(name) for name in names or [None]])

    def warm_up(self) -> None:
        """Translate something with every model, so that the first request does not wait."""
        for served in self.all:
            served.translator.translate([_WARM_UP] * 2)
            served.translator.translate(_WARM_UP)

    @property
    def all(self) -> list[ServedModel]:
        """All models."""
        return list(self._served.values())

    @property
    def sources(self) -> list[str]:
        """The languages that can be translated from."""
        return sorted({served.source for served in self.all})

    @property
    def targets(self) -> list[str]:
        """The languages that can be translated to."""
        return sorted({served.target for served in self.all})

    @property
    def languages(self) -> list[str]:
        """All languages of all models."""
        return sorted({*self.sources, *self.targets})

    def targets_of(self, source: str) -> list[str]:
        """Return the languages that a language can be translated to."""
        return sorted(served.target for served in self.all if served.source == source)

    def sources_of(self, target: str) -> list[str]:
        """Return the languages that can be translated to a language."""
        return sorted(served.source for served in self.all if served.target == target)

    def target(self, written: object, field: str) -> str:
        """Return the language that a request wants.

        Raises:
            ApiError: there is no model for it.
        """
        code = known_language(written)
        if code not in self.targets:
            raise unsupported(field, f"There is {', '.join(self.targets)}.")
        return code or ""

    def find(
        self, source: object, target: object, text: str, fields: tuple[str, str]
    ) -> ServedModel:
        """Return the model for two languages; without a source, for the one a text is in.

        Raises:
            ApiError: there is none; ``fields`` are the names of the languages in the request.
        """
        wanted = self.target(target, fields[1])
        if source is None:
            return self._served[self.detect(text, self.sources_of(wanted))[0][0], wanted]
        code = known_language(source)
        if code not in self.languages:
            raise unsupported(fields[0], f"There is {', '.join(self.sources)}.")
        served = self._served.get((code or "", wanted))
        if served is None:
            there = ", ".join(each.name for each in self.all)
            raise unsupported(fields[1], f"There is no model {code}-{wanted}, only {there}.")
        return served

    def detect(self, text: str, among: Sequence[str] | None = None) -> list[tuple[str, float]]:
        """Return languages and how sure we are (0 to 1) that a text is in them, best first."""
        wanted = list(among if among is not None else self.languages)
        if len(wanted) == 1 and among is not None:
            return [(wanted[0], 1.0)]
        ranked = [
            (code, float(sure))
            for code, sure in self._detector.rank(text[:_LOOKED_AT])
            if code in wanted
        ]
        total = sum(sure for _, sure in ranked) or 1.0
        found = [(code, sure / total) for code, sure in ranked]
        return found + [(code, 0.0) for code in wanted if code not in dict(found)]

    @cached_property
    def _detector(self) -> Any:
        try:
            from py3langid.langid import (  # type: ignore[import-untyped]  # noqa: PLC0415
                MODEL_FILE,
                LanguageIdentifier,
            )
        except ImportError:
            raise MissingExtraError("detecting languages", "server") from None
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
