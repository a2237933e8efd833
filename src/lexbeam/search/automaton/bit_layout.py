"""The constraints of one sentence as bits: which a hypothesis keeps, and what sets them.

Everything a hypothesis must remember is a set of bits.

- A phrase that is given n times owns n neighbouring bits, filled from the lowest, so that
  "met twice of three times" is ``0b011``. A pattern of a single part owns one bit, which any of
  its forms sets.
- A pattern of several parts is a chain of *stages*, one per part. Each stage but the last owns a
  *register*: bit i says that the part ended i tokens (or words) ago. Registers are shifted as
  tokens are taken, so that the next part counts only when it has begun after the end of the
  part before, and early enough. The top bit of a register stays set if there is no limit to the
  distance, and is lost if there is one.

After these come the *wanted* bits of stages, which no hypothesis ever has. They only stand for
stages in the sets that say which constraints a node of the trie advances.

A constraint's size is the number of tokens of its shortest forms, those for the beginning of an
output left out where there are others; what is in a bank (paper, section 3.2) is the sentence's
whole size minus the fewest tokens still needed, put side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from lexbeam.errors import ConstraintError, Subject
from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Form, Pattern, TokenConstraint
from lexbeam.search.automaton.stages import (
    Stage,
    counts_as_phrase,
    find_what_is_lost,
    late,
    may_share,
    shortest,
)
from lexbeam.search.automaton.trie import APART, BEGIN, INSIDE, Goal, in_compounds
from lexbeam.search.automaton.whole_words import WordBoundaries, count_units

_MOST_REGISTER_BITS = 1024
"""Bits of all registers of a sentence; the time of a step grows with the square of them."""

_BITS_PER_ARRAY = 64
"""Bits that one array holds (`arrays.Bits`); a register lies within one array."""


@dataclass(frozen=True)
class Register:
    """How one register moves."""

    first: int
    """The number of its lowest bit."""
    length: int
    stays: bool
    """Whether the top bit stays set, because there is no limit; otherwise it is lost."""
    by_words: bool
    """Whether it is shifted at the beginning of words, not at every token."""
    limit: int = 0
    """Most words before the next part; without meaning if the top bit stays."""
    forms: tuple[Tokens, ...] = ()
    """Those of the next part, if there is a limit: one that has begun may go on beyond it."""

    @property
    def bits(self) -> int:
        """All its bits."""
        return ((1 << self.length) - 1) << self.first

    @property
    def in_time(self) -> int:
        """The bits that are set for ends within the limit of the next part."""
        return ((1 << (self.limit + 1)) - 1) << self.first

    @property
    def top(self) -> int:
        """Its highest bit."""
        return 1 << (self.first + self.length - 1)


@dataclass(frozen=True)
class SoftConstraint:
    """A constraint that may be given up."""

    bits: int
    """Bits of which one is set when it is met."""
    penalty: float
    """What an output without it pays."""


@dataclass
class BitLayout:
    """The bits of a sentence, and everything that reads or sets them."""

    goals: list[Goal] = field(default_factory=list)
    joined: list[Goal] = field(default_factory=list)
    """What meets a constraint as a part of a compound, with `trie.SHORT` and `trie.LONG` in it."""
    stages: list[Stage] = field(default_factory=list)
    registers: list[Register] = field(default_factory=list)
    soft: list[SoftConstraint] = field(default_factory=list)
    met: list[int] = field(default_factory=list)
    """For each constraint, in the order given, the bits of which one is set when it is met."""
    states_of_each: list[int] = field(default_factory=list)
    """For each different constraint, how many states it can be in, as sets of met ones count."""
    at_end: int = 0
    """Bits that count only if the output ends here."""
    hard: int = 0
    """Bits that an output must have to end."""
    hard_tokens: list[tuple[int, int]] = field(default_factory=list)
    """For each part that can't be given up: its tokens, and the bits of which one is then set."""
    hard_wanted: int = 0
    """Bits that stand for what can't be given up where it is said what a node advances."""
    hard_bits: int = 0
    """How many bits, the lowest ones, a hypothesis has for what can't be given up."""
    wanted: int = 0
    """How many bits there are, those that only stand for stages included."""
    size: int = 0
    """The number of constraint tokens: C in the paper."""
    hard_size: int = 0
    """Those of them that can't be given up."""

    @property
    def arrays(self) -> int:
        """How many arrays a set of its bits takes (`arrays.Bits`)."""
        return max(-(-self.wanted // 64), 1)

    @property
    def strict(self) -> bool:
        """Whether the output has to begin with one of some forms."""
        return any(goal.strict for goal in self.goals)


def lay_out_bits(
    constraints: Sequence[TokenConstraint],
    words: WordBoundaries | None = None,
    sentence: int | None = None,
) -> BitLayout:
    """Give every constraint of a sentence its bits.

    Raises:
        ConstraintError: a pattern needs more bits than there may be; ``sentence`` is then named.
    """
    return _Numbering(constraints, words, sentence).layout


class _Numbering:
    """Numbers the bits of one sentence for `lay_out_bits`."""

    def __init__(
        self,
        constraints: Sequence[TokenConstraint],
        words: WordBoundaries | None,
        sentence: int | None,
    ) -> None:
        self.words = words
        self.layout = BitLayout()
        self._constraints = constraints
        self._sentence = sentence
        self._free_bit = 0
        # Stages wait for their wanted bits until all bits of hypotheses have been given away.
        self._stages_to_add: list[Callable[[int], None]] = []
        numbers = dict[TokenConstraint, int]()  # To look a pattern up takes long.
        number_of = [numbers.setdefault(each, len(numbers)) for each in constraints]
        times, copies = Counter(number_of), dict[int, Iterator[int]]()
        for constraint, number in sorted(numbers.items(), key=_is_soft):
            if isinstance(constraint, Pattern):
                copies[number] = iter(self._add_pattern(constraint, times[number]))
            else:
                copies[number] = iter(self._add_phrase([Form(constraint)], times[number]))
            if not _is_soft((constraint, number)):
                self.layout.hard_bits = self._free_bit
        for add in self._stages_to_add:
            add(self._take_bits(1))
        self.layout.wanted = self._free_bit
        self.layout.met = [next(copies[number]) for number in number_of]

    def _take_bits(self, count: int, in_one_array: bool = False) -> int:
        """Return the first of some bits that are free."""
        if in_one_array and self._free_bit % _BITS_PER_ARRAY + count > _BITS_PER_ARRAY:
            self._free_bit += _BITS_PER_ARRAY - self._free_bit % _BITS_PER_ARRAY
        first = self._free_bit
        self._free_bit += count
        return first

    def _add_phrase(self, forms: Sequence[Form], times: int, exact: bool = False) -> list[int]:
        """Add a phrase that must occur so many times, in any of its spellings."""
        size = shortest(forms)
        first = self._take_bits(times)
        field_bits = ((1 << times) - 1) << first
        self.layout.size += size * times
        self.layout.hard_size += size * times
        self.layout.hard_wanted |= field_bits
        bits = [1 << (first + copy) for copy in range(times)]
        self.layout.hard_tokens += [(size, bit) for bit in bits]
        self.layout.hard |= field_bits
        self.layout.states_of_each.append(times + 1)
        for form in forms:
            goal = Goal(
                self._anchored(form),
                sets=1 << first,
                repeats=field_bits if times > 1 else 0,
                wanted=field_bits,
                weight=size,
                size=size,
                waits=self._waits(form.tokens),
                exact=field_bits if exact else 0,
            )
            self._add_goal(goal, form)
        return bits

    def _add_goal(self, goal: Goal, form: Form) -> None:
        """Add what meets a constraint, and the same as a part of a compound."""
        self.layout.goals.append(goal)
        if self.words is not None and form.in_compounds:
            self.layout.joined += in_compounds(goal, form.inside, form.goes_on)

    def _waits(self, tokens: Tokens) -> bool:
        return self.words is not None and self.words.waits(tokens)

    def _anchored(self, form: Form) -> Tokens:
        """Return the tokens of a form behind what it has to stand behind."""
        if form.first:
            return (BEGIN, *form.tokens)
        if self.words is None or not (form.apart or form.inside):
            return form.tokens
        return (INSIDE if form.inside else APART, *form.tokens)

    def _add_pattern(self, pattern: Pattern, times: int) -> list[int]:
        if pattern.is_phrase or (times > 1 and counts_as_phrase(pattern)):
            return self._add_phrase(pattern.parts[0], times, pattern.exact)
        copies = 1 if pattern.last or pattern.strict else times
        size = sum(shortest(part) for part in pattern.parts) * copies
        self.layout.size += size
        if len(pattern.parts) == 1 and copies == 1 and not pattern.last:
            met = [self._add_single(pattern)]
        else:
            met = self._add_chain(pattern, copies)
        if pattern.penalty is None:
            self.layout.hard |= met[-1]
            self.layout.hard_size += size
        else:
            penalty = pattern.penalty * times / copies
            self.layout.soft += [SoftConstraint(bits, penalty) for bits in met]
        return met if copies == times else met * times

    def _add_single(self, pattern: Pattern) -> int:
        bit = 1 << self._take_bits(1)
        size = shortest(pattern.parts[0])
        if pattern.penalty is None:
            self.layout.hard_tokens.append((size, bit))
            self.layout.hard_wanted |= bit
        self.layout.states_of_each.append(2)
        strict = pattern.strict
        for form in pattern.parts[0]:
            goal = Goal(
                self._anchored(form),
                sets=bit,
                wanted=bit,
                weight=size,
                size=size,
                waits=not strict and self._waits(form.tokens),
                strict=strict,
            )
            self._add_goal(goal, form)
        return bit

    def _add_chain(self, pattern: Pattern, copies: int) -> list[int]:
        parts = pattern.parts * copies
        inner = len(pattern.parts)
        registers: list[Register | None] = [None]
        for number in range(1, len(parts)):
            limit = pattern.within if number % inner else None
            forms = tuple(form.tokens for form in parts[number])
            length = self._register_length(parts[number - 1], parts[number], limit)
            self._refuse_register(pattern, forms, length, limit)
            registers.append(self._add_register(forms, length, limit))
        final = 1 << self._take_bits(1)
        if pattern.last:
            self.layout.at_end |= final
        self.layout.states_of_each.append(len(parts) + 1)
        ends = [register.bits for register in registers if register] + [final]
        for number, register in enumerate(registers):
            self._add_stage(pattern, number, parts, register, ends)
        return [sum(ends[(copy + 1) * inner - 1 :]) for copy in range(copies)]

    def _register_length(
        self, before: tuple[Form, ...], after: tuple[Form, ...], limit: int | None
    ) -> int:
        """Return the bits of the register between a part and the next."""
        if limit is not None:
            return limit + max(count_units(form.tokens, self.words) for form in after) + 1
        longest = max(len(form.tokens) + late(form) for form in after)
        return longest + 1 if may_share(before, after, self.words) else 1

    def _refuse_register(
        self, pattern: Pattern, forms: Sequence[Tokens], length: int, limit: int | None
    ) -> None:
        """Raise if a distance can't be counted, or has more bits than fit into an array."""
        words = None if limit is None else self.words
        for tokens in forms:
            if words is not None and not words.starting[tokens[0]]:
                raise ConstraintError(
                    "a part of a pattern with a limit has to begin with a word: {}",
                    Subject("phrase", self._constraints.index(pattern), str(list(tokens))),
                    sentence=self._sentence,
                )
        if length > _BITS_PER_ARRAY:
            raise ConstraintError(
                f"a pattern with parts of {max(map(len, forms))} tokens"
                + (f" within {limit} words" if limit is not None else "")
                + f" is too long to be kept track of (at most {_BITS_PER_ARRAY - 1} together)",
                sentence=self._sentence,
            )

    def _add_register(self, forms: tuple[Tokens, ...], length: int, limit: int | None) -> Register:
        register = Register(
            first=self._take_bits(length, in_one_array=True),
            length=length,
            stays=limit is None,
            by_words=limit is not None and self.words is not None,
            limit=limit or 0,
            forms=forms if limit is not None else (),
        )
        self.layout.registers.append(register)
        if sum(each.length for each in self.layout.registers) > _MOST_REGISTER_BITS:
            raise ConstraintError(
                "patterns of several parts, or wanted several times, that are too many or too far "
                f"apart to be kept track of: their distances and lengths, added up over all parts, "
                f"may be {_MOST_REGISTER_BITS} at most",
                sentence=self._sentence,
            )
        return register

    def _add_stage(
        self,
        pattern: Pattern,
        number: int,
        parts: Sequence[tuple[Form, ...]],
        register: Register | None,
        ends: Sequence[int],
    ) -> None:
        """Let the forms of a part set its own register, if the one before allows it."""
        part = parts[number]
        size = shortest(part)
        at_end = pattern.last and number + 1 == len(ends)
        sets = ends[number] & -ends[number]
        needs = [self._needs(form, register) for form in part]

        def add(bit: int) -> None:
            wanted = 1 << bit
            enabled = ends[number - 1] if number else 0
            stage = replace(
                find_what_is_lost(pattern, number, parts, ends),
                reached=sum(ends[number:]),
                enabled=enabled,
                wanted=wanted,
                in_time=register.in_time if register and register.forms else 0,
            )
            self.layout.stages.append(stage)
            if pattern.penalty is None:
                self.layout.hard_tokens.append((size, stage.reached))
                self.layout.hard_wanted |= wanted
            for form, on_the_way in zip(part, needs, strict=True):
                goal = Goal(
                    self._anchored(form),
                    sets=sets,
                    wanted=wanted,
                    size=size,
                    needs=on_the_way,
                    waits=at_end or self._waits(form.tokens),
                )
                self._add_goal(goal, form)

        self._stages_to_add.append(add)

    def _needs(self, form: Form, register: Register | None) -> tuple[int, ...]:
        """Return the bits of which one must be set when so many tokens of a form were taken.

        One set for each length, from nothing taken to the whole form, and on to the token that
        shows that its word goes on; an empty set asks nothing.
        """
        tokens, lengths = form.tokens, range(len(form.tokens) + late(form) + 1)
        if register is None:
            return (0,) * len(lengths)
        first, length = register.first, register.length
        if length == 1:
            # There is nothing to share, so that nothing can have begun too early.
            return tuple(register.bits if taken >= len(tokens) else 0 for taken in lengths)
        if not register.forms:
            youngest = [min(taken, length - 1) for taken in lengths]
            ages = [range(age, length) for age in youngest]
        else:
            youngest = [count_units(tokens[:taken], self.words) for taken in lengths]
            ages = [range(age, age + register.limit + 1) for age in youngest]
        return tuple(sum(1 << (first + age) for age in possible) for possible in ages)


def _is_soft(numbered: tuple[TokenConstraint, int]) -> bool:
    """Return whether a constraint may be given up; those have the highest bits."""
    return isinstance(numbered[0], Pattern) and numbered[0].penalty is not None
