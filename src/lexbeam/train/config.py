"""What a training run is told: one TOML file, read into frozen dataclasses.

Every section of the file is a class here and every key a field, so that a misspelt key or a
value of the wrong kind is found before the first second of training.
"""

from __future__ import annotations

import dataclasses
import tomllib
import typing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from lexbeam.errors import InputError


@dataclass(frozen=True)
class Corpus:
    """One piece of parallel text: a TSV file, or two files of equal length."""

    path: str = ""
    """TSV: source, tab, target. Gzip when the name ends in .gz."""
    source: str = ""
    target: str = ""
    name: str = ""
    weight: float = 1.0
    """How often a pass over the data sees each pair; 0.5 takes every other one at random."""
    join: float = 0.0
    """Share of examples to which one or two further pairs are joined, against lost endings."""
    swap: float = 0.0
    """Share of examples whose names and numbers are swapped for others, to teach copying."""


@dataclass(frozen=True)
class DataConfig:
    """The text to train on and the text to watch."""

    train: tuple[Corpus, ...]
    dev: tuple[Corpus, ...] = ()
    max_tokens: int = 128
    """Longer examples, in pieces of either side, are left out."""
    max_ratio: float = 3.0
    """Pairs whose sides differ more than this in characters are taken for misaligned."""


@dataclass(frozen=True)
class VocabularyConfig:
    """How text is cut into pieces."""

    kind: Literal["sentencepiece", "moses-bpe"] = "sentencepiece"
    size: int = 8000


@dataclass(frozen=True)
class NetworkConfig:
    """The network: Firefox's student family, or the paper's RNN."""

    kind: str = "transformer"
    """A network of `lexbeam.train.networks`."""
    dim: int = 256
    ffn: int = 1024
    heads: int = 8
    encoder_layers: int = 6
    decoder_layers: int = 2
    decoder: Literal["ssru", "self-attention"] = "ssru"
    dropout: float = 0.1


@dataclass(frozen=True)
class ScheduleConfig:
    """How long and how fast: warm-up, a constant rate, and a linear decay at the end.

    The decay is a branch off the constant part: the checkpoint before it is kept, so that a
    later run with a larger budget goes on from there as if it had never been decayed.
    """

    learning_rate: float = 1e-3
    warmup_steps: int = 1000
    max_steps: int = 100_000
    max_hours: float = 0.0
    """Time budget, counted in training steps alone (a paused process loses none); 0: none."""
    decay_share: float = 0.2
    """Share of the budget that the final decay takes."""
    end: str = ""
    """Local date and time, as 2030-01-31T16:05, at which the decay is to be over. The decay then
    follows the clock, whatever the speed; it takes its share of the time since the first step."""
    patience: int = 0
    """Begin the decay when the dev loss has not improved for so many validations; 0: never."""


@dataclass(frozen=True)
class TrainingConfig:
    """Batches, regularisation and how often to look up."""

    batch_tokens: int = 1500
    """Tokens in one micro-batch, padding included."""
    accumulate: int = 2
    """Micro-batches of different lengths whose gradients make one step."""
    label_smoothing: float = 0.1
    clip_norm: float = 1.0
    betas: tuple[float, float] = (0.9, 0.98)
    weight_decay: float = 0.01
    bf16: bool = False
    """Use bfloat16 products; only processors with instructions for them are faster by it."""
    log_every: int = 20
    validate_every: int = 500
    bleu_every: int = 0
    """Validations between two measurements of BLEU; 0: only at the end."""
    checkpoint_minutes: float = 10.0
    keep: int = 5
    """How many of the last validation checkpoints are kept, and averaged in the end."""
    ema: float = 0.0
    """Share of a moving average of the weights that each step keeps, as 0.999. The average is
    then what is validated and exported, and checkpoints are not averaged. 0: there is none."""
    start: str = ""
    """A bundle to go on from, if the run has no checkpoint yet: its weights and vocabulary."""
    start_share: float = 0.0
    """The share of that bundle's weights in what is exported, the rest being the run's own."""


@dataclass(frozen=True)
class AlignmentConfig:
    """Guided alignment: attention learns to look at the word that it translates."""

    weight: float = 0.0
    """Of the loss of the alignment beside that of the translation; 0: text is not aligned."""
    head: int = 0
    """The head that learns it, of the last decoder layer's attention to the source."""
    replace: float = 0.0
    """Share of the source words with one clear translation that are replaced by other words, so
    that the model learns to go on from a term that it would not have chosen; 0: none."""
    terms: float = 0.0
    """Share of the examples in which some source words are replaced by their translations, so that
    the model learns to read terms in the source; 0: none."""


@dataclass(frozen=True)
class ShortlistConfig:
    """The few tokens that a sentence's output is chosen from, by the words of the sentence."""

    translations: int = 0
    """Translations listed for each source token; 0: there is no list, any token may be said."""
    frequent: int = 200
    """The most frequent target tokens, listed for every sentence."""
    sample: int = 512
    """Tokens whose scores stand for all that is not listed; 0: scores are shares of the list."""
    longest: int = 500
    """Translations listed for a sentence at most, the best of each of its tokens first; 0: all."""


@dataclass(frozen=True)
class RunConfig:
    """A whole training run."""

    directory: str
    data: DataConfig
    source_language: str = ""
    target_language: str = ""
    seed: int = 1
    threads: int = 0
    """Threads to compute with; 0: as many as there are cores."""
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    alignment: AlignmentConfig = field(default_factory=AlignmentConfig)
    shortlist: ShortlistConfig = field(default_factory=ShortlistConfig)


def read_config(path: Path) -> RunConfig:
    """Read and check a configuration; relative paths in it start from its own directory."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a TOML file ({error})") from error
    config = _build(RunConfig, table, f"{path}: ")
    from lexbeam.train.networks import check_kind  # noqa: PLC0415  (networks need this module)

    try:
        check_kind(config.network.kind)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    _check(config, path)
    return _resolve_paths(config, path.parent)


def to_table(config: Any) -> dict[str, Any]:
    """Return a configuration as plain tables, for the log and the model card."""
    return dataclasses.asdict(config)


def _build(kind: Any, table: Any, where: str) -> Any:
    """Make a dataclass from a table; ``where`` leads the reader of an error to the key."""
    if not isinstance(table, dict):
        raise InputError(f"{where.rstrip('. :')}: a table is needed")
    hints = typing.get_type_hints(kind)
    fields = {f.name: f for f in dataclasses.fields(kind)}
    for key in table:
        if key not in fields:
            raise InputError(f"{where}{key}: unknown key (known: {', '.join(sorted(fields))})")
    for name, f in fields.items():
        required = f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
        if required and name not in table:
            raise InputError(f"{where}{name}: missing")
    return kind(**{k: _convert(hints[k], v, f"{where}{k}") for k, v in table.items()})


def _convert(hint: Any, value: Any, where: str) -> Any:
    """Convert one TOML value to the type that a field declares, or raise an InputError."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint):
        return _build(hint, value, f"{where}.")
    if origin is Literal:
        if value not in arguments:
            raise InputError(f"{where}: {value!r} is not one of {', '.join(arguments)}")
        return value
    if origin is tuple:
        if not isinstance(value, list):
            raise InputError(f"{where}: a list is needed")
        inner = [arguments[0]] * len(value) if arguments[-1] is Ellipsis else list(arguments)
        if len(inner) != len(value):
            raise InputError(f"{where}: {len(inner)} values are needed")
        pairs = zip(inner, value, strict=True)
        return tuple(_convert(h, v, f"{where}[{i}]") for i, (h, v) in enumerate(pairs))
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not hint:
        raise InputError(f"{where}: {_type_name(hint)} is needed, not {value!r}")
    return value


def _type_name(hint: Any) -> str:
    names = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}
    return names.get(hint, str(hint))


def _check(config: RunConfig, path: Path) -> None:
    """Reject values that the types allow and training does not."""
    network, training, schedule = config.network, config.training, config.schedule
    share = "between 0 and 1"
    demands = [
        (bool(config.data.train), "data.train", "at least one corpus"),
        (network.dim % 2 == 0 and network.dim > 0, "network.dim", "an even number above 0"),
        (
            network.heads > 0 and network.dim % network.heads == 0,
            "network.heads",
            "a divisor of network.dim",
        ),
        (network.encoder_layers > 0, "network.encoder_layers", "above 0"),
        (network.decoder_layers > 0, "network.decoder_layers", "above 0"),
        (0 <= network.dropout < 1, "network.dropout", share),
        (0 <= training.label_smoothing < 1, "training.label_smoothing", share),
        (0 <= schedule.decay_share < 1, "schedule.decay_share", share),
        (schedule.learning_rate > 0, "schedule.learning_rate", "above 0"),
        (schedule.max_steps > 0, "schedule.max_steps", "above 0"),
        (training.accumulate > 0, "training.accumulate", "above 0"),
        (training.log_every > 0, "training.log_every", "above 0"),
        (training.validate_every > 0, "training.validate_every", "above 0"),
        (training.keep > 0, "training.keep", "above 0"),
        (
            training.batch_tokens >= config.data.max_tokens > 1,
            "training.batch_tokens",
            "at least data.max_tokens, and that above 1",
        ),
        (config.vocabulary.size > 0, "vocabulary.size", "above 0"),
        (_is_time(schedule.end), "schedule.end", "a date and time, as 2030-01-31T16:05"),
        (0 <= training.ema < 1, "training.ema", share),
        (0 <= training.start_share < 1, "training.start_share", share),
        (training.start or not training.start_share, "training.start_share", "0 without a start"),
        *_demands_on_alignment(config.alignment),
        (
            config.shortlist.translations == 0
            or (config.shortlist.translations > 0 and network.kind == "transformer"),
            "shortlist.translations",
            "0 or above, and 0 if the network is not a transformer",
        ),
        (config.shortlist.frequent >= 0, "shortlist.frequent", "0 or above"),
        (config.shortlist.sample >= 0, "shortlist.sample", "0 or above"),
        (config.shortlist.longest >= 0, "shortlist.longest", "0 or above"),
        (
            0 <= config.alignment.head < (network.heads if network.kind == "transformer" else 1),
            "alignment.head",
            "one of the network's heads, which count from 0",
        ),
    ]
    for fine, key, demand in demands:
        if not fine:
            raise InputError(f"{path}: {key}: must be {demand}")
    for corpus in config.data.train + config.data.dev:
        two = bool(corpus.source and corpus.target)
        if bool(corpus.path) == two or bool(corpus.source) != bool(corpus.target):
            raise InputError(f"{path}: a corpus has either `path` or both `source` and `target`")
        if corpus.weight <= 0:
            raise InputError(f"{path}: {corpus_name(corpus)}: weight must be above 0")


def _demands_on_alignment(alignment: AlignmentConfig) -> list[tuple[bool, str, str]]:
    """Return what must hold of the section, each with its key and how it is said."""
    is_aligned = alignment.weight > 0
    return [
        (alignment.weight >= 0, "alignment.weight", "0 or above"),
        (0 <= alignment.replace < 1, "alignment.replace", "between 0 and 1"),
        (is_aligned or not alignment.replace, "alignment.replace", "0 without alignment.weight"),
        (0 <= alignment.terms < 1, "alignment.terms", "between 0 and 1"),
        (is_aligned or not alignment.terms, "alignment.terms", "0 without alignment.weight"),
    ]


def _is_time(text: str) -> bool:
    try:
        return not text or bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def corpus_name(corpus: Corpus) -> str:
    """Name a corpus in logs: as the configuration does, or by its file."""
    return corpus.name or Path(corpus.path or corpus.source).name.split(".")[0]


def _resolve_paths(config: RunConfig, base: Path) -> RunConfig:
    def absolute(path: str) -> str:
        return str((base / Path(path).expanduser()).resolve()) if path else ""

    def resolve(corpus: Corpus) -> Corpus:
        return dataclasses.replace(
            corpus,
            name=corpus_name(corpus),
            path=absolute(corpus.path),
            source=absolute(corpus.source),
            target=absolute(corpus.target),
        )

    data = dataclasses.replace(
        config.data,
        train=tuple(map(resolve, config.data.train)),
        dev=tuple(map(resolve, config.data.dev)),
    )
    training = dataclasses.replace(config.training, start=absolute(config.training.start))
    return dataclasses.replace(
        config, data=data, training=training, directory=absolute(config.directory)
    )
