from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import click
import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lexbeam.cli.main import COMMANDS, main
from lexbeam.errors import MissingExtraError, ModelError
from lexbeam.models import registry
from lexbeam.models.engines import compiled_network
from lexbeam.search import kernel
from lexbeam.text.word_boundaries import contains
from lexbeam.translation.translator import Translator

TEXT = "The cat sat on the mat."


def replace_load(monkeypatch: pytest.MonkeyPatch, load: Callable[..., Translator]) -> None:
    monkeypatch.setattr("lexbeam.cli.translate.load", load)
    monkeypatch.setattr("lexbeam.cli.info.load", load)


@pytest.fixture(autouse=True)
def loaded(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    calls: list[tuple[Any, ...]] = []

    def load(*arguments: Any) -> Translator:
        calls.append(arguments)
        return translator

    replace_load(monkeypatch, load)
    return calls


def run(*arguments: str, stdin: bytes | str = b"") -> Result:
    return CliRunner().invoke(main, list(arguments), input=stdin)


def records(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_text_with_constraints(loaded: list[tuple[Any, ...]]) -> None:
    result = run(
        "translate", "--model", "m", TEXT, "-c", "gato", "-c", "no tapete", "--avoid", "mat"
    )
    assert result.exit_code == 0, result.output
    assert contains(result.stdout, "gato")
    assert contains(result.stdout, "no tapete")
    assert not contains(result.stdout, "mat")
    assert result.stdout.endswith("\n")
    assert loaded == [("m", 1)]


def test_even_an_empty_text_says_what_is_demanded() -> None:
    assert run("translate", "", "-c", "gato").stdout == "gato\n"
    assert run("translate", "").stdout == "\n"


def test_a_trace_of_a_text(tmp_path: Path) -> None:
    page = tmp_path / "beam.html"
    result = run("translate", TEXT, "-c", "gato", "--trace", str(page))
    assert result.exit_code == 0, result.output
    assert result.stdout == run("translate", TEXT, "-c", "gato").stdout
    assert TEXT in page.read_text(encoding="utf-8")


def test_a_trace_is_of_one_text_that_can_be_translated(tmp_path: Path) -> None:
    page = tmp_path / "beam.html"
    result = run("translate", "--trace", str(page), stdin=TEXT)
    assert result.exit_code == 2
    assert "give it as an argument" in result.stderr
    assert run("translate", TEXT, "-c", "gato", "--avoid", "gato", "--trace", str(page)).exit_code
    assert not page.exists()
    result = run("translate", TEXT, "--trace", str(tmp_path / "no" / "beam.html"))
    assert result.exit_code == 1
    assert "can't write the trace" in result.stderr


def test_a_text_as_json() -> None:
    (record,) = records(run("translate", TEXT, "-c", "gato", "--json"))
    (report,) = record["constraints"]
    assert record["translation"][report["start"] : report["end"]] == report["text"] == "gato"
    assert record["text"] == TEXT


def test_lines_in_lines_out() -> None:
    result = run("translate", stdin="The cat\n\nThe dog\r\n  \na b c")
    assert result.exit_code == 0
    assert result.stdout == "The cat\n\nThe dog\n\na b c\n"


def test_constraints_apply_to_every_line_that_says_something() -> None:
    result = run("translate", "-c", "gato", stdin="The cat\n\nThe dog\n")
    first, blank, last = result.stdout.splitlines()
    assert contains(first, "gato")
    assert blank == ""
    assert contains(last, "gato")


def test_many_lines_keep_their_order() -> None:
    lines = [f"{'a ' * (i % 7)}b {i}" for i in range(300)]
    result = run("translate", "--batch-size", "8", "-k", "2", stdin="\n".join(lines))
    assert result.stdout.splitlines() == lines


def test_nbest_lists() -> None:
    result = run("translate", "-n", "3", stdin="The cat\nThe dog\n")
    rows = [line.split(" ||| ") for line in result.stdout.splitlines()]
    numbers = [row[0] for row in rows]
    assert numbers == sorted(numbers)
    assert set(numbers) == {"1", "2"}
    assert {len(row) for row in rows} == {3}
    assert rows[0][1] == "The cat"
    given = '{"text": "The cat", "constraints": ["gato"]}'
    (record,) = records(run("translate", "-n", "3", "--json", stdin=given))
    assert record["nbest"][0]["translation"] == record["translation"]
    assert len(record["nbest"]) > 1


def test_nbest_lists_have_one_shape_however_many_there_are() -> None:
    result = run("translate", "-n", "2", "--stop", "first", "-k", "1", "The cat")
    assert [len(line.split(" ||| ")) for line in result.stdout.splitlines()] == [3]


def test_the_name_of_a_file_is_not_translated(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_text("The cat", encoding="utf-8")
    result = run("translate", str(path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"lexbeam translate < {path}" in result.stderr
    assert f"lexbeam file {path}" in result.stderr


def test_json_lines_keep_their_other_fields() -> None:
    given = [
        {"text": TEXT, "constraints": ["gato", "gato"], "id": 7, "meta": {"x": ["é"]}},
        {"text": "", "note": "empty"},
        {"text": "The dog", "avoid": ["dog"], "prefix": "O"},
    ]
    result = run("translate", "--json", stdin="\n".join(map(json.dumps, given)))
    assert result.exit_code == 0, result.output
    first, second, third = records(result)
    assert (first["id"], first["meta"]) == (7, {"x": ["é"]})
    assert "é" in result.stdout
    spans = [(report["start"], report["end"]) for report in first["constraints"]]
    assert len(set(spans)) == 2
    assert spans
    assert all(first["translation"][start:end] == "gato" for start, end in spans)
    assert first["constraints"]
    assert all(report["met"] for report in first["constraints"])
    assert first["score"] < 0
    assert (second["translation"], second["note"]) == ("", "empty")
    assert third["translation"].startswith("O")
    assert not contains(third["translation"], "dog")


def test_phrases_behind_tabs() -> None:
    lines = "The cat\tHaus\tNew York\t\nThe dog\n\tHaus\n"
    result = run("translate", "--tabs", "-c", "Lisboa", stdin=lines)
    assert result.exit_code == 0, result.output
    first, second, blank = result.stdout.split("\n")[:3]
    for phrase in ("Haus", "New York", "Lisboa"):
        assert contains(first, phrase)
    assert not contains(second, "Haus")
    assert contains(second, "Lisboa")
    assert blank == ""
    assert contains(run("translate", "--tabs", "The cat\tHaus").stdout, "Haus")


def test_tabs_are_text_unless_asked_for() -> None:
    assert run("translate", stdin="The cat\tis\n").stdout == "The cat is\n"


def test_objects_as_arguments() -> None:
    chosen = '{"any": ["Haus", "House"], "case": "exact"}'
    (record,) = records(run("translate", TEXT, "-c", chosen, "-c", "{name}", "--json"))
    first, second = record["constraints"]
    assert first["text"] == "Haus | House"
    assert first["form"] in ("Haus", "House")
    assert first["asked"] == json.loads(chosen)
    assert second["text"] == "{name}"
    assert first["met"]
    assert second["met"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["-c", '{"any": "Haus"}'],
            'lexbeam: -c[0].any must be a list of phrases, not the text "H',
        ),
        (["-c", '{"any": ["Haus"'], 'lexbeam: -c "{"any": ["Haus"" is not valid JSON'),
        (["--avoid", '{"gap": ["a", "b"]}'], 'lexbeam: --avoid[0] has none of "text", "any", "lem'),
        (["-c", "  "], "lexbeam: -c[0] is empty or only spaces"),
    ],
)
def test_malformed_arguments_are_one_line(arguments: list[str], message: str) -> None:
    result = run("translate", *arguments, stdin="The cat\nThe dog\n")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1


def test_a_list_of_what_to_avoid(tmp_path: Path) -> None:
    path = tmp_path / "avoid.txt"
    path.write_text('cat\n\n{"any": ["sat", "mat"]}\n')
    result = run("translate", "--avoid-file", str(path), "--avoid", "on", stdin=f"{TEXT}\n")
    assert result.exit_code == 0, result.output
    assert not any(contains(result.stdout, word) for word in ("cat", "sat", "mat", "on"))
    assert contains(result.stdout, "The")
    assert run("translate", "--avoid-file", str(tmp_path / "none"), TEXT).exit_code == 2


def test_prices_are_said() -> None:
    result = run("translate", TEXT, "-c", "Haus", "-c", "cat", "--prices")
    first, second = result.stderr.splitlines()
    assert float(first.removeprefix('lexbeam: line 1: "Haus" costs ')) > 1
    assert float(second.removeprefix('lexbeam: line 1: "cat" costs ')) == 0
    assert result.exit_code == 0
    (record,) = records(run("translate", TEXT, "-c", "Haus", "--prices", "--json"))
    assert record["constraints"][0]["price"] > 1


BAD_PLAIN_LINES = [(b"\xff\xfe", "not valid UTF-8: byte 0xff at 0"), (b"a\0b", "NUL")]
BAD_JSON_LINES = [
    (b"{", "not valid JSON"),
    (b"\xff", "not valid UTF-8"),
    (b"[1]", "not a JSON object but list"),
    (b"{}", 'no "text"'),
    (b'{"text": 3}', 'no "text"'),
    (b'{"text": "a\\u0000b"}', "NUL"),
    (b'{"text": "a\\ud800"}', "surrogate"),
    (b'{"text": "a", "constraints": "gato"}', '"constraints" must be a list'),
    (b'{"text": "a", "constraints": [3]}', "constraints[0] must be text or an object"),
    (b'{"text": "a", "constraints": ["a", {"gap": ["b"]}]}', "constraints[1].gap has 1 entries"),
    (b'{"text": "a", "avoid": [{"any": ["b"], "soft": 1}]}', 'avoid[0] has the unknown key "soft"'),
    (b'{"text": "a", "constraints": ["  "]}', "only spaces"),
    (b'{"text": "a", "constraints": ["\\u200b"]}', "no characters"),
    (b'{"text": "a", "constraints": ["b"], "avoid": ["b"]}', "drop one"),
    (b'{"text": "a", "score": NaN}', '"score" has the value nan, which is not JSON'),
    (b"[" * 100_000, "not valid JSON"),
]


@pytest.mark.parametrize(("bad", "message"), BAD_PLAIN_LINES)
def test_a_bad_line_leaves_the_others_alone(bad: bytes, message: str) -> None:
    result = run("translate", stdin=b"The cat\n" + bad + b"\nThe dog\n")
    assert result.exit_code == 1
    assert result.stdout == "The cat\n\nThe dog\n"
    (complaint,) = result.stderr.splitlines()
    assert "line 2: " in complaint
    assert message in complaint


@pytest.mark.parametrize(("bad", "message"), BAD_JSON_LINES)
def test_a_bad_record_becomes_an_error_record(bad: bytes, message: str) -> None:
    result = run("translate", "--json", stdin=b'{"text": "b"}\n' + bad + b'\n{"text": "c"}\n')
    assert result.exit_code == 1
    first, error, last = records(result)
    assert (first["translation"], last["translation"]) == ("b", "c")
    assert message in error["error"]
    assert error["line"] == 2
    assert "translation" not in error
    assert "line 2: " in result.stderr


RAW_LINES = st.lists(
    st.one_of(
        st.binary(max_size=12),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(str.encode),
        st.sampled_from([b'{"text": "a"}', b'{"text": "a. B.", "constraints": ["b"]}', b'{"text"']),
    ).map(lambda line: line.replace(b"\n", b"")),
    min_size=1,
    max_size=5,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RAW_LINES, st.booleans())
def test_whatever_comes_in_lines_stay_aligned(lines: list[bytes], as_json: bool) -> None:
    flags = ["--json"] if as_json else []
    result = run("translate", "-k", "2", *flags, stdin=b"\n".join(lines) + b"\n")
    assert result.exit_code in (0, 1)
    assert not result.exception or isinstance(result.exception, SystemExit)
    assert result.stdout_bytes.count(b"\n") == len(lines)
    if as_json:
        for line in result.stdout_bytes.split(b"\n"):
            assert not line or json.loads(line)
    complaints = [line for line in result.stderr.split("\n") if line.startswith("lexbeam: line")]
    assert bool(complaints) == (result.exit_code == 1)


def test_an_impossible_constraint_spares_no_line_but_goes_on() -> None:
    result = run("translate", "-c", "\u200b", stdin="The cat\nThe dog\n")
    assert result.exit_code == 1
    assert result.stdout == "\n\n"
    assert [line.split(":")[1] for line in result.stderr.splitlines()] == [" line 1", " line 2"]


def test_a_byte_order_mark_is_no_text() -> None:
    assert run("translate", stdin=b"\xef\xbb\xbfThe cat\n").stdout == "The cat\n"


def test_a_damaged_model_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*_: Any) -> Translator:
        raise ModelError("model.bin is damaged: it ends too early")

    replace_load(monkeypatch, load)
    for command in (["translate", TEXT], ["info", "x"]):
        result = run(*command)
        assert result.exit_code == 1
        assert result.stderr == "lexbeam: model.bin is damaged: it ends too early\n"
        assert result.stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["translate", "--beam-size", "0", TEXT],
        ["translate", "--algorithm", "magic", TEXT],
        ["translate", "--prune", "-1", TEXT],
        ["translate", TEXT, "too much"],
        ["translate", "--json", "--tabs"],
        ["translate", "--ordered"],
        ["translate", "--no-such-option"],
        ["pull"],
        ["fly"],
    ],
)
def test_wrong_usage_is_status_2(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Error" in result.stderr


@pytest.mark.parametrize("command", [[], ["translate"], ["info"], ["pull"], ["models"], ["train"]])
def test_help_teaches_by_example(command: list[str]) -> None:
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert f"  lexbeam {' '.join(command)}".rstrip() in result.stdout
    assert "\\b" not in result.output


def test_help_says_of_each_command_what_it_says_itself() -> None:
    for name, help_ in COMMANDS.items():
        command = main.get_command(click.Context(main), name)
        assert command is not None
        assert command.name == name
        assert help_ == command.get_short_help_str(200)


def test_help_loads_no_command() -> None:
    code = "import sys; from lexbeam.cli.main import main; main(['--help'], standalone_mode=False)"
    code += "; print(*[name for name in sys.modules if name.startswith(('lexbeam', 'numpy'))])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = shown.stdout.splitlines()[-1].split()
    known = ["", ".cli", ".cli.main", ".cli.start", ".errors", ".version"]
    assert set(loaded) == {f"lexbeam{name}" for name in known}


def test_train_says_what_is_wrong_with_a_configuration(tmp_path: Path) -> None:
    config = tmp_path / "model.toml"
    config.write_text("directory = ")
    result = run("train", str(config))
    assert result.exit_code == 1
    assert result.stderr.startswith("lexbeam: ")
    assert "model.toml" in result.stderr
    assert run("train", str(tmp_path / "none.toml")).exit_code == 2
    config.write_text('directory = "run"\n[[data.train]]\npath = "text.tsv"\n')
    assert run("train", str(config), "--decay", "5", "--export").exit_code == 2
    result = run("train", str(config), "--decay", "5")
    assert result.exit_code == 1
    assert "no run has been started" in result.stderr
    assert "no checkpoint" in run("train", str(config), "--export").stderr


def test_info_shows_what_a_model_is() -> None:
    search, networks = kernel.describe(), compiled_network.describe()
    shown = f"name      echo\nkernel    {search}\nnetworks  {networks}\n"
    assert run("info", "x").stdout == shown
    facts = {"name": "echo", "kernel": search, "networks": networks}
    assert json.loads(run("info", "x", "--json").stdout) == facts


def test_models_lists_what_was_pulled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LEXBEAM_HOME", str(tmp_path))
    assert run("models").stdout == ""
    folder = tmp_path / "models" / "en-de"
    folder.mkdir(parents=True)
    (folder / registry.METADATA).write_text('{"architecture": "tiny", "version": "12ab"}')
    assert run("models").stdout == f"en-de\ttiny\t12ab\t{folder}\n"


def test_models_lists_what_can_be_pulled(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"architecture": "tiny", "releaseStatus": "Release", "files": {}}
    offered = registry.Registry.read("http://x/models.json", {"models": {"en-de": [entry]}})
    monkeypatch.setattr(registry.Registry, "fetch", lambda _url: offered)
    version = offered.choose("en-de").version
    assert run("models", "--available").stdout == f"en-de\ttiny (Release, {version})\n"


def test_pull_prints_where_the_model_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def pull(*arguments: Any) -> Path:
        pair, url, architecture, progress, force, version = arguments
        assert (pair, url, architecture) == ("en-de", "http://mirror/x.json", "tiny")
        assert (force, version) == (True, "12ab")
        progress("model.bin", 1, 2)
        return tmp_path

    monkeypatch.setattr(registry, "pull", pull)
    arguments = ("--registry", "http://mirror/x.json", "--architecture", "tiny", "--force")
    result = run("pull", "en-de", *arguments, "--version", "12ab")
    assert result.stdout == f"{tmp_path}\n"


# --- as a process of its own -----------------------------------------------------------------

SLOW = """
    import signal, sys, time
    from lexbeam.cli import main, translate
    from lexbeam.translation.results import Translation

    # Where tests run in the background, interrupts may be ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    class SlowTranslator:
        info = {}
        def translate_each(self, requests):
            if "wait" in [request.text for request in requests]:
                time.sleep(60)
            return [Translation(request.text.upper(), -1.0) for request in requests]

    translate.load = lambda *_: SlowTranslator()
    main.main(sys.argv[1:])
"""


def start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SLOW), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_answers_come_before_the_input_ends() -> None:
    with start("translate") as process:
        assert process.stdin
        assert process.stdout
        for word in (b"one\n", b"two\n"):
            process.stdin.write(word)
            process.stdin.flush()
            assert process.stdout.readline() == word.upper()
        process.stdin.close()
        assert process.wait(30) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals work differently there")
def test_an_interrupt_keeps_what_was_printed() -> None:
    with start("translate") as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(b"one\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"ONE\n"
        process.stdin.write(b"wait\n")
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stdout.read() == b""
        assert process.stderr.read() == b""


@pytest.mark.skipif(sys.platform == "win32", reason="pipes work differently there")
@pytest.mark.parametrize("interrupts", [1, 2])
def test_an_interrupt_waits_for_a_reader_until_there_is_another(interrupts: int) -> None:
    with start("translate") as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"".join(b"x" * 50_000 + b"\n" for _ in range(3)))
        process.stdin.flush()
        wait_for_full(process.stdout.fileno())
        process.send_signal(signal.SIGINT)
        if interrupts == 2:
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
        else:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.3)
            lines = process.stdout.read().split(b"\n")
            assert process.wait(30) == 130
            assert lines.pop() == b""
            assert lines
            assert set(lines) == {b"X" * 50_000}


def wait_for_full(pipe: int) -> None:
    """Wait until nothing more fits into a pipe."""
    unread, end = 0, time.monotonic() + 30
    while unread < 60_000:
        assert time.monotonic() < end
        time.sleep(0.05)
        unread = int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4), sys.byteorder)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes work differently there")
def test_nobody_reading_is_no_reason_to_shout() -> None:
    with start("translate") as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write(b"one\n")
        process.stdin.close()
        assert process.wait(30) == 1
        assert process.stderr.read() == b""


def test_a_glossary_and_what_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "terms.csv"
    path.write_text("cat,gato\nmat\n", encoding="utf-8")
    lines = '{"text": "The cat %s sat."}\n{"text": "The dog."}\n'
    result = run(
        "translate", "--glossary", str(path), "--keep", "placeholders", "--json", stdin=lines
    )
    assert result.exit_code == 0
    first, second = records(result)
    assert [(c["text"], c["met"]) for c in first["constraints"]] == [("%s", True), ("gato", True)]
    assert second["constraints"] == []
    assert result.stderr == f'lexbeam: {path}:2: error: "mat" has no target term\n'


def test_a_glossary_that_cannot_be_used_is_one_line_of_error(tmp_path: Path) -> None:
    path = tmp_path / "terms.csv"
    path.write_bytes("size,Größe\n".encode("cp1252"))
    result = run("translate", "--glossary", str(path), TEXT)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"lexbeam: {path}: line 1 is not utf-8")
    named = run("translate", "--glossary", str(path), "--glossary-encoding", "cp1252", TEXT)
    assert named.exit_code == 0


def test_a_glossary_of_other_languages_is_one_line_of_error(tmp_path: Path) -> None:
    path = tmp_path / "terms.csv"
    path.write_text("en,de\ncat,Katze\n", encoding="utf-8")
    result = run("translate", "--glossary", str(path), stdin="The cat.\nThe dog.\n")
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"lexbeam: {path} has terms in de, en: which is the source language?" in result.stderr
    assert result.stderr.count("\n") == 1


def test_patterns_that_are_none_are_one_line_of_error() -> None:
    result = run("translate", "--keep", "(", TEXT)
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "neither a regular expression" in result.stderr


def test_alignments(attending_translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_load(monkeypatch, lambda *_: attending_translator)
    result = run("translate", "--alignments", stdin="The cat.\n\nThe mat\n")
    assert result.stdout == "The cat. ||| 0-0 1-1\n\nThe mat ||| 0-0 1-1\n"
    result = run("translate", "--alignments", "-n", "2", "The cat.")
    assert result.stdout.splitlines()[0].startswith("1 ||| The cat. ||| -0.")
    assert result.stdout.splitlines()[0].endswith(" ||| 0-0 1-1")
    (record,) = records(run("translate", "--alignments", "--json", "The cat"))
    assert record["alignment"][1] == {"source": [4, 7], "target": [4, 7]}


def test_alignments_of_a_model_that_can_not_say_them() -> None:
    result = run("translate", "--alignments", TEXT)
    assert result.exit_code == 1
    assert "can't say which source words" in result.stderr


def test_a_missing_extra_is_said_once_before_any_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = MissingExtraError("looking up the forms of words", "glossary")
    find_languages = Mock(side_effect=missing)
    monkeypatch.setattr("lexbeam.constraints.glossary.glossary.languages", find_languages)
    path = tmp_path / "terms.csv"
    path.write_text("source,target\ncat,gato\n", encoding="utf-8")
    arguments = ("translate", "--glossary", str(path), "--glossary-lemmas")
    result = run(*arguments, stdin="The cat\nThe dog\n")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    assert 'pip install "lexbeam[glossary]"' in result.stderr


def test_a_report_lists_every_constraint(tmp_path: Path) -> None:
    glossary, report = tmp_path / "terms.csv", tmp_path / "report.tsv"
    glossary.write_text("source,target\ncat,gato\n", encoding="utf-8")
    arguments = ("translate", "--glossary", str(glossary), "--report", str(report), "-c", "casa")
    result = run(*arguments, stdin="The cat\nThe dog\n")
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == 2
    assert result.stderr == f"3 of 3 constraints met; see {report}\n"
    head, *rows = (line.split("\t") for line in report.read_text("utf-8").splitlines())
    table = [dict(zip(head, row, strict=True)) for row in rows]
    assert sorted((row["place"], row["form"]) for row in table) == [
        ("1", "casa"),
        ("1", "gato"),
        ("2", "casa"),
    ]
    assert table
    assert all(float(row["cost"]) >= 0 for row in table)
    wrong = run("translate", "The cat", "--report", "report.pdf")
    assert wrong.exit_code == 2
    assert ".html or .tsv" in wrong.stderr
    nowhere = run("translate", "The cat", "--report", str(glossary / "r.tsv"))
    assert nowhere.exit_code == 1
    assert "can't be written" in nowhere.stderr
