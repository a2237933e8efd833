"""The beginning of a translation, as tokens."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.text.phrases import Spelling
from lexbeam.text.spelling import TargetText


@dataclass(frozen=True)
class SpelledPrefix:
    """What an output begins with, as tokens; nothing by default."""

    spellings: tuple[Spelling, ...] = ()
    """The ways to write it: several if its last word may go on in several."""
    whole: bool = False
    """Whether its last word is whole and must not go on."""

    @classmethod
    def spell(cls, prefix: str, target: TargetText) -> SpelledPrefix:
        """Return the tokens of a prefix; its last word may go on unless a space follows it."""
        if not prefix:
            return cls()
        if prefix.endswith(" "):
            return cls((target.spell_prefix(prefix.rstrip()),), whole=True)
        return cls(tuple(target.spell_beginnings(prefix)))

    @property
    def forced(self) -> Tokens:
        """The tokens, if there is only one way to write it."""
        return self.spellings[0].ids if len(self.spellings) == 1 else ()

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """A pattern of all ways to write it, if there are several."""
        if len(self.spellings) < 2:
            return ()
        return (Pattern((tuple(Form(way.ids, first=True) for way in self.spellings),)),)

    @cached_property
    def tokens(self) -> frozenset[int]:
        """All tokens that it may be written with."""
        return frozenset(token for way in self.spellings for token in way.ids)

    def begins(self, tokens: Sequence[int]) -> bool:
        """Return whether an output begins with it; any does if there is none."""
        ways = [way.ids for way in self.spellings]
        return not ways or any(tuple(tokens[: len(ids)]) == ids for ids in ways)

    def as_begun(self, tokens: Sequence[int], wanted: Container[int]) -> SpelledPrefix:
        """Return the prefix as an output writes it, and in ways that end with a wanted token.

        Where it only has to be known what else could be said, hundreds of other ways matter little.
        """
        ways = tuple(
            way
            for way in self.spellings
            if way.ids[-1] in wanted or tuple(tokens[: len(way.ids)]) == way.ids
        )
        return replace(self, spellings=ways or self.spellings)

    @property
    def longest(self) -> int:
        """The most tokens that it may take."""
        return max((len(way.ids) for way in self.spellings), default=0)

    @property
    def shown(self) -> list[Spelling]:
        """What the output has to show for it: nothing if its tokens write it as it is."""
        return [way for way in self.spellings[:1] if way.is_rewritten]
