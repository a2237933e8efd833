"""Translate texts with inline codes: every code is there once, and pairs are balanced.

A text is translated freely first, with masks for the codes that stand for words. Only where a
mask got lost or doubled it is demanded. Pairs go around the words that translate what they
enclosed; where that can't be seen, the text is searched again with a translation of these words
demanded as one phrase. What is left is translated piece by piece between its codes, so that a
result always has the codes of its source.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from lexbeam.errors import InputError, LexbeamError
from lexbeam.translation.code_insertion import insert_codes
from lexbeam.translation.code_placement import (
    Alignment,
    Span,
    aligned_span,
    count_masks,
    enclosed_words,
    find_pair,
    mask_spans,
)
from lexbeam.translation.marked_text import (
    STYLES,
    Code,
    Layout,
    MarkedText,
    Mask,
    Target,
    has_letters,
    is_translatable,
    segments,
    sentences,
)

MOST_CODES = 60
"""A sentence with more codes of a kind is translated between them."""

MASK_FORMS = 3
"""How many translations are looked through for one that keeps all masks."""

PAIR_FORMS = 4
"""How many translations of a pair's own words are tried as the phrase it encloses."""


@dataclass(frozen=True)
class Request:
    """One text for the model, and what its translation must have."""

    text: str
    constraints: tuple[Any, ...] = ()
    nbest: int = 1
    whole: bool = True
    """Whether what is asked of every text goes for it: not if it is a piece of one."""
    aligned: bool = True
    """Whether it matters which words translate which."""

    @property
    def key(self) -> str:
        """What two equal requests have in common."""
        return repr((self.text, self.constraints, self.nbest, self.whole, self.aligned))


class Answer(NamedTuple):
    """A translation, the next best ones, and what each stretch of it translates."""

    text: str
    alternatives: tuple[str, ...] = ()
    alignment: Alignment | None = None
    met: bool = True
    """Whether all constraints are met."""


class Engine(Protocol):
    """Whoever translates plain texts: many at once, an error for each that can't be."""

    def __call__(self, requests: Sequence[Request]) -> list[Answer | LexbeamError]:
        """Return an answer for each request, in order."""
        ...


Replies = list[Answer | LexbeamError]
Conversation = Generator[list[Request], Replies, Target]


def translate_marked(
    texts: Sequence[MarkedText], engine: Engine, by_sentence: bool = True
) -> list[Target | LexbeamError]:
    """Translate marked texts together; return the translation of each, or why there is none.

    ``by_sentence`` cuts texts with codes into sentences, so that the codes of one can't get into
    another; a text that must meet demands as a whole is not to be cut.
    """
    results: list[Target | LexbeamError | None] = [None] * len(texts)
    running: dict[int, tuple[Conversation, list[Request]]] = {}

    def step(i: int, conversation: Conversation, replies: Replies | None) -> None:
        try:
            requests = next(conversation) if replies is None else conversation.send(replies)
            running[i] = conversation, requests
        except StopIteration as stopped:
            results[i] = stopped.value
        except LexbeamError as error:
            results[i] = error

    for i, marked in enumerate(texts):
        step(i, _text(marked, by_sentence), None)
    while running:
        waiting, running = running, {}
        different = {request.key: request for _, asked in waiting.values() for request in asked}
        answers = dict(zip(different, engine(list(different.values())), strict=True))
        for i, (conversation, asked) in waiting.items():
            step(i, conversation, [answers[request.key] for request in asked])
    return [result if result is not None else InputError("nothing came back") for result in results]


def _text(whole: MarkedText, by_sentence: bool) -> Conversation:
    """Translate a text: its segments one by one."""
    if not is_translatable(whole):
        return [part if isinstance(part, str) else i for i, part in enumerate(whole)]
    marked, places = whole, list(range(len(whole)))
    if by_sentence and any(isinstance(part, Code) for part in whole):
        marked, places = sentences(whole)
    found = yield from _together([_segment(marked, *span) for span in segments(marked)])
    target = [part for segment in found for part in segment]
    target = [places[part] if isinstance(part, int) else part for part in target]
    target = [part for part in target if part != -1]
    if sorted(part for part in target if isinstance(part, int)) != _code_places(whole):
        raise InputError("the codes of the text could not be put back")  # pragma: no cover
    return target


def _together(
    conversations: Sequence[Conversation],
) -> Generator[list[Request], Replies, list[Target]]:
    """Go through several conversations at once, so that their requests share batches."""
    results: list[Target] = [[] for _ in conversations]
    waiting: dict[int, list[Request]] = {}

    def step(i: int, replies: Replies | None) -> None:
        conversation = conversations[i]
        try:
            waiting[i] = next(conversation) if replies is None else conversation.send(replies)
        except StopIteration as stopped:
            results[i] = stopped.value

    for i in range(len(conversations)):
        step(i, None)
    while waiting:
        asked, waiting = waiting, {}
        replies = yield [request for requests in asked.values() for request in requests]
        at = 0
        for i, requests in asked.items():
            step(i, replies[at : at + len(requests)])
            at += len(requests)
    return results


def _code_places(marked: MarkedText) -> list[int]:
    return [i for i, part in enumerate(marked) if isinstance(part, Code)]


def _segment(marked: MarkedText, start: int, end: int) -> Conversation:
    layout = Layout.of(marked, start, end)
    if not _worth_translating(layout):
        return layout.target(layout.copied())
    found: tuple[Layout, Answer] | None = None
    if max(len(layout.masks), len(layout.pairs)) <= MOST_CODES:
        found = yield from _with_masks(marked, start, end)
    if found is not None:
        layout, answer = found
        placed = yield from _with_pairs(layout, answer)
        if placed is not None:
            return layout.target(placed)
    return (yield from _piecewise(marked, start, end))


def _worth_translating(layout: Layout) -> bool:
    text = layout.text
    for mask in layout.masks:
        text = text.replace(mask.text, " ", 1)
    return has_letters(text)


# --- codes that stand for words ----------------------------------------------------------------


def _with_masks(
    marked: MarkedText, start: int, end: int
) -> Generator[list[Request], Replies, tuple[Layout, Answer] | None]:
    """Return a translation with every mask in it, None if no kind of mask survives."""
    second_choice: tuple[Layout, Answer] | None = None
    for style in range(len(STYLES)):
        layout = Layout.of(marked, start, end, style)
        (answer,) = yield [_free_request(layout)]
        if isinstance(answer, LexbeamError):
            if style == 0:
                raise answer
            continue
        answer = _best_kept(layout, answer)
        if not count_masks(layout, answer.text) and second_choice is None:
            (answer,) = yield [Request(layout.text, _mask_demands(layout.masks))]
        if isinstance(answer, Answer) and count_masks(layout, answer.text):
            found = layout, _tidy(answer, layout)
            if not _has_compounds(layout, answer.text):
                return found
            second_choice = second_choice or found
        if second_choice is not None and style:
            break
    return second_choice


def _free_request(layout: Layout) -> Request:
    """Return the request for a free translation; of one with masks the next best ones, too."""
    return Request(
        layout.text,
        nbest=MASK_FORMS if layout.masks else 1,
        aligned=bool(layout.pairs or layout.points),
    )


def _best_kept(layout: Layout, answer: Answer) -> Answer:
    """Return the best of several translations that has every mask as a word of its own."""
    for text in (answer.text, *answer.alternatives):
        if count_masks(layout, text) and not _has_compounds(layout, text):
            return answer if text == answer.text else Answer(text)
    return answer


def _has_compounds(layout: Layout, output: str) -> bool:
    """Return whether a mask became a part of a word that it is no part of in the source.

    ``the file ID1`` may become ``Datei-ID1``, but a code is seldom written like that.
    """
    return any(
        output[start - 1 : start] == "-" and f"-{mask.text}" not in layout.text
        for mask in layout.masks
        if mask.text[-1:].isalnum()
        for start, _ in mask_spans(output, mask.text)
    )


_SPACE_BEFORE_MARK = re.compile(r"(?<! ) +([,.;:!?])(?=\s|$)")


def _tidy(answer: Answer, layout: Layout) -> Answer:
    """Let masks stand as the words they stand for.

    A number is no part of a compound: ``47-Dateien`` becomes ``47 Dateien``. A demanded word may
    leave a space before a comma or a full stop: it is taken out.
    """
    for mask in layout.masks:
        if f"-{mask.text}" not in layout.text:
            compound = re.compile(rf"(?<=[^\W\d_])-{re.escape(mask.text)}")
            answer = answer._replace(text=compound.sub(f" {mask.text}", answer.text))
        if mask.text.isdigit() and f"{mask.text}-" not in layout.text:
            compound = re.compile(rf"(?<!\w){mask.text}-(?=[^\W\d_])")
            answer = answer._replace(text=compound.sub(f"{mask.text} ", answer.text))
    if answer.alignment is not None or _SPACE_BEFORE_MARK.search(layout.text):
        return answer
    return answer._replace(text=_SPACE_BEFORE_MARK.sub(r"\1", answer.text))


def _mask_demands(masks: Sequence[Mask]) -> tuple[Any, ...]:
    """Return what is demanded so that masks are in the output, in order where that matters."""
    ordered = [mask.text for mask in masks if mask.ordered]
    if len(ordered) < 2:
        return tuple(demand(mask.text) for mask in masks)
    others = tuple(demand(mask.text) for mask in masks if not mask.ordered)
    return ({"order": ordered, "case": "exact"}, *others)


def demand(phrase: str) -> dict[str, Any]:
    """Return the constraint that a phrase is in the output, once, as it is written."""
    return {"text": phrase, "case": "exact", "exactly": 1}


# --- codes around and between words ------------------------------------------------------------


def _with_pairs(
    layout: Layout, answer: Answer
) -> Generator[list[Request], Replies, list[str | int] | None]:
    """Put codes around words; None if the words of a pair are not found together."""
    if not layout.pairs:
        return insert_codes(layout, answer.text, answer.alignment, {})
    spans = _pair_spans(layout, answer, {})
    if spans is None:
        inner = [enclosed_words(layout, pair) for pair in layout.pairs]
        replies = yield [Request(text or "-", nbest=PAIR_FORMS, whole=False) for text in inner]
        forms = {
            pair.opening: _forms(reply)
            for pair, reply in zip(layout.pairs, replies, strict=True)
            if isinstance(reply, Answer)
        }
        spans = _pair_spans(layout, answer, forms)
        if spans is None:
            (again,) = yield [Request(layout.text, _pair_demands(layout, forms))]
            if isinstance(again, Answer) and count_masks(layout, again.text):
                answer = _tidy(again, layout)
                spans = _pair_spans(layout, answer, forms)
    if spans is None:
        return None
    return insert_codes(layout, answer.text, answer.alignment, spans)


def _forms(reply: Answer) -> tuple[str, ...]:
    forms = [text.strip().rstrip(".,;:!?") for text in (reply.text, *reply.alternatives)]
    return tuple(dict.fromkeys(form for form in forms if form))


def _pair_demands(layout: Layout, forms: dict[int, tuple[str, ...]]) -> tuple[Any, ...]:
    """Return what is demanded so that the words of each pair stand together."""
    demands: list[Any] = []
    inside: list[str] = []
    for pair in layout.pairs:
        if forms.get(pair.opening):
            demands.append({"any": list(forms[pair.opening]), "case": "any"})
            inside.append(layout.text[pair.start : pair.end])
    masks = [mask for mask in layout.masks if not any(mask.text in text for text in inside)]
    return (*demands, *_mask_demands(masks))


def _pair_spans(
    layout: Layout, answer: Answer, forms: dict[int, tuple[str, ...]]
) -> dict[int, Span] | None:
    """Return the span of every pair, each inside its parent and beside its siblings."""
    spans: dict[int, Span] = {}
    for pair in layout.pairs:
        if not enclosed_words(layout, pair):
            continue  # nothing inside: it goes where a point would go
        parents = [p for p in layout.pairs if p.opening < pair.opening and p.closing > pair.closing]
        within = spans.get(parents[-1].opening) if parents else (0, len(answer.text))
        if within is None:
            return None
        span = None
        is_mask = any(mask.text == enclosed_words(layout, pair) for mask in layout.masks)
        if answer.alignment is not None and not is_mask:
            span = aligned_span(
                answer.alignment, pair, answer.text, within, enclosed_words(layout, pair)
            )
        span = span or find_pair(layout, answer.text, pair, within, forms.get(pair.opening, ()))
        if span is None or not _fits(span, pair.opening, parents, spans, answer.text, layout):
            return None
        spans[pair.opening] = span
    return spans


def _fits(
    span: Span,
    opening: int,
    parents: Sequence[Any],
    spans: dict[int, Span],
    output: str,
    layout: Layout,
) -> bool:
    """Return whether a span crosses neither another pair nor a mask."""
    above = {parent.opening for parent in parents}
    for other, (start, end) in spans.items():
        if other not in above and other != opening and span[0] < end and start < span[1]:
            return False
    for mask in layout.masks:
        for start, end in mask_spans(output, mask.text):
            if start < span[0] < end or start < span[1] < end:
                return False
    return True


# --- the way out -------------------------------------------------------------------------------


def _piecewise(marked: MarkedText, start: int, end: int) -> Conversation:
    """Translate the words between codes by themselves; the codes stay where they are."""
    pieces = [(i, part) for i, part in enumerate(marked[start:end], start) if isinstance(part, str)]
    worth = [(i, part) for i, part in pieces if has_letters(part)]
    replies = yield [Request(part.strip(), whole=False) for _, part in worth]
    texts = dict(pieces)
    for (i, part), reply in zip(worth, replies, strict=True):
        if isinstance(reply, LexbeamError):
            raise reply
        head = part[: len(part) - len(part.lstrip())]
        tail = part[len(part.rstrip()) :]
        texts[i] = head + reply.text + tail
    return [texts[i] if isinstance(marked[i], str) else i for i in range(start, end)]
