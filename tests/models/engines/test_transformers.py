from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from helpers.hf_models import FAMILIES, gpt2, inputs, marian, t5
from lexbeam.errors import ModelError
from lexbeam.models.engines.transformers import Prompt, TransformersEngine
from lexbeam.search.arrays import PAD
from lexbeam.testing import TableScorer

END = 2
NONE = np.empty((0, 0), np.int64)


def with_engine(model: Any, check: Callable[[TransformersEngine], None], **options: Any) -> None:
    """Run a check inside ``generate``, which prepares the engine's inputs."""
    settings = options.pop("settings", {})

    def decoding(model: Any, input_ids: Any, generation_config: Any, **kwargs: Any) -> Any:
        for name in ("logits_processor", "stopping_criteria"):
            kwargs.pop(name)
        prompt = Prompt(input_ids, kwargs, generation_config, generation_config.num_beams)
        check(TransformersEngine(model, prompt, [END], **options))
        return input_ids

    model.generate(
        **inputs(model, 3), custom_generate=decoding, num_beams=2, max_new_tokens=8, **settings
    )


def expected(model: Any, sentence: int, output: list[int]) -> np.ndarray[Any, Any]:
    """Return the log-probabilities of the next token, from one run over everything."""
    given = inputs(model, 3)
    ids, mask = (given[n][sentence : sentence + 1] for n in ("input_ids", "attention_mask"))
    with torch.no_grad():
        if model.config.is_encoder_decoder:
            start = int(model.generation_config.decoder_start_token_id)
            so_far = torch.tensor([[start, *output]])
            logits = model(input_ids=ids, attention_mask=mask, decoder_input_ids=so_far).logits
        else:
            real = ids[mask.bool()].tolist()
            logits = model(input_ids=torch.tensor([[*real, *output]])).logits
    return np.asarray(logits[0, -1].log_softmax(-1).numpy())


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("use_cache", [True, False])
def test_rows_branch_and_sentences_leave(family: str, use_cache: bool) -> None:
    model = FAMILIES[family](1)

    def check(engine: TransformersEngine) -> None:
        state = engine.start([None] * 3, [[]] * 3)
        rows: list[tuple[int, list[int]]] = [(i, []) for i in range(3)]
        moves = [
            ([0, 0, 0], [0, 1, 2]),
            ([10, 11, 12, 13], [0, 0, 1, 2]),
            ([14, 15, 16, 17, 18], [1, 0, 2, 3, 3]),
            ([19, 20], [4, 3]),  # the first two sentences are gone
            ([21, 22, 23], [1, 0, 1]),
        ]
        for number, (tokens, parents) in enumerate(moves):
            if number:
                rows = [
                    (rows[p][0], [*rows[p][1], t]) for t, p in zip(tokens, parents, strict=True)
                ]
            ask = np.array([[END, 5, PAD]] * len(tokens))
            ban = np.zeros((len(tokens), 0), np.int64)
            scores = engine.step(state, np.array(tokens), np.array(parents), ask, ban, 6)
            state = scores.state
            for row, (sentence, output) in enumerate(rows):
                truth = expected(model, sentence, output)
                assert scores.ask_scores[row, :2] == pytest.approx(truth[[END, 5]], abs=1e-4)
                assert scores.ask_scores[row, 2] == -np.inf
                truth[END] = -np.inf
                best = truth.argsort()[::-1][:6]
                assert scores.top_ids[row].tolist() == best.tolist()
                assert scores.top_scores[row] == pytest.approx(truth[best], abs=1e-4)

    with_engine(model, check, settings={"use_cache": use_cache})


def test_banned_and_held_tokens_are_hidden() -> None:
    model = marian(0)
    starts = np.zeros(40, np.bool_)
    starts[10:] = True

    def check(engine: TransformersEngine) -> None:
        state = engine.start([None] * 3, [[]] * 3)
        ask = np.full((3, 1), END)
        ban = np.array([[PAD, PAD], [11, 12], [13, PAD]])
        hold = np.array([True, False, False])
        tokens, parents = np.zeros(3, np.int64), np.arange(3)
        scores = engine.step(state, tokens, parents, ask, ban, 60, hold)
        shown = [set(ids[s > -np.inf]) for ids, s in zip(*scores[1::-1], strict=True)]
        everything = set(range(40)) - {END}
        assert shown == [set(range(10)) - {END}, everything - {11, 12}, everything - {13}]
        assert scores.top_scores.shape == (3, 60)

    with_engine(model, check, word_starts=starts)


def test_the_cross_attention_cache_is_left_alone_while_sentences_stay() -> None:
    model = t5(0)

    def check(engine: TransformersEngine) -> None:
        state = engine.start([None] * 3, [[]] * 3)
        none = np.zeros((3, 0), np.int64)
        for parents in (np.arange(3), np.arange(3), np.array([0, 1, 2])):
            state = engine.step(state, np.full(3, 10), parents, none, none, 2).state
        before = state.kwargs["past_key_values"].cross_attention_cache.layers[0].keys
        doubled = np.array([0, 0, 1, 2])
        none = np.zeros((4, 0), np.int64)
        state = engine.step(state, np.full(4, 10), doubled, none, none, 2).state
        moved = state.kwargs["past_key_values"].cross_attention_cache.layers[0].keys
        assert len(moved) == 4
        swapped = np.array([1, 0, 2, 3])
        state = engine.step(state, np.full(4, 10), swapped, none, none, 2).state
        assert state.kwargs["past_key_values"].cross_attention_cache.layers[0].keys is moved
        assert before is not moved

    with_engine(model, check)


def test_the_number_of_sources_is_checked() -> None:
    def check(engine: TransformersEngine) -> None:
        with pytest.raises(ModelError, match="2 sources for a prompt of 3"):
            engine.start([None] * 2, [[]] * 2)

    with_engine(gpt2(0), check)


def test_it_is_a_scorer_like_the_others() -> None:
    def check(engine: TransformersEngine) -> None:
        toy = TableScorer(np.zeros((3, 3)), bos=0, eos=1)
        public = {name for name in dir(toy) if not name.startswith("_")}
        of_toys = {"next_log_probs", "log_probs", "next_attention", "alignment"}
        assert public - of_toys <= set(dir(engine))
        assert (engine.vocabulary_size, engine.eos) == (40, END)

    with_engine(marian(0), check)


@pytest.mark.parametrize("family", [name for name in FAMILIES if "gpt" not in name])
@pytest.mark.parametrize("use_cache", [True, False])
def test_attention_is_that_of_the_model(family: str, use_cache: bool) -> None:
    model = FAMILIES[family](1)
    if not model.config.is_encoder_decoder:
        pytest.skip("there is no source to look at")
    given = inputs(model, 3)
    start = int(model.generation_config.decoder_start_token_id)
    before = model.config._attn_implementation

    def check(engine: TransformersEngine) -> None:
        assert engine.attends
        state = engine.start([None] * 3, [[]] * 3)
        rows: list[tuple[int, list[int]]] = [(i, []) for i in range(3)]
        moves = [([0, 0, 0], [0, 1, 2]), ([10, 11, 12], [2, 2, 2]), ([13, 14], [1, 0])]
        for number, (tokens, parents) in enumerate(moves):
            if number:
                rows = [
                    (rows[p][0], [*rows[p][1], t]) for t, p in zip(tokens, parents, strict=True)
                ]
            none = np.zeros((len(tokens), 0), np.int64)
            moved = np.array(tokens), np.array(parents), none, none
            scores = engine.step(state, *moved, 1, attention=True)
            state = scores.state
            assert scores.attention is not None
            assert model.config._attn_implementation == before
            for row, (sentence, output) in zip(scores.attention, rows, strict=True):
                np.testing.assert_allclose(row, looks(sentence, output), atol=1e-5)
                assert not row[given["attention_mask"][sentence].numpy() == 0].any()
        none = np.zeros((1, 0), np.int64)
        plain = engine.step(state, np.array([15]), np.array([0]), none, none, 1)
        assert plain.attention is None

    def looks(sentence: int, output: list[int]) -> Any:
        one = {name: value[sentence : sentence + 1] for name, value in given.items()}
        model.set_attn_implementation("eager")
        with torch.no_grad():
            so_far = torch.tensor([[start, *output]])
            found = model(**one, decoder_input_ids=so_far, output_attentions=True)
        model.set_attn_implementation(before)
        return found.cross_attentions[-1][0, :, -1].mean(dim=0).numpy()

    with_engine(model, check, settings={"use_cache": use_cache})


def test_a_model_without_a_source_does_not_attend() -> None:
    found: list[bool] = []
    with_engine(gpt2(1), lambda engine: found.append(engine.attends))
    assert found == [False]
