"""What a user asks for, as text: what must appear, must not, or begins the output.

Nothing here knows tokens or models. Whatever comes in, from Python, from JSON or from the
command line, has the same shapes (``docs/constraints.md``) and leaves as `Constraints`: clean
phrases that don't contradict each other, or as one `ConstraintError`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property

from lexbeam.constraints.constraint import Constraint, usable_forms
from lexbeam.constraints.counting import least_inside, share_limits
from lexbeam.constraints.kinds import Phrase
from lexbeam.constraints.overlaps import refuse_overlaps
from lexbeam.constraints.parsing import Reader
from lexbeam.constraints.phrases import clean_prefix
from lexbeam.errors import ConstraintError, quoted, times
from lexbeam.text.word_boundaries import is_word_character


@dataclass(frozen=True)
class Constraints:
    """What the translation of one text has to keep to.

    Whatever is demanded must appear as whole words (a phrase given twice, twice); what is
    avoided must not. The prefix is what the translation begins with; it may end in the middle
    of a word unless it ends with a space.
    """

    demanded: tuple[Constraint, ...] = ()
    avoid: tuple[Constraint, ...] = ()
    prefix: str = ""

    def __post_init__(self) -> None:
        prefixes = {c.parts[0][0] for c in self.demanded if c.at_start}
        prefixes |= {self.prefix} if self.prefix else set()
        if len(prefixes) > 1:
            both = " and ".join(quoted(prefix) for prefix in sorted(prefixes))
            raise ConstraintError(f"the translation can't begin with {both}: drop one of them")
        object.__setattr__(self, "prefix", next(iter(prefixes), ""))
        for avoided in self.avoid:
            for demanded in (*self.demanded, _whole_words(self.prefix)):
                _refuse_contradiction(demanded, avoided)
        self._refuse_too_many()

    @cached_property
    def counted(self) -> list[Constraint]:
        """What is demanded, equal ones with shares of a caller's limit (`share_limits`)."""
        return share_limits(self.demanded)

    def _refuse_too_many(self) -> None:
        """Refuse what needs a phrase more often than the phrase may occur."""
        allowed = self._limits()
        if not allowed:
            return
        begun = [_whole_words(self.prefix)] if _whole_words(self.prefix).parts else []
        wanted: Counter[Constraint] = Counter()
        for each in (*self.counted, *begun):
            if each.soft is None and not each.at_start:
                wanted[each.once] += each.count
        others = [(other, replace(other, count=count)) for other, count in wanted.items()]
        for phrase, most in allowed.items():
            refuse_overlaps(phrase, most, self.demanded, self.avoid)
            for other, as_often in others:
                needed = least_inside(phrase, as_often)
                if needed > most and other != phrase:
                    raise ConstraintError(
                        f"{quoted(phrase.text)} may occur {times(most)}, but "
                        f"{quoted(other.text)} needs it {times(needed)}: drop one of them"
                    )

    def _limits(self) -> dict[Constraint, int]:
        """Return how often callers let phrases occur in the whole text."""
        limits: dict[Constraint, int] = {}
        for each in self.demanded:
            if each.is_limited_by_caller:
                most = each.at_most or 0
                limits[each.once] = min(most, limits.get(each.once, most))
        return limits

    @classmethod
    def build(
        cls,
        demanded: object = None,
        avoid: object = None,
        prefix: object = None,
        language: str | None = None,
    ) -> Constraints:
        """Clean and check what a caller passed; None stands for nothing.

        ``language`` is that of the output: lemmas need it.
        """
        read = Reader(language)
        return cls(
            demanded=tuple(read.demands(demanded, "constraints")),
            avoid=tuple(dict.fromkeys(read.avoided(avoid, "avoid"))),
            prefix="" if prefix is None or prefix == "" else clean_prefix(prefix, "prefix"),
        )


def _whole_words(prefix: str) -> Constraint:
    """Return the words of a prefix, the last one left out if it may go on."""
    whole = prefix
    while whole and is_word_character(whole[-1]):
        whole = whole[:-1]
    return Phrase(((whole.strip(),),) if whole.strip() else ())


def _refuse_contradiction(demanded: Constraint, avoided: Constraint) -> None:
    if demanded.at_start:
        return  # its last word may go on: only its whole words are compared
    for part in demanded.parts:
        if not usable_forms(part, [avoided]):
            raise ConstraintError(
                f"{quoted(avoided.text)} is avoided, but {quoted(' | '.join(part))} is demanded: "
                "drop one of them"
            )
