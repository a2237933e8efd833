"""Translate many requests with one translator: equal ones once, and whatever one of them does.

The order of the work depends on the requests alone, so that whoever repeats it gets the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from lexbeam.errors import LexbeamError
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.results import Translation
from lexbeam.translation.translator import Translator

WINDOW_BATCHES = 16
"""Batches that are translated in one call: sentences of like length find each other in them."""

Answer = Translation | str
"""What became of a request: its translation, or what is wrong with it."""


def translate_requests(
    translator: Translator,
    requests: Sequence[TextRequest],
    common: TextRequest,
    batch_size: int,
    on_done: Callable[[int], object] = lambda _: None,
) -> tuple[list[Answer], int]:
    """Return an answer for each request, and how many of the requests repeat an earlier one.

    ``common`` is what all were made from. ``on_done`` is told how many more are done.
    """
    keys = [request_key(request, common) for request in requests]
    unique = dict(zip(reversed(keys), reversed(requests), strict=True))
    times: dict[Hashable, int] = {}
    for key in keys:
        times[key] = times.get(key, 0) + 1
    answers: dict[Hashable, Answer] = {}
    window = WINDOW_BATCHES * batch_size
    order = list(times)
    for start in range(0, len(order), window):
        some = order[start : start + window]
        answers |= zip(some, _answer(translator, [unique[key] for key in some]), strict=True)
        on_done(sum(times[key] for key in some))
    return [answers[key] for key in keys], len(keys) - len(order)


def _answer(translator: Translator, requests: Sequence[TextRequest]) -> list[Answer]:
    """Translate requests together; one that breaks the translator is found and left out."""
    try:
        results = translator.translate_each(requests)
    except Exception as error:
        if len(requests) == 1:
            return [f"{type(error).__name__}: {error}"]
        half = len(requests) // 2
        return _answer(translator, requests[:half]) + _answer(translator, requests[half:])
    return [str(each) if isinstance(each, LexbeamError) else each for each in results]


def request_key(request: TextRequest, common: TextRequest) -> Hashable:
    """Return a key that is equal only for requests that ask for the same."""
    own_glossary = request.glossary if request.glossary is not common.glossary else None
    return (
        request.text,
        _shown(_own(request.constraints, common.constraints)),
        _shown(_own(request.avoid, common.avoid)),
        _shown(request.prefix),
        own_glossary.signature if own_glossary else "",
        _shown(request.keep),
        "" if request.settings is common.settings else _shown(request.settings),
    )


def _shown(value: object) -> Hashable:
    """Return what a value looks like; what can't be shown is like nothing else."""
    try:
        return repr(value)
    except Exception:  # a number of too many digits, a class of the caller's own
        return object()


def _own(shapes: Sequence[object] | None, common: Sequence[object] | None) -> Sequence[object]:
    """Return what a request asks for beside what is asked of all, which stands at the end."""
    shapes = shapes or ()
    return shapes[: len(shapes) - len(common or ())]
