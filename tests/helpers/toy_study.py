"""A study so small that it takes a moment: a model that repeats its source, a few sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lexbeam.models.model import Model
from lexbeam.study.experiment import Experiment
from lexbeam.study.plan import Plan
from lexbeam.study.store import Store
from lexbeam.study.test_set import TestSet

SOURCES = [
    "The cat sat on the mat.",
    "Das Haus hat eine Tür.",
    "O gato preto sentou no tapete.",
    "New York City is a city.",
]
REFERENCES = [
    "The black cat sat near the mat.",
    "Das alte Haus hat eine alte Tür.",
    "O gato sentou perto da casa.",
    "A city is New York City.",
]


def make_experiment(model: Model, folder: Path, **basis: Any) -> Experiment:
    """Return a experiment whose cells are in a folder."""
    text = TestSet(list(SOURCES), list(REFERENCES))
    return Experiment(model, text, Store(folder / "cells", basis), identity="toy")


def make_plan(**changes: Any) -> Plan:
    """Return a plan that looks at little."""
    small = {
        "algorithms": ("dba",),
        "beams": (2, 3),
        "usual_beam": 3,
        "wide_beam": 6,
        "oracle_sentences": 3,
        "sets": ("none", "rand1", "rand2", "phr3"),
        "speed_sentences": 2,
        "speed_words": (0, 1, 2),
        "speed_beams": (2,),
        "gbs_bases": (1,),
    }
    return Plan(**{**small, **changes})
