from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lexbeam.errors import InputError, LexbeamError
from lexbeam.translation.marked_text import Code, MarkedText, balanced, fill_in, plain
from lexbeam.translation.markup import Answer, Request, translate_marked

BOLD = Code("<b>", "open", 1), Code("</b>", "close", 1)
ITALIC = Code("<i>", "open", 2), Code("</i>", "close", 2)
NAME, NUMBER, BREAK = Code("{name}"), Code("%d", number=True), Code("<br>", "break")


class Dictionary:
    """An engine that looks texts up; ``asked`` lists what it was asked."""

    def __init__(self, change: Callable[[str], str] | dict[str, str]) -> None:
        self._change = change
        self.asked: list[Request] = []

    def __call__(self, requests: Sequence[Request]) -> list[Answer | LexbeamError]:
        self.asked += requests
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> Answer | LexbeamError:
        if callable(self._change):
            return Answer(self._change(request.text))
        key = request.text + (" !" if request.constraints else "")
        if key not in self._change:
            return InputError(f"no {key}")
        return Answer(self._change[key])


def translated(source: MarkedText, change: Callable[[str], str] | dict[str, str]) -> str:
    (target,) = translate_marked([source], Dictionary(change))
    assert isinstance(target, list), target
    return plain(fill_in(target, source))


def test_codes_that_stand_for_words_are_masked() -> None:
    source = ("Hello ", NAME, ", you have ", NUMBER, " mails")
    change = {"Hello ID1, you have 63 mails": "Du hast 63 Mails, ID1"}
    assert translated(source, change) == "Du hast %d Mails, {name}"


def test_a_lost_mask_is_demanded_and_then_masked_otherwise() -> None:
    source = ("Hello ", NAME)
    change = {"Hello ID1": "Hallo", "Hello ID1 !": "Hallo ID1"}
    assert translated(source, change) == "Hallo {name}"
    change = {"Hello ID1": "Hallo", "Hello ID1 !": "ID1 ID1", "Hello [1]": "Hallo [1]"}
    assert translated(source, change) == "Hallo {name}"


def test_if_nothing_helps_the_pieces_are_translated() -> None:
    source = ("Hello ", NAME, " there")
    assert translated(source, lambda text: "x" if " " in text else "y") == "y {name} y"


def test_masks_differ_from_what_is_in_the_text() -> None:
    assert translated(("ID1 is ", NAME), str) == "ID1 is {name}"
    assert translated(("47 of ", NUMBER), str) == "47 of %d"


def test_ordered_codes_keep_their_order() -> None:
    first, second = Code("%s", ordered=True), Code("%d", ordered=True)
    change = {"A ID1 b ID2": "ID2 b ID1", "A ID1 b ID2 !": "ID1 b ID2 a"}
    assert translated(("A ", first, " b ", second), change) == "%s b %d a"


def test_a_pair_around_everything_stays_around_everything() -> None:
    source = (BOLD[0], ITALIC[0], "Hello", ITALIC[1], BOLD[1])
    assert translated(source, {"Hello": "Hallo"}) == "<b><i>Hallo</i></b>"
    ended = (BOLD[0], "Hello you", BOLD[1], "!")
    assert translated(ended, {"Hello you!": "Hallo du!"}) == "<b>Hallo du</b>!"


def test_a_pair_goes_around_the_translation_of_its_words() -> None:
    source = ("Click ", BOLD[0], "the button", BOLD[1], " now")
    change = {"Click the button now": "Jetzt den Knopf drücken", "the button": "den Knopf"}
    assert translated(source, change) == "Jetzt <b>den Knopf</b> drücken"


def test_a_torn_pair_is_searched_again_with_its_words_demanded() -> None:
    source = ("Click ", BOLD[0], "the button", BOLD[1], " now")
    change = {
        "Click the button now": "Jetzt drücken",
        "the button": "den Knopf",
        "Click the button now !": "Jetzt den Knopf drücken",
    }
    assert translated(source, change) == "Jetzt <b>den Knopf</b> drücken"


def test_alignment_places_pairs_without_another_search() -> None:
    source = ("Click ", BOLD[0], "the button", BOLD[1], " now")

    def engine(requests: Sequence[Request]) -> list[Answer | LexbeamError]:
        assert [request.text for request in requests] == ["Click the button now"]
        alignment = [((17, 20), (0, 5)), ((6, 9), (6, 9)), ((10, 16), (10, 15)), ((0, 5), (16, 23))]
        return [Answer("Jetzt den Knopf drücken", alignment=alignment)]

    (target,) = translate_marked([source], engine)
    assert isinstance(target, list)
    assert plain(fill_in(target, source)) == "Jetzt <b>den Knopf</b> drücken"


def test_breaks_cut_the_text() -> None:
    source = ("One", BREAK, BOLD[0], "Two", BREAK, BOLD[1], "Three")
    change = {"One": "Eins", "Two": "Zwei", "Three": "Drei"}
    assert translated(source, change) == "Eins<br><b>Zwei<br></b>Drei"


def test_sentences_keep_their_codes() -> None:
    source = ("See ", BOLD[0], "this", BOLD[1], ". And see this. Or not this.")
    change = {"See this.": "Sieh dies.", "And see this.": "Und dies.", "Or not this.": "Oder."}
    change |= {"this": "dies"}
    assert translated(source, change) == "Sieh <b>dies</b>. Und dies. Oder."


def test_white_space_around_words_stays() -> None:
    assert translated(
        ("  Hello ", BOLD[0], " you \n", BOLD[1]), {"Hello you": "Hallo du", "you": "du"}
    ) == ("  Hallo <b>du</b> \n")


def test_what_has_no_words_is_copied() -> None:
    engine = Dictionary({})
    source = (" 12 ", NAME, BOLD[0], "!", BOLD[1])
    (target,) = translate_marked([source], engine)
    assert isinstance(target, list)
    assert fill_in(target, source) == source
    assert not engine.asked


def test_a_text_that_fails_does_not_spoil_the_others() -> None:
    found = translate_marked([("Good",), ("Bad",)], Dictionary({"Good": "Gut"}))
    assert found[0] == ["Gut"]
    assert isinstance(found[1], InputError)


def test_crossing_pairs_become_points() -> None:
    found = balanced(["a", BOLD[0], "b", ITALIC[0], "c", BOLD[1], "d", ITALIC[1]])
    assert [part.kind for part in found if isinstance(part, Code)] == [
        "open", "point", "close", "point",
    ]  # fmt: skip


WORDS = st.text("ab .,%1", max_size=6)
CODES = st.sampled_from(
    [NAME, NUMBER, BREAK, *BOLD, *ITALIC, Code("<x/>", "point"), Code("&", mask="&")]
)
MARKED = st.lists(st.one_of(WORDS, CODES), max_size=9).map(
    lambda parts: balanced([part for part in parts if part])
)


@settings(max_examples=300, deadline=None)
@example(source=(BOLD[0], "a", BOLD[1], "."), answers=[""])
@example(source=(BOLD[0], ITALIC[0], "a", ITALIC[1], BOLD[1], "."), answers=[""])
@given(MARKED, st.lists(st.text("ab ID123[]%&47.", max_size=20), min_size=1, max_size=5))
def test_whatever_is_answered_codes_are_there_once_and_balanced(
    source: MarkedText, answers: list[str]
) -> None:
    texts = iter(answers * 100)
    (target,) = translate_marked([source], Dictionary(lambda _: next(texts)))
    assert isinstance(target, list)
    filled = fill_in(target, source)
    codes = sorted(part for part in target if isinstance(part, int))
    assert codes == [i for i, part in enumerate(source) if isinstance(part, Code)]
    opened: list[int] = []
    for part in filled:
        if isinstance(part, Code) and part.kind == "open":
            opened.append(part.pair)
        elif isinstance(part, Code) and part.kind == "close":
            assert opened.pop() == part.pair
    assert not opened


@pytest.mark.parametrize("text", ["Hello", " Hello  you ", "a\nb"])
def test_the_same_text_comes_back_from_an_engine_that_changes_nothing(text: str) -> None:
    assert translated((text,), str) == text


def test_a_mask_is_no_part_of_a_word() -> None:
    source = ("Open the file ", NAME, " now")
    change = {"Open the file ID1 now": "Datei-ID1 öffnen", "Open the file [1] now": "Datei [1] auf"}
    assert translated(source, change) == "Datei {name} auf"
    del change["Open the file [1] now"]
    assert translated(source, change) == "Datei {name} öffnen"
    glued = {"Open the file ID1 now": "DateiID1 öffnen", "Open the file ID1 now !": "ID1 öffnen"}
    assert translated(source, glued) == "{name} öffnen"


def test_masks_are_demanded_exactly_once() -> None:
    engine = Dictionary({"Hello ID1": "Hallo", "Hello ID1 !": "Hallo ID1"})
    translate_marked([("Hello ", NAME)], engine)
    assert engine.asked[-1].constraints == ({"text": "ID1", "case": "exact", "exactly": 1},)


def test_lines_of_a_text_are_asked_for_together() -> None:
    engine = Dictionary(str.upper)
    waves: list[int] = []

    def counted(requests: Sequence[Request]) -> list[Answer | LexbeamError]:
        waves.append(len(requests))
        return engine(requests)

    translate_marked([("One ", NAME, BREAK, "two ", NAME, BREAK, "three")], counted)
    assert waves == [3]


class Always:
    """An engine that has one answer."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def __call__(self, requests: Sequence[Request]) -> list[Answer | LexbeamError]:
        return [self._answer for _ in requests]


def test_punctuation_stays_outside_of_a_pair_as_in_the_source() -> None:
    source = ("See ", BOLD[0], "the docs (new)", BOLD[1], ".")
    links = [((0, 3), (0, 4)), ((4, 7), (5, 8)), ((8, 12), (9, 13)), ((13, 18), (14, 20))]
    answer = Answer("Lies die Doku (neu).", alignment=links)
    (target,) = translate_marked([source], Always(answer))
    assert isinstance(target, list)
    assert plain(fill_in(target, source)) == "Lies <b>die Doku (neu)</b>."


def test_a_pair_around_a_mask_is_around_it_again() -> None:
    source = ("There is ", BOLD[0], NUMBER, BOLD[1], " item")
    answer = Answer("Es gibt ein 47-Element", alignment=[((9, 11), (8, 14))])
    (target,) = translate_marked([source], Always(answer))
    assert isinstance(target, list)
    assert plain(fill_in(target, source)) == "Es gibt ein <b>%d</b> Element"


def test_a_comma_before_the_words_of_a_pair_stays_outside() -> None:
    source = ("Try ", BOLD[0], "clearing it", BOLD[1], ".")
    answer = Answer("Versuche, es zu leeren.", alignment=[((4, 12), (8, 22)), ((13, 15), (10, 12))])
    (target,) = translate_marked([source], Always(answer))
    assert isinstance(target, list)
    assert plain(fill_in(target, source)) == "Versuche, <b>es zu leeren</b>."
