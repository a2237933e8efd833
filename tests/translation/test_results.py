from __future__ import annotations

from lexbeam.translation.results import Alternative, ConstraintReport, Translation, marked


def test_met_is_what_has_a_place() -> None:
    assert ConstraintReport("gato", (2, 6)).met
    assert not ConstraintReport("gato", None).met
    assert ConstraintReport("gato", None).to_dict() == {
        "text": "gato",
        "met": False,
        "start": None,
        "end": None,
    }


def test_json_says_more_only_when_there_is_more() -> None:
    plain = Translation("O gato", -0.5, [ConstraintReport("gato", (2, 6))], nbest=[])
    assert plain.to_dict() == {
        "translation": "O gato",
        "score": -0.5,
        "constraints": [{"text": "gato", "met": True, "start": 2, "end": 6}],
    }
    other = Alternative("A gata", -0.7, unavoided=["gata"])
    rich = Translation("O gato", -0.5, nbest=[Alternative("O gato", -0.5), other])
    assert rich.to_dict()["nbest"][1] == {
        "translation": "A gata",
        "score": -0.7,
        "constraints": [],
        "unavoided": ["gata"],
    }


def test_a_translation_shows_itself() -> None:
    reports = [ConstraintReport("gato", (2, 6), sources=((4, 7),)), ConstraintReport("x", None)]
    shown = Translation("O gato", -0.5, reports, source="The cat <b>")
    assert repr(shown) == "<Translation 'O gato', score -0.500, 'gato' at 2:6, 'x' not met>"
    assert shown._repr_html_() == (
        "<small>The <mark>cat</mark> &lt;b&gt;</small><br>O <mark>gato</mark>"
        "<br><small>not met: x</small>"
    )


def test_marks_do_not_overlap() -> None:
    assert marked("abcdef", [(3, 5), (0, 2), (1, 4)]) == "<mark>ab</mark>c<mark>de</mark>f"
