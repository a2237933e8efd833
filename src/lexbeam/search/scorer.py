"""The protocol between search and model.

The search never sees the vocabulary. Each step it hands over the token that every live row has
just taken, and gets back only what it will look at: the best few tokens of each row, and the
scores of the tokens it asked for. A model that keeps to this protocol can be searched, whatever
it runs on; the state is the model's own business and is passed back untouched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any, NamedTuple, Protocol

import numpy as np

from lexbeam.errors import ScorerError, represented
from lexbeam.search import kernel
from lexbeam.search.arrays import IntArray, ScoreArray

IMPOSSIBLE = -1e9
"""What a demanded token, or the end, costs if the model rules it out: promises are kept."""


class Scores(NamedTuple):
    """What a model answers to one step, row by row."""

    top_scores: ScoreArray  # shape: (rows, top), log-probabilities, falling
    top_ids: IntArray  # shape: (rows, top)
    ask_scores: ScoreArray  # shape: (rows, asked)
    state: Any
    attention: ScoreArray | None = None  # shape: (rows, source tokens)
    """Where each row looks, if the search asked for it.

    A row sums to 1. It is as wide as the longest source of the batch, 0 beyond its own source.
    """


class WholeDraft(NamedTuple):
    """What a model answers to the steps of one row that always takes its best token."""

    top_scores: ScoreArray  # shape: (places, 1)
    top_ids: IntArray  # shape: (places, 1)
    ask_scores: ScoreArray  # shape: (places, 1 + asked), the end of sentence first
    attention: ScoreArray | None = None  # shape: (places, source tokens)


class Scorer(Protocol):
    """A model that generates token by token.

    Rows are numbered within one call. In the first step row i belongs to sentence i and its
    token is ``bos``; from then on ``parents[r]`` names the row of the step before that row r
    continues, and with it the sentence. Rows of one sentence stand next to each other, in the
    order of the sentences; rows that are not named as parents are gone for good.
    """

    @property
    def vocabulary_size(self) -> int:
        """Number of token ids; every id is in [0, vocabulary_size)."""
        ...

    @property
    def bos(self) -> int:
        """What the first step is given as the token before the output (any integer)."""
        ...

    @property
    def eos(self) -> int:
        """The token that ends the output."""
        ...

    def start(self, sources: Sequence[Any], wanted: Sequence[Sequence[int]]) -> Any:
        """Read the sources; return the state for the first step.

        ``wanted`` lists for each sentence the tokens that may be asked for later: a model that
        scores only part of its vocabulary must score these too.
        """
        ...

    def step(
        self,
        state: Any,
        tokens: IntArray,  # shape: (rows,)
        parents: IntArray,  # shape: (rows,)
        ask: IntArray,  # shape: (rows, asked)
        ban: IntArray,  # shape: (rows, banned)
        top: int,
    ) -> Scores:
        """Score the next token of every row.

        - ``top`` best tokens of each row and their log-probabilities, best first, the end of
          sentence and the row's banned tokens left out. Where a row has fewer tokens than
          ``top``, the rest has score minus infinity (and any ids of the vocabulary).
        - the log-probability of each asked token, the end of sentence among them when asked;
          minus infinity where ``ask`` is ``PAD``. The search never asks for a banned token.
        - banning hides tokens, it does not renormalise: all are log-probabilities of the
          model's full distribution.

        A scorer that has an attribute ``word_starts``, which marks the tokens that may not
        follow an unfinished word (# shape: (vocabulary,)), also takes a keyword ``hold``
        (# shape: (rows,)): the rows that may take none of these, because their word would
        then be an avoided one.

        A scorer that can say where it looks has an attribute ``attends``, which is true, and
        takes a keyword ``attention``: if that is true, it also gives the attention of each row
        to the tokens of its source, at the step that scores the next token. A model that can't
        is searched without.

        A scorer that leaves the states it is given as they are has an attribute ``restarts``,
        which is true: then the search may begin a second time from the first state. One that
        changes its state in place is searched without a draft (`search.draft`).

        Such a scorer may have a method ``draft(state, ask, longest, attention=False)``, which
        takes all steps of a draft at once: from the first state of a single sentence, the best
        token at every step, up to and with the step at which no token is better than the end
        of sentence, and at most ``longest`` + 1 steps. It returns a `WholeDraft`, which is what
        as many steps of one row with ``top`` 1 return, the end of sentence and ``ask``
        (# shape: (asked,)) asked for; None if it can't for this state.

        A scorer for which several tokens end the output lists them all, ``eos`` too, in an
        attribute ``ends``; the others are among the ``top`` tokens like any. One that has
        other reasons to stop has a method ``stops(state, parents, tokens)``, which returns a
        mask of what would end with these tokens after these rows of the step that returned the
        state. # shape of all but the state: (sentences, candidates)
        """
        ...


def can_hold(scorer: Scorer) -> bool:
    """Return whether the scorer can keep a word from ending.

    With one that can't, an avoided word is not even begun: longer words that begin with it
    are avoided too.
    """
    return getattr(scorer, "word_starts", None) is not None


def can_attend(scorer: Scorer) -> bool:
    """Return whether the scorer can say which source tokens each row looks at."""
    return bool(getattr(scorer, "attends", False))


def draft_at_once(
    scorer: Scorer, state: Any, ask: IntArray, longest: int, attention: bool = False
) -> WholeDraft | None:
    """Let the scorer write the draft of a single sentence in one call; None if it can't."""
    write = getattr(scorer, "draft", None)
    if write is None:
        return None
    draft: WholeDraft | None = write(state, ask, longest, attention=attention)
    return draft


def can_restart(scorer: Scorer) -> bool:
    """Return whether the search may begin several times from the scorer's first state."""
    return bool(getattr(scorer, "restarts", False))


PROTOCOL = "top_scores, top_ids, ask_scores, state and, if it was asked for, attention"
"""What an answer has, in this order."""

_SCORES = np.dtype(np.float32), np.dtype(np.float64)
_IDS = np.dtype(np.int64)


def read_ends(scorer: Any) -> set[int]:
    """Return the tokens that end an output.

    Raises:
        ScorerError: it lacks what every scorer has, or they are outside its vocabulary.
    """
    try:
        size, eos, _ = index(scorer.vocabulary_size), index(scorer.eos), index(scorer.bos)
        ends = [eos, *map(index, getattr(scorer, "ends", ()))]
        usable = callable(scorer.start) and callable(scorer.step)
    except (AttributeError, TypeError):
        usable = False
    if not usable:
        raise ScorerError(
            f"{type(scorer).__name__} is no scorer: one has the integers vocabulary_size, bos and "
            "eos, the methods start and step, and may have a list of integers, ends"
        )
    for end in ends:
        if not 0 <= end < size:
            raise ScorerError(f"the scorer's end {end} is outside its vocabulary of {size}")
    _refuse_wrong_extras(scorer)
    return set(ends)


def _refuse_wrong_extras(scorer: Any) -> None:
    """Raise if what a scorer may have, and need not, is of another kind."""
    for name in ("stops", "draft"):
        method = getattr(scorer, name, None)
        if method is not None and not callable(method):
            raise ScorerError(f"the scorer's {name} must be a method, not {represented(method)}")
    for name in ("attends", "restarts"):
        flag = getattr(scorer, name, False)
        try:
            bool(flag)
        except ValueError:  # an array
            raise ScorerError(
                f"the scorer's {name} must be true or false, not {represented(flag)}"
            ) from None


def read_scores(answer: Any) -> Scores:
    """Return a model's answer with scores and ids of the kinds that the search works with.

    Any sequence of the fields of `Scores` will do, with numbers of any precision.

    Raises:
        ScorerError: it has other fields, or they are no arrays of numbers.
    """
    try:
        scores = Scores(*answer)
    except TypeError:
        raise ScorerError(
            f"the scorer's answer must have {PROTOCOL}, not {represented(answer)}"
        ) from None
    top_scores, top_ids, ask_scores, _, attention = scores
    try:
        given = top_scores.dtype in _SCORES and ask_scores.dtype in _SCORES
        given = given and top_ids.dtype == _IDS
        given = given and {type(top_scores), type(top_ids), type(ask_scores)} == {np.ndarray}
        is_plain = type(attention) is np.ndarray and attention.dtype in _SCORES
        if given and (attention is None or is_plain):
            return scores
    except (TypeError, AttributeError):  # not all are arrays of NumPy
        pass
    return scores._replace(
        top_scores=_numbers("top_scores", top_scores, "fiu"),
        top_ids=_numbers("top_ids", top_ids, "iu"),
        ask_scores=_numbers("ask_scores", ask_scores, "fiu"),
        attention=None if attention is None else _numbers("attention", attention, "fiu"),
    )


def _numbers(name: str, array: Any, kinds: str) -> Any:
    """Return an array as one of float32, float64 or int64, or say that it is of another kind."""
    is_array = isinstance(array, np.ndarray | np.generic)
    if not is_array or array.dtype.kind not in kinds:
        given = f"of {array.dtype}" if is_array else type(array).__name__
        wanted = "integers" if kinds == "iu" else "floats"
        raise ScorerError(f"the scorer's {name} must be a NumPy array of {wanted}, not {given}")
    array = np.asarray(array)  # Subclasses, such as matrices, have rules of their own.
    if kinds == "iu":
        return array.astype(np.int64, copy=False)
    return array if array.dtype in _SCORES else array.astype(np.float64)


def readable(scores: Scores) -> Scores:
    """Return scores as arrays that the compiled kernel reads: each in one piece."""
    top_scores, top_ids, ask_scores, state, attention = scores
    return Scores(
        np.ascontiguousarray(top_scores),
        np.ascontiguousarray(top_ids),
        np.ascontiguousarray(ask_scores),
        state,
        attention,
    )


def refuse_wrong_shapes(scores: Scores, rows: int, top: int, asked: int) -> None:
    """Raise if the model's answer does not have the shape that was asked for."""
    top_scores, top_ids, ask_scores, _, attention = scores
    best, asked_for = (rows, top), (rows, asked)
    if not top_scores.shape == top_ids.shape == best or ask_scores.shape != asked_for:
        for name, array, shape in (
            ("top_scores", top_scores, best),
            ("top_ids", top_ids, best),
            ("ask_scores", ask_scores, asked_for),
        ):
            if array.shape != shape:
                raise ScorerError(f"the scorer's {name} has shape {array.shape}, asked was {shape}")
    if attention is not None:
        _check_attention(attention, rows)


ROUNDING = 0.05
"""How far above 0 a log-probability may be by rounding."""

_COMPARED = 4096
"""So many pairs of proposed and banned tokens are compared at most; a mistake is in all rows."""


def refuse_nonsense(scores: Scores, ban: IntArray, eos: int, vocabulary_size: int) -> None:
    """Raise if the model's answer is not what the protocol says.

    Everyone's first mistakes are probabilities in place of their logarithms, and to leave the
    end of sentence among the best tokens.
    """
    model = len(scores.top_ids), eos, vocabulary_size, ROUNDING
    if kernel.compiled is None or not kernel.call(kernel.compiled.is_sound, *scores[:3], *model):
        _find_nonsense(scores, eos, vocabulary_size)
    refuse_banned(scores, ban)


def refuse_banned(scores: Scores, ban: IntArray) -> None:
    """Raise if a banned token is among the best."""
    top_scores, top_ids = scores.top_scores, scores.top_ids
    if ban.size:
        rows = max(_COMPARED // (top_ids.shape[1] * ban.shape[1] or 1), 1)
        banned = top_ids[:rows, :, None] == ban[:rows, None, :]
        if banned.any() and (banned & (top_scores[:rows, :, None] > -math.inf)).any():
            raise ScorerError("the scorer's top_ids has a banned token among the best")


def _find_nonsense(scores: Scores, eos: int, vocabulary_size: int) -> None:
    """Raise with what is wrong, if anything is."""
    top_scores, top_ids = scores.top_scores, scores.top_ids
    for name, array in (("top_scores", top_scores), ("ask_scores", scores.ask_scores)):
        # The largest is NaN if any is, and NaN is not less than anything.
        largest = array.max() if array.size else -math.inf
        if not largest <= ROUNDING:
            if not largest < math.inf:
                raise ScorerError("the scorer's answer has NaN or plus infinity in it")
            raise ScorerError(
                f"the scorer's {name} has {largest:.4g} in it, but a log-probability is at most 0"
            )
    if not top_ids.size:
        return
    if top_ids.max() >= vocabulary_size or top_ids.min() < 0:
        raise ScorerError(
            f"the scorer's top_ids has a token outside its vocabulary of {vocabulary_size}"
        )
    proposed = top_scores > -math.inf
    if ((top_ids == eos) & proposed).any():
        raise ScorerError(f"the scorer's top_ids has the end of sentence ({eos}) among the best")
    if (top_scores[:, 1:] > top_scores[:, :-1]).any():
        raise ScorerError("the scorer's top_scores are not sorted, the best first")


def _check_attention(attention: ScoreArray, rows: int) -> None:
    if attention.ndim != 2 or len(attention) != rows:
        raise ScorerError(f"the scorer's attention has shape {attention.shape} for {rows} rows")
    if attention.size and not (attention.min() >= 0 and attention.max() < math.inf):
        raise ScorerError("the scorer's attention has NaN, infinity or a negative weight in it")
