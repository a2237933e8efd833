from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lexbeam.translation.results import Alternative, ConstraintReport, Link
from lexbeam.translation.text_edits import Edit, Edits, edited


def test_what_is_inserted_beside_a_stretch_stays_outside() -> None:
    edits = Edits([Edit(4, 0, "<b>"), Edit(7, 0, "</b>")])
    assert edits.apply("the cat sat") == "the <b>cat</b> sat"
    start, end = edits.moved((4, 7))
    assert "the <b>cat</b> sat"[start:end] == "cat"


def test_what_is_replaced_is_found_where_it_was() -> None:
    edits = Edits([Edit(4, 3, "{name}")])
    start, end = edits.moved((4, 7))
    assert edits.apply("see ID1 now")[start:end] == "{name}"
    assert edits.moved((8, 11)) == (11, 14)
    assert edits.moved((5, 6)) == (4, 10)  # a part of it is all of it


@st.composite
def texts_with_edits(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    text = draw(st.text("abc ", max_size=12))
    edits, at = [], 0
    while at <= len(text) and draw(st.booleans()):
        at = draw(st.integers(at, len(text)))
        removed = draw(st.integers(0, min(2, len(text) - at)))
        edits.append(Edit(at, removed, draw(st.text("XY", max_size=2))))
        at += removed + 1
    return text, edits


@given(texts_with_edits())
def test_the_inverse_of_changes_undoes_them(drawn: tuple[str, list[Edit]]) -> None:
    text, edits = drawn
    there = Edits(edits)
    assert there.inverse(text).apply(there.apply(text)) == text


@given(texts_with_edits(), st.data())
def test_what_no_change_touches_is_the_same_in_the_new_text(
    drawn: tuple[str, list[Edit]], data: st.DataObject
) -> None:
    text, edits = drawn
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    if start == end or any(e.at < end and e.at + e.removed > start for e in edits):
        return
    made = Edits(edits)
    new_start, new_end = made.moved((start, end))
    assert made.apply(text)[new_start:new_end] == text[start:end]


def test_report_and_alignment_move_along() -> None:
    report = ConstraintReport("gato", (2, 6), ((2, 6),))
    found = Alternative("o gato", 0.0, [report], alignment=[Link((4, 7), (2, 6))])
    moved = edited(found, Edits([Edit(2, 0, "<b>"), Edit(6, 0, "</b>")]))
    assert moved.text == "o <b>gato</b>"
    assert moved.constraints[0].span == (5, 9) == moved.constraints[0].spans[0]
    assert moved.alignment == [Link((4, 7), (5, 9))]
