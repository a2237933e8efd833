"""Training from end to end on a toy language, killed and resumed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("sacrebleu")

import lexbeam
from helpers.toy_training import write_toy_run
from lexbeam.errors import InputError
from lexbeam.models import bundle
from lexbeam.search.beam_search import decode
from lexbeam.text.word_boundaries import contains
from lexbeam.train import run
from lexbeam.train.evaluate import bleu

STEPS = 160


def read_log(config: Path) -> list[dict[str, Any]]:
    lines = (config.parent / "run" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def start_and_kill(config: Path, step: int) -> None:
    """Start a run in another process and kill it, without warning, once it has got somewhere."""
    code = f"import lexbeam.train; lexbeam.train.run({str(config)!r})"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    log = config.parent / "run" / "log.jsonl"
    while process.poll() is None and not (log.exists() and f'"step": {step},' in log.read_text()):
        time.sleep(0.01)
    assert process.poll() is None, "the run ended before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = write_toy_run(tmp_path_factory.mktemp("whole"), STEPS)
    assert run(config) == config.parent / "run" / "bundle"
    return config


def test_the_toy_language_is_learned(whole: Path) -> None:
    scores = json.loads((whole.parent / "run" / "scores.json").read_text())
    assert scores["dev"] > 60
    assert scores["dev+rand1"] > 60
    losses = [entry["dev_loss"] for entry in read_log(whole) if "dev_loss" in entry]
    assert losses[-1] < 0.3 < losses[0]


def test_the_bundle_translates_as_the_network_did(whole: Path) -> None:
    model = bundle.load(whole.parent / "run" / "bundle")
    assert (model.info["source_language"], model.info["target_language"]) == ("en", "de")
    lines = (whole.parent / "dev.tsv").read_text(encoding="utf-8").splitlines()
    sources, references = zip(*(line.split("\t") for line in lines), strict=True)
    encoded = [model.encode(source) for source in sources]
    found = decode(model.engine, encoded, beam_size=5, max_length=60)
    outputs = [model.decode(best[0].tokens) for best in found]
    scores = json.loads((whole.parent / "run" / "scores.json").read_text())
    assert bleu(outputs, references) == pytest.approx(scores["dev"], abs=10)


def test_killed_and_resumed_gives_the_same_log(whole: Path, tmp_path: Path) -> None:
    config = write_toy_run(tmp_path, STEPS)
    start_and_kill(config, step=35)
    start_and_kill(config, step=80)
    run(config)
    assert read_log(config) == read_log(whole)


def test_a_raised_budget_goes_on_from_before_the_decay(tmp_path: Path) -> None:
    config = write_toy_run(tmp_path, 40)
    run(config)
    config.write_text(config.read_text().replace("max_steps = 40", "max_steps = 60"))
    run(config)
    prolonged = read_log(config)
    straight = write_toy_run(tmp_path / "straight", 60)
    run(straight)
    assert prolonged == read_log(straight)
    rates = [entry["learning_rate"] for entry in prolonged if "learning_rate" in entry]
    assert rates[7] == max(rates) > rates[-1]


def test_a_run_goes_on_only_as_what_it_was(whole: Path) -> None:
    changed = whole.with_name("changed.toml")
    changed.write_text(whole.read_text().replace("dim = 32", "dim = 64"))
    with pytest.raises(InputError, match="another `network`"):
        run(changed)


def test_the_rnn_learns_in_the_same_loop(tmp_path: Path) -> None:
    config = write_toy_run(tmp_path, STEPS, kind="rnn")
    path = run(config)
    assert path is not None
    assert bundle.load(path).engine.vocabulary_size == 510
    losses = [entry["dev_loss"] for entry in read_log(config) if "dev_loss" in entry]
    assert losses[-1] < 0.8 * losses[0]


def test_moses_tokens_and_bpe_make_a_bundle_too(tmp_path: Path) -> None:
    pytest.importorskip("sacremoses")
    pytest.importorskip("subword_nmt")
    path = run(write_toy_run(tmp_path, STEPS, vocabulary="moses-bpe", size=108))
    assert path == tmp_path / "run" / "bundle"
    scores = json.loads((path.parent / "scores.json").read_text())
    assert min(scores["dev"], scores["dev+rand1"]) > 60
    translator = lexbeam.load(path)
    assert translator.info["vocabulary"] == "moses-bpe"
    free = translator.translate("one red house and two cat")
    assert free.text == "eins rot Haus und zwei Katze"
    found = translator.translate(
        "one red house and two cat", ["blau/rot", '"Baum"', "Bau"], avoid=["zwei"], prefix="Ei"
    )
    assert all(report.met for report in found.constraints)
    for phrase in ("blau/rot", '"Baum"', "Bau"):
        assert contains(found.text, phrase)
    assert found.text.startswith("Ei")
    assert not contains(found.text, "zwei")


def test_too_long_text_is_refused_before_training(tmp_path: Path) -> None:
    config = write_toy_run(tmp_path, STEPS)
    config.write_text(config.read_text().replace("max_tokens = 64", "max_tokens = 2"))
    with pytest.raises(InputError, match=r"data\.max_tokens = 2"):
        run(config)
