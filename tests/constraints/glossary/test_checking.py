from __future__ import annotations

from pathlib import Path

import pytest

from lexbeam.constraints.glossary import Glossary


def checked(folder: Path, *texts: str) -> list[str]:
    paths = []
    for number, text in enumerate(texts):
        paths.append(folder / f"{number}.csv")
        paths[-1].write_text(text, encoding="utf-8")
    problems = Glossary.load(*paths).check()
    return [str(problem).replace(str(folder) + "/", "") for problem in problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b,x\nc d,y\n", []),
        ("a,x\nb,x\n", []),
        ("a,x\na,x\n", ['0.csv:2: note: "a" is also in line 1, with the same target']),
        (
            "a,x\na,y|z\n",
            [
                (
                    '0.csv:2: warning: "a" is also in line 1 as "x", here as "y" or "z": '
                    "any of them will do"
                )
            ],
        ),
        (
            "Ab,x\nab,y\n",
            ['0.csv:2: note: differs only in capitals from "Ab" (0.csv:1): both are used'],
        ),
        (
            "source,target,status\na,x,\na,x,forbidden\n",
            [
                (
                    '0.csv:3: warning: "a" is also in line 2: one allows "x", the other forbids '
                    "it; it will be allowed"
                )
            ],
        ),
        (
            "source,target,target forbidden\na,big x,x\n",
            [
                (
                    '0.csv:2: warning: "x" is forbidden and yet part of the target "big x": '
                    "it will be allowed"
                )
            ],
        ),
        (
            "source,target,status\na,y,forbidden\na,x,\n",
            ['0.csv:3: note: "a" is also in line 2: they are taken together'],
        ),
        (
            "source,target,status\na,x,\na,y,forbidden\n",
            ['0.csv:3: note: "a" is also in line 2: they are taken together'],
        ),
        (
            "power supply,x\nsupply chain,y\n",
            [
                (
                    '0.csv:1: note: "power supply" ends with "supply", with which "supply chain" '
                    "(0.csv:2) begins: where both overlap, the longer or else the first is taken"
                )
            ],
        ),
    ],
)
def test_one_file(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert checked(tmp_path, text) == expected


def test_two_files(tmp_path: Path) -> None:
    assert checked(tmp_path, "a,x\n", "a,y\n") == [
        '1.csv:1: note: "a" is also in 0.csv:1: this later glossary wins'
    ]


def test_lines_that_cannot_be_used_come_along(tmp_path: Path) -> None:
    assert checked(tmp_path, "a,x\nb\n") == ['0.csv:2: error: "b" has no target term']
