from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import StoppingCriteria, StoppingCriteriaList

from helpers.hf_models import (
    FAMILIES,
    VOCABULARY,
    gpt2,
    inputs,
    marian,
    occurrences,
    prompt_length,
    t5,
)
from lexbeam.errors import ConstraintError, InputError, SettingError
from lexbeam.hf import constrained, generate

TOLD = {"return_dict_in_generate": True, "output_scores": True}


def plain_and_ours(model: Any, given: dict[str, Any], **settings: Any) -> tuple[Any, Any]:
    settings = {"num_beams": 4, "max_new_tokens": 12, "do_sample": False} | TOLD | settings
    return (
        model.generate(**given, **settings),
        model.generate(**given, custom_generate=generate, **settings),
    )


def assert_same(plain: Any, ours: Any) -> None:
    assert ours.sequences.tolist() == plain.sequences.tolist()
    assert torch.allclose(ours.sequences_scores, plain.sequences_scores, atol=1e-4)
    assert ours.beam_indices.tolist() == plain.beam_indices.tolist()
    assert type(ours) is type(plain)


# --- without constraints: what num_beams returns ----------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "settings",
    [
        {"num_return_sequences": 4},
        {"early_stopping": True, "length_penalty": 0.6, "num_return_sequences": 2},
        {"early_stopping": "never", "length_penalty": 1.4},
        {"eos_token_id": [2, 5, 7], "num_return_sequences": 3},
        {"length_penalty": -1.0, "min_new_tokens": 3, "no_repeat_ngram_size": 2},
        {"forced_bos_token_id": 9, "num_return_sequences": 2},
    ],
    ids=["default", "early", "never", "several ends", "processors", "language"],
)
def test_without_constraints_it_is_plain_beam_search(family: str, settings: dict[str, Any]) -> None:
    for seed in (0, 1):
        model = FAMILIES[family](seed)
        if family == "gpt2" and "forced_bos_token_id" in settings:
            pytest.skip("a token is forced only at the first place")
        assert_same(*plain_and_ours(model, inputs(model, 3, seed), **settings))


def test_one_sentence_and_wide_beams() -> None:
    for make in (marian, gpt2):
        model = make(3)
        assert_same(*plain_and_ours(model, inputs(model, 1), num_beams=15, num_return_sequences=9))


def test_one_beam_is_greedy_search() -> None:
    model = marian(1)
    plain, ours = plain_and_ours(model, inputs(model, 3), num_beams=1)
    assert ours.sequences.tolist() == plain.sequences.tolist()


@pytest.mark.parametrize("make", [t5, gpt2])
def test_without_cache(make: Any) -> None:
    model = make(1)
    assert_same(*plain_and_ours(model, inputs(model, 2), use_cache=False))


def test_no_end_of_sentence_at_all() -> None:
    model = gpt2(2)
    model.generation_config.eos_token_id = None
    plain, ours = plain_and_ours(model, inputs(model, 2), max_new_tokens=5)
    assert_same(plain, ours)


def test_no_end_forced_at_the_limit() -> None:
    model = marian(4)
    model.generation_config.forced_eos_token_id = None
    plain, ours = plain_and_ours(model, inputs(model, 3), max_new_tokens=3, num_return_sequences=4)
    assert_same(plain, ours)


def test_processors_that_count_beams_see_all_of_them() -> None:
    model = marian(5)
    seen: set[int] = set()

    def allowed(sentence: int, ids: torch.Tensor) -> list[int]:
        seen.add(sentence)
        return [0, 10 + sentence, 20, 21, 22, 23, 30 + int(ids[-1]) % 5, 36, 37]

    assert_same(
        *plain_and_ours(model, inputs(model, 3), prefix_allowed_tokens_fn=allowed, num_beams=3)
    )
    assert seen == {0, 1, 2}
    assert_same(*plain_and_ours(model, inputs(model, 3), encoder_no_repeat_ngram_size=1))


class StopAt(StoppingCriteria):  # type: ignore[misc]
    """Stops outputs at a token."""

    def __init__(self, token: int) -> None:
        self.token = token

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> Any:  # noqa: ARG002
        return input_ids[:, -1] == self.token


def test_stopping_criteria() -> None:
    model = gpt2(1)
    given = inputs(model, 3)
    free = model.generate(**given, num_beams=4, max_new_tokens=12, do_sample=False)
    token = int(free[0, given["input_ids"].shape[1] + 2])
    criteria = StoppingCriteriaList([StopAt(token)])
    plain, ours = plain_and_ours(model, given, stopping_criteria=criteria)
    assert_same(plain, ours)
    assert plain.sequences.tolist() != free.tolist()


def test_the_scores_of_every_step_are_told() -> None:
    model = marian(2)
    plain, ours = plain_and_ours(
        model, inputs(model, 2), num_return_sequences=3, output_logits=True
    )
    assert ours.scores[0].shape == plain.scores[0].shape
    assert torch.allclose(ours.logits[1], plain.logits[1], atol=1e-4)
    for output in (plain, ours):
        output.transition = model.compute_transition_scores(
            output.sequences, output.scores, output.beam_indices
        )
    assert torch.allclose(plain.transition, ours.transition, atol=1e-4)


def test_a_plain_tensor_by_default() -> None:
    model = t5(0)
    given = inputs(model, 2)
    settings = {"num_beams": 3, "max_new_tokens": 6}
    ours = model.generate(**given, custom_generate=generate, **settings)
    assert isinstance(ours, torch.Tensor)
    assert ours.tolist() == model.generate(**given, **settings).tolist()


# --- with constraints ----------------------------------------------------------------------

PHRASES = [[[10, 11], [12]], [], [[13, 14, 15], [13], [13]]]
AVOID = [[[20]], [[21, 22], [23]], []]


def outputs(model: Any, given: dict[str, Any], found: Any) -> list[list[int]]:
    return [ids[prompt_length(model, given) :] for ids in found.sequences.tolist()]


def rescored(model: Any, given: dict[str, Any], row: list[int], sentence: int) -> float:
    """Return the log-probability that the model itself gives to the new tokens of a row."""
    start = prompt_length(model, given)
    mask = given["attention_mask"][sentence : sentence + 1]
    source = given["input_ids"][sentence : sentence + 1]
    sequence = torch.tensor([row])
    with torch.no_grad():
        if model.config.is_encoder_decoder:
            logits = model(input_ids=source, attention_mask=mask, decoder_input_ids=sequence).logits
        else:
            mask = torch.cat((mask, torch.ones(1, len(row) - start, dtype=mask.dtype)), dim=1)
            positions = (mask.cumsum(1) - 1).clamp(min=0)
            logits = model(input_ids=sequence, attention_mask=mask, position_ids=positions).logits
    log_probs = logits.log_softmax(-1)[0, :-1].gather(1, sequence[0, 1:, None])
    return float(log_probs[start - 1 :].sum())


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "settings",
    [{}, {"early_stopping": True}, {"num_return_sequences": 3}, {"eos_token_id": [2, 5, 7]}],
    ids=["default", "early", "several", "several ends"],
)
def test_constraints_are_met_sentence_by_sentence(family: str, settings: dict[str, Any]) -> None:
    model = FAMILIES[family](0)
    model.generation_config.forced_eos_token_id = None
    given = inputs(model, 3)
    settings = {"num_beams": 5, "max_new_tokens": 12, "do_sample": False} | TOLD | settings
    found = model.generate(
        **given, custom_generate=generate, constraints=PHRASES, avoid=AVOID, **settings
    )
    returned = settings.get("num_return_sequences", 1)
    ends = settings.get("eos_token_id", [model.generation_config.eos_token_id])
    for row, tokens in enumerate(outputs(model, given, found)):
        sentence = row // returned
        for phrase in PHRASES[sentence]:
            assert occurrences(tokens, phrase) >= PHRASES[sentence].count(phrase)
        for phrase in AVOID[sentence]:
            assert not occurrences(tokens, phrase)
        length = int((found.beam_indices[row] >= 0).sum())
        assert not set(tokens[: length - 1]) & set(ends)
        whole = found.sequences[row].tolist()[: prompt_length(model, given) + length]
        score = rescored(model, given, whole, sentence) / length
        assert found.sequences_scores[row].item() == pytest.approx(score, abs=1e-3)


def test_a_batch_gives_what_its_sentences_give_alone() -> None:
    model = marian(6)
    given = inputs(model, 3)
    settings: dict[str, Any] = {"num_beams": 5, "max_new_tokens": 15} | TOLD
    together = model.generate(**given, custom_generate=generate, constraints=PHRASES, **settings)
    for i in range(3):
        alone = model.generate(
            input_ids=given["input_ids"][i : i + 1],
            attention_mask=given["attention_mask"][i : i + 1],
            custom_generate=generate,
            constraints=PHRASES[i : i + 1],
            **settings,
        )
        width = alone.sequences.shape[1]
        assert together.sequences[i, :width].tolist() == alone.sequences[0].tolist()
        assert together.sequences_scores[i].item() == pytest.approx(
            alone.sequences_scores[0].item(), abs=1e-4
        )


def test_overlapping_phrases_and_a_tight_limit() -> None:
    model = t5(3)
    given = inputs(model, 1)
    found = model.generate(
        **given,
        custom_generate=generate,
        num_beams=4,
        max_new_tokens=3,
        constraints=[[[10, 11], [11, 12]]],
    )
    assert found[0, 1:].tolist() == [10, 11, 12]  # cut off at the limit, as generate does


def test_an_end_forced_at_the_limit_leaves_one_place_fewer() -> None:
    model = marian(3)
    given = inputs(model, 1)
    settings: dict[str, Any] = {
        "num_beams": 4,
        "custom_generate": generate,
        "forced_eos_token_id": 0,
    }
    phrases = [[[10, 11, 12]]]
    found = model.generate(**given, max_new_tokens=4, constraints=phrases, **settings)
    assert found[0, 1:].tolist() == [10, 11, 12, 0]
    with pytest.raises(ConstraintError, match="more than max_length 2"):
        model.generate(**given, max_new_tokens=3, constraints=phrases, **settings)


def test_the_prompt_does_not_count() -> None:
    model = gpt2(4)
    given = inputs(model, 2)
    in_prompt = given["input_ids"][0, -2:].tolist()
    found = model.generate(
        **given,
        custom_generate=generate,
        num_beams=4,
        max_new_tokens=8,
        constraints=[[in_prompt], []],
    )
    new = found[0, given["input_ids"].shape[1] :].tolist()
    assert occurrences(new, in_prompt)


def test_the_language_token_comes_first() -> None:
    model = FAMILIES["m2m100"](0)
    found = model.generate(
        **inputs(model, 2),
        custom_generate=generate,
        num_beams=4,
        max_new_tokens=10,
        forced_bos_token_id=9,
        constraints=[[[10]], [[11], [12]]],
    )
    assert found[:, 1].tolist() == [9, 9]
    assert 10 in found[0]
    assert {11, 12} <= set(found[1].tolist())


def test_criteria_do_not_stop_an_output_before_its_phrases() -> None:
    model = gpt2(1)
    given = inputs(model, 2)

    class Always(StoppingCriteria):  # type: ignore[misc]
        def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> Any:  # noqa: ARG002
            return torch.ones(len(input_ids), dtype=torch.bool)

    found = model.generate(
        **given,
        custom_generate=generate,
        num_beams=3,
        max_new_tokens=10,
        constraints=[[[10, 11]], []],
        stopping_criteria=StoppingCriteriaList([Always()]),
    )
    start = given["input_ids"].shape[1]
    assert occurrences(found[0, start:].tolist(), [10, 11])
    assert found[1, start + 1 :].unique().numel() == 1  # one token, then only filling


# --- what can't be done --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"do_sample": True, "num_beams": 2}, "do_sample"),
        ({"num_beams": 2, "num_return_sequences": 3}, "num_return_sequences"),
        ({"num_beams": 2, "output_attentions": True, **TOLD}, "output_attentions"),
        ({"num_beams": 2, "cache_implementation": "static"}, "static cache"),
        ({"num_beams": 1, "prompt_lookup_num_tokens": 3}, "assisted generation"),
        ({"num_beams": 2, "length_penalty": "never"}, "length_penalty"),
        ({"num_beams": 2, "use_cache": 0}, "use_cache"),
    ],
)
def test_other_ways_of_decoding_are_refused(settings: dict[str, Any], named: str) -> None:
    model = gpt2(0)
    with pytest.raises((SettingError, ValueError), match=named):
        model.generate(**inputs(model, 1), custom_generate=generate, max_new_tokens=5, **settings)


@pytest.mark.parametrize(
    ("constraints", "named"),
    [
        ([[[5]]], "constraints has 1 entries for 2 sentences"),
        (5, "constraints must be a list"),
        (iter([]), "constraints must be a list"),
        ([[[VOCABULARY]], []], f"token {VOCABULARY}, outside the vocabulary"),
        ([[5, 6], []], "not a list of token ids"),
        ([[[5, 7]], []], r"\[5, 7\] has the end-of-sentence token 7"),
        ([[[]], []], "sentence 0: phrase 0 is empty"),
        ([[[5, 6, 8, 9, 10, 11]], []], "6 tokens, more than max_length 5"),
    ],
)
def test_wrong_constraints_are_named(constraints: Any, named: str) -> None:
    model = t5(0)
    with pytest.raises(InputError, match=named):
        model.generate(
            **inputs(model, 2),
            custom_generate=generate,
            num_beams=2,
            max_new_tokens=5,
            eos_token_id=[1, 7],
            constraints=constraints,
        )


@pytest.mark.parametrize("tokenizer", ["x", None, 5, ("a",), {}])
def test_a_tokenizer_that_is_none_is_named(tokenizer: Any) -> None:
    with pytest.raises(SettingError, match="tokenizer"):
        constrained(tokenizer, [["Haus"]])


def test_called_directly_it_says_how_to_call_it() -> None:
    with pytest.raises(InputError, match="custom_generate"):
        generate(t5(0), torch.tensor([[0]]))
