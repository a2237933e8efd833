"""One text: its sentences, what is demanded of it, and how its sentences are searched and joined.

The steps by which it is translated are in `lexbeam.translation.pipeline`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.matching import Occurrence, find_all
from lexbeam.errors import ConstraintError, InputError, Subject, quoted
from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Pattern
from lexbeam.search.beam import Hypothesis
from lexbeam.search.settings import Settings
from lexbeam.text.phrases import Spelling
from lexbeam.text.sentence_splitter import Part, split_text
from lexbeam.text.spelling import SourceText, TargetText
from lexbeam.text.subsequences import find_subsequence, outside_of
from lexbeam.text.token_offsets import tokens_in
from lexbeam.text.word_boundaries import Span
from lexbeam.translation.avoided import Avoidance
from lexbeam.translation.effort import Effort
from lexbeam.translation.jobs import Displacement, Hypotheses, Job, JobGenerator
from lexbeam.translation.reading import Reading, TermInSource
from lexbeam.translation.sentence import Piece, SentenceState, begun, number_units
from lexbeam.translation.settings import TextSettings
from lexbeam.translation.shared_tokens import DemandedPart
from lexbeam.translation.spelled import SpelledConstraint, limit_exact, limited_alike
from lexbeam.translation.spelled_prefix import SpelledPrefix
from lexbeam.translation.term_limits import lift_limits

MOST_DEMANDED = 10_000
"""So many characters may be demanded for each sentence of a text, each phrase as often as it is
wanted. With more the time of a sentence would grow as their square."""

_MUCH = 100  # tokens of constraints; a translation has room for twice as many, if they are less
_SPARE_TOKENS = 20  # that a translation may always have beyond twice its source


class TranslatedSentence(NamedTuple):
    """A sentence of the source, its translation, and the hypothesis that this was made of."""

    source: str
    output: str
    hypothesis: Hypothesis
    source_tokens: Sequence[Span]
    """Where the tokens of the source stand in it."""


class Document:
    """A text cut into sentences, with all that its translation has to keep to, spelled."""

    def __init__(
        self,
        text: str,
        constraints: Constraints,
        source: SourceText,
        target: TargetText,
        settings: TextSettings,
        max_source_length: int,
        vocabulary_size: int,
        find_invented: Callable[[str], list[Span]] = lambda _: [],
        reads_terms: bool = False,
    ) -> None:
        """Cut and spell; ``find_invented`` finds what a translation has and the text does not."""
        self.text = text
        self.vocabulary = target
        """The target side without tokens of this text's own."""
        self.target = target = target.with_literals(vocabulary_size)
        self._source = source
        self.reads_terms = reads_terms
        self.settings = settings
        self.find_invented = find_invented
        self._prefix = constraints.prefix
        prefix = SpelledPrefix.spell(constraints.prefix, target)
        self.avoidance = Avoidance.spell(constraints.avoid, self.vocabulary)
        parts = _cut(text, source, max_source_length, settings.split)
        _refuse_too_much(constraints.demanded, len(parts))
        self.given = constraints.demanded
        """What is demanded, as it was given."""
        demanded = lift_limits(constraints, text) if len(parts) > 1 else constraints.counted
        self.demands = limit_exact(
            [SpelledConstraint.spell(asked, target, self.avoidance.words) for asked in demanded],
            constraints.prefix,
        )
        self.units = number_units(demanded)
        if not parts and (constraints.demanded or constraints.prefix):
            parts = [Part("", "")]  # nothing to translate, and yet something to say
        self.sentences = [
            SentenceState(
                part,
                tuple(source.encode(part.text)),
                SpelledPrefix() if number else prefix,
                list(self.avoidance.first_tokens),
            )
            for number, part in enumerate(parts)
        ]
        asked_for = sum(not asked.is_from_source for asked in demanded)
        self.effort = Effort.of(self.sentences, settings.beam_size, asked_for)
        self._texts: dict[tuple[Tokens, tuple[Spelling, ...]], str] = {}
        _refuse_too_long(self.demands, settings.max_length)

    def demand(self, unit: int) -> SpelledConstraint:
        """Return the constraint of a unit, spelled."""
        return self.demands[self.units[unit]]

    def demand_in(self, sentence: SentenceState, unit: int) -> SpelledConstraint:
        """Return the constraint of a unit as a sentence may write it."""
        return self.demand(unit).inside() if sentence.part.goes_on else self.demand(unit)

    def whole(self, unit: int) -> Piece:
        """Return a unit with all its parts."""
        return Piece(unit, 0, len(self.demand(unit).parts))

    def is_soft(self, unit: int) -> bool:
        """Return whether a unit may be dropped."""
        return self.demand(unit).asked.soft is not None

    # --- searching -------------------------------------------------------------------------

    def search(self, sentences: Sequence[SentenceState]) -> JobGenerator[None]:
        """Search for sentences with what is assigned to them."""
        self.take(sentences, (yield [self.job(each, each.sought) for each in sentences]))

    def take(self, sentences: Sequence[SentenceState], found: Sequence[Hypotheses]) -> None:
        """Take what was found for sentences, searched with what is assigned to them."""
        for sentence, hypotheses in zip(sentences, found, strict=True):
            if not hypotheses:
                raise InputError(
                    f"no translation of {quoted(sentence.part.text)} was found that keeps to "
                    "its constraints: avoid less, or raise max_length"
                )
            sentence.take(hypotheses, sentence.sought)

    def job(
        self,
        sentence: SentenceState,
        pieces: Sequence[Piece],
        settings: Settings | None = None,
        firm: Collection[int] = (),
        prefix: SpelledPrefix | None = None,
        displacement: Displacement | None = None,
        thorough: bool = False,
        insists: bool = True,
    ) -> Job:
        """Return the search of a sentence that has to say some pieces.

        ``settings`` are those of the search if not the usual ones, ``firm`` the soft demands that
        may not be dropped, ``prefix`` what stands in for the sentence's own, ``displacement`` says
        what ties displace, if that is not known yet. A ``thorough`` search looks further; one that
        ``insists`` tries another way if it finds nothing.
        """
        prefix, required = sentence.prefix if prefix is None else prefix, sentence.required
        parts = _parts(self, sentence, pieces, firm)
        phrases: list[Tokens | Pattern] = [
            self.demand_in(sentence, piece.unit).pattern(
                piece.first, piece.last, self.units[piece.unit] in firm, required
            )
            for piece in pieces
        ]
        more: list[tuple[Tokens | Pattern, SpelledConstraint]] = [
            (phrase, self.demand(piece.unit))
            for piece, phrase in zip(pieces, phrases, strict=True)
            for _ in range(sentence.repeated[piece])
        ]
        for part in {part.forms: part for part in parts if part.is_firm and required}.values():
            times = required.get(part.forms, 0) - phrases.count(part.pattern)
            more += [(part.pattern, part.demand)] * max(times, 0)
        said = [*(self.demand(piece.unit) for piece in pieces), *(demand for _, demand in more)]
        allowed = 2 * len(sentence.source) + _room_for(said) + _SPARE_TOKENS + prefix.longest
        displaced = _outside_prefix(sentence.displaced or (), prefix)
        avoid = (*sentence.avoid, *(_outside_phrases(displaced, said) if displaced else ()))
        names = [self.demand(piece.unit).asked.cut(piece.first, piece.last) for piece in pieces]
        names += [demand.asked for _, demand in more]
        return Job(
            source=self.tokens_read(sentence, pieces),
            phrases=(*limited_alike([*phrases, *(each for each, _ in more)]), *prefix.patterns),
            avoid=avoid,
            prefix=prefix.forced,
            whole_prefix=prefix.whole,
            max_length=self.settings.max_length or allowed,
            settings=settings or self.settings.of_search,
            ties=self.ties(sentence, pieces),
            displacement=displacement,
            thorough=thorough,
            insists=insists,
            align=self.settings.alignments,
            aliases=self.target.aliases,
            name=partial(self._name, names, avoid),
        )

    def draft(self, sentence: SentenceState) -> Job:
        """Return a search of a sentence without its constraints, which says what it reads."""
        return Job(
            source=sentence.source,
            avoid=tuple(sentence.avoid),
            max_length=2 * len(sentence.source) + _SPARE_TOKENS,
            settings=self.settings.of_search,
            align=True,
        )

    def ties(self, sentence: SentenceState, pieces: Sequence[Piece]) -> dict[int, Tokens]:
        """Return the source tokens of tied pieces, by the index of the piece."""
        ties: dict[int, Tokens] = {}
        if self.settings.ties == "off":
            return ties
        for index, piece in enumerate(pieces):
            spans = self.demand(piece.unit).asked.source_spans
            copy = self.units[: piece.unit].count(self.units[piece.unit]) if spans else 0
            if copy < len(spans) and piece.unit not in sentence.untied:
                start, end = (at - sentence.part.start for at in spans[copy])
                ties[index] = tuple(tokens_in(self.token_spans(sentence, pieces), (start, end)))
        return {index: tokens for index, tokens in ties.items() if tokens}

    def tokens_read(self, sentence: SentenceState, pieces: Sequence[Piece]) -> Tokens:
        """Return the tokens that are read of a sentence which has to say some pieces."""
        terms = _terms_in(sentence, pieces)
        return _read(sentence, terms, self._source).tokens if terms else sentence.source

    def token_spans(self, sentence: SentenceState, pieces: Sequence[Piece] = ()) -> list[Span]:
        """Return where these tokens stand in the sentence."""
        return _read(sentence, _terms_in(sentence, pieces), self._source).spans

    def _name(self, names: Sequence[Constraint], avoid: Sequence[Tokens], subject: Subject) -> str:
        """Say in the user's words what an error about a job speaks of.

        ``names`` are the constraints of its phrases; behind them stands what the prefix may be.
        """
        if subject.role == "avoided":
            tokens = avoid[subject.index]
            return quoted(self.avoidance.names.get(tokens) or self.target.decode(tokens, []))
        if subject.role == "prefix" or subject.index >= len(names):
            return quoted(self._prefix)
        return quoted(names[subject.index].text)

    # --- text --------------------------------------------------------------------------------

    def shown(self, sentence: SentenceState) -> list[Spelling]:
        """Return what the translation of a sentence has to show, as it was searched."""
        demanded = [
            spelling
            for piece in sentence.searched
            for spelling in self.demand(piece.unit).shown(piece.first, piece.last)
        ]
        return sentence.prefix.shown + demanded

    def text_of(self, sentence: SentenceState, hypothesis: Hypothesis) -> str:
        """Return a hypothesis of a sentence as text; it is asked for several times, made once."""
        key = tuple(hypothesis.tokens), tuple(self.shown(sentence))
        if key not in self._texts:
            self._texts[key] = self.target.decode(*key)
        return self._texts[key]

    @property
    def translated(self) -> list[TranslatedSentence]:
        """What the best translation was put together from."""
        return [
            TranslatedSentence(
                each.part.text,
                self.text_of(each, each.best),
                each.best,
                self.token_spans(each, each.searched),
            )
            for each in self.sentences
        ]

    def join(self, hypotheses: Sequence[Hypothesis]) -> tuple[str, list[int]]:
        """Join one hypothesis per sentence; return the text and the offsets of its sentences.

        Line breaks of the source stay as they are; between sentences stands what the target
        language puts there.
        """
        text, gap = "", ""
        starts = []
        for sentence, hypothesis in zip(self.sentences, hypotheses, strict=True):
            translated = self.text_of(sentence, hypothesis)
            text += gap if translated or "\n" in gap else ""
            starts.append(len(text))
            text += translated
            separator = sentence.part.separator
            gap = separator if "\n" in separator else self.target.separator
        return text, starts

    def find(self, text: str, starts: Sequence[int]) -> list[list[Occurrence]]:
        """Return where a text keeps to each demand; ``starts`` are those of its parts."""
        surfaces = [demand.surface for demand in self.demands]
        return find_all(text, surfaces, begun(self.sentences, starts))


def _refuse_too_long(demands: Sequence[SpelledConstraint], limit: int | None) -> None:
    """Raise if a single demand takes more tokens than an output may have."""
    for demand in demands:
        if limit and demand.shortest > limit:
            raise ConstraintError(
                f"{quoted(demand.asked.text)} takes {demand.shortest} tokens, but max_length "
                f"is {limit}: raise it"
            )


def _refuse_too_much(demanded: Sequence[Constraint], sentences: int) -> None:
    """Raise if a caller demands more than so many sentences can be asked to say."""
    wanted = sum(
        each.count * sum(max(map(len, part)) for part in each.parts)
        for each in demanded
        if not each.is_from_source
    )
    most = MOST_DEMANDED * max(sentences, 1)
    if wanted > most:
        raise ConstraintError(
            f"the constraints demand {wanted:,} characters, each phrase as often as it is wanted: "
            f"at most {most:,} are possible, {MOST_DEMANDED:,} for each sentence of the text"
        )


def _room_for(said: Sequence[SpelledConstraint]) -> int:
    """Return how many tokens an output may have on account of what it has to say.

    What may be given up needs no room for other ways to say it; what is much, not twice.
    """
    hard = [each.longest for each in said if each.asked.soft is None]
    return sum(each.longest for each in said) + min(sum(hard), max(len(hard), _MUCH))


def _parts(
    document: Document, sentence: SentenceState, pieces: Sequence[Piece], firm: Collection[int]
) -> list[DemandedPart]:
    """Return the parts of some pieces as a sentence may write them."""
    return [
        DemandedPart(demand, part, demand.asked.soft is None or document.units[piece.unit] in firm)
        for piece in pieces
        for demand in [document.demand_in(sentence, piece.unit)]
        for part in demand.parts[piece.first : piece.last]
    ]


def _terms_in(sentence: SentenceState, pieces: Sequence[Piece]) -> tuple[TermInSource, ...]:
    """Return the terms among some pieces that the model reads in the source."""
    if not sentence.terms:
        return ()
    found = {sentence.terms.get(piece.unit) for piece in pieces}
    return tuple(sorted(term for term in found if term is not None))


def _read(sentence: SentenceState, terms: tuple[TermInSource, ...], source: SourceText) -> Reading:
    """Return a sentence as it is read with terms; that is found out once."""
    if terms not in sentence.readings:
        sentence.readings[terms] = Reading.of(sentence.part.text, terms, source)
    return sentence.readings[terms]


def _outside_prefix(displaced: Sequence[Tokens], prefix: SpelledPrefix) -> list[Tokens]:
    """Return the words that ties displace, without those that an output has to begin with."""
    begins = [way.ids for way in prefix.spellings]

    def is_begun(tokens: Tokens) -> bool:
        there = prefix.tokens.issuperset(tokens)
        return there and any(find_subsequence(ids, tokens) for ids in begins)

    return [tokens for tokens in displaced if not is_begun(tokens)]


def _outside_phrases(
    displaced: Sequence[Tokens], said: Sequence[SpelledConstraint]
) -> Sequence[Tokens]:
    """Return the words that ties displace, without those inside of what has to be said."""
    return outside_of(displaced, [way.ids for each in said for way in each.spellings])


def _cut(text: str, source: SourceText, limit: int, sentences: bool) -> list[Part]:
    def fits(part: str) -> bool:
        return len(source.encode(part)) <= limit

    return split_text(text, fits, sentences)
