from __future__ import annotations

import pickle

import pytest

from lexbeam.errors import ConstraintError, InputError, SettingError, Subject

PHRASE = Subject("phrase", 1, "[3, 4]")
AVOIDED = Subject("avoided", 0, "[4]")


def test_an_error_names_its_sentence_and_its_subjects() -> None:
    error = ConstraintError("{} contains {}", PHRASE, AVOIDED, sentence=2)
    assert str(error) == "sentence 2: [3, 4] contains [4]"
    assert str(error.in_sentence(None)) == "[3, 4] contains [4]"


def test_subjects_can_be_named_otherwise() -> None:
    error = ConstraintError("{} contains {}", PHRASE, AVOIDED, sentence=2)
    renamed = error.renamed(lambda subject: f"<{subject.role} {subject.index}>", 5)
    assert isinstance(renamed, ConstraintError)
    assert str(renamed) == "sentence 5: <phrase 1> contains <avoided 0>"


def test_a_reason_without_subjects_may_have_braces() -> None:
    assert str(InputError("what is {name}?", sentence=0)) == "sentence 0: what is {name}?"


@pytest.mark.parametrize("kind", [InputError, SettingError, ConstraintError])
def test_errors_survive_another_process(kind: type[InputError]) -> None:
    error = kind("{} is empty", PHRASE, sentence=3)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (str(again), again.sentence, again.subjects) == (str(error), 3, (PHRASE,))
