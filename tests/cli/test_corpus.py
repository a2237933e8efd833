from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from lexbeam.cli import corpus
from lexbeam.cli.corpus import CorpusProgress
from lexbeam.cli.main import main
from lexbeam.translation.translator import Translator


@pytest.fixture(autouse=True)
def folder(translator: Translator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr("lexbeam.corpus.run.load", lambda *_: translator)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["corpus", *arguments])


def translate(*arguments: str, stdin: str) -> Result:
    return CliRunner().invoke(main, ["translate", *arguments], input=stdin)


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (["-c", "gato", "--avoid", "cat"], ["the cat", "", "the house"]),
        (["--tabs", "--ordered"], ["the cat\tgato\tcasa", "the house"]),
        (["-n", "2", "-k", "4", "--prefix", "O"], ["the cat"]),
        (["--keep", "numbers", "--no-split"], ["the 12 cats. the house"]),
        (
            ["--json", "--signature"],
            ['{"text": "the cat", "constraints": ["gato"], "id": 7}', "", '{"text": 3}'],
        ),
    ],
)
def test_lines_come_out_as_translate_has_them(
    options: list[str], lines: list[str], monkeypatch: pytest.MonkeyPatch, translator: Translator
) -> None:
    monkeypatch.setattr("lexbeam.cli.translate.load", lambda *_: translator)
    text = "".join(f"{line}\n" for line in lines)
    Path("in").write_text(text)
    done = run("in", "-o", "out", *options)
    expected = translate(*options, stdin=text)
    (part,) = Path("out").glob("part-*")
    assert part.read_text() == expected.stdout
    assert done.exit_code == expected.exit_code
    assert done.stderr.replace("in, line", "line") == expected.stderr


def test_what_cant_be_used_is_said_before_anything_is_written() -> None:
    Path("in.txt").write_text("the cat\n")
    for options, message in [
        (["-c", '{"any": []}'], '-c[0]: "any"'),
        (["--keep", "["], "keep"),
        (["--glossary", "none.csv"], "none.csv"),
    ]:
        done = run("in.txt", "-o", "out", *options)
        assert done.exit_code == 1, options
        assert done.stderr.startswith("lexbeam: ")
        assert message.split(":")[0] in done.stderr
        assert done.stderr.count("\n") == 1
        assert not Path("out").exists()
    assert run("in.txt", "-o", "out", "--json", "--tabs").exit_code == 2
    assert run("in.txt", "-o", "out", "--processes", "0").exit_code == 2
    assert run("in.txt").exit_code == 2


def test_only_the_first_failures_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "_MOST_SHOWN", 2)
    Path("in.txt").write_text("the\0cat\n" * 3 + "the cat\n")
    done = run("in.txt", "-o", "out")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[1:] == [
        'lexbeam: in.txt, line 2: the text "the\\0cat" contains a NUL character',
        f"lexbeam: 3 rows have failed: see {Path('out/manifest.json')}",
    ]
    again = run("in.txt", "-o", "out")
    assert again.exit_code == 1  # they have failed all the same
    assert again.stderr.count("\n") == 1


def test_an_interrupt_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: object, observer: Any, **__: object) -> None:
        observer.begin(100, 10)
        observer.rows(5)
        raise KeyboardInterrupt

    monkeypatch.setattr(corpus, "translate_corpus", interrupt)
    done = run("in.txt", "-o", "out")
    assert done.exit_code == 130
    assert done.stderr == (
        "lexbeam: stopped with 15 of 100 rows done: the same command goes on, with the parts that "
        "are there\n"
    )


def test_progress_says_how_fast_and_how_long() -> None:
    progress = CorpusProgress()
    progress.begin(20_000, 10_000)
    assert progress.line(0) == "10,000 of 20,000 (50%)"
    progress.rows(1000)
    assert progress.line(100) == "11,000 of 20,000 (55%), 10.0 sentences/s, 0:15:00 left"
    progress.rows(-1000)  # a worker has died
    assert progress.line(200) == "10,000 of 20,000 (50%)"
    progress.begin(0, 0)
    assert progress.line(1) == "0 of 0 (100%)"


class Terminal:
    def __init__(self) -> None:
        self.written = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.written += text

    def flush(self) -> None:
        pass


def test_progress_is_one_line_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with CorpusProgress() as progress:
        progress.begin(4, 0)
        progress.failed("in.txt, line 1", "it\nfailed")
        progress.rows(4)
    assert terminal.written.endswith("\n")
    lines = terminal.written.replace("\r\x1b[K", "\n").split("\n")
    assert "lexbeam: in.txt, line 1: it failed" in lines
    assert any(line.startswith("4 of 4 (100%)") for line in lines)


def test_the_manifest_is_where_the_help_says() -> None:
    Path("in.txt").write_text("the cat\n")
    done = run("in.txt", "-o", "deep/out", "--shard", "1")
    assert done.exit_code == 0
    assert done.output == ""
    assert json.loads(Path("deep/out/manifest.json").read_bytes())["counts"]["rows"] == 1
