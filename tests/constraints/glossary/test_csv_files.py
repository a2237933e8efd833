from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lexbeam.constraints.glossary.csv_files import read_table
from lexbeam.constraints.glossary.entries import Contents, Term
from lexbeam.errors import InputError


def read(tmp_path: Path, text: str | bytes, name: str = "terms.csv") -> Contents:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_table(path)


def pairs(contents: Contents) -> list[tuple[str, ...]]:
    return [tuple(term.text for term in concept.terms) for concept in contents.concepts]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("terms.csv", "house,Haus\ncat,Katze\n"),
        ("terms.csv", "house;Haus\ncat;Katze"),
        ("terms.csv", "house\tHaus\r\ncat\tKatze\r\n"),
        ("terms.tsv", "house\tHaus\ncat\tKatze\n"),
        ("terms.tsv", '"house"\t"Haus"\n\n  \n cat \t Katze \n'),
        ("terms.csv", '"house","Haus"\n\n"cat", "Katze"\n'),
        ("terms.csv", "source,target\nhouse,Haus\ncat,Katze\n"),
        ("terms.csv", "Source_Term;Target Term;Note\nhouse;Haus;big\ncat;Katze;\n"),
        ("terms.csv", "note,target,source\n,Haus,house\n,Katze,cat\n"),
    ],
)
def test_two_columns(tmp_path: Path, name: str, text: str) -> None:
    contents = read(tmp_path, text, name)
    assert sorted(pairs(contents)) in (
        [("cat", "Katze"), ("house", "Haus")],
        [("Haus", "house"), ("Katze", "cat")],
    )
    for concept in contents.concepts:
        assert {term.role: term.text[0] for term in concept.terms} in (
            {"source": "h", "target": "H"},
            {"source": "c", "target": "K"},
        )
    assert not contents.problems
    assert contents.languages == set()


def test_the_export_of_deepl(tmp_path: Path) -> None:
    contents = read(tmp_path, "house,Haus,EN,DE\ncasa,house,ES,EN-GB,0.5\n")
    assert contents.concepts[0].terms == (
        Term("house", "en", "source"),
        Term("Haus", "de", "target"),
    )
    assert contents.concepts[1].terms == (
        Term("casa", "es", "source"),
        Term("house", "en-gb", "target"),
    )
    assert contents.languages == {"en", "de", "es", "en-gb"}


def test_the_term_sets_of_google(tmp_path: Path) -> None:
    contents = read(tmp_path, "en,de,fr,pos,description\nhouse,Haus,maison,noun,x\ncat,,chat,,\n")
    assert contents.languages == {"en", "de", "fr"}
    assert pairs(contents) == [("house", "Haus", "maison"), ("cat", "chat")]
    assert {term.role for term in contents.concepts[0].terms} == {"either"}


def test_words_that_could_be_headers_are_terms(tmp_path: Path) -> None:
    text = "source,Quelle\nstatus,Status\nnote,Note\n"
    assert pairs(read(tmp_path, text)) == [
        ("source", "Quelle"),
        ("status", "Status"),
        ("note", "Note"),
    ]
    assert pairs(read(tmp_path, "status,Status\n")) == [("status", "Status")]


def test_several_targets(tmp_path: Path) -> None:
    contents = read(tmp_path, "factory,Fabrik | Werk|\n")
    assert pairs(contents) == [("factory", "Fabrik", "Werk")]


@pytest.mark.parametrize(
    "text",
    [
        "source,target,status\ncar,Auto,preferred\ncar,Karre,forbidden\n",
        "source,target,forbidden\ncar,Auto,\ncar,Karre,yes\n",
        "source,target,usage\ncar,Auto,preferredTerm-admn-sts\ncar,Karre,deprecatedTerm-admn-sts\n",
        "source,target,status\ncar,Auto,ok\ncar,Karre,do not use\n",
    ],
)
def test_forbidden_targets(tmp_path: Path, text: str) -> None:
    terms = [term for concept in read(tmp_path, text).concepts for term in concept.terms]
    assert [term.text for term in terms if term.forbidden] == ["Karre"]


def test_a_column_of_forbidden_terms(tmp_path: Path) -> None:
    contents = read(tmp_path, "en,de,de forbidden\ncar,Auto,Karre|Kiste\n")
    forbidden = [term for term in contents.concepts[0].terms if term.forbidden]
    assert [(term.text, term.language) for term in forbidden] == [("Karre", "de"), ("Kiste", "de")]
    contents = read(tmp_path, "source,target,target_forbidden\ncar,Auto,Karre\n")
    assert [term.text for term in contents.concepts[0].terms if term.forbidden] == ["Karre"]


@pytest.mark.parametrize(
    "text",
    ["source,comment\nhouse,x\n", "en,description,pos\nhouse,x,noun\n", "target,status\na,b\n"],
)
def test_a_missing_column_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(
        InputError, match=r"terms.csv: line 1 names no columns of source and target"
    ):
        read(tmp_path, text)


def test_a_single_column_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2 has one column"):
        read(tmp_path, "\nhouse\ncat\n")


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"terms.csv is empty"):
        read(tmp_path, " \n\n")


def test_lines_that_cannot_be_used_are_reported(tmp_path: Path) -> None:
    contents = read(tmp_path, "house,Haus\ncat\n,Hund\nbird,\na,b,c\nfox,Fuchs\nbee,x\0y\n")
    assert pairs(contents) == [("house", "Haus"), ("fox", "Fuchs")]
    assert [(problem.line, problem.message[:20]) for problem in contents.problems] == [
        (2, '"cat" has no target '),
        (3, '"Hund" has no source'),
        (4, '"bird" has no target'),
        (5, "3 columns instead of"),
        (7, '"x\\0y" contains a NU'),
        (7, '"bee" has no target '),
    ]


def test_a_quote_that_is_never_closed_is_reported(tmp_path: Path) -> None:
    contents = read(tmp_path, 'a,b\nhouse,"Haus\ncat,Katze\ndog,Hund\n')
    assert pairs(contents) == [("a", "b")]
    (problem,) = contents.problems
    assert (problem.line, "until line 4" in problem.message) == (2, True)


def test_quotes_in_tabs_are_only_quotes(tmp_path: Path) -> None:
    contents = read(tmp_path, '5" disk\t5-Zoll-Diskette\n"a ""b"""\tc\n', "terms.tsv")
    assert pairs(contents) == [('5" disk', "5-Zoll-Diskette"), ('a "b"', "c")]


@pytest.mark.parametrize("name", ["terms.csv", "terms.tsv", "terms.txt"])
@pytest.mark.parametrize("line", [b"a" * 10_000_000, b"a,b\t" * 2_500_000, b'"' * 10_000_000])
def test_ten_megabytes_of_one_line(tmp_path: Path, name: str, line: bytes) -> None:
    contents = read(tmp_path, line, name)
    assert not contents.concepts
    (problem,) = contents.problems
    assert problem.line == 1
    assert "are line breaks missing?" in problem.message


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.binary(max_size=200), name=st.sampled_from(["a.csv", "a.tsv", "a.txt"]))
def test_whatever_is_in_a_file(tmp_path: Path, data: bytes, name: str) -> None:
    try:
        contents = read(tmp_path, data, name)
    except InputError:
        return
    for concept in contents.concepts:
        assert len(concept.terms) > 1
        assert all(term.text.strip() for term in concept.terms)
