"""What a caller asks of all texts alike: read and checked once, before the first of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lexbeam.constraints.glossary import Glossary
from lexbeam.constraints.parsing import Reader
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.settings import TextSettings
from lexbeam.translation.source_terms import SourceTerms


@dataclass(frozen=True)
class Asked:
    """What is asked of every text, in the shapes it was given in; it can be pickled."""

    constraints: Sequence[Any] = ()
    avoid: Sequence[Any] = ()
    prefix: str | None = None
    glossary: Glossary | None = None
    keep: Sequence[str] | None = None
    settings: TextSettings = field(default_factory=TextSettings)

    def request(
        self, info: Mapping[str, Any], names: tuple[str, str] = ("constraints", "avoid")
    ) -> TextRequest:
        """Return a request without a text, for the model that ``info`` describes.

        ``names`` are what errors call the constraints and what is avoided.

        Raises:
            LexbeamError: something asked for can't be used, whatever the text.
        """
        SourceTerms(self.glossary, self.keep, info)
        reader = Reader(info.get("target_language"))
        return TextRequest(
            text="",
            constraints=reader.demands(list(self.constraints), names[0]),
            avoid=reader.avoided(list(self.avoid), names[1]),
            prefix=self.prefix,
            glossary=self.glossary,
            keep=self.keep,
            settings=self.settings,
        )
