from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import lexbeam
from lexbeam.cli.main import main
from lexbeam.errors import InputError
from lexbeam.models import bundle
from lexbeam.train import heads
from lexbeam.train.heads import Head, keep_head, rank_heads

EMBEDDED = Path(lexbeam.__file__).parent / "models" / "embedded" / "en-de"
WORDS = {"cat": "Katze", "dog": "Hund", "house": "Haus", "book": "Buch", "sees": "sieht"}
PAIRS = [
    (f"The {one} sees the {other}.", f"{WORDS[two]} sieht {WORDS[other]}.")
    for one in list(WORDS)[:4]
    for two in [one]
    for other in list(WORDS)[:4]
] * 7


def head_of(folder: Path) -> dict[str, int]:
    alignment: dict[str, int] = json.loads((folder / "manifest.json").read_text())["alignment"]
    return alignment


def test_an_aligner_links_words() -> None:
    examples = heads._align(PAIRS)
    linked = [
        (example.source[slice(*source)], example.target[slice(*target)])
        for example in examples
        for source, target in example.links
    ]
    right = [WORDS.get(source) == target for source, target in linked if source in WORDS]
    assert len(examples) == heads.TRIED
    assert np.mean(right) > 0.9


def test_the_trained_head_attends_to_what_it_translates(tmp_path: Path) -> None:
    source, target = "The new file was deleted.", "Die neue Datei wurde gelöscht."
    words = {"new": "neue", "file": "Datei", "deleted": "gelöscht"}
    links = [
        ((source.index(s), source.index(s) + len(s)), (target.index(t), target.index(t) + len(t)))
        for s, t in words.items()
    ]
    examples = [heads._Example(source, target, links)]
    trained = list(heads._shares(bundle.load(EMBEDDED), examples))
    assert len(trained) == 3
    assert 0.4 < np.mean(trained) <= 1
    manifest = json.loads((EMBEDDED / "manifest.json").read_text())
    heads._link(EMBEDDED, tmp_path / "copy", manifest | {"alignment": {"layer": 0, "head": 1}})
    other = list(heads._shares(bundle.load(tmp_path / "copy"), examples))
    assert np.mean(other) < np.mean(trained)


def test_the_best_head_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in EMBEDDED.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    tried = iter([*np.linspace(0.1, 0.5, 11), 0.9, *np.full(99, 0.2)])
    monkeypatch.setattr(bundle, "load", lambda _: None)
    monkeypatch.setattr(heads, "_shares", lambda *_: [next(tried)])
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join("\t".join(pair) + "\n" for pair in PAIRS), encoding="utf-8")
    found = CliRunner().invoke(main, ["import", "heads", str(tmp_path), str(pairs)])
    assert found.exit_code == 0, found.output
    assert found.output.splitlines()[0] == "layer 1 head 3  0.900"
    assert head_of(tmp_path) == {"layer": 1, "head": 3}
    keep_head(tmp_path, Head(0, 2, 1.0))
    assert head_of(tmp_path) == {"layer": 0, "head": 2}
    monkeypatch.undo()
    assert bundle.load(tmp_path).info["alignment"] == {"layer": 0, "head": 2}
    pairs.write_text("one line without a tab\n", encoding="utf-8")
    found = CliRunner().invoke(main, ["import", "heads", str(tmp_path), str(pairs)])
    assert found.exit_code == 2
    assert "pair 1 is not a source, a tab, a translation" in found.output


def test_few_pairs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2 pairs are too few to align"):
        rank_heads(tmp_path, PAIRS[:2])
