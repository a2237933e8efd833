from __future__ import annotations

from pathlib import Path

import pytest

from lexbeam.errors import InputError
from lexbeam.study.competing_terms import (
    CompetingTerm,
    TermCounts,
    count_terms,
    gender_before,
    read_competing_terms,
)

TERM = CompetingTerm(12, "computer", "máquina", "computador")
REFERENCE = "Reinicie a máquina."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Reinicie a máquina.", TermCounts(1, 1, 0, 1, 1)),
        ("Reinicie o máquina.", TermCounts(1, 1, 0, 1, 0)),
        ("Reinicie o computador máquina.", TermCounts(1, 1, 1, 0, 0)),
        ("Reinicie o computador.", TermCounts(1, 0, 0, 0, 0)),
        ("Máquina, computadores!", TermCounts(1, 1, 0, 0, 0)),
    ],
)
def test_what_became_of_a_term(text: str, expected: TermCounts) -> None:
    assert count_terms(text, REFERENCE, [TERM], "pt") == expected


def test_a_word_of_the_reference_or_of_the_term_is_not_doubled() -> None:
    text = "A máquina e o computador."
    assert count_terms(text, "A máquina e o computador.", [TERM]).doubled == 0
    inside = CompetingTerm(0, "join", "juntou-se", "juntou")
    assert count_terms("Ele juntou-se.", "Ele juntou-se.", [inside]).doubled == 0


def test_a_term_given_twice_is_met_twice() -> None:
    assert count_terms("máquina", REFERENCE, [TERM, TERM]).met == 1
    assert count_terms("máquina, Máquina", REFERENCE, [TERM, TERM]).met == 2


def test_genders_are_known_in_portuguese_only() -> None:
    assert count_terms("a máquina", REFERENCE, [TERM], "de").gendered == 0
    assert gender_before("Às máquinas, naquele País", "País") == "m"
    assert gender_before("Às máquinas", "máquinas") == "f"
    assert gender_before("que máquina, a máquina", "máquina") == "f"
    assert gender_before("máquina", "máquina") is None


def test_counts_add_up() -> None:
    assert TermCounts(1, 2, 3, 4, 5) + TermCounts(1, 1, 1, 1, 1) == TermCounts(2, 3, 4, 5, 6)


def test_reading(tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text("1\t4\tcat\tgato\tfelino\n0\t0\tA\tUm\tO\n1\t0\tThe\tO\tEste\n")
    terms = read_competing_terms(path, ["A dog.", "The cat."])
    assert list(terms) == [0, 1]
    assert terms[1][0] == CompetingTerm(4, "cat", "gato", "felino")
    assert terms[1][0].span == (4, 7)


@pytest.mark.parametrize(
    "line", ["0\t0\tA\tUm", "x\t0\tA\tUm\tO", "0\t1\tA\tUm\tO", "7\t0\tA\tUm\tO", ""]
)
def test_lines_that_say_nothing(tmp_path: Path, line: str) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text(f"0\t0\tA\tUm\tO\n{line}\n")
    with pytest.raises(InputError, match=r"terms\.tsv:2: "):
        read_competing_terms(path, ["A dog."])


@pytest.mark.parametrize("content", [b"", b"7\t0\tA\tUm\tO\n", b"0\t0\tA\xff\tUm\tO\n"])
def test_files_without_a_term_of_the_text_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "terms.tsv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"terms\.tsv(: there is no term|, line 1 is not valid)"):
        read_competing_terms(path, ["A dog."], partly=True)
