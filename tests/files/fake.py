"""Translators that need no model: they change the words and leave, or break, the masks."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from lexbeam.errors import InputError, LexbeamError
from lexbeam.files.formats import find_format
from lexbeam.files.units import Options, Scan
from lexbeam.translation.markup import Answer, Request
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.results import Alternative, Translation

_WORD = re.compile(r"[a-z]+")


def louder(text: str) -> str:
    """Return a text with its lower-case letters in capitals; masks have none."""
    return _WORD.sub(lambda found: found[0].upper(), text)


class FakeTranslator:
    """Translates every text by a function; refuses those with a certain word."""

    def __init__(
        self,
        change: Callable[[str], str] = louder,
        refused: str | None = None,
        target: str = "de",
    ) -> None:
        self.info: dict[str, Any] = {"source_language": "en", "target_language": target}
        self.texts: list[str] = []
        self._change = change
        self._refused = refused

    def translate_each(self, requests: Iterable[TextRequest]) -> list[Translation | LexbeamError]:
        """Translate texts."""
        return [self._translated(request.text) for request in requests]

    def _translated(self, text: str) -> Translation | LexbeamError:
        if self._refused is not None and self._refused in text:
            return InputError("can't be translated")
        self.texts.append(text)
        changed = self._change(text)
        return Translation(changed, -1.0, nbest=[Alternative(changed, -1.0)])


class Hostile:
    """An engine that drops, doubles and moves words as it likes, from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def __call__(self, requests: Sequence[Request]) -> list[Answer | LexbeamError]:
        """Return nonsense for each request."""
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> Answer | LexbeamError:
        words = request.text.split()
        choice = self._random.random()
        if choice < 0.2:
            self._random.shuffle(words)
        elif choice < 0.4 and words:
            words.pop(self._random.randrange(len(words)))
        elif choice < 0.6 and words:
            words.insert(self._random.randrange(len(words)), self._random.choice(words))
        elif choice < 0.7:
            words = []
        elif choice < 0.75 and request.constraints:
            return InputError("no")
        elif choice < 0.8:
            words = ["<b>", "&", '"quoted"', "it's", "%s", "]]>", "-->", "\n", "|", "{", "\\"]
        return Answer(" ".join(words), ("", "x"))


def opened(name: str, data: bytes, target: str = "de", final: bool = False) -> Scan:
    """Open a file by its name."""
    chosen = find_format(Path(name), data[:4096])
    return chosen.open(data, Options("en", target, final))
