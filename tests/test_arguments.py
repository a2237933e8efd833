from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lexbeam
from lexbeam import Batches, Glossary
from lexbeam.arguments import count_sources, per_sentence, read_json_integer
from lexbeam.errors import InputError, LexbeamError
from lexbeam.search import Form, Pattern, decode
from lexbeam.testing import TableScorer
from lexbeam.translation.records import parse_record

TABLE = np.log(np.full((4, 4), 0.25))
PLAIN = TableScorer(TABLE, bos=0, eos=1)
ATTENDING = TableScorer(TABLE, bos=0, eos=1, alignment=np.ones((4, 1)))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"phrases": 5}, "phrases must be a list with one entry a sentence, not 5"),
        ({"phrases": {0: [[2]]}}, "phrases must be a list"),
        ({"phrases": "2"}, "phrases must be a list"),
        ({"phrases": [5]}, "phrases: expected a list of phrases, got 5"),
        ({"phrases": [{(2,): 3}]}, "phrases: expected a list of phrases"),
        ({"avoid": 1.5}, "avoid must be a list"),
        ({"avoid": [1.5]}, "avoid: expected a list of phrases, got 1.5"),
        ({"prefix": 3}, "prefix must be a list"),
        ({"prefix": [3]}, "prefix is not a list of token ids: 3"),
        ({"whole_prefix": True, "boundary": [1] * 4}, "whole_prefix must be a list"),
        ({"whole_prefix": [np.ones(2)], "boundary": [1] * 4}, "whole_prefix must be True or False"),
        ({"ties": True}, "ties must be a list"),
        ({"ties": {0: [0]}}, "ties must be a list"),
        ({"ties": [5]}, "ties must be a mapping from phrases to source tokens, not 5"),
        ({"ties": [{0: 2}]}, "ties has 0: 2, but"),
        ({"ties": [{None: [0]}]}, r"ties has None: \[0\], but"),
        ({"ties": [{0: [None]}]}, r"ties has 0: \[None\], but"),
        ({"ties": [{0: [0]}], "sources": [7]}, "ties need sources that are lists of tokens, not 7"),
        ({"sources": 5}, "sources must be a list with one entry a sentence, not 5"),
        ({"phrases": range(10**12)}, "phrases must be a list with one entry a sentence"),
        ({"sources": {"a": 7}}, "sources must be a list"),
        ({"settings": 5}, "settings must be of the class Settings, not 5"),
        ({"settings": ()}, "settings must be of the class Settings"),
        ({"observer": 5}, "observer must be a function, not 5"),
        ({"find_displaced": 5}, "find_displaced must be a function, not 5"),
    ],
)
def test_what_is_no_list_or_function_is_refused_by_name(given: dict[str, Any], says: str) -> None:
    request: dict[str, Any] = {"sources": [[7]], "phrases": [[[2]]], "max_length": 5, **given}
    with pytest.raises(InputError, match=says):
        decode(ATTENDING, **request)


@pytest.mark.parametrize("name", ["algorithm", "stop", "aside", "cut", "align", "thorough"])
@pytest.mark.parametrize("value", [np.ones(2), np.array("dba"), None, ["all"]])
def test_arrays_and_none_are_no_choices(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=name):
        decode(PLAIN, [[7]], [[[2]]], max_length=5, **{name: value})


def test_lists_of_all_kinds_are_read() -> None:
    plain = decode(PLAIN, [[7]], [[[2], [3]]], max_length=5)
    for phrases in ([[[2], [3]]], (((2,), (3,)),), np.array([[[2], [3]]]), iter([[[2], [3]]])):
        assert decode(PLAIN, [[7]], phrases, max_length=5) == plain  # type: ignore[arg-type]
    flags: Any = {"thorough": np.True_, "aside": np.False_, "cut": 0}
    assert decode(PLAIN, [[7]], [[[2], [3]]], max_length=5, **flags) == plain


def test_none_stands_for_a_list_of_none() -> None:
    assert per_sentence("phrases", None, 2) == [None, None]
    assert count_sources(range(3)) == count_sources(np.zeros(3)) == 3


class Raises:
    """A value whose every method raises an error of its own."""

    def _raise(self, *_: object) -> Any:
        raise RuntimeError("not mine")

    __len__ = __iter__ = __index__ = __float__ = __bool__ = __str__ = __repr__ = __eq__ = _raise
    __hash__ = None  # type: ignore[assignment]


class RaisingMapping(dict[str, Any]):
    """A mapping that can't be read."""

    def items(self) -> Any:
        raise RuntimeError("not mine")

    keys = __iter__ = items


HUGE = 10**5000
"""Python refuses to write so many digits."""


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"phrases": [[[HUGE]]]}, "phrase 0 .* has token one of 16610 bits, outside"),
        ({"phrases": [[[2, "a", HUGE]]]}, "phrase 0 is not a list of token ids: a value"),
        ({"phrases": [[Pattern(((Form((2,)),),) * 2, within=-HUGE)]]}, "within is one of 16610"),
        ({"phrases": [[Pattern(Raises())]]}, "phrase 0: a pattern has a tuple of parts"),  # type: ignore[arg-type]
        ({"phrases": [Raises()]}, "phrases: expected a list of phrases, got a value of the type"),
        ({"phrases": [[Raises()]]}, "phrase 0 is not a list of token ids: a value of the type"),
        ({"phrases": Raises()}, "phrases must be a list with one entry a sentence, not a value"),
        ({"sources": Raises()}, "sources must be a list with one entry a sentence, not a value"),
        ({"sources": np.array(3)}, "sources must be a list with one entry a sentence, not array"),
        ({"max_length": Raises()}, "max_length must be an integer, not a value of the type"),
        ({"beam_size": Raises()}, "beam_size must be an integer, not a value of the type Raises"),
        ({"prune": Raises()}, "prune must be a number, not a value of the type Raises"),
        ({"prune": HUGE}, "prune must be a number that a float can hold, not a value of the type"),
        ({"algorithm": [HUGE]}, "unknown algorithm a value of the type list; choose one of"),
        ({"aside": [HUGE]}, "aside must be True or False, not a value of the type list"),
        ({"boundary": [1, [1], 1, 1]}, "boundary must be a list of True or False for each token"),
        ({"boundary": [1, 0.5, 1, 1]}, "boundary must be a list of True or False for each token"),
        ({"boundary": [1, 0, Raises(), 1]}, "boundary must be a list of True or False"),
        ({"boundary": [1] * 4, "joining": [1, [1], 1, 1]}, "joining must have a number from 0 to"),
        ({"ties": [RaisingMapping()]}, "ties must be a mapping from phrases to source tokens"),
        ({"ties": [{HUGE: [0]}]}, "there is no phrase a value of the type int to tie"),
        ({"ties": [{0: [HUGE]}]}, "is tied to source token a value of the type int, but there are"),
        ({"ties": [{0: [0]}], "sources": [Raises()]}, "ties need sources that are lists of tokens"),
    ],
)
def test_what_can_not_even_be_read_is_one_error(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        decode(ATTENDING, **{"sources": [[0]], "phrases": [[[2]]], **given})


@pytest.mark.parametrize("source", [np.array(3), Raises()])
def test_a_source_need_not_have_a_length(source: Any) -> None:
    assert decode(PLAIN, [source], [[[2]]])[0][0].met == [True]


@pytest.mark.parametrize("kind", ["huge", "raises", "mapping", "list", "surrogate", "array"])
def test_texts_and_glossaries_say_what_is_wrong_with_any_value(kind: str) -> None:
    value: Any = {
        "huge": HUGE,
        "raises": Raises(),
        "mapping": RaisingMapping(),
        "list": [HUGE],
        "surrogate": "\ud800",
        "array": np.array(3),
    }[kind]
    translator = lexbeam.load()
    calls: list[Callable[[], object]] = [
        lambda: lexbeam.load(value),
        lambda: lexbeam.load(threads=value),
        lambda: translator.translate(value),
        lambda: translator.translate("A tree.", value),
        lambda: translator.translate("A tree.", [value]),
        lambda: translator.translate("A tree.", [{"text": "Baum", "source": [value, 3]}]),
        lambda: translator.translate("A tree.", avoid=value),
        lambda: translator.translate("A tree.", prefix=[value]),  # type: ignore[call-overload]
        lambda: translator.translate("A tree.", glossary=value),
        lambda: translator.translate("A tree.", keep=value),
        lambda: translator.translate("A tree.", settings=value, beam_size=1),
        lambda: translator.translate_each(value),
        lambda: translator.pieces(value),
        lambda: Glossary.load(value),
        lambda: Glossary.from_terms(value),
        lambda: Glossary.from_terms({"a": value}),
        lambda: Glossary.from_terms({"a": "b"}, forbidden=value),
        lambda: Glossary.from_terms({"a": "b"}, case=value),
        lambda: Glossary.from_terms({"a": "b"}, lemmas=value),
        lambda: Batches(text=value),
        lambda: Batches(threads=value),
        lambda: Batches(constraints=[value])({"text": ["A."]}),
        lambda: Batches()({"text": value}),
        lambda: Batches(constraints="c")({"text": ["A.", "B."], "c": ["C"]}),
    ]
    said = []
    for call in calls:
        try:
            call()
        except LexbeamError as error:
            said.append(f"{error}")
    assert "".join(said).encode()


def test_a_number_of_too_many_digits_is_infinite_in_json() -> None:
    assert read_json_integer("-12") == -12
    assert read_json_integer("1" * 5000) == float("inf")
    with pytest.raises(InputError, match='"beam_size" has the value inf'):
        parse_record('{"text": "a", "beam_size": ' + "1" * 5000 + "}")


def test_a_list_that_claims_to_be_longer_than_fits_into_memory_is_refused() -> None:
    class Claims(list[str]):
        def __len__(self) -> int:
            return 10**12

    with pytest.raises(InputError, match="1,000,000,000,000 entries, more than 10,000,000"):
        decode(PLAIN, Claims())
