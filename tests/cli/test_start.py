"""The command as a process of its own, with something wrong around it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full and signals")

LINES = '{"text": 3}\n{"text": "Hello."}\n'


def shell(command: str, given: str = LINES) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which $LEXBEAM is the command."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment["LEXBEAM"] = f"{sys.executable} -m lexbeam"
    return subprocess.run(
        ["bash", "-c", command],
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )


@pytest.mark.parametrize("errors", ["2>/dev/full", "2>&-", "2> >(true)"])
def test_standard_error_that_takes_nothing_loses_no_output(errors: str) -> None:
    done = shell(f"$LEXBEAM translate --json {errors}")
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["line"], second["translation"]) == (1, "Hallo!")
    assert done.returncode == 1


def test_no_lines_are_no_failure_without_standard_error() -> None:
    assert shell("$LEXBEAM translate 2>&-", "").returncode == 0


def test_a_wrong_option_keeps_its_status_without_standard_error() -> None:
    assert shell("$LEXBEAM translate --sideways 2>/dev/full").returncode == 2


@pytest.mark.parametrize("command", ["translate", "translate Hello.", "info", "--help"])
@pytest.mark.parametrize(
    ("output", "reason"),
    [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")],
)
def test_output_that_can_not_be_written_is_one_line(command: str, output: str, reason: str) -> None:
    done = shell(f"$LEXBEAM {command} {output}", "Hello.\n")
    assert done.stderr == f"lexbeam: standard output: {reason}\n"
    assert done.returncode == 1


def test_input_that_can_not_be_read_is_one_line() -> None:
    done = shell("$LEXBEAM translate <&-")
    assert done.stderr == "lexbeam: can't read the input: [Errno 9] Bad file descriptor\n"
    assert (done.stdout, done.returncode) == ("", 1)


def test_a_closed_stream_is_not_taken_for_the_first_file_that_is_opened() -> None:
    done = shell("$LEXBEAM translate Hello. <&- 2>&-")
    assert (done.stdout, done.returncode) == ("Hallo!\n", 0)


def test_nobody_reading_ends_the_run_quietly() -> None:
    done = shell("$LEXBEAM translate | head -n 1; echo ${PIPESTATUS[0]}", "Hello.\n" * 300)
    assert done.stdout in ("Hallo!\n1\n", "Hallo!\n0\n")
    assert done.stderr == ""


@pytest.mark.parametrize("module", ["lexbeam.cli.start", "click", "numpy", "onnxruntime"])
def test_an_interrupt_during_import_says_nothing(module: str) -> None:
    """The process is stopped exactly when a module is about to be imported."""
    code = f"""
import importlib.abc, os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Interrupt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
sys.argv = ["lexbeam", "translate", "Hello."]
runpy.run_module("lexbeam", run_name="__main__", alter_sys=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode in (-signal.SIGINT, 130)
    assert (done.stdout, done.stderr) == ("", "")


def test_an_interrupt_that_a_module_turns_into_an_error_says_nothing() -> None:
    """As that of ONNX Runtime does, which is imported when a model is loaded."""
    code = """
import importlib.abc, runpy, sys
class Interrupt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "onnxruntime":
            raise ImportError("initialization failed") from KeyboardInterrupt()
sys.meta_path.insert(0, Interrupt())
sys.argv = ["lexbeam", "translate", "Hello."]
runpy.run_module("lexbeam", run_name="__main__", alter_sys=True)
"""
    done = shell(f"{sys.executable} -c '{code}'")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 130)


def test_an_interrupt_that_is_ignored_stays_so() -> None:
    """A job in the background of a script goes on when the script is interrupted."""
    command = "trap '' INT; exec $LEXBEAM translate"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment["LEXBEAM"] = f"{sys.executable} -m lexbeam"
    with subprocess.Popen(
        ["bash", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdin
        assert process.stdout
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.stdin.write(b"Hello.\n")
        process.stdin.close()
        assert process.stdout.read() == b"Hallo!\n"
        assert process.wait(60) == 0
