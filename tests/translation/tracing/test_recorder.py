from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lexbeam.errors import ConstraintError, InputError
from lexbeam.search.allocation import POLICIES
from lexbeam.translation.tracing import Recorder
from lexbeam.translation.translator import Translator

TEXT = "The cat sat on the mat."


def test_a_traced_translation_is_the_same(translator: Translator) -> None:
    plain = translator.translate(TEXT, ["gato"], ["mat"], beam_size=4)
    trace = translator.trace(TEXT, ["gato"], ["mat"], beam_size=4)
    assert trace.translation == plain
    (sentence,) = trace.sentences
    assert (sentence.source, sentence.output) == (TEXT, plain.text)
    assert sentence.search.settings.beam_size == 4
    assert sentence.search.path


def test_each_sentence_of_a_text_has_its_search(translator: Translator) -> None:
    trace = translator.trace("The cat sat. The dog sat.\nO gato", ["casa velha"], beam_size=4)
    assert [each.source for each in trace.sentences] == ["The cat sat.", "The dog sat.", "O gato"]
    assert trace.translation is not None
    for each in trace.sentences:
        assert each.output in trace.translation.text
    # The sentence that has the phrase was searched once more; the free search is not shown.
    owners = [each for each in trace.sentences if "casa velha" in each.output]
    assert [bool(each.search.job.phrases) for each in owners] == [True]
    assert trace.others > 0


@pytest.mark.parametrize("algorithm", POLICIES)
def test_every_shape_and_every_algorithm(translator: Translator, algorithm: str) -> None:
    shapes: list[Any] = [{"any": ["gato", "cão branco"]}, {"gap": ["casa", "velha"]}, "Haus"]
    trace = translator.trace(TEXT, shapes, beam_size=3, algorithm=algorithm)
    assert trace.translation is not None
    assert trace.translation.constraints
    assert all(report.met for report in trace.translation.constraints)
    (sentence,) = trace.sentences
    search = sentence.search
    last = search.steps[search.ended]
    end = last.beam[search.path[search.ended]]
    assert end is not None
    assert last.candidates[end.candidate].progress == search.sizes


def test_the_translator_itself_is_not_watched(translator: Translator) -> None:
    recorder = Recorder(translator)
    translator.translate(TEXT)
    assert not recorder.trace().sentences
    recorder.translator.translate(TEXT)
    assert len(recorder.trace().sentences) == 1


def test_after_an_error_the_next_text_can_be_watched(translator: Translator) -> None:
    recorder = Recorder(translator)
    with pytest.raises(ConstraintError):
        recorder.translator.translate(TEXT, ["gato preto gato preto"], max_length=3)
    recorder.translator.translate(TEXT)
    (sentence,) = recorder.trace().sentences
    assert sentence.source == TEXT


def test_pieces_are_those_of_the_vocabulary(translator: Translator) -> None:
    page = translator.trace("The cat", ["gato"]).to_html()
    assert "▁" in page
    assert '"</s>"'.replace("<", "\\u003c").replace(">", "\\u003e") in page


def test_an_empty_text(translator: Translator, tmp_path: Path) -> None:
    translator.trace("").save(tmp_path / "beam.html")
    assert (tmp_path / "beam.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_file_that_cant_be_written(translator: Translator, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't write the trace"):
        translator.trace(TEXT).save(tmp_path / "no" / "folder.html")


def test_where_hypotheses_attend(attending_translator: Translator) -> None:
    text = "The cat sat on the mat."
    trace = attending_translator.trace(text, ["gato"])
    (sentence,) = trace.sentences
    search = sentence.search
    looked = []
    for number, slot in enumerate(search.path[: search.ended + 1]):
        standing = search.steps[number].beam[slot]
        assert standing is not None
        ((token, share),) = standing.attention
        assert share == 1
        looked.append(token)
    assert looked[: len(search.source_tokens) - 1] == list(range(len(search.source_tokens) - 1))
    written = [text[slice(*span)] for span in search.source_tokens]
    assert "".join(written) == text.replace(" ", "")
    assert '"sourceTokens":[[0,' in trace.to_html()


def test_a_model_that_does_not_say_where_it_attends(translator: Translator) -> None:
    (sentence,) = translator.trace("The cat sat.").sentences
    standings = [each for step in sentence.search.steps for each in step.beam if each]
    assert not any(standing.attention for standing in standings)
