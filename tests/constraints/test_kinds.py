from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.kinds import KINDS, AnyOf, Phrase
from lexbeam.constraints.options import OPTIONS


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_says_all_about_itself(kind: type[Constraint]) -> None:
    assert kind.key
    assert kind.description
    assert set(kind.options) <= OPTIONS.keys()
    for schema in kind.schemas():
        assert schema["required"] == [kind.key]
        assert schema["properties"].keys() - {kind.key} <= set(kind.options)


def test_keys_differ() -> None:
    keys = [kind.key for kind in KINDS]
    assert len(set(keys)) == len(keys)
    assert not set(keys) & OPTIONS.keys()


def test_constraints_of_different_kinds_are_different() -> None:
    alike: list[Constraint] = [Phrase((("a",),)), AnyOf((("a",),)), Phrase((("a",),), given="a")]
    assert alike[0] != alike[1]
    assert len(set(alike)) == 2


def test_a_constraint_keeps_its_kind() -> None:
    constraint = AnyOf((("a", "b"),), count=2)
    for other in (constraint.once, replace(constraint, count=1), constraint.cut(0, 1)):
        assert other == AnyOf((("a", "b"),))
    assert pickle.loads(pickle.dumps(constraint)) == constraint
