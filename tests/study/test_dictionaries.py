from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from helpers.toy_study import SOURCES, make_experiment
from lexbeam.errors import InputError
from lexbeam.models.model import Model
from lexbeam.study.alignment import Entry, Pair, Phrase
from lexbeam.study.cells import Setting
from lexbeam.study.dictionaries import (
    Dictionaries,
    TranslatedWithDictionary,
    best_entries,
    find_names,
    look_up,
    look_up_names,
    read_entries,
    read_pairs,
)


def entry(source: str, target: str, together: int = 5, of: int = 5) -> Entry:
    return Entry(tuple(source.split()), tuple(target.split()), together, of, float(together))


def test_the_usual_and_telling_translation_is_demanded() -> None:
    table = [
        entry("black cat", "gato preto"),
        entry("black cat", "gato negro", 2),
        entry("house", "lar", 9, 10),  # too short to say much
        entry("city", "cidade", 2, 10),  # mostly translated otherwise
    ]
    assert {e.target for e in best_entries(table).values()} == {("gato", "preto")}


def test_long_phrases_come_first_and_none_is_inside_another() -> None:
    best = best_entries([entry("black cat", "gato preto"), entry("black", "preto", 9)])
    best |= best_entries([entry("mat", "tapete")]) | {("mat",): entry("mat", "tapete")}
    assert look_up(["The", "Black", "cat", "on", "the", "mat"], best) == ["gato preto", "tapete"]
    assert look_up([], best) == []


def test_no_more_than_three_are_demanded() -> None:
    best: dict[Phrase, Entry] = {(word,): entry(word, f"w{word}") for word in "abcdef"}
    assert len(look_up(list("abcdef"), best)) == 3


def test_names_are_what_is_written_large_inside_sentences() -> None:
    pairs = [
        Pair(["We", "saw", "New", "York", "."], ["Vimos", "Nova", "York", "."]),
        Pair(["Cats", "saw", "it"], ["Gatos", "viram", "isso"]),
    ]
    links = [[(0, 0), (1, 0), (2, 1), (3, 2), (4, 3)], [(0, 0), (1, 1), (2, 2)]]
    names = find_names(pairs, links)
    assert names[("New", "York")] == "Nova York"
    assert ("Cats",) not in names  # begins a sentence
    assert look_up_names(["In", "New", "York"], names) == ["Nova York"]
    assert look_up_names(["new", "york"], names) == []


def test_pairs_and_entries_are_read(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.tsv", tmp_path / "a.tsv.gz"
    plain.write_text("a b\tx\tmore\n\tx\n", encoding="utf-8")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_pairs(plain) == read_pairs(packed) == [Pair(["a", "b"], ["x"])]
    assert read_entries(plain) == {("a", "b"): "x"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.tsv", b"a\tb\nno tab\n", "line 2 has no tab"),
        ("a.tsv", b"\xff\t\xff\n", "can't be read"),
        ("a.tsv.gz", b"not packed", "can't be read"),
    ],
)
def test_files_that_are_no_pairs_are_refused(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_pairs(tmp_path / name)


def test_a_dictionary_of_ones_own_is_used(toy_model: Model, tmp_path: Path) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("New York\tLisboa\nHaus\tHund\n", encoding="utf-8")
    experiment = make_experiment(toy_model, tmp_path)
    source = Dictionaries(entities=names)
    assert experiment.result(source)["names"] == [[], ["Hund"], [], ["Lisboa"]]
    noisy = TranslatedWithDictionary("names", Setting(beam_size=2), source=source)
    clean = TranslatedWithDictionary("names", Setting(beam_size=2), source=source, clean=True)
    assert clean.phrases(experiment) == [[] for _ in SOURCES]
    result = experiment.result(noisy)
    assert (result["asked"], result["met"]) == (2, 2)
    assert "Lisboa" in result["texts"][3]


def test_a_sentence_never_sees_its_own_reference(toy_model: Model, tmp_path: Path) -> None:
    experiment = make_experiment(toy_model, tmp_path)
    for pairs, applied in Dictionaries()._folds(experiment):
        learnt = {" ".join(pair.source) for pair in pairs}
        assert len(pairs) + len(applied) == len(SOURCES)
        assert not learnt & {SOURCES[i].replace(".", " .") for i in applied}


def test_other_files_are_other_dictionaries(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("a\tb\n", encoding="utf-8")
    first = Dictionaries(path).key()
    path.write_text("a\tc\n", encoding="utf-8")
    assert first != Dictionaries(path).key() != Dictionaries().key()
