"""What else could stand at a place of a translation.

What stands before the place is taken as prefix. The best continuations are searched for, then the
best ones without the words that were found, until there are enough different ones.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from lexbeam.errors import LexbeamError
from lexbeam.server.context import Call, status_of
from lexbeam.server.errors import ApiError
from lexbeam.server.models import ServedModel
from lexbeam.translation.requests import TextRequest

_WANTED = 6
_ROUNDS = 3
_WORST = 0.6  # how much less likely than the best one a choice may be, by token
_WORD = re.compile(r"\w+(?:[-'’]\w+)*|\S")


async def find_alternatives(
    call: Call, model: ServedModel, request: TextRequest, translation: str, start: int
) -> list[dict[str, Any]]:
    """Return words that could stand at an offset, each with the whole translation then.

    Raises:
        ApiError: the text can't be translated at all.
    """
    before = translation[:start]
    current = _WORD.match(translation, start)
    seen: dict[str, dict[str, Any]] = {}
    avoid = [current[0]] if current and current[0][0].isalnum() else []
    settings = {**_named(request.settings), "split": False, "nbest": 8, "beam_size": 10}
    for attempt in range(_ROUNDS):
        if len(seen) >= _WANTED:
            break
        tried = [*(request.avoid or ()), *(avoid if attempt else ())]
        asked = replace(request, prefix=before or None, avoid=tried, settings=settings)
        (result,) = await call.search(model, [asked])
        if isinstance(result, LexbeamError):
            if not attempt:
                raise ApiError(status_of(result), str(result))
            break
        for each in result.nbest:
            word = _word_at(each.text, before)
            if word is None or (current and word == current[0]) or word in seen:
                continue
            seen[word] = {"text": word, "translation": each.text, "score": each.score}
            if word[0].isalnum() and word not in before.split():
                avoid.append(word)
    found = sorted(seen.values(), key=lambda each: -float(each["score"]))[:_WANTED]
    return [each for each in found if each["score"] > found[0]["score"] - _WORST]


def _word_at(text: str, before: str) -> str | None:
    """Return the word that follows a beginning."""
    if not text.startswith(before.rstrip()):
        return None
    at = len(before.rstrip()) if before.endswith(" ") else len(before)
    found = _WORD.search(text, at)
    return found[0] if found else None


def _named(settings: Any) -> dict[str, Any]:
    return dict(settings) if isinstance(settings, dict) else {}
