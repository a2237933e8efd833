"""What a user asks for, as text: what must appear, must not, or begins the output.

Nothing here knows tokens or models. Whatever comes in, from Python, from JSON or from the
command line, has the same shapes (``docs/constraints.md``) and leaves as `Constraints`: clean
phrases that don't contradict each other, or as one `ConstraintError`.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexbeam.constraints.constraint import Constraint, usable_forms
from lexbeam.constraints.kinds import Phrase
from lexbeam.constraints.parsing import Reader
from lexbeam.constraints.phrases import clean_prefix
from lexbeam.errors import ConstraintError, quoted
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
        for chain in self.demanded:
            if len(chain.parts) > 1 and chain.soft is None:
                self._refuse_too_many(chain)

    def _refuse_too_many(self, chain: Constraint) -> None:
        """Refuse an order or a gap that has a phrase more often than the phrase may occur."""
        allowed: dict[Constraint, list[int | None]] = {}
        for each in self.demanded:
            if len(each.parts) == 1 and not each.is_from_source:
                allowed.setdefault(each.once, []).append(each.at_most)
        for phrase, limits in allowed.items():
            most = [limit for limit in limits if limit is not None]
            if len(most) < len(limits):
                continue  # one of several equal ones may occur as often as it likes
            needed = _least_inside(phrase, chain)
            if needed > sum(most):
                raise ConstraintError(
                    f"{quoted(phrase.text)} may occur {_times(sum(most))}, but "
                    f"{quoted(chain.text)} needs it {_times(needed)}: drop one of them"
                )

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


def _least_inside(phrase: Constraint, chain: Constraint) -> int:
    """Return how often a phrase occurs at least where an order or a gap is met.

    Its parts share no words, and its occurrences follow one another. What may be written in
    another case than the phrase need not be one.
    """
    if phrase.case != "any" and chain.case not in ("exact", phrase.case):
        return 0
    inside = (
        min(len(phrase.find(form, len(form), starts=())) for form in part) for part in chain.parts
    )
    return chain.count * sum(inside)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _refuse_contradiction(demanded: Constraint, avoided: Constraint) -> None:
    if demanded.at_start:
        return  # its last word may go on: only its whole words are compared
    for part in demanded.parts:
        if not usable_forms(part, [avoided]):
            raise ConstraintError(
                f"{quoted(avoided.text)} is avoided, but {quoted(' | '.join(part))} is demanded: "
                "drop one of them"
            )
