from __future__ import annotations

import pickle

import pytest

from lexbeam.errors import ConstraintError, InputError, SettingError, Subject, represented

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


def test_any_value_can_be_shown() -> None:
    class Unprintable:
        def __repr__(self) -> str:
            raise RuntimeError

    assert represented([1, "a"]) == "[1, 'a']"
    assert represented(10**5000) == "a value of the type int"
    assert represented(Unprintable()) == "a value of the type Unprintable"
    assert represented("\ud800") == r"'\ud800'"
    assert len(represented("a" * 1000)) == 200
