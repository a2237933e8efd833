"""Constraints that are tied to their source, with Hugging Face models in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, MarianTokenizer

from helpers import checkpoints, trained_marian
from helpers.hf_models import FAMILIES, gpt2, inputs, occurrences, write_byte_level_tokenizer
from lexbeam.errors import ConstraintError, InputError, SettingError
from lexbeam.hf import constrained, generate
from lexbeam.hf.sources import read_source_ids
from lexbeam.hf.spelling import Speller
from lexbeam.hf.ties import TextTies
from lexbeam.models import bundle
from lexbeam.models.engines.transformers import TransformersEngine
from lexbeam.models.importers.huggingface import import_checkpoint
from lexbeam.models.model import Model
from lexbeam.search.arrays import PAD
from lexbeam.search.beam_search import decode
from lexbeam.search.draft import Draft
from lexbeam.text.word_boundaries import contains

TEXTS = ["the old factory stands here", "the red new cat burns today", "the car burns here"]
TIED: list[list[Any]] = [
    [{"text": "Werk", "source": "factory"}, "hier"],
    [],
    [{"any": ["Wagen", "Gebäude"], "source": "car"}, {"text": "steht", "source": "burns"}],
]
BARE: list[list[Any]] = [["Werk", "hier"], [], [{"any": ["Wagen", "Gebäude"]}, "steht"]]


class InPlace(NamedTuple):
    """A model, its tokenizer, and the same model imported."""

    model: Any
    tokenizer: Any
    folder: Path
    imported: Model


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> InPlace:
    folder = tmp_path_factory.mktemp("marian")
    model = trained_marian.write(folder / "checkpoint")
    (folder / "checkpoint" / "README.md").write_text("* model: transformer-align\n", "utf-8")
    model = type(model).from_pretrained(folder / "checkpoint")
    tokenizer = MarianTokenizer.from_pretrained(folder / "checkpoint")
    out = import_checkpoint(folder / "checkpoint", folder / "bundle", "float32")
    return InPlace(model, tokenizer, folder, bundle.load(out))


def search(
    given: Any, constraints: Sequence[Any], texts: Sequence[str] = TEXTS, **options: Any
) -> Any:
    settings = {"num_beams": 4, "max_new_tokens": 16} | options.pop("settings", {})
    return given.model.generate(
        **given.tokenizer(list(texts), return_tensors="pt", padding=True),
        custom_generate=constrained(given.tokenizer, constraints, **options),
        do_sample=False,
        return_dict_in_generate=True,
        output_scores=True,
        **settings,
    )


def read(given: Any, found: Any) -> list[str]:
    texts: list[str] = given.tokenizer.batch_decode(found.sequences, skip_special_tokens=True)
    return texts


# --- what is tied, and how -----------------------------------------------------------------


def test_the_same_outputs_as_with_the_imported_model(marian: InPlace) -> None:
    """The whole search is compared: drafts, what they displace, penalties and wider beams."""
    speller = Speller(marian.tokenizer)
    asked = speller.spell(TIED, None)
    given = marian.tokenizer(TEXTS, return_tensors="pt", padding=True)
    sources = read_source_ids(given["input_ids"], given["attention_mask"])
    ties = TextTies(marian.tokenizer, asked.asked, asked.phrases or (), None, sources)
    size = marian.imported.engine.vocabulary_size
    boundary, closing = asked.masks(size, [0])
    avoided: list[Any] = []

    def find_displaced(sentence: int, draft: Any) -> Any:
        avoided.append(ties.find_displaced(sentence, draft))
        return avoided[-1]

    theirs = decode(
        marian.imported.engine,
        sources,
        asked.phrases,
        boundary=boundary,
        closing=closing,
        joining=asked.joins(size),
        ties=ties.tokens,
        find_displaced=find_displaced,
        beam_size=4,
        nbest=4,
        prune=None,
        stop="now",
        max_length=16,
        aside=True,
        cut=True,
    )
    assert any(avoided), "the drafts displace nothing: choose other terms"
    ours = search(marian, TIED, settings={"num_return_sequences": 4})
    outputs = [row[1:] for row in ours.sequences.tolist()]
    for sentence, hypotheses in enumerate(theirs):
        for rank, hypothesis in enumerate(hypotheses):
            row = 4 * sentence + rank
            found = outputs[row][: len(hypothesis.tokens)]
            assert found == hypothesis.tokens
            assert ours.sequences_scores[row].item() == pytest.approx(hypothesis.score, abs=1e-4)


def test_terms_replace_what_the_model_would_say_for_their_source(marian: InPlace) -> None:
    assert read(marian, search(marian, TIED)) == [
        "das alte Werk steht hier",
        "das rote neue Tier brennt heute",
        "das Wagen steht hier",
    ]


def test_off_turns_ties_off(marian: InPlace) -> None:
    untied, tied = (read(marian, search(marian, each)) for each in (BARE, TIED))
    assert untied[1] == tied[1]  # nothing of this sentence is tied
    assert untied[0] != tied[0]
    assert untied[2] != tied[2]
    assert read(marian, search(marian, TIED, ties="off")) == untied


def test_scores_are_those_of_the_model(marian: InPlace) -> None:
    found = search(marian, TIED, settings={"num_return_sequences": 4})
    steps = marian.model.compute_transition_scores(
        found.sequences, found.scores, found.beam_indices, normalize_logits=False
    )
    lengths = (found.beam_indices >= 0).sum(dim=1)
    torch.testing.assert_close(steps.sum(dim=1) / lengths, found.sequences_scores)


def test_a_batch_gives_what_its_sentences_give_alone(marian: InPlace) -> None:
    together = search(marian, TIED)
    for i in range(3):
        alone = search(marian, TIED[i : i + 1], TEXTS[i : i + 1])
        width = alone.sequences.shape[1]
        assert together.sequences[i, :width].tolist() == alone.sequences[0].tolist()


def test_offsets_name_the_source_where_texts_are_given(marian: InPlace) -> None:
    by_word = search(marian, TIED)
    by_offset: list[list[Any]] = [
        [{"text": "Werk", "source": [8, 15]}, "hier"],
        [],
        [{"any": ["Wagen", "Gebäude"], "source": [4, 7]}, {"text": "steht", "source": [8, 13]}],
    ]
    found = search(marian, by_offset, sources=TEXTS)
    assert found.sequences.tolist() == by_word.sequences.tolist()
    again = search(marian, TIED, sources=TEXTS)
    assert again.sequences.tolist() == by_word.sequences.tolist()


def test_a_count_is_tied_place_by_place(marian: InPlace) -> None:
    asked = Speller(marian.tokenizer).spell(
        [["alte", {"text": "Katze", "count": 2, "source": "cat"}]], None
    )
    ids = marian.tokenizer(["the cat burns the cat"])["input_ids"]
    ties = TextTies(marian.tokenizer, asked.asked, asked.phrases or (), None, ids)
    pieces = marian.tokenizer.convert_ids_to_tokens(ids[0])
    tied = {i: "".join(pieces[t] for t in tokens) for i, tokens in ties.tokens[0].items()}
    assert {i: text.strip("▁") for i, text in tied.items()} == {1: "cat", 2: "cat"}
    assert not {*ties.tokens[0][1]} & {*ties.tokens[0][2]}


def test_what_a_draft_says_for_the_source_is_displaced(marian: InPlace) -> None:
    """The draft of a sentence is made up: it looks at one source token with each of its own."""
    tokenizer = marian.tokenizer
    asked = Speller(tokenizer).spell([[{"text": "Katze", "source": "cat"}, "Auto"]], None)
    ids = tokenizer(["the cat burns"])["input_ids"]
    ties = TextTies(tokenizer, asked.asked, asked.phrases or (), None, ids)
    said = tokenizer(text_target="das Haus brennt Auto", add_special_tokens=False)["input_ids"]
    pieces = tokenizer.convert_ids_to_tokens(said)
    word = np.cumsum([piece.startswith("▁") for piece in pieces]) - 1
    attention = np.zeros((1 + len(said), 1, len(ids[0])), np.float32)
    cat = ties.tokens[0][0]
    attention[: len(said), 0, cat[0]] = np.array([0.1, 0.8, 0.1, 0.7])[word]
    draft = Draft(
        np.zeros(0), np.array([len(said)]), np.zeros(1), np.array([*said, PAD])[:, None], attention
    )
    displaced = ties.find_displaced(0, draft.hypothesis(0, 1.0))
    written = {tokenizer.decode(each).strip() for each in displaced}
    assert "Haus" in written
    assert not written & {"das", "brennt", "Auto"}  # not looking there, or demanded itself


# --- where the source stands ---------------------------------------------------------------


TERM = {"text": "Werk", "source": "factory"}
WRONG: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    ({**TERM, "source": "dog"}, {}, ConstraintError, '"dog" of "Werk" is not in the text'),
    ({**TERM, "source": [8, 15]}, {}, InputError, "give the texts as sources"),
    ({**TERM, "source": [8, 99]}, {"sources": TEXTS[:1]}, ConstraintError, "has 27 characters"),
    (TERM, {"sources": ["the new factory"]}, InputError, "sentence 0: the text in sources is not"),
    (TERM, {"sources": []}, InputError, "0 texts for 1 sentences"),
    (TERM, {"sources": "x"}, InputError, "sources must be a list"),
    (TERM, {"sources": [3]}, InputError, "must be a text, not 3"),
    (TERM, {"ties": "no"}, SettingError, "choose one of: on, off"),
    (TERM, {"alignment": (3, 0)}, SettingError, "the decoder has 1 layers, there is no 3"),
    (TERM, {"alignment": (0, 2)}, SettingError, "a layer has 2 heads, there is no 2"),
    (TERM, {"alignment": "last"}, SettingError, "must be a decoder layer and one of its heads"),
]


@pytest.mark.parametrize(("asked", "options", "error", "named"), WRONG)
def test_wrong_ties_are_named(
    marian: InPlace, asked: Any, options: Any, error: type[Exception], named: str
) -> None:
    with pytest.raises(error, match=named):
        search(marian, [[asked]], TEXTS[:1], **options)


def test_sources_may_be_cut_off(marian: InPlace) -> None:
    text = " ".join([TEXTS[0]] * 3)
    cut = marian.tokenizer([text], return_tensors="pt", truncation=True, max_length=9)
    custom = constrained(marian.tokenizer, [TIED[0]], sources=[text])
    found = marian.model.generate(**cut, custom_generate=custom, num_beams=4, max_new_tokens=16)
    assert contains(marian.tokenizer.decode(found[0], skip_special_tokens=True), "Werk")


def test_inputs_that_are_no_tokens_are_refused(marian: InPlace) -> None:
    embedded = marian.model.get_input_embeddings()(torch.tensor([[3, 4, 0]])).detach()
    with pytest.raises(InputError, match="need the source's tokens: give generate input_ids"):
        marian.model.generate(
            inputs_embeds=embedded,
            custom_generate=constrained(marian.tokenizer, [TIED[0]]),
            num_beams=2,
            max_new_tokens=9,
        )


def test_a_model_with_nothing_but_a_prompt_is_refused(tmp_path: Path) -> None:
    tokenizer = write_byte_level_tokenizer(tmp_path)
    model = gpt2(0, vocabulary=len(tokenizer))
    with pytest.raises(InputError, match="GPT2LMHeadModel has no source beside its prompt"):
        model.generate(
            **tokenizer(["The cat"], return_tensors="pt"),
            custom_generate=constrained(tokenizer, [[{"text": "mat", "source": "cat"}]]),
            num_beams=2,
            max_new_tokens=9,
        )


def test_a_model_that_gives_no_attention_is_searched_without_ties(
    marian: InPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    untied = search(marian, TIED, ties="off").sequences.tolist()
    monkeypatch.setattr(
        "lexbeam.models.engines.transformers.gives_attention", lambda _outputs: False
    )
    assert search(marian, TIED).sequences.tolist() == untied


# --- layer and head ------------------------------------------------------------------------


def alignments(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    seen: list[Any] = []
    make = TransformersEngine.__init__

    def watched(*given: Any, **options: Any) -> None:
        seen.append(options["alignment"])
        make(*given, **options)

    monkeypatch.setattr(TransformersEngine, "__init__", watched)
    return seen


def test_the_head_that_the_card_names_is_taken(
    marian: InPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = alignments(monkeypatch)
    model = type(marian.model).from_pretrained(marian.folder / "checkpoint")
    monkeypatch.setattr(model, "name_or_path", str(tmp_path))
    given = marian._replace(model=model)
    search(given, TIED)
    (tmp_path / "README.md").write_text("* model: transformer-align\n", "utf-8")
    search(given, TIED)
    search(given, TIED, alignment=(0, None))
    search(given, BARE)
    assert seen == [None, (0, 0), (0, None), None]


def test_a_head_that_looks_elsewhere_costs_no_guarantee(marian: InPlace) -> None:
    model = FAMILIES["marian"](3, vocabulary=len(marian.tokenizer))
    given = marian._replace(model=model)
    for head in [(0, 0), (0, 1), (1, None)]:
        texts = read(given, search(given, TIED, alignment=head))
        assert contains(texts[0], "Werk")
        assert contains(texts[0], "hier")
        assert contains(texts[2], "steht")
        assert contains(texts[2], "Wagen") or contains(texts[2], "Gebäude")


# --- with token ids, and with all that generate does ----------------------------------------


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "gpt2"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"num_return_sequences": 4, "early_stopping": True},
        {"use_cache": False, "no_repeat_ngram_size": 2},
        {"forced_bos_token_id": 9, "encoder_no_repeat_ngram_size": 1},
        {"eos_token_id": [2, 5, 7], "num_beams": 2},
    ],
    ids=["default", "early", "without cache", "language", "several ends"],
)
def test_token_ties_cost_no_guarantee(family: str, settings: dict[str, Any]) -> None:
    model = FAMILIES[family](1)
    given = inputs(model, 3)
    phrases = [[[10, 11], [12]], [], [[13, 14], [15], [13, 14]]]
    before = model.config._attn_implementation
    found = model.generate(
        **given,
        custom_generate=generate,
        constraints=phrases,
        ties=[{0: [0], 1: [1]}, {}, {2: [2, 1], 0: [0]}],
        **({"num_beams": 4, "max_new_tokens": 12, "do_sample": False} | settings),
    )
    assert model.config._attn_implementation == before
    returned = settings.get("num_return_sequences", 1)
    for row, tokens in enumerate(found.tolist()):
        for phrase in phrases[row // returned]:
            wanted = phrases[row // returned].count(phrase)
            assert occurrences(tokens[1:], phrase) >= wanted


def test_processors_that_count_beams_see_as_many_as_they_expect() -> None:
    model = FAMILIES["marian"](5)
    given = inputs(model, 3)
    seen: set[int] = set()

    def allowed(sentence: int, ids: torch.Tensor) -> list[int]:
        seen.add(sentence)
        return [0, 10 + sentence, 20, 21, 22, 23, 30 + int(ids[-1]) % 5, 36, 37]

    found = model.generate(
        **given,
        custom_generate=generate,
        prefix_allowed_tokens_fn=allowed,
        constraints=[[[21]], [[22]], [[23]]],
        ties=[{0: [0]}, {0: [1]}, {0: [1]}],
        num_beams=3,
        max_new_tokens=9,
    )
    assert seen == {0, 1, 2}
    for sentence, row in enumerate(found.tolist()):
        others = {10, 11, 12} - {10 + sentence}
        assert not others & {*row}


@pytest.mark.parametrize(
    ("ties", "named"),
    [
        ([{0: [0]}], "ties has 1 entries for 2 sentences"),
        ([{1: [0]}, {}], "no phrase 1 to tie"),
        ([{0: [40]}, {}], "tied to source token 40"),
        ({0: [1]}, "ties must be a list"),
        ([[0]], "ties must be a list"),
    ],
)
def test_wrong_token_ties_are_named(ties: Any, named: str) -> None:
    model = FAMILIES["t5"](0)
    with pytest.raises(InputError, match=named):
        model.generate(
            **inputs(model, 2),
            custom_generate=generate,
            constraints=[[[10]], []],
            ties=ties,
            num_beams=2,
            max_new_tokens=5,
        )


# --- other tokenizers ------------------------------------------------------------------------

OTHERS: dict[str, tuple[Callable[[Path], Any], str | None]] = {
    "m2m": (checkpoints.m2m, "en"),
    "nllb": (checkpoints.nllb, "eng_Latn"),
    "mbart50": (checkpoints.mbart50, "en_XX"),
    "bart": (checkpoints.bart, None),
    "t5": (checkpoints.t5, None),
}


@pytest.mark.parametrize("family", OTHERS)
def test_sources_are_found_with_the_tokenizers_of_other_families(
    family: str, tmp_path: Path
) -> None:
    make, language = OTHERS[family]
    model = make(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(
        tmp_path, **({"src_lang": language} if language else {})
    )
    texts = ["the old cat sat on the map", "five boxes"]
    given = tokenizer(texts, return_tensors="pt", padding=True)
    sources = read_source_ids(given["input_ids"], given["attention_mask"])
    asked = Speller(tokenizer).spell([[{"text": "dem", "source": "cat"}], []], None)
    for told in (None, texts):
        ties = TextTies(tokenizer, asked.asked, asked.phrases or (), told, sources)
        tied = [sources[0][token] for token in ties.tokens[0][0]]
        assert tokenizer.decode(tied).strip() == "cat"
    found = model.generate(
        **given,
        custom_generate=constrained(tokenizer, [[{"text": "dem", "source": "cat"}], []]),
        num_beams=3,
        max_new_tokens=12,
    )
    assert contains(tokenizer.decode(found[0], skip_special_tokens=True), "dem")
