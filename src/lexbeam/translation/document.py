"""One text on its way through the search: cut into parts, translated, put together again.

A text of one sentence is one search with all its constraints. In a longer text a phrase may
stand in any sentence. All sentences are translated freely first; what is there already stays
where the model put it; everything else is tried in each sentence, and goes to the one whose
probability it lowers least.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.matching import Occurrence, find_all
from lexbeam.errors import ConstraintError, InputError, quoted
from lexbeam.search.arrays import Tokens
from lexbeam.search.beam import Hypothesis
from lexbeam.text.sentence_splitter import Part, split_text
from lexbeam.text.spelling import SourceText, Spelling, TargetText
from lexbeam.text.subsequences import find_subsequence
from lexbeam.translation.avoided import Avoidance
from lexbeam.translation.jobs import Answer, Conversation, Job, TextSettings
from lexbeam.translation.nbest import best_choices
from lexbeam.translation.placement import (
    Piece,
    find_owners,
    number_units,
    share_out,
    where_sources_stand,
)
from lexbeam.translation.results import Alternative, Translation
from lexbeam.translation.spelled import SpelledConstraint, SpelledPrefix

ROUNDS = 3
"""How often phrases that are missing from a text of several sentences are placed."""

REPAIRS = 8
"""How often a sentence is searched again because its text breaks what its tokens keep to."""


class Outcome(NamedTuple):
    """What became of one part of a text."""

    source: str
    output: str
    found: Hypothesis


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
        self._target = target
        self._settings = settings
        self._parts = _cut(text, source, max_source_length, settings.split)
        if not self._parts and (constraints.demanded or constraints.prefix):
            self._parts = [Part("", "")]  # nothing to translate, and yet something to say
        self._sources = [tuple(source.encode(part.text)) for part in self._parts]
        self._beginning = SpelledPrefix.spell(constraints.prefix, target)
        self._avoidance = Avoidance.spell(constraints.avoid, target)
        self._wordings = [
            SpelledConstraint.spell(asked, target, self._avoidance.words)
            for asked in constraints.demanded
        ]
        self._units = number_units(constraints.demanded)
        self._avoid: list[list[Tokens]] = [self._avoidance.first_tokens for _ in self._parts]
        # What each part has to place, and what it was last searched with.
        self._owned: list[list[Piece]] = [[] for _ in self._parts]
        self._searched: list[list[Piece]] = [[] for _ in self._parts]
        self._answers: list[Answer] = [[] for _ in self._parts]
        # Soft units that have been placed once, and what each part has dropped.
        self._offered: set[int] = set()
        self._dropped: list[list[Piece]] = [[] for _ in self._parts]
        self._check()

    def translate(self) -> Conversation[Translation]:
        """Translate; yields the searches it needs (see `lexbeam.translation.jobs`)."""
        try:
            return (yield from self._translate())
        except ConstraintError as error:
            raise ConstraintError(self._in_words(str(error))) from error

    def _translate(self) -> Conversation[Translation]:
        if not self._parts:
            return Translation("", 0.0, nbest=[Alternative("", 0.0)])
        alone = len(self._parts) == 1
        asked = [wording.asked for wording in self._wordings]
        known = where_sources_stand(self._units, asked, [part.start for part in self._parts])
        for unit in range(len(self._units)):
            if alone or self._wording(unit).asked.at_end:
                self._owned[-1].append(self._whole(unit))
            elif unit in known:
                self._owned[known[unit]].append(self._whole(unit))
        yield from self._search(range(len(self._parts)))
        if not alone:
            yield from self._place_all()
        yield from self._repair()
        if any(wording.asked.soft is not None for wording in self._wordings):
            yield from self._drop()
        prices = (yield from self._price()) if self._settings.prices else {}
        return self._translation(prices)

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

    def _job(
        self,
        part: int,
        pieces: Sequence[Piece],
        draft: bool = False,
        firm: Collection[int] = (),
        begun: bool = True,
    ) -> Job:
        """Return the search of a part; ``firm`` are soft demands that may not be dropped here."""
        beginning = self._beginning if part == 0 and begun else SpelledPrefix()
        wordings = [self._wording(piece.unit) for piece in pieces]
        plain = [wording.spellings[0] for wording in wordings if wording.is_plain]
        rich = [
            wording.pattern(piece.first, piece.last, self._units[piece.unit] in firm)
            for piece, wording in zip(pieces, wordings, strict=True)
            if not wording.is_plain
        ]
        ids = self._target.demands(plain, beginning.spelling)
        constrained = 2 * (sum(map(len, ids)) + sum(d.longest for d in wordings if not d.is_plain))
        room = 2 * len(self._sources[part]) + 20 + beginning.longest + constrained
        return Job(
            source=self._sources[part],
            phrases=(*ids, *rich, *beginning.patterns),
            avoid=tuple(self._avoid[part]),
            prefix=beginning.forced,
            whole_prefix=beginning.whole,
            max_length=self._settings.max_length or room,
            draft=draft,
        )

    def _wording(self, unit: int) -> SpelledConstraint:
        return self._wordings[self._units[unit]]

    def _whole(self, unit: int) -> Piece:
        return Piece(unit, 0, len(self._wording(unit).parts))

    # --- which sentence says what --------------------------------------------------------------

    def _place_all(self) -> Conversation[None]:
        """Give every demand to a part until the joined text has them all."""
        for _ in range(ROUNDS):
            missing = self._note_owners()
            if not missing:
                break
            yield from self._try_parts(missing)
            units = set(missing)
            yield from self._search(
                [i for i, owned in enumerate(self._owned) if units & {p.unit for p in owned}]
            )
            self._offered |= {u for u in units if self._wording(u).asked.soft is not None}
        if self._settings.nbest > 1:  # the alternatives must say it too
            self._note_owners()
            stale = [i for i, owned in enumerate(self._owned) if owned != self._searched[i]]
            yield from self._search(stale)

    def _note_owners(self) -> list[int]:
        """Record which part says what; return the units that none says.

        A soft demand that has been placed once is not placed again: it was too dear.
        """
        text, starts = self._join([answer[0] for answer in self._answers])
        self._owned, missing = find_owners(self._units, self._places(text, starts), starts)
        for part, pieces in enumerate(self._searched):
            dropped = self._offered.intersection(missing)
            self._owned[part] += [piece for piece in pieces if piece.unit in dropped]
        return [unit for unit in missing if unit not in self._offered]

    def _try_parts(self, missing: Sequence[int]) -> Conversation[None]:
        """Give each missing unit to the part that loses least by it."""
        asked = {unit: self._wording(unit).asked.once for unit in missing}
        different = {constraint: unit for unit, constraint in asked.items()}
        last = len(self._parts) - 1
        trials = [
            (constraint, part)
            for constraint in different
            for part in range(last if constraint.at_end else 0, last + 1)
        ]
        answers = yield [
            self._job(part, [self._whole(different[c])], draft=True, firm=set(self._units))
            for c, part in trials
        ]
        gains: dict[Constraint, dict[int, float]] = {constraint: {} for constraint in different}
        for (constraint, part), answer in zip(trials, answers, strict=True):
            free = self._answers[part][0].log_prob
            gains[constraint][part] = answer[0].log_prob - free if answer else float("-inf")
        for unit, part in share_out(list(asked.items()), gains):
            self._owned[part].append(self._whole(unit))

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
        demanded = self._spellings(part)
        for hypothesis in self._answers[part]:
            for span in self._avoidance.find(self._text(part, hypothesis)):
                tokens = self._target.tokens_at(hypothesis.tokens, span, demanded)
                needed = any(find_subsequence(spelling.ids, tokens) for spelling in demanded)
                known_now = (*self._avoid[part], *self._avoidance.tokens)
                self._avoid[part] = list(dict.fromkeys(known_now))
                if tokens not in self._avoid[part] and not needed:
                    self._avoid[part].append(tokens)
        return len(self._avoid[part]) > known

    def _respell(self, part: int) -> bool:
        """Give phrases a space of their own where they ran into the word before.

        Tells whether there was anything to do.
        """
        changed = False
        for _, units in self._lacking(part):
            for unit in units:
                number = self._units[unit]
                respelled = self._wordings[number].spaced(self._target, self._avoidance.words)
                changed |= respelled != self._wordings[number]
                self._wordings[number] = respelled
        return changed

    def _lacking(self, part: int) -> list[tuple[Constraint, list[int]]]:
        """Return what a part was to place and has not, as text and as units."""
        text = self._text(part, self._answers[part][0])
        sought: dict[Constraint, list[int]] = {}
        for piece in self._owned[part]:
            surface = self._wording(piece.unit).surface.cut(piece.first, piece.last)
            sought.setdefault(surface, []).append(piece.unit)
        return [(s, units[len(s.find(text, len(units))) :]) for s, units in sought.items()]

    def _drop(self) -> Conversation[None]:
        """Search again without the soft demands that were dropped: they had a share of the beam."""
        parts = range(len(self._parts))
        for part in parts:
            lacking = {unit for _, units in self._lacking(part) for unit in units}
            soft = {unit for unit in lacking if self._wording(unit).asked.soft is not None}
            self._dropped[part] = [piece for piece in self._searched[part] if piece.unit in soft]
        dropping = [part for part in parts if self._dropped[part]]
        left = [[p for p in self._searched[i] if p not in self._dropped[i]] for i in parts]
        answers = yield [self._job(part, left[part]) for part in dropping]
        for part, answer in zip(dropping, answers, strict=True):
            if answer and answer[0].score > self._answers[part][0].score:
                self._answers[part], self._searched[part] = answer, left[part]

    # --- what each costs -------------------------------------------------------------------

    def _price(self) -> Conversation[dict[int, float]]:
        """Work out how much log-probability each demand costs.

        What has been placed is left out and the sentence searched again; what was dropped is
        placed whatever it costs.
        """
        trials: list[tuple[int, int, int, Job]] = []
        for number, wording in enumerate(self._wordings):
            if wording.asked.at_start:
                trials.append((number, 0, 1, self._job(0, self._searched[0], begun=False)))
            for part, pieces in enumerate(self._searched):
                dropped = [p for p in self._dropped[part] if self._units[p.unit] == number]
                others = [p for p in pieces if self._units[p.unit] != number]
                if dropped:
                    job = self._job(part, others + dropped, firm={number})
                    trials.append((number, part, -1, job))
                elif len(others) < len(pieces):
                    trials.append((number, part, 1, self._job(part, others)))
        answers = yield [job for *_, job in trials]
        prices = dict.fromkeys(range(len(self._wordings)), 0.0)
        for (number, part, sign, _), answer in zip(trials, answers, strict=True):
            prices[number] += sign * (answer[0].log_prob - self._answers[part][0].log_prob)
        return prices

    # --- the way out ------------------------------------------------------------------------

    @property
    def outcomes(self) -> list[Outcome]:
        """What was put together, part by part."""
        found = [answer[0] for answer in self._answers]
        texts = [self._text(part, hypothesis) for part, hypothesis in enumerate(found)]
        return list(map(Outcome, (part.text for part in self._parts), texts, found))

    def _translation(self, prices: dict[int, float]) -> Translation:
        best = [
            self._alternative(
                [self._answers[part][i] for part, i in enumerate(choice)],
                {} if any(choice) else prices,
            )
            for choice in best_choices(
                [[h.score for h in answer] for answer in self._answers], self._settings.nbest
            )
        ]
        return Translation(**vars(best[0]), nbest=best)

    def _alternative(
        self, hypotheses: Sequence[Hypothesis], prices: dict[int, float]
    ) -> Alternative:
        text, starts = self._join(hypotheses)
        places = self._places(text, starts)
        reports = [
            wording.report(text, found, prices.get(number))
            for number, (wording, found) in enumerate(zip(self._wordings, places, strict=True))
        ]
        demanded = [span for found in places for place in found for span in place]
        unavoided = [text[slice(*span)] for span in self._avoidance.find(text, starts, demanded)]
        score = sum(hypothesis.score for hypothesis in hypotheses) / len(hypotheses)
        return Alternative(text, score, reports, list(dict.fromkeys(unavoided)))

    def _places(self, text: str, starts: Sequence[int]) -> list[list[Occurrence]]:
        """Return where a text keeps to each constraint."""
        return find_all(text, [wording.surface for wording in self._wordings], starts)

    def _spellings(self, part: int) -> list[Spelling]:
        """Return how what a part was searched with is spelled, the prefix first."""
        begun = self._beginning.spelling if part == 0 else None
        wordings = (self._wording(piece.unit) for piece in self._searched[part])
        return ([begun] if begun else []) + [s for wording in wordings for s in wording.spellings]

    def _text(self, part: int, hypothesis: Hypothesis) -> str:
        return self._target.decode(hypothesis.tokens, self._spellings(part))

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
        limit = self._settings.max_length
        for wording in self._wordings:
            if limit and wording.shortest > limit:
                raise ConstraintError(
                    f"{quoted(wording.asked.text)} takes {wording.shortest} tokens, but max_length "
                    f"is {limit}: raise it"
                )

    def _in_words(self, message: str) -> str:
        """Write an error of the search, which knows tokens only, with the phrases in it."""
        for wording in self._wordings:
            message = wording.in_words(message)
        for tokens, phrase in self._avoidance.names.items():
            message = message.replace(str(list(tokens)), quoted(phrase))
        return message.removeprefix("sentence 0: ")


def _cut(text: str, source: SourceText, limit: int, sentences: bool) -> list[Part]:
    def fits(part: str) -> bool:
        return len(source.encode(part)) <= limit

    return split_text(text, fits, sentences)
