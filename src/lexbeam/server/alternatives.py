"""What else could stand at a place of a translation.

What stands before the place is kept, and the words that the model might have begun there are
searched to their end (`lexbeam.translation.word_choices`). Words that need other words before
them (*die Sitzung* for *das Treffen*) are found by a search that avoids the word. Of all that,
what costs little is shown, and nothing that looks like a misspelt form of the word itself.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

from lexbeam.errors import LexbeamError
from lexbeam.server.context import Call, status_of
from lexbeam.server.errors import ApiError
from lexbeam.server.models import ServedModel
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.results import Translation

_WANTED = 6
_SHORT = 3  # letters: articles, prepositions and the like
_DEAREST = 5.5  # log-probability that a sentence may lose by a word that is a piece by itself
_DEAREST_OF_PIECES = 4.2  # the same, of words that the model has put together of pieces
_DEAREST_SHORT = 3.2  # the same, of short words
_ALIKE = 0.6  # the share of a word from which on another one is taken for a form of it
_WORD = re.compile(r"\w+(?:[-'’]\w+)*|[^\w\s]")


@dataclass(frozen=True)
class _Place:
    """A word of a translation."""

    translation: str
    start: int
    word: str

    @property
    def before(self) -> str:
        return self.translation[: self.start]


@dataclass(frozen=True)
class _Choice:
    """A word that could stand there, with the translation then."""

    word: str
    start: int
    translation: str
    score: float
    cost: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.word,
            "start": self.start,
            "translation": self.translation,
            "score": self.score,
        }


async def find_alternatives(
    call: Call, model: ServedModel, request: TextRequest, translation: str, start: int
) -> list[dict[str, Any]]:
    """Return words that could stand at an offset, each with the whole translation then.

    Raises:
        ApiError: the text can't be translated at all.
    """
    found = _WORD.match(translation, start)
    if found is None:
        return []
    place = _Place(translation, start, found[0])
    loop = asyncio.get_running_loop()
    beginnings = await loop.run_in_executor(
        call.context.pool,
        model.translator.word_choices.beginnings,
        request.text.strip(),
        place.before,
        place.word,
    )
    given = dict(request.settings) if isinstance(request.settings, dict) else {}
    asked = replace(request, settings={**given, "split": False, "nbest": 8, "beam_size": 8})
    requests = [asked, *(replace(asked, prefix=each.text) for each in beginnings)]
    kept = asked.prefix if place.before.startswith(asked.prefix or "") else None
    avoided = [*(request.avoid or ()), place.word]
    requests.append(replace(asked, prefix=kept, avoid=avoided))
    best, *others = await call.search(model, requests)
    if isinstance(best, LexbeamError):
        raise ApiError(status_of(best), str(best))
    choices = _choices(model, best, others, place)
    return [each.to_dict() for each in _distinct(choices, place, request.text)][:_WANTED]


def _choices(
    model: ServedModel, best: Translation, others: Sequence[Any], place: _Place
) -> Iterator[_Choice]:
    """Yield the words that stand at the place in translations that were found."""

    def log_prob(text: str, score: float) -> float:
        return score * (model.translator.word_choices.length(text) + 1)

    most = log_prob(best.text, best.score)
    for result in [best, *others]:
        for each in result.nbest if isinstance(result, Translation) else ():
            found = _word_instead(each.text, place)
            if found is None:
                continue
            word, start = found
            cost = most - log_prob(each.text, each.score)
            is_piece = model.translator.word_choices.length(word) == 1
            dearest = _DEAREST if is_piece else _DEAREST_OF_PIECES
            if cost <= (dearest if len(word) > _SHORT else _DEAREST_SHORT):
                yield _Choice(word, start, each.text, each.score, cost)


def _word_instead(text: str, place: _Place) -> tuple[str, int] | None:
    """Return the word that a translation has at the place of another, and where it stands."""
    if text.startswith(place.before):
        found = _WORD.search(text, place.start)
        return (found[0], found.start()) if found else None
    old, new = list(_WORD.finditer(place.translation)), list(_WORD.finditer(text))
    at = next((i for i, each in enumerate(old) if each.start() == place.start), None)
    matcher = SequenceMatcher(None, [each[0] for each in old], [each[0] for each in new])
    for kind, from_, to, new_from, new_to in matcher.get_opcodes():
        is_here = kind == "replace" and at is not None and from_ <= at < to
        if is_here and to - from_ == new_to - new_from:
            found = new[new_from + (at or 0) - from_]
            return found[0], found.start()
    return None


def _distinct(choices: Iterator[_Choice], place: _Place, source: str) -> list[_Choice]:
    """Return each word once, with its cheapest translation, the cheapest first."""
    copied = {found[0] for found in _WORD.finditer(source) if found[0].islower()}
    best: list[_Choice] = []
    for choice in sorted(choices, key=lambda choice: choice.cost):
        word, text = choice.word, choice.translation
        others = [place.word, *(each.word for each in best)]
        if _is_copied(word, copied) or any(_alike(word, other) for other in others):
            continue
        if _joined(text) == _joined(place.translation):
            continue
        replaces = _count(text, place.word) < _count(place.translation, place.word)
        is_new = _count(text, word) > _count(place.translation, word)
        if replaces and is_new and word[0].isalnum() == place.word[0].isalnum():
            best.append(choice)
    return best


def _is_copied(word: str, copied: set[str]) -> bool:
    """Return whether a word is one of the source, or looks like a form of one."""
    return word in copied or any(len(c) > _SHORT and word.startswith(c) for c in copied)


def _joined(text: str) -> str:
    """Return a text without what tells its words from each other."""
    return text.casefold().replace(" ", "")


def _alike(word: str, other: str) -> bool:
    """Return whether a word is another one, has it in it, or may be a form of the same."""
    one, two = word.casefold(), other.casefold()
    if len(two) > _SHORT and two in one:
        return True
    shared = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), None)
    if shared is None:  # one of them begins with the other
        return min(len(one), len(two)) > _SHORT or one == two
    return shared > _ALIKE * max(len(one), len(two))


def _count(text: str, word: str) -> int:
    return sum(found[0] == word for found in _WORD.finditer(text))
