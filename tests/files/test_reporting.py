from __future__ import annotations

from lexbeam import Glossary
from lexbeam.files.reporting import FileReporter
from lexbeam.translation.translator import Translator

GLOSSARY = Glossary.from_terms({"cat": "gato", "house": "casa"})


def test_constraints_are_looked_up_in_what_was_written(translator: Translator) -> None:
    reporter = FileReporter(translator, {"glossary": GLOSSARY, "only": "all", "beam_size": 4})
    reporter.add_unit("a.po", "title", ["The cat, the house."], ["O gato, a rua."])
    collected = reporter.finished()
    rows = {row.term: row for row in collected.finish()}
    assert (rows["gato"].status, rows["gato"].form) == ("met", "gato")
    assert rows["gato"].cost is not None
    assert rows["gato"].source_term == "cat"
    assert rows["casa"].status == "missing"
    assert (rows["casa"].file, rows["casa"].place) == ("a.po", "title")
    assert collected.summary.files == 1


def test_plural_forms_are_texts_of_their_own(translator: Translator) -> None:
    reporter = FileReporter(translator, {"glossary": GLOSSARY})
    reporter.add_unit("a.po", "n", ["a cat", "cats"], ["um gato", "gatos"])
    assert [row.target for row in reporter.finished().finish()] == ["um gato"]
