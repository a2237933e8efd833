"""The tokens around source and output of a CTranslate2 model.

The model says of some of them that they are added; others are left to whoever cuts text into
tokens, and differ from family to family.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lexbeam.errors import ModelError
from lexbeam.models.importers.ctranslate2.network import Network
from lexbeam.models.importers.ctranslate2.settings import Settings
from lexbeam.models.importers.huggingface.framing import (
    cut_prefix,
    find_language,
    is_language,
    unknown_language,
)
from lexbeam.models.importers.huggingface.vocabularies import Vocabularies
from lexbeam.models.model import Framing

_OPENNMT = "<blank>"  # the padding of OpenNMT's and fairseq's vocabularies


class Wishes(NamedTuple):
    """What only the user knows of how a network is used."""

    source_language: str | None = None
    target_language: str | None = None
    source_prefix: str = ""
    output_prefix: tuple[str, ...] | None = None
    """The tokens that every output begins with; None: the language, if there are several."""


def make_framing(
    text: Vocabularies, settings: Settings, network: Network, wishes: Wishes
) -> Framing:
    """Return the tokens around source and output, languages included."""
    source, target = text.source_ids, text.target_ids
    prefix: tuple[int, ...] = ()
    suffix: tuple[int, ...] = ()
    start: tuple[int, ...] = ()
    if _begins_with_bos(settings, network):
        prefix = (_find(source, settings.bos, settings.file),)
    if _ends_with_eos(source, settings):
        suffix = (_find(source, settings.eos, settings.file),)
    if not network.starts_from_zeros and settings.decoder_start is not None:
        start = (_find(target, settings.decoder_start, settings.file),)
    codes = [token for token in source if is_language(token)]
    if wishes.output_prefix is not None:
        begun = tuple(_find(target, token) for token in wishes.output_prefix)
        no_token = (network.config.target_vocabulary,) if begun and not start else ()
        start += no_token + begun
    elif any(code.startswith(">>") for code in codes):
        prefix += (_find_marian_language(source, wishes.target_language, codes),)
    elif codes or settings.decoder_start is None:
        if not codes:
            raise ModelError(
                f'{settings.file}: without "decoder_start_token" outputs begin with a language, '
                "and the vocabulary has none"
            )
        of_source = find_language(source, "source", wishes.source_language)
        of_target = find_language(target, "target", wishes.target_language)
        if settings.decoder_start is None:  # the first mBART
            suffix += (of_source,)
        else:
            prefix += (of_source,)
        start += (of_target,)
    return Framing(prefix + cut_prefix(text, wishes.source_prefix), suffix, start)


def _ends_with_eos(source: Mapping[str, int], settings: Settings) -> bool:
    """Return whether sources end with the end of sentence.

    Models that were converted from Hugging Face have it, though it is not among their settings:
    there the tokenizer adds it. OpenNMT's say so if they have it.
    """
    return settings.add_source_eos or _OPENNMT not in source


def _begins_with_bos(settings: Settings, network: Network) -> bool:
    """Return whether sources begin with the start of sentence: as for BART, which does not say."""
    config = network.config
    is_bart = config.postprocess_embedding == "n" and not config.preprocess
    return settings.add_source_bos or (is_bart and not network.starts_from_zeros)


def _find(ids: Mapping[str, int], token: str, file: str = "") -> int:
    if token not in ids:
        of = file and f" of {file}"
        raise ModelError(f"the token {token!r:.60}{of} is missing from the vocabulary")
    return ids[token]


def _find_marian_language(ids: Mapping[str, int], language: str | None, codes: list[str]) -> int:
    token = f">>{language}<<"
    if token not in ids:
        raise unknown_language("target", language, codes)
    return ids[token]
