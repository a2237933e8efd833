"""The demands of one sentence, numbered: which bits a hypothesis keeps, and what sets them.

Everything a hypothesis must remember is a set of bits.

- A phrase that is demanded n times owns n neighbouring bits, filled from the lowest, so that
  "met twice of three times" is ``0b011``. A pattern of a single part owns one bit, which any of
  its forms sets.
- A pattern of several parts is a chain of *stages*, one a part. Each stage but the last owns a
  *register*: bit i says that the part ended i tokens (or words) ago. Registers are shifted as
  tokens are taken, so that the next part counts only when it has begun after the end of the
  part before, and early enough. The top bit of a register stays where it is if there is no
  limit, and falls out if there is one.

Above these lie the *wanted* bits of stages, which no hypothesis ever has: they only name stages
in the sets of what a node of the trie is good for.

A demand's size is the number of tokens of its shortest forms, those for the beginning of an
output left out where there are others; what is in a bank (paper, section 3.2) is the sentence's
whole size minus the fewest tokens still needed, put side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from lexbeam.errors import ConstraintError
from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.automaton.trie import BEGIN, Goal
from lexbeam.search.automaton.whole_words import Words, count_units

Demand = Tokens | Pattern


def tokens_of(demand: Demand) -> Sequence[int]:
    """Return the tokens of a demand, in whatever form."""
    return sorted(demand.tokens) if isinstance(demand, Pattern) else demand


_WORD = 64
"""Bits of a machine word; a register does not go over the edge of one."""


@dataclass(frozen=True)
class Stage:
    """One part of a pattern whose tokens are counted from the bits, not when it is met."""

    reached: int
    """Bits that say the stage, or a later one, has been reached."""
    enabled: int
    """Bits of which one must be set before the stage can be; none: it always can."""
    wanted: int
    size: int


@dataclass(frozen=True)
class Register:
    """How one register moves."""

    first: int
    """The number of its lowest bit."""
    length: int
    stays: bool
    """The top bit stays: no limit. Otherwise it falls out."""
    by_words: bool
    """Shifted at the beginning of words, not at every token."""
    limit: int = 0
    forms: tuple[Tokens, ...] = ()
    """Those of the part after, which keep bits alive beyond the limit once they have begun."""

    @property
    def bits(self) -> int:
        """All its bits."""
        return ((1 << self.length) - 1) << self.first

    @property
    def top(self) -> int:
        """Its highest bit."""
        return 1 << (self.first + self.length - 1)


@dataclass(frozen=True)
class Soft:
    """Something that may be given up."""

    bits: int
    price: float


@dataclass
class Demands:
    """The bits of a sentence, and everything that reads or sets them."""

    goals: list[Goal] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    registers: list[Register] = field(default_factory=list)
    softs: list[Soft] = field(default_factory=list)
    met: list[int] = field(default_factory=list)
    """For each demand, in the order given, the bits of which one says that it is met."""
    settled: list[int] = field(default_factory=list)
    """For each kind of demand, the states it can be in: what a set of met ones is made of."""
    at_end: int = 0
    """Bits that count only if the output ends here."""
    hard: int = 0
    """Bits that an output must have to end."""
    hard_tokens: list[tuple[int, int]] = field(default_factory=list)
    """Constraint tokens of what can't be given up, and the bits of which one says it is there."""
    hard_wanted: int = 0
    """Bits by which what can't be given up is wanted."""
    bits: int = 0
    """How many bits a hypothesis has."""
    wanted: int = 0
    """How many bits there are, those that only name stages included."""
    size: int = 0
    """C in the paper."""
    hard_size: int = 0
    """The part of it that can't be given up."""

    @property
    def strict(self) -> bool:
        """Whether the output has to begin with one of some forms."""
        return any(goal.strict for goal in self.goals)


def number_demands(demanded: Sequence[Demand], words: Words | None = None) -> Demands:
    """Give every demand of a sentence its bits."""
    return _Numbering(demanded, words).demands


class _Numbering:
    """The work of `number_demands`."""

    def __init__(self, demanded: Sequence[Demand], words: Words | None) -> None:
        self.words = words
        self.demands = Demands()
        self._free_bit = 0
        self._unnamed: list[Callable[[int], None]] = []
        met: dict[Hashable, list[int]] = {}
        for demand, times in Counter(demanded).items():
            if isinstance(demand, Pattern):
                met[demand] = self._add_pattern(demand, times)
            else:
                met[demand] = self._add_phrase(demand, times)
        self.demands.bits = self._free_bit
        for name in self._unnamed:
            name(self._take_bits(1))
        self.demands.wanted = self._free_bit
        copies = {demand: iter(bits) for demand, bits in met.items()}
        self.demands.met = [next(copies[demand]) for demand in demanded]

    def _take_bits(self, count: int, in_one_word: bool = False) -> int:
        """Return the first of some bits that are free."""
        if in_one_word and self._free_bit % _WORD + count > _WORD:
            self._free_bit += _WORD - self._free_bit % _WORD
        first = self._free_bit
        self._free_bit += count
        return first

    def _add_phrase(self, tokens: Tokens, times: int) -> list[int]:
        first = self._take_bits(times)
        field_bits = ((1 << times) - 1) << first
        self.demands.size += len(tokens) * times
        self.demands.hard_size += len(tokens) * times
        self.demands.hard_wanted |= field_bits
        bits = [1 << (first + copy) for copy in range(times)]
        self.demands.hard_tokens += [(len(tokens), bit) for bit in bits]
        self.demands.hard |= field_bits
        self.demands.settled.append(times + 1)
        goal = Goal(
            tokens,
            sets=1 << first,
            repeats=field_bits if times > 1 else 0,
            wanted=field_bits,
            weight=len(tokens),
            size=len(tokens),
            waits=self._waits(tokens),
        )
        self.demands.goals.append(goal)
        return bits

    def _waits(self, tokens: Tokens) -> bool:
        return self.words is not None and self.words.waits(tokens)

    def _add_pattern(self, pattern: Pattern, times: int) -> list[int]:
        copies = 1 if pattern.last or pattern.strict else times
        size = sum(_shortest(part) for part in pattern.parts) * copies
        self.demands.size += size
        if len(pattern.parts) == 1 and copies == 1 and not pattern.last:
            met = [self._add_single(pattern)]
        else:
            met = self._add_chain(pattern, copies)
        if pattern.price is None:
            self.demands.hard |= met[-1]
            self.demands.hard_size += size
        else:
            price = pattern.price * times / copies
            self.demands.softs += [Soft(bits, price) for bits in met]
        return met if copies == times else met * times

    def _add_single(self, pattern: Pattern) -> int:
        bit = 1 << self._take_bits(1)
        size = _shortest(pattern.parts[0])
        if pattern.price is None:
            self.demands.hard_tokens.append((size, bit))
            self.demands.hard_wanted |= bit
        self.demands.settled.append(2)
        for form in pattern.parts[0]:
            goal = Goal(
                _anchored(form),
                sets=bit,
                wanted=bit,
                weight=size,
                size=size,
                waits=not pattern.strict and self._waits(form.tokens),
                strict=pattern.strict,
            )
            self.demands.goals.append(goal)
        return bit

    def _add_chain(self, pattern: Pattern, copies: int) -> list[int]:
        parts = pattern.parts * copies
        inner = len(pattern.parts)
        registers: list[Register | None] = [None]
        for number in range(1, len(parts)):
            limit = pattern.within if number % inner else None
            registers.append(self._add_register(parts[number - 1], parts[number], limit))
        final = 1 << self._take_bits(1)
        if pattern.last:
            self.demands.at_end |= final
        self.demands.settled.append(len(parts) + 1)
        ends = [register.bits for register in registers if register] + [final]
        for number, (part, register) in enumerate(zip(parts, registers, strict=True)):
            self._add_stage(pattern, number, part, register, ends)
        return [sum(ends[(copy + 1) * inner - 1 :]) for copy in range(copies)]

    def _add_register(
        self, before: tuple[Form, ...], after: tuple[Form, ...], limit: int | None
    ) -> Register:
        forms = tuple(form.tokens for form in after)
        if limit is None:
            meet = any(_may_overlap(b.tokens, tokens) for b in before for tokens in forms)
            length = max(map(len, forms)) + 1 if meet else 1
        else:
            self._refuse_parts_of_words(forms)
            length = limit + max(count_units(tokens, self.words) for tokens in forms) + 1
        if length > _WORD:
            raise ConstraintError(
                f"a pattern with parts of {max(map(len, forms))} tokens"
                + (f" within {limit} words" if limit is not None else "")
                + f" is too long to be kept track of (at most {_WORD - 1} together)"
            )
        register = Register(
            first=self._take_bits(length, in_one_word=True),
            length=length,
            stays=limit is None,
            by_words=limit is not None and self.words is not None,
            limit=limit or 0,
            forms=forms if limit is not None else (),
        )
        self.demands.registers.append(register)
        return register

    def _refuse_parts_of_words(self, forms: Sequence[Tokens]) -> None:
        for tokens in forms:
            if self.words is not None and not self.words.starting[tokens[0]]:
                raise ConstraintError(
                    f"a part of a pattern with a limit has to begin with a word: {list(tokens)}"
                )

    def _add_stage(
        self,
        pattern: Pattern,
        number: int,
        part: tuple[Form, ...],
        register: Register | None,
        ends: Sequence[int],
    ) -> None:
        """Let the forms of a part set its own register, if the one before allows it."""
        size = _shortest(part)
        at_end = pattern.last and number + 1 == len(ends)
        sets = ends[number] & -ends[number]
        needs = [self._needs(form.tokens, register) for form in part]

        def name(bit: int) -> None:
            wanted = 1 << bit
            enabled = ends[number - 1] if number else 0
            stage = Stage(sum(ends[number:]), enabled, wanted, size)
            self.demands.stages.append(stage)
            if pattern.price is None:
                self.demands.hard_tokens.append((size, stage.reached))
                self.demands.hard_wanted |= wanted
            for form, on_the_way in zip(part, needs, strict=True):
                goal = Goal(
                    _anchored(form),
                    sets=sets,
                    wanted=wanted,
                    size=size,
                    needs=on_the_way,
                    waits=at_end or self._waits(form.tokens),
                )
                self.demands.goals.append(goal)

        self._unnamed.append(name)

    def _needs(self, tokens: Tokens, register: Register | None) -> tuple[int, ...]:
        """Return the bits of which one must be set when so many tokens of a form were taken.

        One set for each length, from nothing taken to the whole form; an empty set asks nothing.
        """
        if register is None:
            return (0,) * (len(tokens) + 1)
        first, length = register.first, register.length
        if length == 1:
            # There is nothing to share, so that nothing can have begun too early.
            return (*[0] * len(tokens), register.bits)
        if not register.forms:
            youngest = [min(taken, length - 1) for taken in range(len(tokens) + 1)]
            ages = [range(age, length) for age in youngest]
        else:
            youngest = [count_units(tokens[:taken], self.words) for taken in range(len(tokens) + 1)]
            ages = [range(age, age + register.limit + 1) for age in youngest]
        return tuple(sum(1 << (first + age) for age in possible) for possible in ages)


def _shortest(part: tuple[Form, ...]) -> int:
    """Return the tokens of the shortest form, of those that may stand anywhere if there are any.

    A shorter one that counts only at the beginning is no help to an output that has begun.
    """
    anywhere = [form for form in part if not form.first]
    return min(len(form.tokens) for form in anywhere or part)


def _anchored(form: Form) -> Tokens:
    return (BEGIN, *form.tokens) if form.first else form.tokens


def _may_overlap(before: Tokens, after: Tokens) -> bool:
    """Say whether ``after`` can end with or after ``before`` and share tokens with it."""
    for shared in range(1, len(after) + 1):
        beginning = after[:shared]
        if shared <= len(before):
            if before[-shared:] == beginning:
                return True
        elif beginning[-len(before) :] == before:
            return True
    return False
