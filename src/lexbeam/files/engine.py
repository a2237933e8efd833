"""A translator as the markup module asks for it: many plain texts, an error for each that fails."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from lexbeam.errors import LexbeamError
from lexbeam.translation.markup import Answer, Request


class Translates(Protocol):
    """What is needed of a `lexbeam.Translator`."""

    info: dict[str, Any]
    """What the model is: languages, files."""

    @property
    def translate(self) -> Callable[..., Any]:
        """Translates a list of texts."""
        ...


class TranslatorEngine:
    """Translates with one translator; ``constraints`` and ``avoid`` go for every text."""

    def __init__(
        self,
        translator: Translates,
        constraints: Sequence[Any] = (),
        avoid: Sequence[Any] = (),
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self._translator = translator
        self._constraints = list(constraints)
        self._avoid = list(avoid)
        self._settings = dict(settings or {})

    @property
    def by_sentence(self) -> bool:
        """Whether texts may be cut into sentences: not if something is asked of each as a whole."""
        return not self._constraints

    def __call__(self, requests: Sequence[Request]) -> list[Answer | LexbeamError]:
        """Return an answer for each request."""
        answers: dict[int, Answer | LexbeamError] = {}
        for nbest in {request.nbest for request in requests}:
            places = [i for i, request in enumerate(requests) if request.nbest == nbest]
            found = self._run([requests[i] for i in places], nbest)
            answers.update(zip(places, found, strict=True))
        return [answers[i] for i in range(len(requests))]

    def _run(self, requests: Sequence[Request], nbest: int) -> list[Answer | LexbeamError]:
        """Translate together; if one spoils it for all, look for it in halves."""
        settings = {**self._settings, "nbest": nbest}
        settings["beam_size"] = max(int(settings.get("beam_size", 10)), nbest)
        try:
            found = self._translator.translate(
                [request.text for request in requests],
                [self._demands(request) for request in requests],
                [self._avoid for _ in requests],
                **settings,
            )
        except LexbeamError as error:
            if len(requests) == 1:
                return [type(error)(str(error).removeprefix("sentence 0: "))]
            half = len(requests) // 2
            return self._run(requests[:half], nbest) + self._run(requests[half:], nbest)
        return [_answer(translation) for translation in found]

    def _demands(self, request: Request) -> list[Any]:
        return [*request.constraints, *(self._constraints if request.whole else ())]

    def signature(self) -> str:
        """Return a key for all that decides how a text is translated."""
        settings = {
            name: value.signature if hasattr(value, "signature") else value
            for name, value in sorted(self._settings.items())
            if name not in ("batch_size", "threads")  # they change nothing
        }
        info = {k: v for k, v in self._translator.info.items() if k != "files"}
        files = [_file_key(Path(name)) for name in self._translator.info.get("files", ())]
        asked = [self._constraints, self._avoid, settings, info, files]
        return json.dumps(asked, sort_keys=True, default=repr)


def _answer(translation: Any) -> Answer:
    return Answer(
        translation.text,
        tuple(each.text for each in translation.nbest[1:]),
        getattr(translation, "alignment", None),
    )


def _file_key(path: Path) -> list[Any]:
    """Return what tells a file of a model from another."""
    try:
        status = path.stat()
        with path.open("rb") as file:
            head = file.read(1 << 20)
    except OSError:
        return [path.name]
    return [path.name, status.st_size, hashlib.sha256(head).hexdigest()]


def text_key(signature: str, parts: Iterable[Any]) -> str:
    """Return the key of a text in the journal."""
    written = json.dumps([signature, list(parts)], ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()
