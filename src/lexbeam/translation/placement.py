"""Which sentence of a text has to say what.

In a text of several sentences a phrase may stand in any of them. All sentences are translated
freely first; what is there already stays where the model put it; everything else is tried in
each sentence, or if that is very much, in some, and goes to the one whose probability it lowers
least. Trials are for a better translation: there are no more of them than there is time for
(`lexbeam.translation.effort`).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import groupby

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.matching import Occurrence
from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Pattern
from lexbeam.translation.document import Document
from lexbeam.translation.effort import weight_to_place
from lexbeam.translation.gathering import gather
from lexbeam.translation.jobs import Job, JobGenerator
from lexbeam.translation.sentence import Piece, SentenceState, begun

ROUNDS = 3
"""How often demands that are missing from a text of several sentences are placed."""
MOST_TRIALS = 6
"""Constraints that are tried in a sentence, on average: each trial is a search."""
FEWEST_TRIALS = 2
"""Sentences in which each constraint is tried at least, if any is."""
OF_TRIALS = 0.75
"""What a trial in each sentence takes, as part of a free translation of the text."""
FEW_TRIALS = 1.0
"""Trials in a sentence, on average, for which there is always time."""


def assign_known(document: Document) -> None:
    """Assign what is known from the start: the end of the text, and terms of the source."""
    sentences = document.sentences
    known = _sentences_of_sources(document)
    for unit in range(len(document.units)):
        if len(sentences) == 1 or document.demand(unit).asked.at_end:
            sentences[-1].assigned.append(document.whole(unit))
        elif unit in known:
            sentences[known[unit]].assigned.append(document.whole(unit))
    if len(sentences) > 1:
        _assign_parts(document, [sentence.assigned for sentence in sentences])
        said = {piece.unit for sentence in sentences for piece in sentence.assigned}
        missing = [unit for unit in range(len(document.units)) if unit not in said]
        document.effort.reserved = _cost_to_place(document, missing)


def _cost_to_place(document: Document, units: Sequence[int]) -> float:
    """Return what it counts to search for the sentences of a text that are to say some units."""
    each = len(units) / len(document.sentences)
    read = sum(len(sentence.source) for sentence in document.sentences)
    said = sum(document.demand(unit).shortest for unit in units)
    return weight_to_place(each) * (min(each, 1.0) * read + said)


def place_missing(document: Document) -> JobGenerator[None]:
    """Assign every demand to a sentence and search again, until the joined text has them all."""
    tried_soft = {unit for sentence in document.sentences for unit in sentence.left}
    searched: dict[int, Job] = {}
    for _ in range(ROUNDS):
        missing = _assign_as_found(document, tried_soft)
        document.effort.reserved = _cost_to_place(document, missing)
        if not missing:
            break
        yield from _assign_by_drafts(document, missing)
        document.effort.reserved = 0.0
        units = {*missing, *gather(document)}
        yield from document.search(_not_searched_so(document, units, searched))
        tried_soft |= {unit for unit in units if document.is_soft(unit)}
    if document.settings.nbest > 1:  # the alternatives must say it too
        _assign_again(document, tried_soft)
        changed = [each for each in document.sentences if each.assigned != each.searched]
        yield from document.search(changed)


def _assign_again(document: Document, tried_soft: set[int]) -> None:
    """Assign each demand to the sentence that says it; what none says stays where it is.

    It may be there in tokens that the text shows as something else: then it is searched again.
    """
    before = [list(sentence.assigned) for sentence in document.sentences]
    missing = set(_assign_as_found(document, tried_soft))
    for sentence, pieces in zip(document.sentences, before, strict=True):
        kept = [piece for piece in pieces if piece.unit in missing]
        sentence.assigned = sorted([*sentence.assigned, *kept]) if kept else sentence.assigned


def _not_searched_so(
    document: Document, units: Set[int], searched: dict[int, Job]
) -> list[SentenceState]:
    """Return the sentences that are to say some units, but for those that were searched just so.

    What is missing again may be placed again where it was: then the search would find the same.
    ``searched`` are the last searches of sentences, by their number; they are kept there.
    """
    again = []
    for number, sentence in enumerate(document.sentences):
        if units & {piece.unit for piece in sentence.assigned}:
            job = document.job(sentence, sentence.assigned)
            if number not in searched or not _asks_the_same(job, searched[number]):
                again.append(sentence)
            else:
                sentence.take(sentence.hypotheses, sentence.assigned)
            searched[number] = job
    return again


def _asks_the_same(job: Job, other: Job) -> bool:
    """Return whether two searches differ at most in the order of what they ask for."""
    same = replace(job, phrases=(), ties={}) == replace(other, phrases=(), ties={})
    return same and Counter(_phrases_with_ties(job)) == Counter(_phrases_with_ties(other))


def _phrases_with_ties(job: Job) -> Iterator[tuple[Tokens | Pattern, Tokens | None]]:
    """Yield what a search asks for, with the source tokens that it is tied to."""
    for index, phrase in enumerate(job.phrases):
        yield phrase, job.ties.get(index)


def _assign_as_found(document: Document, tried_soft: set[int]) -> list[int]:
    """Assign each demand to the sentence that says it; return the units that none says.

    A soft demand that has been placed once is not placed again: it cost too much.
    """
    text, starts = document.join([sentence.best for sentence in document.sentences])
    sources = _sentences_of_sources(document)
    found = find_in_own_sentences(document, text, starts, document.find(text, starts))
    assigned, missing = assign_found(document.units, found, starts, sources)
    in_parts = _assign_parts(document, assigned)
    missing = [unit for unit in missing if unit not in in_parts]
    dropped = tried_soft.intersection(missing)
    for sentence, pieces in zip(document.sentences, assigned, strict=True):
        kept = [piece for piece in sentence.searched if piece.unit in dropped]
        sentence.assigned = pieces + kept
    return [unit for unit in missing if unit not in tried_soft]


def _assign_parts(document: Document, assigned: Sequence[list[Piece]]) -> set[int]:
    """Assign parts whose sources are known to the sentences of these, and to no others.

    The order of tags that are kept is such a demand: all of it in one sentence would be tags that
    the other sentences have as well. Return the units of such demands.
    """
    units = {
        unit for unit in range(len(document.units)) if document.demand(unit).asked.part_sources
    }
    if not units:
        return units
    starts = [sentence.part.start for sentence in document.sentences]
    for pieces in assigned:
        pieces[:] = [piece for piece in pieces if piece.unit not in units]
    for unit in units:
        sources = document.demand(unit).asked.part_sources
        places = [max(bisect_right(starts, start) - 1, 0) for start, _ in sources]
        for sentence, piece in _pieces(unit, places):
            assigned[sentence].append(piece)
    for pieces in assigned:
        pieces.sort()
    return units


def _sentences_of_sources(document: Document) -> dict[int, int]:
    asked = [demand.asked for demand in document.demands]
    return sentences_of_sources(
        document.units, asked, [sentence.part.start for sentence in document.sentences]
    )


def find_in_own_sentences(
    document: Document, text: str, starts: Sequence[int], found: Sequence[list[Occurrence]]
) -> list[list[Occurrence]]:
    """Return what was found of each demand, in the sentences of its sources where these are known.

    What the source demands is nowhere else; what a caller asks for may be.
    """
    own: defaultdict[int, list[int]] = defaultdict(list)
    for unit, sentence in _sentences_of_sources(document).items():
        own[document.units[unit]].append(sentence)
    equal: defaultdict[Constraint, list[int]] = defaultdict(list)
    for number, demand in enumerate(document.demands):
        equal[demand.surface.once].append(number)
    began, in_own = begun(document.sentences, starts), list(found)
    for once, numbers in equal.items():
        if not any(number in own for number in numbers):
            continue
        wanted = [
            (0 if asked.is_from_source and number in own else asked.count, own[number])
            for number in numbers
            for asked in [document.demands[number].asked]
        ]
        shared = share_occurrences(once.find(text, len(text), began), wanted, starts)
        for number, taken in zip(numbers, shared, strict=True):
            in_own[number] = taken
    return in_own


def share_occurrences(
    occurrences: Sequence[Occurrence],
    wanted: Sequence[tuple[int, Sequence[int]]],
    starts: Sequence[int],
) -> list[list[Occurrence]]:
    """Return the occurrences of each of some equal constraints.

    ``wanted`` says of each in which sentences it should be: there they are taken first, so that
    none takes what is another's own. It also says how many are taken, if need be from elsewhere.
    ``starts`` are the offsets at which the sentences begin.
    """
    left = [(each, bisect_right(starts, each[0][0]) - 1) for each in occurrences]
    taken: list[list[Occurrence]] = [[] for _ in wanted]
    for (_, sentences), mine in zip(wanted, taken, strict=True):
        for sentence in sentences:
            at = next((i for i, (_, place) in enumerate(left) if place == sentence), None)
            if at is not None:
                mine.append(left.pop(at)[0])
    for (count, _), mine in zip(wanted, taken, strict=True):
        missing = max(count - len(mine), 0)
        mine += [each for each, _ in left[:missing]]
        del left[:missing]
        mine.sort()
    return taken


def _assign_by_drafts(document: Document, missing: Sequence[int]) -> JobGenerator[None]:
    """Assign each missing unit to the sentence that loses least by it, as drafts show.

    What the source demands belongs to the sentence in which it stands.
    """
    own = _sentences_of_sources(document)
    asked = {unit: document.demand(unit).asked.once for unit in missing}
    for unit in [each for each in missing if document.demand(each).asked.is_from_source]:
        if unit in own:
            document.sentences[own[unit]].assigned.append(document.whole(unit))
            del asked[unit]
    different = {constraint: unit for unit, constraint in asked.items()}
    last = len(document.sentences) - 1
    most = max(document.effort.left_in_free / OF_TRIALS, FEW_TRIALS)
    places = {
        constraint: [last]
        if constraint.at_end
        else tried_sentences(number, len(different), last + 1, most)
        for number, constraint in enumerate(different)
    }
    # Where there is no choice, nothing need be tried.
    trials = [(each, i) for each, found in places.items() for i in found if len(found) > 1]
    found = yield [
        _trial(document, document.sentences[index], different[constraint])
        for constraint, index in trials
    ]
    gains = {constraint: dict.fromkeys(indices, 0.0) for constraint, indices in places.items()}
    for (constraint, index), hypotheses in zip(trials, found, strict=True):
        free = document.sentences[index].best.log_prob
        gain = hypotheses[0].log_prob - free if hypotheses else float("-inf")
        gains[constraint][index] = gain
    for unit, index in assign_by_gain(list(asked.items()), gains):
        document.sentences[index].assigned.append(document.whole(unit))


def _trial(document: Document, sentence: SentenceState, unit: int) -> Job:
    """Return a quick search for a unit in a sentence whose free translation is known."""
    wanted = {token for way in document.demand(unit).spellings for token in way.ids}
    prefix = sentence.prefix.as_begun(sentence.best.tokens, wanted)
    settings, firm = document.settings.of_drafts, set(document.units)
    return document.job(sentence, [document.whole(unit)], settings, firm, prefix)


def tried_sentences(
    number: int, constraints: int, sentences: int, most: float = math.inf
) -> list[int]:
    """Return the sentences in which a constraint is tried.

    They are all of them, or if that would be too many trials, some that lie evenly in the text,
    other ones for each constraint. If there are more constraints than sentences could say, it is
    one, and nothing is tried; so it is for the last ones if there is no time to try them all.
    There is time for ``most`` trials a sentence, on average.
    """
    trials = most * sentences
    if constraints > MOST_TRIALS * sentences or trials < FEWEST_TRIALS * (number + 1):
        return [number % sentences]
    tries = min(MOST_TRIALS * sentences, trials) // constraints
    tries = min(int(max(tries, FEWEST_TRIALS)), sentences)
    if tries >= sentences:
        return list(range(sentences))
    return sorted((number + i * sentences // tries) % sentences for i in range(tries))


def sentences_of_sources(
    units: Sequence[int], demanded: Sequence[Constraint], starts: Sequence[int]
) -> dict[int, int]:
    """Return the sentence of each unit of which it is known where its source stands.

    ``starts`` are the offsets at which the sentences of the source begin.
    """
    sentences: dict[int, int] = {}
    used = Counter[int]()
    for unit, number in enumerate(units):
        spans = demanded[number].source_spans
        if used[number] < len(spans):
            sentences[unit] = max(bisect_right(starts, spans[used[number]][0]) - 1, 0)
        used[number] += 1
    return sentences


def assign_found(
    units: Sequence[int],
    occurrences: Sequence[Sequence[Occurrence]],
    starts: Sequence[int],
    sources: Mapping[int, int],
) -> tuple[list[list[Piece]], list[int]]:
    """Return what each sentence says, and the units that none says.

    ``occurrences`` are those of each constraint in the whole text, ``starts`` the offsets at
    which its sentences begin, ``sources`` the sentences of units whose source is known: they keep
    to it if it says them. Parts of a constraint may stand in different sentences.
    """
    places = [
        {each: [bisect_right(starts, start) - 1 for start, _ in each] for each in found}
        for found in occurrences
    ]
    taken = _take_own(units, places, sources)
    used = {(units[unit], occurrence) for unit, occurrence in taken.items()}
    remaining = [
        iter([each for each in found if (number, each) not in used])
        for number, found in enumerate(occurrences)
    ]
    assigned: list[list[Piece]] = [[] for _ in starts]
    missing = []
    for unit, number in enumerate(units):
        occurrence = taken.get(unit) or next(remaining[number], None)
        if occurrence is None:
            missing.append(unit)
            continue
        for sentence, piece in _pieces(unit, places[number][occurrence]):
            assigned[sentence].append(piece)
    return assigned, missing


def _pieces(unit: int, places: Sequence[int]) -> Iterator[tuple[int, Piece]]:
    """Yield what sentences say of a unit; ``places`` are the sentences of its parts, in order."""
    for sentence, parts in groupby(range(len(places)), key=places.__getitem__):
        first, *_ = numbers = list(parts)
        yield sentence, Piece(unit, first, first + len(numbers))


def _take_own(
    units: Sequence[int],
    places: Sequence[Mapping[Occurrence, Sequence[int]]],
    sources: Mapping[int, int],
) -> dict[int, Occurrence]:
    """Return the occurrences of units in the sentences of their sources.

    ``places`` are the occurrences of each constraint with the sentences of their parts.
    """
    own: defaultdict[tuple[int, int], list[Occurrence]] = defaultdict(list)
    for number, found in enumerate(places):
        for occurrence, sentences in found.items():
            if sentences[0] == sentences[-1]:
                own[number, sentences[0]].append(occurrence)
    waiting = {key: iter(found) for key, found in own.items()}
    taken = {
        unit: next(waiting.get((units[unit], sentence), iter(())), None)
        for unit, sentence in sources.items()
    }
    return {unit: occurrence for unit, occurrence in taken.items() if occurrence is not None}


def assign_by_gain(
    missing: Sequence[tuple[int, Constraint]], gains: Mapping[Constraint, Mapping[int, float]]
) -> list[tuple[int, int]]:
    """Assign each missing unit to the sentence that gains most, or loses least, by it.

    One that is asked for twice goes to two sentences. Returns pairs of unit and sentence.
    """
    given: Counter[tuple[Constraint, int]] = Counter()
    assigned = []
    for unit, asked in missing:
        *_, best = min((given[asked, i], -gain, i) for i, gain in gains[asked].items())
        given[asked, best] += 1
        assigned.append((unit, best))
    return assigned
