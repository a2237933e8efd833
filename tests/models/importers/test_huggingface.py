from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import transformers
from click.testing import CliRunner

import lexbeam
from helpers import checkpoints
from helpers.attention import attention_of
from lexbeam.cli.main import main
from lexbeam.errors import InputError, ModelError, SettingError
from lexbeam.models import bundle
from lexbeam.models.importers.huggingface import import_checkpoint
from lexbeam.models.model import Model
from lexbeam.search.beam_search import decode

SENTENCES = ["the old cat sat on the map", "five boxes", "she slept, and the king ran from the dog"]
LANGUAGES = {"source_language": "en", "target_language": "de"}
NLLB_LANGUAGES = {"source_language": "eng_Latn", "target_language": "deu_Latn"}
MBART_LANGUAGES = {"source_language": "en_XX", "target_language": "de_DE"}


class Family(NamedTuple):
    make: Callable[[Path], Any]
    wishes: Mapping[str, str] = MappingProxyType({})
    tokenizer: str = ""


FAMILIES = {
    "marian": Family(checkpoints.marian, {}, "MarianTokenizer"),
    "marian, apart": Family(checkpoints.marian_apart),
    "m2m": Family(checkpoints.m2m, LANGUAGES, "M2M100Tokenizer"),
    "nllb": Family(checkpoints.nllb, NLLB_LANGUAGES),
    "mbart": Family(checkpoints.mbart, MBART_LANGUAGES, "MBartTokenizer"),
    "mbart50": Family(checkpoints.mbart50, MBART_LANGUAGES, "MBart50Tokenizer"),
    "bart": Family(checkpoints.bart),
    "t5": Family(checkpoints.t5, {}, "T5Tokenizer"),
    "t5, gated": Family(checkpoints.t5_gated, {}, "T5Tokenizer"),
}


class Imported(NamedTuple):
    family: Family
    theirs: Any
    checkpoint: Path
    bundle: Path
    ours: Model


@pytest.fixture(scope="module", params=FAMILIES)
def imported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Imported:
    folder = tmp_path_factory.mktemp(request.param.replace(", ", "-"))
    family = FAMILIES[request.param]
    theirs = family.make(folder / "checkpoint")
    out = import_checkpoint(folder / "checkpoint", folder / "bundle", "float32", **family.wishes)
    return Imported(family, theirs, folder / "checkpoint", out, bundle.load(out))


def log_probs(model: Any, sources: list[list[int]], outputs: list[list[int]]) -> Any:
    """Return the network's own log-probabilities after each token of forced outputs."""
    width = max(map(len, sources))
    ids = [source + [model.config.pad_token_id] * (width - len(source)) for source in sources]
    mask = [[int(i < len(source)) for i in range(width)] for source in sources]
    with torch.no_grad():
        logits = model(
            input_ids=torch.tensor(ids),
            attention_mask=torch.tensor(mask),
            decoder_input_ids=torch.tensor(outputs),
        ).logits
    return logits.log_softmax(-1).numpy()


def test_every_step_is_that_of_the_network(imported: Imported) -> None:
    model, engine = imported.ours, imported.ours.engine
    rng = np.random.default_rng(2)
    rows, length = len(SENTENCES), 30
    sources = [model.encode(sentence) for sentence in SENTENCES]
    outputs = rng.integers(4, 60, (rows, length))
    begun = [[*model.framing.output_start, *output] for output in outputs.tolist()]
    expected = log_probs(imported.theirs, sources, begun)[:, len(model.framing.output_start) - 1 :]
    everything = np.tile(np.arange(engine.vocabulary_size), (rows, 1))
    none = np.zeros((rows, 0), np.int64)
    for batch in ([0, 1, 2], [1]):
        state = engine.start([sources[i] for i in batch], [[]] * len(batch))
        token, every, no = np.full(len(batch), engine.bos), everything[batch], none[batch]
        for place in range(length):
            scores = engine.step(state, token, np.arange(len(batch)), every, no, 1)
            np.testing.assert_allclose(scores.ask_scores, expected[batch, place], atol=1e-4)
            state, token = scores.state, outputs[batch, place]


def test_attention_is_that_of_the_network(imported: Imported) -> None:
    model, start = imported.ours, imported.ours.framing.output_start
    sources = [model.encode(sentence) for sentence in SENTENCES]
    outputs = np.random.default_rng(3).integers(4, 60, (len(sources), 6)).tolist()
    imported.theirs.set_attn_implementation("eager")
    for source, output, rows in zip(
        sources, outputs, attention_of(model.engine, sources, outputs), strict=True
    ):
        with torch.no_grad():
            theirs = imported.theirs(
                input_ids=torch.tensor([source]),
                decoder_input_ids=torch.tensor([[*start, *output]]),
                output_attentions=True,
            ).cross_attentions[-1]
        expected = theirs[0].mean(dim=0).numpy()[len(start) - 1 :]
        np.testing.assert_allclose(rows[:, : len(source)], expected, atol=1e-5)
        assert not rows[:, len(source) :].any()


def test_the_aligned_head_is_found_where_the_model_card_names_it(
    copy: Path, tmp_path: Path
) -> None:
    plain = bundle.load(import_checkpoint(copy, tmp_path / "plain", "float32"))
    (copy / "README.md").write_bytes(b"* model: transformer-align\n\xff")
    aligned = bundle.load(import_checkpoint(copy, tmp_path / "aligned", "float32"))
    assert "alignment" not in plain.info
    layers = json.loads((copy / "config.json").read_text("utf-8"))["decoder_layers"]
    assert aligned.info["alignment"] == {"layer": layers - 1, "head": 0}
    sources, outputs = [plain.encode(SENTENCES[0])], [[5, 6]]
    (mean,) = attention_of(plain.engine, sources, outputs)
    (head,) = attention_of(aligned.engine, sources, outputs)
    assert not np.allclose(mean, head, atol=1e-3)


def test_beam_search_is_that_of_generate(imported: Imported) -> None:
    """Nothing ends before the limit, so what comes out is all that is on the beam there."""
    model, theirs = imported.ours, imported.theirs
    start = list(model.framing.output_start)
    for sentence in SENTENCES:
        source = model.encode(sentence)
        found = theirs.generate(
            input_ids=torch.tensor([source]),
            decoder_input_ids=torch.tensor([start]),
            decoder_start_token_id=start[0],
            forced_bos_token_id=None,
            num_beams=4,
            num_return_sequences=4,
            max_new_tokens=12,
        )
        (beam,) = decode(model.engine, [source], beam_size=4, nbest=4, prune=None, max_length=12)
        expected = sorted(sequence.tolist()[len(start) :] for sequence in found)
        assert sorted(hypothesis.tokens for hypothesis in beam) == expected


def test_text_is_cut_as_by_the_tokenizer(imported: Imported) -> None:
    name = imported.family.tokenizer
    if not name:
        pytest.skip("transformers makes no tokenizer of these files alone")
    wishes = imported.family.wishes
    tokenizer = getattr(transformers, name).from_pretrained(
        imported.checkpoint, src_lang=wishes.get("source_language")
    )
    for sentence in [*SENTENCES, "Katze ÿ"]:
        assert imported.ours.encode(sentence) == tokenizer(sentence).input_ids


def test_phrases_are_placed(imported: Imported) -> None:
    translator = lexbeam.load(imported.bundle)
    results = translator.translate(
        SENTENCES, [["Katze", "alten Stadt"], [], ["Haus"]], beam_size=5, max_length=30
    )
    assert [len(result.constraints) for result in results] == [2, 0, 1]
    for result in results:
        for report in result.constraints:
            assert report.span is not None
            assert result.text[slice(*report.span)] == report.text


@pytest.fixture(scope="module")
def opus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("opus") / "opus-mt-en-de"
    checkpoints.marian(folder)
    return folder


@pytest.fixture
def copy(opus: Path, tmp_path: Path) -> Path:
    """A checkpoint to be tampered with."""
    return Path(shutil.copytree(opus, tmp_path / "copy"))


def change(path: Path, **values: Any) -> None:
    checkpoints.write_json(path, json.loads(path.read_text("utf-8")) | values)


def first_scores(model: Model, source: list[int]) -> Any:
    engine = model.engine
    everything = np.arange(engine.vocabulary_size)[None]
    none = np.zeros((1, 0), np.int64)
    state = engine.start([source], [[]])
    return engine.step(state, np.array([engine.bos]), np.array([0]), everything, none, 1).ask_scores


def test_eight_bits_are_near_and_small(opus: Path, tmp_path: Path) -> None:
    rounded = bundle.load(import_checkpoint(opus, tmp_path / "int8"))
    exact = bundle.load(import_checkpoint(opus, tmp_path / "float32", "float32"))
    measured = bundle.load(
        import_checkpoint(opus, tmp_path / "ranges", calibration_text=checkpoints.SOURCE_TEXT)
    )
    source = exact.encode(SENTENCES[0])
    expected = first_scores(exact, source)
    assert np.abs(first_scores(rounded, source) - expected).mean() < 0.05
    assert np.abs(first_scores(measured, source) - expected).mean() < 0.3
    assert rounded.info["precision"] == "int8"
    sizes = [(tmp_path / name / "weights.npz").stat().st_size for name in ("int8", "float32")]
    assert sizes[0] < 0.6 * sizes[1]


def test_a_bundle_needs_neither_pytorch_nor_transformers(opus: Path, tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules.update(torch=None, transformers=None, safetensors=None)\n"
        "from lexbeam.models.importers.huggingface import import_checkpoint\n"
        "import lexbeam\n"
        "translator = lexbeam.load(import_checkpoint(sys.argv[1], sys.argv[2]))\n"
        "print(translator.translate('the cat', ['Katze'], beam_size=2, max_length=9).text)\n"
    )
    command = [sys.executable, "-c", program, str(opus), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, check=True, text=True, encoding="utf-8")
    assert "Katze" in done.stdout


def test_what_generation_never_takes_is_not_among_the_best(opus: Path, tmp_path: Path) -> None:
    model = bundle.load(import_checkpoint(opus, tmp_path / "out"))
    size = model.engine.vocabulary_size
    pad = size - 1
    assert model.framing.never == (pad,)
    none = np.zeros((1, 0), np.int64)
    state = model.engine.start([model.encode("the cat")], [[]])
    scores = model.engine.step(state, np.array([pad]), np.array([0]), none, none, size)
    seen = scores.top_ids[scores.top_scores > -np.inf]
    assert sorted(seen) == sorted(set(range(size)) - {pad, model.engine.eos})


def test_weights_of_older_and_larger_checkpoints(copy: Path, tmp_path: Path) -> None:
    """PyTorch's own format, parts with an index, and numbers of half the size."""
    theirs: Any = transformers.MarianMTModel.from_pretrained(copy)
    source = bundle.load(import_checkpoint(copy, tmp_path / "a", "float32")).encode("five boxes")
    expected = first_scores(bundle.load(tmp_path / "a"), source)
    (copy / "model.safetensors").unlink()
    torch.save(theirs.state_dict(), copy / "pytorch_model.bin")
    pickled = bundle.load(import_checkpoint(copy, tmp_path / "b", "float32"))
    np.testing.assert_array_equal(first_scores(pickled, source), expected)
    (copy / "pytorch_model.bin").unlink()
    theirs.to(torch.bfloat16).save_pretrained(copy, max_shard_size="60KB")
    assert (copy / "model.safetensors.index.json").exists()
    halved = bundle.load(import_checkpoint(copy, tmp_path / "c", "float32"))
    np.testing.assert_allclose(first_scores(halved, source), expected, atol=0.2)


def test_a_marian_model_is_told_its_target_language(tmp_path: Path) -> None:
    checkpoints.marian(tmp_path / "many", codes=(">>deu<<", ">>nld<<"))
    with pytest.raises(InputError, match="name the target language; this model knows deu, nld"):
        import_checkpoint(tmp_path / "many", tmp_path / "out")
    with pytest.raises(InputError, match='"fra" is unknown; this model knows deu, nld'):
        import_checkpoint(tmp_path / "many", tmp_path / "out", target_language="fra")
    out = import_checkpoint(tmp_path / "many", tmp_path / "out", target_language="nld")
    tokenizer = transformers.MarianTokenizer.from_pretrained(tmp_path / "many")
    model = bundle.load(out)
    assert model.encode("the cat") == tokenizer(">>nld<< the cat").input_ids
    assert model.info["target_language"] == "nld"


@pytest.mark.parametrize("family", ["nllb", "mbart", "t5"])
def test_languages_are_asked_for_and_prefixes_kept(family: str, tmp_path: Path) -> None:
    FAMILIES[family].make(tmp_path / "checkpoint")
    if family == "t5":
        out = import_checkpoint(
            tmp_path / "checkpoint", tmp_path / "out", source_prefix="the king: "
        )
        tokenizer = transformers.T5Tokenizer.from_pretrained(tmp_path / "checkpoint")
        assert bundle.load(out).encode("the cat") == tokenizer("the king: the cat").input_ids
        return
    known = "deu_Latn, eng_Latn" if family == "nllb" else "ar_AR, cs_CZ"
    with pytest.raises(InputError, match=f"name the source language; this model knows {known}"):
        import_checkpoint(tmp_path / "checkpoint", tmp_path / "out")


def test_where_languages_stand(tmp_path: Path) -> None:
    nllb = checkpoints.nllb(tmp_path / "nllb")
    german, english = nllb.config.vocab_size - 4, nllb.config.vocab_size - 3
    model = bundle.load(import_checkpoint(tmp_path / "nllb", tmp_path / "out", **NLLB_LANGUAGES))
    assert model.framing.source_prefix == (english,)
    assert model.framing.source_suffix == (2,)
    assert model.framing.output_start == (2, german)
    change(tmp_path / "nllb" / "tokenizer_config.json", legacy_behaviour=True)
    older = bundle.load(import_checkpoint(tmp_path / "nllb", tmp_path / "out", **NLLB_LANGUAGES))
    assert (older.framing.source_prefix, older.framing.source_suffix) == ((), (2, english))


@pytest.mark.parametrize("family", ["mbart50", "t5"])
def test_a_tokenizer_file_is_enough(family: str, tmp_path: Path) -> None:
    made = FAMILIES[family]
    made.make(tmp_path / "checkpoint")
    wishes = made.wishes
    tokenizer = getattr(transformers, made.tokenizer).from_pretrained(
        tmp_path / "checkpoint", src_lang=wishes.get("source_language")
    )
    tokenizer.save_pretrained(tmp_path / "checkpoint")
    for name in ("spiece.model", "sentencepiece.bpe.model", "special_tokens_map.json"):
        (tmp_path / "checkpoint" / name).unlink(missing_ok=True)
    model = bundle.load(import_checkpoint(tmp_path / "checkpoint", tmp_path / "out", **wishes))
    for sentence in SENTENCES:
        assert model.encode(sentence) == tokenizer(sentence).input_ids


@pytest.mark.parametrize(
    ("file", "named"),
    [
        ("config.json", "config.json: no such file"),
        ("vocab.json", "vocab.json: no such file"),
        ("source.spm", "source.spm: no such file"),
        ("model.safetensors", "neither model.safetensors nor pytorch_model.bin"),
    ],
)
def test_a_missing_file_is_named(copy: Path, tmp_path: Path, file: str, named: str) -> None:
    (copy / file).unlink()
    with pytest.raises(ModelError, match=named):
        import_checkpoint(copy, tmp_path / "out")


@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
@pytest.mark.parametrize("file", ["config.json", "source.spm", "README.md", "model.safetensors"])
def test_a_pipe_is_no_file_of_a_model(copy: Path, tmp_path: Path, file: str) -> None:
    (copy / file).unlink(missing_ok=True)
    os.mkfifo(copy / file)
    with pytest.raises(ModelError, match=f"{file}: can't be read: not a file"):
        import_checkpoint(copy, tmp_path / "out")


@pytest.mark.parametrize("file", ["config.json", "vocab.json", "source.spm", "model.safetensors"])
@pytest.mark.parametrize("damage", ["cut", "other"])
def test_a_damaged_file_is_named(copy: Path, tmp_path: Path, file: str, damage: str) -> None:
    content = (copy / file).read_bytes()
    damaged = content[: len(content) * 2 // 3] if damage == "cut" else b"\x0f nothing of the kind"
    (copy / file).write_bytes(damaged)
    with pytest.raises(ModelError, match=file):
        import_checkpoint(copy, tmp_path / "out")
    assert not bundle.is_bundle(tmp_path / "out")


@pytest.mark.parametrize(
    ("file", "values", "named"),
    [
        ("config.json", {"model_type": "bert"}, 'type "bert" can\'t be imported'),
        ("config.json", {"model_type": None}, "can't be imported, only bart, m2m_100, marian"),
        ("config.json", {"activation_function": "mish"}, '"mish"'),
        ("config.json", {"d_model": "wide"}, '"d_model" must be a number'),
        ("config.json", {"decoder_attention_heads": 2}, "different numbers of heads"),
        ("config.json", {"decoder_layers": 4}, "decoder.layers.3.self_attn.q_proj.weight"),
        ("generation_config.json", {"bad_words_ids": [[1, 2]]}, "bad_words_ids"),
        ("generation_config.json", {"eos_token_id": [0, 1]}, "several ends of sentence"),
        ("generation_config.json", {"eos_token_id": 5}, "the end of sentence is 5"),
        ("generation_config.json", {"decoder_start_token_id": 4000}, '"output_start" must be'),
        ("special_tokens_map.json", {"eos_token": "<end>"}, "'<end>' of special_tokens_map.json"),
        ("tokenizer_config.json", {"unk_token": "<?>"}, r"'<\?>' of tokenizer_config.json"),
        ("vocab.json", {"Katzen": 4}, "have one id, 4"),
        ("vocab.json", {"Katzen": 4000}, "'Katzen' has the id 4000"),
    ],
)
def test_what_can_not_be_done_is_named(
    copy: Path, tmp_path: Path, file: str, values: dict[str, Any], named: str
) -> None:
    if not (copy / file).exists():
        (copy / file).write_text("{}")
    change(copy / file, **values)
    with pytest.raises(ModelError, match=named) as caught:
        import_checkpoint(copy, tmp_path / "out")
    assert file in str(caught.value)
    assert str(caught.value).count(str(copy)) == 1  # one file is at fault


def test_byte_level_tokenizers_are_refused(tmp_path: Path) -> None:
    checkpoints.bart(tmp_path)
    (tmp_path / "sentencepiece.bpe.model").unlink()
    tokenizer = transformers.BartTokenizer(vocab={"<unk>": 0, "a": 1}, merges=[])
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="byte-level tokenizer of this bart model"):
        import_checkpoint(tmp_path, tmp_path / "out")


def test_arguments_that_make_no_sense(opus: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="int8, float32, not 'int4'"):
        import_checkpoint(opus, tmp_path / "out", "int4")
    with pytest.raises(ModelError, match="no such folder"):
        import_checkpoint(tmp_path / "nowhere", tmp_path / "out")


def test_command(opus: Path, tmp_path: Path) -> None:
    out = tmp_path / "en-de"
    done = CliRunner().invoke(main, ["import", "hf", str(opus), str(out), "--float32"])
    assert (done.exit_code, done.output) == (0, f"{out}\n")
    shown = CliRunner().invoke(main, ["info", str(out), "--json"])
    facts = json.loads(shown.output)
    assert facts["precision"] == "float32"
    assert facts["origin"] == "Hugging Face, marian: opus-mt-en-de"
    assert (facts["source_language"], facts["target_language"]) == ("en", "de")
    failed = CliRunner().invoke(main, ["import", "hf", str(tmp_path), str(out)])
    assert failed.exit_code == 1
    assert "config.json: no such file" in failed.stderr


@pytest.mark.parametrize(
    ("file", "values"),
    [
        ("config.json", {"d_model": 10**9}),
        ("config.json", {"max_position_embeddings": 9_999_999}),
        ("config.json", {"encoder_layers": -1}),
        ("config.json", {"model_type": ["marian"]}),
        ("config.json", {"activation_function": {"a": 1}}),
        ("generation_config.json", {"decoder_start_token_id": -1}),
        ("generation_config.json", {"bad_words_ids": 7}),
        ("tokenizer_config.json", {"eos_token": [[]]}),
    ],
    ids=str,
)
def test_a_value_that_is_wrong_is_named(
    copy: Path, tmp_path: Path, file: str, values: dict[str, Any]
) -> None:
    change(copy / file, **values)
    with pytest.raises(ModelError, match=r"config\.json|vocab\.json"):
        import_checkpoint(copy, tmp_path / "out")


def test_json_that_is_nested_without_end_is_refused(copy: Path, tmp_path: Path) -> None:
    (copy / "config.json").write_text("[" * 100_000)
    with pytest.raises(ModelError, match=r"config\.json"):
        import_checkpoint(copy, tmp_path / "out")


@pytest.mark.parametrize("offsets", [[-4, 4], [0, 10**30], [8, 4], ["0", "4"], [1.5, 2.5]])
def test_tensors_outside_of_their_file_are_refused(
    copy: Path, tmp_path: Path, offsets: list[Any]
) -> None:
    path = copy / "model.safetensors"
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    next(each for name, each in header.items() if "weight" in name)["data_offsets"] = offsets
    written = json.dumps(header).encode()
    path.write_bytes(len(written).to_bytes(8, "little") + written + data[8 + size :])
    with pytest.raises(ModelError, match=r"model\.safetensors"):
        import_checkpoint(copy, tmp_path / "out")
