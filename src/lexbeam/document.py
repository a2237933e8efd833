"""One text on its way through the search: cut into parts, translated, put together again.

A text of one sentence is one search with all its constraints. In a longer text a phrase may
stand in any sentence. All sentences are translated freely first; a phrase that is there already
stays where the model put it; every other one is tried in each sentence, and goes to the one
whose probability it lowers least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heappop, heappush

from lexbeam.batches import Answer, Conversation, Job, TextSettings, Tokens
from lexbeam.beam import Hypothesis
from lexbeam.constraints import Constraints, quoted
from lexbeam.errors import ConstraintError, InputError
from lexbeam.results import Alternative, ConstraintReport, Translation
from lexbeam.sentences import Part, split_text
from lexbeam.spans import contains, locate, occurrences
from lexbeam.text import SourceText, Spelling, TargetText

ROUNDS = 3
"""How often phrases that are missing from a text of several sentences are placed."""

REPAIRS = 8
"""How often a sentence is searched again because its text breaks what its tokens keep to."""


class Document:
    """A text, its constraints, and what the search has found for its parts so far."""

    def __init__(
        self,
        text: str,
        constraints: Constraints,
        source: SourceText,
        target: TargetText,
        settings: TextSettings,
        max_source_length: int,
    ) -> None:
        self._constraints = constraints
        self._target = target
        self._settings = settings
        self._parts = _cut(text, source, max_source_length, settings.split)
        if not self._parts and (constraints.phrases or constraints.prefix):
            self._parts = [Part("", "")]  # nothing to translate, and yet something to say
        self._sources = [tuple(source.encode(part.text)) for part in self._parts]
        self._spellings = [target.spell(phrase) for phrase in constraints.phrases]
        self._prefix = target.spell_prefix(constraints.prefix) if constraints.prefix else None
        self._avoided = [s for phrase in constraints.avoid for s in target.spell_all(phrase)[:1]]
        self._avoid: list[list[Tokens]] = [[s.ids for s in self._avoided] for _ in self._parts]
        # The phrases that each part has to place, and those it was last searched with.
        self._owned: list[list[int]] = [[] for _ in self._parts]
        self._searched: list[list[int]] = [[] for _ in self._parts]
        self._answers: list[Answer] = [[] for _ in self._parts]
        self._check()

    def translate(self) -> Conversation[Translation]:
        """Translate; yields the searches it needs (see `lexbeam.batches`)."""
        try:
            return (yield from self._translate())
        except ConstraintError as error:
            raise ConstraintError(self._in_words(str(error))) from error

    def _translate(self) -> Conversation[Translation]:
        if not self._parts:
            return Translation("", 0.0, nbest=[Alternative("", 0.0)])
        alone = len(self._parts) == 1
        if alone:
            self._owned[0] = list(range(len(self._spellings)))
        yield from self._search(range(len(self._parts)))
        if not alone:
            yield from self._place_phrases()
        yield from self._repair()
        return self._translation()

    # --- searching -------------------------------------------------------------------------

    def _search(self, parts: Sequence[int]) -> Conversation[None]:
        self._take(parts, (yield [self._job(part, self._owned[part]) for part in parts]))

    def _take(self, parts: Sequence[int], answers: list[Answer]) -> None:
        for part, answer in zip(parts, answers, strict=True):
            if not answer:
                raise InputError(
                    f"no translation of {quoted(self._parts[part].text)} was found that keeps to "
                    "its constraints: avoid less, or raise max_length"
                )
            self._answers[part] = answer
            self._searched[part] = list(self._owned[part])

    def _job(self, part: int, phrases: Sequence[int], draft: bool = False) -> Job:
        begun = self._prefix if part == 0 else None
        prefix = begun.ids if begun else ()
        ids = self._target.demands([self._spellings[phrase] for phrase in phrases], begun)
        room = 2 * len(self._sources[part]) + 20 + len(prefix) + 2 * sum(map(len, ids))
        return Job(
            source=self._sources[part],
            phrases=tuple(ids),
            avoid=tuple(self._avoid[part]),
            prefix=prefix,
            max_length=self._settings.max_length or room,
            draft=draft,
        )

    # --- which sentence says what --------------------------------------------------------------

    def _place_phrases(self) -> Conversation[None]:
        """Give every phrase to a part until the joined text has them all."""
        for _ in range(ROUNDS):
            missing = self._note_owners()
            if not missing:
                break
            yield from self._try_parts(missing)
            yield from self._search(
                [part for part, owned in enumerate(self._owned) if set(owned) & set(missing)]
            )
        if self._settings.nbest > 1:  # the alternatives must say it too
            stale = [i for i, owned in enumerate(self._owned) if owned != self._searched[i]]
            yield from self._search(stale)

    def _note_owners(self) -> list[int]:
        """Record which part says which phrase; return the phrases that none says."""
        text, starts = self._join([answer[0] for answer in self._answers])
        spans = locate(text, [spelling.surface for spelling in self._spellings])
        self._owned = [[] for _ in self._parts]
        for phrase, span in enumerate(spans):
            if span:
                part = max(i for i, start in enumerate(starts) if start <= span[0])
                self._owned[part].append(phrase)
        return [phrase for phrase, span in enumerate(spans) if not span]

    def _try_parts(self, missing: Sequence[int]) -> Conversation[None]:
        """Give each missing phrase to the part that loses least by it."""
        parts = range(len(self._parts))
        by_tokens = {self._spellings[phrase].ids: phrase for phrase in missing}
        trials = [(phrase, part) for phrase in by_tokens.values() for part in parts]
        answers = yield [self._job(part, [phrase], draft=True) for phrase, part in trials]
        gains: dict[Tokens, list[float]] = {ids: [] for ids in by_tokens}
        for (phrase, part), answer in zip(trials, answers, strict=True):
            free = self._answers[part][0].log_prob
            gain = answer[0].log_prob - free if answer else float("-inf")
            gains[self._spellings[phrase].ids].append(gain)
        given: Counter[tuple[Tokens, int]] = Counter()
        for phrase in missing:  # one that is asked for twice goes to two places
            ids = self._spellings[phrase].ids
            best = min(parts, key=lambda part: (given[ids, part], -gains[ids][part]))
            given[ids, best] += 1
            self._owned[best].append(phrase)

    # --- the text has the last word ------------------------------------------------------------

    def _repair(self) -> Conversation[None]:
        """Search again where the text, once put together, breaks what the tokens promised."""
        for _ in range(REPAIRS):
            parts = range(len(self._parts))
            broken = [part for part in parts if self._forbid(part) | self._respell(part)]
            if not broken:
                return
            yield from self._search(broken)

    def _forbid(self, part: int) -> bool:
        """Avoid the tokens by which avoided words came back: there is more than one way.

        Tells whether there was anything to do.
        """
        known = len(self._avoid[part])
        demanded = self._demanded(part)
        for hypothesis in self._answers[part]:
            text = self._text(part, hypothesis)
            for avoided in self._avoided:
                for span in occurrences(text, avoided.surface):
                    tokens = self._target.tokens_at(hypothesis.tokens, span, demanded)
                    needed = any(_inside(tokens, spelling.ids) for spelling in demanded)
                    if tokens not in self._avoid[part] and not needed:
                        self._avoid[part].append(tokens)
        return len(self._avoid[part]) > known

    def _respell(self, part: int) -> bool:
        """Give phrases a space of their own where they ran into the word before.

        Tells whether there was anything to do.
        """
        best = self._text(part, self._answers[part][0])
        owned = self._owned[part]
        spans = locate(best, [self._spellings[phrase].surface for phrase in owned])
        respelled = False
        for phrase, span in zip(owned, spans, strict=True):
            if span is None and not self._spellings[phrase].spaced:
                others = self._target.spell_all(self._constraints.phrases[phrase])
                for spelling in (other for other in others if other.spaced):
                    self._spellings[phrase] = spelling
                    respelled = True
        return respelled

    # --- the way out ------------------------------------------------------------------------

    def _translation(self) -> Translation:
        best = [
            self._alternative([self._answers[part][i] for part, i in enumerate(choice)])
            for choice in _best_choices(
                [[h.score for h in answer] for answer in self._answers], self._settings.nbest
            )
        ]
        return Translation(**vars(best[0]), nbest=best)

    def _alternative(self, hypotheses: Sequence[Hypothesis]) -> Alternative:
        text, _ = self._join(hypotheses)
        spans = locate(text, [spelling.surface for spelling in self._spellings])
        reports = [
            ConstraintReport(phrase, span)
            for phrase, span in zip(self._constraints.phrases, spans, strict=True)
        ]
        avoided = (spelling.surface for spelling in self._avoided)
        unavoided = [phrase for phrase in avoided if contains(text, phrase)]
        score = sum(hypothesis.score for hypothesis in hypotheses) / len(hypotheses)
        return Alternative(text, score, reports, unavoided)

    def _demanded(self, part: int) -> list[Spelling]:
        """Return what a part was searched with, the prefix first."""
        prefix = [self._prefix] if self._prefix and part == 0 else []
        return prefix + [self._spellings[phrase] for phrase in self._searched[part]]

    def _text(self, part: int, hypothesis: Hypothesis) -> str:
        return self._target.decode(hypothesis.tokens, self._demanded(part))

    def _join(self, hypotheses: Sequence[Hypothesis]) -> tuple[str, list[int]]:
        """Put the parts together; return the text and where each part starts in it.

        Line breaks of the source stay as they are; between sentences stands what the target
        language puts there.
        """
        text, gap = "", ""
        starts = []
        for i, (part, hypothesis) in enumerate(zip(self._parts, hypotheses, strict=True)):
            translated = self._text(i, hypothesis)
            text += gap if translated or "\n" in gap else ""
            starts.append(len(text))
            text += translated
            gap = part.separator if "\n" in part.separator else self._target.separator
        return text, starts

    def _check(self) -> None:
        """Refuse what no search could do."""
        for avoided in self._avoided:
            for spelling in self._spellings:
                if contains(spelling.written or spelling.surface, avoided.surface):
                    raise ConstraintError(
                        f"{quoted(avoided.surface)} is avoided, but {quoted(spelling.surface)} "
                        "is demanded: drop one of them"
                    )
        limit = self._settings.max_length
        for phrase, spelling in zip(self._constraints.phrases, self._spellings, strict=True):
            if limit and len(spelling.ids) > limit:
                raise ConstraintError(
                    f"{quoted(phrase)} takes {len(spelling.ids)} tokens, but max_length is "
                    f"{limit}: raise it"
                )

    def _in_words(self, message: str) -> str:
        """Write an error of the search, which knows tokens only, with the phrases in it."""
        for spelling in (*self._spellings, *self._avoided):
            message = message.replace(str(list(spelling.ids)), quoted(spelling.surface))
        return message.removeprefix("sentence 0: ")


def _cut(text: str, source: SourceText, limit: int, sentences: bool) -> list[Part]:
    def fits(part: str) -> bool:
        return len(source.encode(part)) <= limit

    return split_text(text, fits, sentences)


def _inside(tokens: Tokens, others: Tokens) -> bool:
    """Tell whether tokens stand next to each other somewhere in others."""
    width = len(tokens)
    return any(others[i : i + width] == tokens for i in range(len(others) - width + 1))


def _best_choices(scores: Sequence[Sequence[float]], count: int) -> list[tuple[int, ...]]:
    """Return the best ways to pick one score from each falling list, best sum first."""
    first = (0,) * len(scores)
    heap = [(-sum(row[0] for row in scores), first)]
    known = {first}
    best: list[tuple[int, ...]] = []
    while heap and len(best) < count:
        loss, choice = heappop(heap)
        best.append(choice)
        for part, row in enumerate(scores):
            worse = (*choice[:part], choice[part] + 1, *choice[part + 1 :])
            if worse[part] < len(row) and worse not in known:
                known.add(worse)
                heappush(heap, (loss + row[choice[part]] - row[worse[part]], worse))
    return best
