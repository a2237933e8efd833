"""Terms that are read in the source, on the bundled model, which was trained to read them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from lexbeam.constraints.kinds.phrase import Phrase
from lexbeam.models.formats import load_path
from lexbeam.models.loading import EMBEDDED
from lexbeam.models.model import Model
from lexbeam.search.arrays import Tokens
from lexbeam.translation import terms_in_source
from lexbeam.translation.effort import Effort
from lexbeam.translation.jobs import BatchDecoder, Found, Job
from lexbeam.translation.output_choice import Output
from lexbeam.translation.tracing import Recorder
from lexbeam.translation.translator import Translator

TEXT = "The company wants to build a new factory in Berlin."
WERK = {"text": "Werk", "source": "factory"}


@pytest.fixture(scope="module")
def model() -> Model:
    return replace(load_path(EMBEDDED, 1), reads_terms=True)


@pytest.fixture
def read(model: Model, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the sources that were read in searches with constraints, as text."""
    sources: set[str] = set()
    run = BatchDecoder.run

    def watched(self: BatchDecoder, jobs: list[Job], batch_size: int) -> Found:
        sources.update(_text(model, job.source) for job in jobs if job.phrases)
        return run(self, jobs, batch_size)

    monkeypatch.setattr(BatchDecoder, "run", watched)
    return sources


@pytest.fixture
def always_better(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what was found with terms in the source be taken, whatever its score."""
    monkeypatch.setattr(terms_in_source, "choose", lambda _, found, *__: found[0])


def _text(model: Model, tokens: Tokens) -> str:
    return str(model.source.decode(list(tokens[:-1])))


def test_a_term_that_the_draft_lacks_is_read(model: Model, read: set[str]) -> None:
    result = Translator(model).translate(TEXT, [WERK])
    assert result.constraints[0].met
    assert "The company wants to build a new Werk in Berlin." in read


def test_without_a_better_score_the_output_of_the_given_source_stays(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terms_in_source, "choose", lambda old, *_: old)
    as_given = Translator(replace(model, reads_terms=False)).translate(TEXT, [WERK])
    assert Translator(model).translate(TEXT, [WERK]).text == as_given.text


def test_only_what_the_source_with_terms_finds_as_good_is_compared(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []

    def count(old: Output, found: list[Output], _: object) -> Output:
        compared.append(len(found))
        assert all(each.as_read >= old.as_read - terms_in_source.AS_GOOD for each in found)
        return old

    monkeypatch.setattr(terms_in_source, "choose", count)
    Translator(model).translate(TEXT, [WERK])
    assert compared
    monkeypatch.setattr(terms_in_source, "AS_GOOD", -99.0)
    Translator(model).translate(TEXT, [WERK])
    assert compared[1:] == [0]
    monkeypatch.setattr(terms_in_source, "choose", lambda old, *_: old)
    assert len(Translator(model).translate(TEXT, [WERK], nbest=3).nbest) == 3


def test_what_the_draft_says_is_not_read(model: Model, read: set[str]) -> None:
    text = "The file could not be opened."
    free = Translator(model).translate(text)
    found = Translator(model).translate(text, [{"text": "Datei", "source": "file"}])
    assert "Datei" in free.text
    assert found.text == free.text
    assert not any("Datei" in each for each in read)


@pytest.mark.parametrize(
    ("constraint", "settings"),
    [
        ({"text": "Werk"}, {}),  # it is not tied
        (WERK, {"ties": "off"}),
        ({**WERK, "soft": 5.0}, {}),
        ({"gap": ["neues", "Werk"], "source": "factory"}, {}),
        ({"text": "factory", "source": "factory"}, {}),  # it is kept
    ],
)
def test_nothing_else_is_read(
    model: Model, read: set[str], constraint: dict[str, Any], settings: dict[str, str]
) -> None:
    Translator(model).translate(TEXT, [constraint], settings=settings)
    assert read <= {TEXT}


def test_a_model_that_was_not_trained_so_reads_the_source(model: Model, read: set[str]) -> None:
    Translator(replace(model, reads_terms=False)).translate(TEXT, [WERK])
    assert read == {TEXT}


def test_nothing_is_read_if_there_is_no_time(
    model: Model, read: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Effort, "affordable", lambda *_: [])
    Translator(model).translate(TEXT, [WERK])
    assert read == {TEXT}


def test_where_much_is_demanded_nothing_is_read(model: Model, read: set[str]) -> None:
    many = [
        {"text": word}
        for word in [
            "Sie",
            "ist",
            "da",
            "und",
            "er",
            "war",
            "hier",
            "oder",
            "dort",
            "als",
            "man",
            "kam",
        ]
    ]
    assert len(many) == terms_in_source.MOST
    Translator(model).translate(TEXT, [WERK, *many])
    assert read == {TEXT}


def test_of_several_terms_for_one_source_one_is_read(model: Model, read: set[str]) -> None:
    result = Translator(model).translate(TEXT, [WERK, {"text": "Anlage", "source": "factory"}])
    assert all(report.met for report in result.constraints)
    assert {each for each in read if each != TEXT} == {
        "The company wants to build a new Werk in Berlin."
    }


@pytest.mark.usefixtures("always_better")
def test_the_score_is_that_of_the_given_source(model: Model) -> None:
    translator = Translator(model)
    result = translator.translate(TEXT, [WERK])
    forced = translator.translate(TEXT, prefix=result.text)
    assert forced.text == result.text
    assert result.score == pytest.approx(forced.score, abs=1e-4)


@pytest.mark.usefixtures("always_better")
def test_the_best_are_sorted_by_that_score(model: Model) -> None:
    scores = [each.score for each in Translator(model).translate(TEXT, [WERK], nbest=4).nbest]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.usefixtures("always_better")
def test_a_price_is_the_difference_to_the_free_translation(model: Model) -> None:
    translator = Translator(model)
    result = translator.translate(TEXT, [WERK], prices=True)
    free = translator.translate(TEXT)
    pieces = [len(model.target.encode(each.text)) + 1 for each in (result, free)]
    lost = free.score * pieces[1] - result.score * pieces[0]
    assert result.constraints[0].price == pytest.approx(lost, abs=0.05)


@pytest.mark.usefixtures("always_better")
def test_alignments_speak_of_the_given_source(model: Model) -> None:
    result = Translator(model).translate(TEXT, [WERK], alignments=True)
    start = result.text.index("Werk")
    assert result.alignment is not None
    links = {TEXT[slice(*each.source)] for each in result.alignment if each.target[0] == start}
    assert links == {"factory"}


@pytest.mark.usefixtures("always_better")
def test_a_trace_shows_the_search_that_read_the_term(model: Model) -> None:
    recorder = Recorder(Translator(model))
    result = recorder.translator.translate(TEXT, [WERK])
    (shown,) = recorder.trace(result).sentences
    assert (shown.source, shown.output) == (TEXT, result.text)
    assert {TEXT[slice(*span)] for span in shown.search.source_tokens} >= {"factory", "in"}


@pytest.mark.usefixtures("always_better")
def test_a_batch_gives_what_single_texts_do(model: Model) -> None:
    translator = Translator(model)
    texts = [TEXT, "The settings of the application were saved.", "Hello."]
    asked = [[WERK], [{"text": "Programm", "source": "application"}], []]
    batch = translator.translate(texts, asked)
    single = [translator.translate(t, a) for t, a in zip(texts, asked, strict=True)]
    assert [each.text for each in batch] == [each.text for each in single]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("Wir bauen ein neues Werk.", 0),
        ("Wir bauen eine neue Werk.", 1),
        ("Wir bauen eine neue Werk-Mauer und dem Werk.", 0),
        ("Wir bauen eine neue Werksmauer.", 0),
        ("Wir bauen einWerk.", 1),
        ("Das Werk und den Werk.", 1),
    ],
)
def test_words_that_cannot_agree_with_a_term_are_counted(text: str, faults: int) -> None:
    surface = Phrase((("Werk",),), compound=True)
    demand = SimpleNamespace(asked=surface, surface=surface)
    document: Any = SimpleNamespace(
        vocabulary=SimpleNamespace(language="de"), demand=lambda _: demand
    )
    trial: Any = SimpleNamespace(terms={0: None})
    assert terms_in_source._count_faults(document, trial, text) == faults
    document.vocabulary.language = "pt"
    assert terms_in_source._count_faults(document, trial, text) == 0
