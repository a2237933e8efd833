from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("thot")

import lexbeam
from helpers.networks import TINY, random_weights
from helpers.toy_training import WORDS, write_toy_run
from lexbeam.cli.main import main
from lexbeam.errors import InputError
from lexbeam.models import bundle, shortlist
from lexbeam.train import shortlist as made
from lexbeam.train.alignment import Links
from lexbeam.train.config import ShortlistConfig
from lexbeam.train.vocabulary import SentencePieces, train_sentencepiece

PIECES = ["</s>", "<unk>", "▁a", "b", "▁c", "▁X", "y", "▁Z", "▁c's"]
SIDE = made.make_side(PIECES, 0)


def links(*pairs: tuple[int, int]) -> Links:
    return np.array(pairs, np.int16).reshape(-1, 2)


def unpack(content: bytes, size: int = len(PIECES)) -> shortlist.Shortlist:
    return shortlist.parse(content, Path("lists"), size, size)


def test_all_tokens_of_a_word_have_all_tokens_of_its_translations() -> None:
    counts = made.TranslationCounts(SIDE, SIDE)
    counts.add([2, 3, 4], [5, 6, 7], links((0, 0), (1, 1)))  # "ab c" is "Xy Z"
    lists = unpack(made.make_shortlist(counts, (SIDE, SIDE), ShortlistConfig(9, 0), 0))
    assert lists.candidates([2], []).tolist() == [2, 5, 6]
    assert lists.candidates([3, 0], []).tolist() == [0, 3, 5, 6]
    assert lists.candidates([4], []).tolist() == [4, 7]


def test_the_most_frequent_translations_are_listed_and_the_most_frequent_tokens_for_all() -> None:
    counts = made.TranslationCounts(SIDE, SIDE)
    for times, token in ((3, 5), (1, 7), (2, 6), (9, 8)):
        for _ in range(times):
            counts.add([4], [token], links((0, 0)))
    lists = unpack(made.make_shortlist(counts, (SIDE, SIDE), ShortlistConfig(2, 1), always=0))
    assert lists.candidates([4], []).tolist() == [4, 5, 6]  # 7 is rarer, 8 is for all
    assert lists.candidates([2, 0], [7]).tolist() == [0, 2, 7, 8]


def test_counting_in_parts_is_counting_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, parts = (made.TranslationCounts(SIDE, SIDE) for _ in range(2))
    pairs = [([2, 3], [5, 6], links((0, 0))), ([4], [], links()), ([2, 4], [7], links((1, 0)))] * 3
    for pair in pairs:
        whole.add(*pair)
    monkeypatch.setattr(made, "AT_ONCE", 1)
    for pair in pairs:
        parts.add(*pair)
    none = np.zeros(0, np.int64)
    found, expected = ([ids.tolist() for ids in each.best(9, none)] for each in (parts, whole))
    assert found == expected
    assert any(found)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bundle of a random network with a vocabulary that can spell the toy language."""
    prefix = tmp_path / "toy"
    text = [" ".join([*WORDS, *WORDS.values()])] * 50
    train_sentencepiece(text, 495, prefix, 1)
    size = SentencePieces(prefix.with_suffix(".model")).size
    config = type(TINY)(size, size, dim=16, heads=2, encoder_layers=1, decoder_layers=1)
    bundle.write(config, random_weights(config), prefix.with_suffix(".model"), tmp_path / "bundle")
    return tmp_path / "bundle"


def write_text(path: Path) -> Path:
    words = list(WORDS)
    lines = []
    for i in range(300):
        some = [words[(i * step + step) % len(words)] for step in (1, 5, 7)]
        lines.append(f"{' '.join(some)}\t{' '.join(WORDS[word] for word in some)}\n")
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_a_bundle_gets_a_shortlist_from_parallel_text(folder: Path, tmp_path: Path) -> None:
    config = ShortlistConfig(translations=9, frequent=0, sample=64, longest=80)
    made.add_shortlist(folder, write_text(tmp_path / "text.tsv"), config)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert [manifest[name] for name in ("format", "sample", "longest")] == [4, 64, 80]
    model = bundle.load(folder)
    lists = unpack((folder / "shortlist.bin").read_bytes(), len(model.source))
    for source, target in WORDS.items():
        listed = lists.candidates(model.encode(source), [])
        assert set(model.target.encode(target)) <= set(listed.tolist())
    assert len(lists.candidates(model.encode("dog"), [])) < 40
    translator = lexbeam.load(folder)
    assert "Baum" in translator.translate("big dog", constraints=["Baum"]).text


def test_text_that_is_not_parallel_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text.tsv").write_text("one\n", encoding="utf-8")
    with pytest.raises(InputError, match="1 columns"):
        made.add_shortlist(folder, tmp_path / "text.tsv")
    assert not (folder / "shortlist.bin").exists()


def test_imported_models_get_one_on_the_command_line(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from helpers import checkpoints  # noqa: PLC0415  (needs them)

    checkpoints.marian(tmp_path / "opus")
    text, out = write_text(tmp_path / "text.tsv"), tmp_path / "out"
    arguments = ["import", "hf", str(tmp_path / "opus"), str(out), "--shortlist"]
    done = CliRunner().invoke(main, [*arguments, str(text)])
    assert (done.exit_code, done.stdout) == (0, f"{out}\n")
    shown = CliRunner().invoke(main, ["info", str(out), "--json"])
    assert json.loads(shown.output)["shortlist"] is True
    translator = lexbeam.load(out)
    assert "Baum" in translator.translate("big dog", constraints=["Baum"]).text
    text.write_text("one\n", encoding="utf-8")
    failed = CliRunner().invoke(main, [*arguments, str(text)])
    assert failed.exit_code == 1
    assert "text.tsv, line 1" in failed.stderr


def test_training_makes_one_if_asked(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("sacrebleu")
    config = write_toy_run(tmp_path / "run", 12)
    wanted = "[shortlist]\ntranslations = 5\nfrequent = 0\nlongest = 60\nsample = 32\n"
    config.write_text(config.read_text(encoding="utf-8") + wanted, encoding="utf-8")
    done = CliRunner().invoke(main, ["train", str(config)])
    assert done.exit_code == 0, done.output
    folder = config.parent / "run" / "bundle"
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert [manifest[name] for name in ("format", "sample", "longest")] == [4, 32, 60]
    model = bundle.load(folder)
    lists = unpack((folder / "shortlist.bin").read_bytes(), len(model.source))
    listed = set(lists.candidates(model.encode("dog"), []).tolist())
    assert set(model.target.encode("Hund")) <= listed
    assert len(listed) < 40
