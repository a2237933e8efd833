"""Training from end to end on a toy language, killed and resumed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sacrebleu")

import lexbeam
from helpers.toy_training import write_toy_run
from lexbeam.errors import InputError
from lexbeam.models import bundle
from lexbeam.search.beam_search import decode
from lexbeam.text.word_boundaries import contains
from lexbeam.train import checkpoint, decay, export_bundle, run
from lexbeam.train.config import read_config
from lexbeam.train.evaluate import bleu
from lexbeam.train.networks import make_network
from lexbeam.train.pipeline import prepare
from lexbeam.train.words import PieceWords

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


def test_killed_before_the_first_checkpoint_it_begins_anew(whole: Path, tmp_path: Path) -> None:
    config = write_toy_run(tmp_path, STEPS)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "log.jsonl").write_text('{"step": 5, "loss": 6.5}\n{"step": 10, "lo')
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


@pytest.mark.parametrize("kind", ["transformer", "rnn"])
def test_attention_learns_the_alignment(tmp_path: Path, kind: str) -> None:
    """The toy language keeps the order of words, so each piece must look at its own word."""
    pytest.importorskip("thot")
    head = 2 if kind == "transformer" else 0
    shares = []
    for weight in (0.5, 1e-9):
        config = write_toy_run(tmp_path / str(weight), STEPS, kind=kind)
        aligning = f"[alignment]\nweight = {weight}\nhead = {head}\n"
        config.write_text(config.read_text() + aligning)
        path = run(config)
        assert path is not None
        layer = 1 if kind == "transformer" else 0
        assert bundle.load(path).info["alignment"] == {"layer": layer, "head": head}
        shares.append(share_on_the_diagonal(config, head))
    assert shares[0] > 0.9
    assert shares[1] < 0.85


def share_on_the_diagonal(path: Path, head: int) -> float:
    """Return how many words of the development set look at the word in their own place."""
    import torch  # noqa: PLC0415

    config = read_config(path)
    material = prepare(config)
    network = make_network(config.network, material.vocabulary.size)
    network.load_state_dict(checkpoint.load(Path(config.directory) / "average.pt")["network"])
    network.eval()
    words = PieceWords(material.vocabulary.pieces)
    hits = total = 0
    for source, target in material.dev[0][1]:
        ids = [[*side, 0] for side in material.vocabulary.encode([source, target])]
        numbers = [words.begins(np.array(side)).cumsum() - 1 for side in ids]
        sides = [torch.tensor([side]) for side in ids]
        lengths = [torch.tensor([len(side)]) for side in ids]
        guide = torch.zeros(1, len(ids[1]), len(ids[0]))
        losses = network(sides[0], lengths[0], sides[1], lengths[1], 0.0, guide, head)
        assert losses.guided.item() == 0
        looked_at = numbers[0][losses.attention[0].argmax(dim=1).numpy()]
        hits += int((looked_at == numbers[1])[:-1].sum())
        total += len(ids[1]) - 1
    return hits / total


def test_a_run_is_exported_and_told_to_end_while_it_goes_on(tmp_path: Path) -> None:
    config = write_toy_run(tmp_path, 1_000_000)
    config.write_text(config.read_text() + "ema = 0.9\n")
    with pytest.raises(InputError, match="no run has been started"):
        decay(config, 1)
    with pytest.raises(InputError, match="no checkpoint"):
        export_bundle(config)
    start_and_kill(config, step=80)
    found = lexbeam.load(export_bundle(config)).translate("one red house")
    assert found.text
    decay(config, 0.05)
    assert run(config) == tmp_path / "run" / "bundle"
    rates = [entry["learning_rate"] for entry in read_log(config) if "learning_rate" in entry]
    assert max(rates) == pytest.approx(8e-3)
    assert rates[-1] < 4e-3
    assert json.loads((tmp_path / "run" / "scores.json").read_text())["dev"] > 30


def test_a_run_starts_from_a_bundle(whole: Path, tmp_path: Path) -> None:
    config = write_toy_run(tmp_path, 5)
    start = f'start = "{whole.parent / "run" / "bundle"}"\n'
    text = config.read_text().replace("validate_every = 40", "validate_every = 5")
    config.write_text(text.replace("learning_rate = 8e-3", "learning_rate = 1e-7") + start)
    run(config)
    (loss,) = [entry["dev_loss"] for entry in read_log(config) if "dev_loss" in entry]
    assert loss < 0.4


def test_too_long_text_is_refused_before_training(tmp_path: Path) -> None:
    config = write_toy_run(tmp_path, STEPS)
    config.write_text(config.read_text().replace("max_tokens = 64", "max_tokens = 2"))
    with pytest.raises(InputError, match=r"data\.max_tokens = 2"):
        run(config)
