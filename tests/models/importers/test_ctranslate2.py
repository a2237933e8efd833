from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import ctranslate2
import numpy as np
import pytest
import sentencepiece
from click.testing import CliRunner
from ctranslate2.specs.common_spec import Activation

import lexbeam
from helpers import checkpoints, ctranslate2_models
from lexbeam.cli.main import main
from lexbeam.errors import InputError, ModelError, SettingError
from lexbeam.models import bundle
from lexbeam.models.importers.ctranslate2 import binary, import_model, is_ctranslate2_model
from lexbeam.models.importers.ctranslate2.vocabularies import read_tokens
from lexbeam.models.importers.huggingface import import_checkpoint
from lexbeam.models.model import Model
from lexbeam.search.beam_search import decode

SENTENCES = ["the old cat sat on the map", "five boxes", "she slept, and the king ran from the dog"]
LIMIT = 20
ROUNDING, ROUNDING_DOWN = 0.05, 0.2
"""How far log-probabilities in eight bits may be apart: a number may be rounded the other way.
Rounded down, the largest number of each row is on the brink."""


def translator(folder: Path, precision: str = "default") -> ctranslate2.Translator:
    return ctranslate2.Translator(
        str(folder), compute_type=precision, inter_threads=1, intra_threads=1
    )


def assert_same_translations(
    folder: Path, model: Model, precision: str = "default", implicit: int = 0, given: int = 0
) -> None:
    """Compare with CTranslate2: tokens and scores, greedy and with a beam.

    ``implicit`` is the number of tokens that CTranslate2 puts at each end of a source itself,
    ``given`` that of the tokens of `Framing.output_start` that it has to be given.
    """
    source_tokens, target_tokens = (each.tokens for each in read_tokens(folder))
    sources = [model.encode(sentence) for sentence in SENTENCES]
    texts = [
        [source_tokens[token] for token in source[implicit : len(source) - implicit]]
        for source in sources
    ]
    start = model.framing.output_start
    prefix = [target_tokens[token] for token in start[len(start) - given :]]
    returned = given if len(start) > given else 0  # what stands for the start is not
    power = 1e-9 if returned else 1.0  # what it is given counts as part of the output's length
    engine = translator(folder, precision)
    for beam in (1, 5):
        theirs = engine.translate_batch(
            texts,
            target_prefix=[prefix] * len(texts),
            beam_size=beam,
            max_decoding_length=LIMIT + returned,
            min_decoding_length=0,
            max_input_length=0,
            length_penalty=power,
            return_scores=True,
        )
        ours = decode(
            model.engine,
            sources,
            beam_size=beam,
            nbest=beam,
            max_length=LIMIT,
            stop="full",
            prune=None,
            aside=True,
            cut=True,
            length_penalty=power,
        )
        for one, (other, *_) in zip(theirs, ours, strict=True):
            found = [target_tokens[token] for token in other.tokens]
            assert one.hypotheses[0][returned:] == found
            assert one.scores[0] == pytest.approx(other.score, rel=1e-5, abs=1e-4)


def assert_same_scores(folder: Path, model: Model, precision: str, tolerance: float) -> None:
    """Compare log-probabilities of random outputs with those of CTranslate2."""
    source_tokens, target_tokens = (each.tokens for each in read_tokens(folder))
    sources = [model.encode(sentence) for sentence in SENTENCES]
    outputs = np.random.default_rng(1).integers(5, 60, (len(sources), 12))
    theirs = translator(folder, precision).score_batch(
        [[source_tokens[token] for token in source] for source in sources],
        [[target_tokens[token] for token in output] for output in outputs],
    )
    engine, rows = model.engine, np.arange(len(sources))
    state, token = engine.start(sources, [[]] * len(sources)), np.full(len(sources), engine.bos)
    for step in range(outputs.shape[1]):
        none = np.zeros((len(sources), 0), np.int64)
        scores = engine.step(state, token, rows, outputs[:, step, None], none, 1)
        expected = [one.log_probs[step] for one in theirs]
        np.testing.assert_allclose(scores.ask_scores[:, 0], expected, atol=tolerance)
        state, token = scores.state, outputs[:, step]


# --- networks of OpenNMT's kind -----------------------------------------------------------------

KINDS: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "sinusoids": {"encodings": False},
    "post-norm": {"pre_norm": False},
    "separate": {"separate": True, "tied": False},
    "relative": {"with_relative_position": True},
    "gated": {"ffn_glu": True, "activation": Activation.SWISH, "rms_norm": True},
    "gelu": {"activation": Activation.GELU},
    "gelu_tanh": {"activation": Activation.GELUTanh},
    "gelu_sigmoid": {"activation": Activation.GELUSigmoid},
    "normed embeddings": {"layernorm_embedding": True},
    "shared keys": {"multi_query_attention": True},
    "no final norm": {"no_final_norm": True},
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_network_is_that_of_ctranslate2(kind: str, tmp_path: Path) -> None:
    folder = ctranslate2_models.opennmt(tmp_path / "model", **KINDS[kind])
    model = bundle.load(import_model(folder, tmp_path / "bundle"))
    assert model.info["precision"] == "float32"
    assert_same_translations(folder, model)


@pytest.mark.parametrize("quantization", ["int8", "int8_float16", "int16", "float16", "bfloat16"])
@pytest.mark.parametrize("kind", ["plain", "relative", "gated"])
def test_every_precision_is_that_of_ctranslate2(
    kind: str, quantization: str, tmp_path: Path
) -> None:
    folder = ctranslate2_models.opennmt(tmp_path / "model", quantization, **KINDS[kind])
    model = bundle.load(import_model(folder, tmp_path / "bundle"))
    in_bytes = quantization.startswith("int8")
    assert model.info["precision"] == ("int8" if in_bytes else "float32")
    if in_bytes:
        assert_same_scores(folder, model, "int8_float32", ROUNDING)
    else:
        assert_same_translations(folder, model, "float32")


def test_a_precision_can_be_chosen(tmp_path: Path) -> None:
    exact = ctranslate2_models.opennmt(tmp_path / "exact")
    rounded = ctranslate2_models.opennmt(tmp_path / "rounded", "int8")
    one = bundle.load(import_model(exact, tmp_path / "one", "int8"))
    other = bundle.load(import_model(rounded, tmp_path / "other", "float32"))
    assert (one.info["precision"], other.info["precision"]) == ("int8", "float32")
    assert_same_scores(exact, one, "int8", ROUNDING)
    assert_same_translations(rounded, other, "float32")
    with pytest.raises(SettingError, match="precision"):
        import_model(exact, tmp_path / "none", "int4")


def test_in_eight_bits_a_batch_changes_nothing(tmp_path: Path) -> None:
    folder = ctranslate2_models.opennmt(tmp_path / "model", "int8")
    engine = bundle.load(import_model(folder, tmp_path / "bundle")).engine
    sources = [[5, 6, 7, 8, 9], [10, 11], [12, 13, 14]]
    together = decode(engine, sources, beam_size=3, max_length=8)
    for source, (expected, *_) in zip(sources, together, strict=True):
        alone = decode(engine, [source], beam_size=3, max_length=8)[0][0]
        assert alone.tokens == expected.tokens
        assert alone.score == pytest.approx(expected.score, abs=1e-5)


def test_what_is_around_a_source_is_as_the_settings_say(tmp_path: Path) -> None:
    settings = {"add_source_bos": True, "add_source_eos": True, "layer_norm_epsilon": 1e-2}
    folder = ctranslate2_models.opennmt(tmp_path / "model", settings=settings)
    model = bundle.load(import_model(folder, tmp_path / "bundle"))
    assert (model.framing.source_prefix, model.framing.source_suffix) == ((2,), (3,))
    assert_same_translations(folder, model, implicit=1)
    plain = ctranslate2_models.opennmt(tmp_path / "plain")
    model = bundle.load(import_model(plain, tmp_path / "other"))
    assert (model.framing.source_prefix, model.framing.source_suffix) == ((), ())
    assert model.framing.output_start == (2,)


# --- older files --------------------------------------------------------------------------------


def rewrite(folder: Path, version: int, revision: int = 5) -> None:
    """Write a model as an older version of CTranslate2 would have."""
    model = binary.read(folder / "model.bin")

    def text(value: str) -> bytes:
        return struct.pack("<H", len(value) + 1) + value.encode() + b"\0"

    roots = ("num_heads", "pre_norm", "activation", "embeddings_merge")
    parts = [struct.pack("<I", version), text(model.specification), struct.pack("<I", revision)]
    variables = dict(model.variables)
    if revision < 5:
        for name in roots:
            variables[name] = variables.pop(f"encoder/{name}")
            variables.pop(f"decoder/{name}", None)
        variables["num_heads"] = variables["num_heads"].astype(np.int8)
    parts.append(struct.pack("<I", len(variables)))
    types = {"float32": 0, "int8": 1, "int16": 2, "int32": 3}
    for name, value in variables.items():
        shape = struct.pack(f"<B{value.ndim}I", value.ndim, *value.shape)
        if version >= 4:
            kind = struct.pack("<BI", types[value.dtype.name], value.nbytes)
        else:
            kind = struct.pack("<BI", value.dtype.itemsize, value.size)
        parts += [text(name), shape, kind, value.tobytes()]
    parts += [struct.pack("<I", 0)] if version >= 3 else []
    (folder / "model.bin").write_bytes(b"".join(parts))
    if version < 6:
        (folder / "config.json").unlink()
        for path in folder.glob("*_vocabulary.json"):
            tokens = json.loads(path.read_text("utf-8"))
            path.with_suffix(".txt").write_text("\n".join(tokens) + "\n", "utf-8")
            path.unlink()


@pytest.mark.parametrize(("version", "revision"), [(5, 7), (4, 7), (4, 4), (3, 4), (2, 3)], ids=str)
@pytest.mark.parametrize("quantization", [None, "int8"])
def test_older_versions_are_read(
    version: int, revision: int, quantization: str | None, tmp_path: Path
) -> None:
    """Before version 5, activations are rounded down."""
    folder = ctranslate2_models.opennmt(tmp_path / "model", quantization)
    rewrite(folder, version, revision)
    model = bundle.load(import_model(folder, tmp_path / "bundle"))
    if quantization:
        tolerance = ROUNDING if version >= 5 else ROUNDING_DOWN
        assert_same_scores(folder, model, "int8", tolerance)
    else:
        assert_same_translations(folder, model, "float32")


def test_vocabularies_of_lines_may_end_in_carriage_returns(tmp_path: Path) -> None:
    lines = tmp_path / "shared_vocabulary.txt"
    lines.write_bytes(b"a\r\nb\r\n")
    assert [each.tokens for each in read_tokens(tmp_path)] == [["a", "b"], ["a", "b"]]
    lines.write_bytes(b"a\nb\r\nc\n")
    assert read_tokens(tmp_path)[0].tokens == ["a", "b\r", "c"]


# --- networks of transformers -------------------------------------------------------------------


class Family(NamedTuple):
    make: Callable[[Path], Any]
    decoder_start: str | None = "</s>"
    wishes: Mapping[str, str] = MappingProxyType({})
    given: int = 0
    """Tokens of the output's start that CTranslate2 does not add itself."""


EN_DE = {"source_language": "en", "target_language": "de"}
NLLB = {"source_language": "eng_Latn", "target_language": "deu_Latn"}
MBART = {"source_language": "en_XX", "target_language": "de_DE"}
FAMILIES = {
    "marian": Family(checkpoints.marian),
    "marian, languages": Family(
        lambda folder: checkpoints.marian(folder, (">>deu<<", ">>fra<<")),
        wishes={"target_language": "deu"},
    ),
    "m2m": Family(checkpoints.m2m, wishes=EN_DE, given=1),
    "nllb": Family(checkpoints.nllb, wishes=NLLB, given=1),
    "mbart": Family(checkpoints.mbart, None, MBART, 1),
    "mbart50": Family(checkpoints.mbart50, "</s>", MBART, 1),
    "bart": Family(checkpoints.bart),
    "t5": Family(checkpoints.t5, "<pad>"),
    "t5, gated": Family(checkpoints.t5_gated, "<pad>"),
}


class Converted(NamedTuple):
    family: Family
    folder: Path
    ours: Model
    from_checkpoint: Model


@pytest.fixture(scope="module", params=FAMILIES)
def converted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Converted:
    folder = tmp_path_factory.mktemp("family")
    family = FAMILIES[request.param]
    network = family.make(folder / "checkpoint")
    out = import_checkpoint(folder / "checkpoint", folder / "hf", "float32", **family.wishes)
    known = bundle.load(out)
    size = network.config.vocab_size - ("marian" in request.param)  # it drops the padding
    tokens = known.target.id_to_piece(list(range(size)))
    settings = {"decoder_start_token": family.decoder_start}
    model = ctranslate2_models.from_checkpoint(network, tokens, folder / "model", **settings)
    for name in ("source.spm", "target.spm", "spiece.model", "sentencepiece.bpe.model"):
        if (folder / "checkpoint" / name).exists():
            (model / name).write_bytes((folder / "checkpoint" / name).read_bytes())
    if not list(model.glob("*.model")) + list(model.glob("*.spm")):
        (model / "tokenizer.json").write_bytes(
            (folder / "checkpoint" / "tokenizer.json").read_bytes()
        )
    ours = bundle.load(import_model(model, folder / "bundle", **family.wishes))
    return Converted(family, model, ours, known)


def test_families_of_transformers_are_those_of_ctranslate2(converted: Converted) -> None:
    assert_same_translations(converted.folder, converted.ours, given=converted.family.given)


def test_texts_are_framed_as_for_the_checkpoint(converted: Converted) -> None:
    ours, theirs = converted.ours, converted.from_checkpoint
    for sentence in SENTENCES:
        assert ours.encode(sentence) == theirs.encode(sentence)
    start = theirs.framing.output_start
    zeros = start and start[0] == theirs.engine.vocabulary_size - 1  # Marian's padding
    known = ours.framing.output_start
    assert known == (() if zeros else start[: len(known)])  # BART's forced first token is not known


def test_a_language_has_to_be_named(converted: Converted, tmp_path: Path) -> None:
    if converted.family.wishes:
        with pytest.raises(InputError, match="language"):
            import_model(converted.folder, tmp_path / "out")
        wrong = dict.fromkeys(converted.family.wishes, "xx")
        with pytest.raises(InputError, match='"xx" is unknown'):
            import_model(converted.folder, tmp_path / "out", **wrong)


def test_marian_says_which_head_aligns(tmp_path: Path) -> None:
    network = checkpoints.marian(tmp_path / "checkpoint")
    known = bundle.load(import_checkpoint(tmp_path / "checkpoint", tmp_path / "hf", "float32"))
    tokens = known.target.id_to_piece(list(range(network.config.vocab_size - 1)))
    model = ctranslate2_models.from_checkpoint(network, tokens, tmp_path / "model")
    files = [tmp_path / "checkpoint" / name for name in ("source.spm", "target.spm")]
    ours = bundle.load(import_model(model, tmp_path / "bundle", sentencepiece=files))
    assert ours.info["alignment"] == {"layer": network.config.decoder_layers - 1, "head": 0}


# --- loading, and what goes wrong ---------------------------------------------------------------


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ctranslate2_models.opennmt(tmp_path_factory.mktemp("plain") / "model", "int8")


@pytest.fixture
def copy(plain: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    for file in plain.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def test_a_folder_is_loaded_with_constraints(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXBEAM_CACHE", str(tmp_path))
    assert is_ctranslate2_model(plain)
    loaded = lexbeam.load(plain)
    result = loaded.translate("the cat sat on the mat", ["Katze"], max_length=15)
    assert result.constraints[0].met
    assert "Katze" in result.text
    assert loaded.info["type"] == "ctranslate2"
    assert str(plain / "model.bin") in loaded.info["files"]


@pytest.mark.parametrize("beam", [1, 2, 5])
def test_texts_are_translated_as_by_ctranslate2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, beam: int
) -> None:
    """Without constraints a search ends as CTranslate2's: what has finished is set aside."""
    monkeypatch.setenv("LEXBEAM_CACHE", str(tmp_path))
    folder = ctranslate2_models.opennmt(tmp_path / "model", encodings=False, eagerness=2.2)
    pieces = sentencepiece.SentencePieceProcessor(str(folder / "sentencepiece.model"))
    texts = [*checkpoints.SOURCE_TEXT, *SENTENCES]
    theirs = translator(folder).translate_batch(
        [pieces.encode(text, out_type=str) for text in texts],
        beam_size=beam,
        min_decoding_length=0,
        max_decoding_length=100,
    )
    ours = lexbeam.load(folder).translate(texts, beam_size=beam, split=False, max_length=100)
    lengths = {len(one.hypotheses[0]) for one in theirs}
    assert len(lengths) > 2  # outputs end, and not all in the same way
    for one, other in zip(theirs, ours, strict=True):
        assert other.text == pieces.decode(one.hypotheses[0])


def test_the_command_imports_a_folder(copy: Path, tmp_path: Path) -> None:
    pieces = tmp_path / "elsewhere"
    (copy / "sentencepiece.model").rename(pieces)
    out = tmp_path / "bundle"
    failed = CliRunner().invoke(main, ["import", "ct2", str(copy), str(out)])
    assert failed.exit_code == 1
    assert "no SentencePiece model" in failed.stderr
    arguments = ["import", "ct2", str(copy), str(out), "--sentencepiece", str(pieces)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert bundle.is_bundle(out)
    many = CliRunner().invoke(main, [*arguments, *arguments[-2:], *arguments[-2:]])
    assert many.exit_code == 2


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (lambda f: (f / "model.bin").unlink(), "model.bin"),
        (lambda f: (f / "model.bin").write_bytes(b""), "model.bin: the file is cut short"),
        (lambda f: (f / "model.bin").write_bytes(b"\7\0\0\0"), "of version 7; 2 to 6"),
        (lambda f: (f / "shared_vocabulary.json").unlink(), "a vocabulary is missing"),
        (lambda f: (f / "shared_vocabulary.json").write_text("{}"), "a list of tokens"),
        (lambda f: (f / "shared_vocabulary.json").write_text("["), "shared_vocabulary.json"),
        (
            lambda f: (f / "shared_vocabulary.json").write_text('["a"]'),
            "shared_vocabulary.json: the token '</s>' of config.json is missing",
        ),
        (lambda f: (f / "sentencepiece.model").unlink(), "no SentencePiece model"),
        (lambda f: (f / "sentencepiece.model").write_bytes(b"\0"), "sentencepiece.model"),
        (lambda f: (f / "sentencepiece.model").write_bytes(b"\n\3\n\1\xff"), "sentencepiece.model"),
        (lambda f: (f / "sentencepiece.model").write_bytes(b"#version: 0.2\n"), "BPE codes"),
        (lambda f: (f / "config.json").write_text("[]"), "config.json"),
        (lambda f: change_config(f, eos_token=3), '"eos_token" must be a text'),
        (lambda f: change_config(f, eos_token="<end>"), "'<end>' of config.json is missing"),
        (
            lambda f: (f / "shared_vocabulary.json").write_text(json.dumps(list("abc" * 1000))),
            "shared_vocabulary.json: 3000 tokens, but the network has",
        ),
        (
            lambda f: change_config(f, decoder_start_token=None),
            'config.json: without "decoder_start_token"',
        ),
        (
            lambda f: change_config(f, decoder_start_token="<go>"),
            "'<go>' of config.json is missing",
        ),
        (lambda f: change_config(f, layer_norm_epsilon="x"), "layer_norm_epsilon"),
        (lambda f: change_config(f, quantization_type=1), "quantization_type"),
    ],
)
def test_what_is_wrong_is_named(
    copy: Path, tmp_path: Path, damage: Callable[[Path], Any], named: str
) -> None:
    damage(copy)
    with pytest.raises(ModelError) as caught:
        import_model(copy, tmp_path / "bundle")
    assert named in str(caught.value)
    assert str(caught.value).count(f"{copy}") == 1 + ("No such file" in str(caught.value))


def test_a_file_that_is_cut_short_is_an_error_wherever_it_ends(copy: Path, tmp_path: Path) -> None:
    path = copy / "model.bin"
    data = path.read_bytes()
    for size in [*range(0, 80, 7), len(data) // 2, len(data) - 1]:
        path.write_bytes(data[:size])
        with pytest.raises(ModelError, match=r"model\.bin"):
            import_model(copy, tmp_path / "bundle")


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("decoder/alibi", np.int8(1), "decoder/alibi"),
        ("encoder/activation", np.int8(5), "activation"),
        ("encoder/num_heads", np.int16(4), "num_heads"),
        ("decoder/layer_0/new_thing/weight", np.zeros(3, np.float32), "new_thing"),
        ("encoder/embeddings_1/weight", np.zeros((3, 3), np.float32), "source embeddings"),
        ("decoder/layer_norm/gamma", np.full(16, np.nan, np.float32), "decoder_top_ln_scale"),
        ("decoder/layer_1/ffn/linear_0/weight", np.zeros((2, 2), np.float32), "linear_0/bias"),
        ("decoder/layer_1/ffn/linear_0/weight", np.zeros(2, np.float32), "not a matrix"),
        ("decoder/projection/weight_scale", np.zeros(3, np.float32), "weight_scale"),
        ("encoder/layer_0/self_attention/linear_1/weight_scale", None, "weight_scale is missing"),
        ("decoder/layer_0/attention/layer_norm/gamma", None, "gamma is missing"),
    ],
)
def test_networks_that_are_not_supported_are_named(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: Any, named: str
) -> None:
    real = binary.read(copy / "model.bin")
    variables = {**real.variables, name: np.asarray(value)}
    if value is None:
        del variables[name]
    changed = binary.BinaryModel(real.version, real.specification, real.revision, variables)
    monkeypatch.setattr(binary, "read", lambda _: changed)
    with pytest.raises(ModelError, match=named) as caught:
        import_model(copy, tmp_path / "bundle")
    assert str(copy) in str(caught.value)


@pytest.mark.parametrize(
    ("specification", "revision", "named"),
    [("WhisperSpec", 3, "WhisperSpec"), ("TransformerSpec", 1, "revision 1")],
)
def test_other_specifications_are_refused(
    copy: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    specification: str,
    revision: int,
    named: str,
) -> None:
    model = binary.BinaryModel(6, specification, revision, {})
    monkeypatch.setattr(binary, "read", lambda _: model)
    with pytest.raises(ModelError, match=named):
        import_model(copy, tmp_path / "bundle")


def test_text_of_the_target_is_cut_into_pieces_that_only_the_network_knows(
    tmp_path: Path,
) -> None:
    """OPUS-MT in Argos packages: the SentencePiece model is that of the source alone."""
    network = checkpoints.marian(tmp_path / "checkpoint")
    known = bundle.load(import_checkpoint(tmp_path / "checkpoint", tmp_path / "hf", "float32"))
    tokens = known.target.id_to_piece(list(range(network.config.vocab_size - 1)))
    model = ctranslate2_models.from_checkpoint(network, tokens, tmp_path / "model")
    source = tmp_path / "checkpoint" / "source.spm"
    ours = bundle.load(import_model(model, tmp_path / "bundle", sentencepiece=[source]))
    assert ours.encode(SENTENCES[0]) == known.encode(SENTENCES[0])
    cut = ours.target.encode("die Katze saß auf der Matte")
    assert {ours.target.id_to_piece(i) for i in cut} - set(
        checkpoints.pieces_of(source.read_bytes())
    )
    assert ours.decode(cut) == "die Katze saß auf der Matte"
