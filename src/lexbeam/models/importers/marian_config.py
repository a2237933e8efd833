"""The configuration inside a Marian model: a little YAML, and what lexbeam makes of it."""

from __future__ import annotations

from collections.abc import Mapping

from lexbeam.errors import ModelError
from lexbeam.models.graphs.transformer import TransformerConfig

Value = str | list[str]

_REQUIRED = {  # options that change the network in a way that only one value is supported of
    "type": ("transformer",),
    "transformer-no-projection": ("false",),
    "transformer-train-position-embeddings": ("false",),
    "transformer-rnn-projection": ("false",),
    "transformer-pool": ("false",),
    "transformer-depth-scaling": ("false", "true"),
    "transformer-ffn-activation": ("relu", "swish"),  # its "gelu" is not what others mean by it
    "ulr": ("false",),
    "lemma-dim-emb": ("0",),
    "factors-combine": ("sum",),
}


def parse(text: str) -> dict[str, Value]:
    """Read the part of YAML that Marian writes: scalars and lists of scalars, one level deep."""
    values: dict[str, Value] = {}
    key = ""
    for line in text.splitlines():
        content = line.split(" #")[0].rstrip()
        if not content.strip() or content.lstrip().startswith("#"):
            continue
        item = content.strip()
        if item.startswith("- ") and key:
            known = values[key]
            values[key] = [*(known if isinstance(known, list) else []), _scalar(item[2:])]
        elif not content[0].isspace() and ":" in content:
            key, _, rest = content.partition(":")
            values[key] = _value(rest.strip())
    return values


def _value(text: str) -> Value:
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(item) for item in text[1:-1].split(",") if item.strip()]
    return _scalar(text)


def _scalar(text: str) -> str:
    return text.strip().strip("\"'")


class _Options:
    """Typed access to the options, with Marian's defaults where one is not given."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = values

    def text(self, name: str, default: str) -> str:
        value = self._values.get(name, default)
        if isinstance(value, list):
            raise ModelError(f"option {name}: a single value is expected, not {value}")
        return value

    def flag(self, name: str) -> bool:
        return self.text(name, "false").lower() == "true"

    def number(self, name: str, default: int | None = None) -> int:
        return _number(name, self.text(name, "" if default is None else str(default)))

    def numbers(self, name: str) -> list[int]:
        value = self._values.get(name, [])
        return [_number(name, item) for item in (value if isinstance(value, list) else [value])]


def _number(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ModelError(f'option {name}: a number is expected, not "{text}"') from None


def interpret(text: str) -> TransformerConfig:
    """Translate Marian's options; what lexbeam can't do is named in the error."""
    options = _Options(parse(text))
    for name, allowed in _REQUIRED.items():
        value = options.text(name, allowed[0])
        if value.lower() not in allowed:
            raise ModelError(f"option {name}: {value} is not supported, only {allowed[0]}")
    vocabularies = options.numbers("dim-vocabs")
    if len(vocabularies) != 2:
        raise ModelError(f"option dim-vocabs: two sizes are expected, not {vocabularies}")
    source, target, output = _embeddings(options)
    config = TransformerConfig(
        source_vocabulary=vocabularies[0],
        target_vocabulary=vocabularies[1],
        dim=options.number("dim-emb"),
        heads=options.number("transformer-heads", 8),
        encoder_layers=options.number("enc-depth"),
        decoder_layers=options.number("dec-depth"),
        decoder=_decoder(options),
        encoder_ffn_depth=options.number("transformer-ffn-depth", 2),
        decoder_ffn_depth=options.number("transformer-decoder-ffn-depth", 0)
        or options.number("transformer-ffn-depth", 2),
        activation=options.text("transformer-ffn-activation", "relu"),
        preprocess=options.text("transformer-preprocess", ""),
        postprocess=options.text("transformer-postprocess", "dan"),
        postprocess_embedding=options.text("transformer-postprocess-emb", "d"),
        postprocess_top=options.text("transformer-postprocess-top", ""),
        tied_layers=tuple(options.numbers("transformer-tied-layers")),
        source_embedding=source,
        target_embedding=target,
        output=output,
    )
    config.check()
    return config


def _decoder(options: _Options) -> str:
    kind = options.text("transformer-decoder-autoreg", "self-attention")
    cell = options.text("dec-cell", "ssru")
    if kind == "rnn" and cell == "ssru":
        return "ssru"
    if kind == "self-attention":
        return kind
    name = f"{kind} with cell {cell}" if kind == "rnn" else kind
    raise ModelError(f"option transformer-decoder-autoreg: {name} is not supported")


def _embeddings(options: _Options) -> tuple[str, str, str]:
    """Return the names of the source table, the target table and the output layer."""
    if options.flag("tied-embeddings-all"):
        return "Wemb", "Wemb", "Wemb"
    shared = options.flag("tied-embeddings-src")
    source, target = ("Wemb", "Wemb") if shared else ("encoder_Wemb", "decoder_Wemb")
    output = target if options.flag("tied-embeddings") else "decoder_ff_logit_out_W"
    return source, target, output
