"""Requests with as much in them as a request may have, drawn at random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

MOST_CONSTRAINTS = 64
MOST_CHARACTERS = 4000
WORDS = (
    "Haus", "Passwort", "Kennwort", "Baum", "Name", "Server", "Option", "Schaltfläche", "falsch",
    "kann", "bitte", "nicht", "Datei", "Ordner", "Liste", "Fenster", "Seite", "Text", "Bild",
    "Farbe", "Größe", "Linie", "Tabelle", "Zelle", "Zeile", "Spalte", "Wert", "Formel", "Funktion",
    "Bereich", "Blatt", "Drucker", "Papier", "Rand", "Kopf", "Fuß", "Absatz", "Zeichen", "Schrift",
    "Stil", "Vorlage", "Menü", "Symbol", "Leiste", "Ansicht", "Objekt", "Rahmen", "Grafik",
    "Diagramm", "Achse", "Titel", "Legende", "Daten", "Quelle", "Ziel", "Anfang", "Ende", "Mitte",
    "links", "rechts", "oben", "unten", "neu", "alt", "groß", "klein", "um", "mit", "zu", "auf",
    "dem", "der", "die", "das",
)  # fmt: skip
SENTENCES = (
    "The company will open a new factory next year.", "Click the button to open the file.",
    "She said that she had never seen such a large house in the middle of the city.",
    "The password is wrong.", "If it rains tomorrow, the game will be moved to Sunday.",
    "Water boils at 100 degrees.", "Select the rows that you want to delete, and press Enter.",
)  # fmt: skip
SENTENCES_TO_KEEP = (
    "The file {name} has 3 pages and takes 12.5 MB.", "Wait 30 seconds, and open %s again.",
    "Version 2.0 costs $49.99 for 5 users.", "Click <b>Open</b> to see {count} of {total} items.",
    "<p>The <i>new</i> house is 120 m wide.</p>", "Since 1998 they have sold 1,000 kg a day.",
)  # fmt: skip
"""Sentences with something that `keep` finds."""
KEPT = ("numbers", "placeholders", "markup", "quantities")
KINDS = (
    "phrase", "long phrase", "any", "many", "gap", "order", "soft", "exactly", "at most", "suffix",
    "prefix", "lemma", "lemma exactly", "lemma at most", "compound", "lemmas",
)  # fmt: skip


@dataclass(frozen=True)
class TimeProblem:
    """A request."""

    text: str
    constraints: tuple[Any, ...]
    avoid: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()

    @property
    def characters(self) -> int:
        """How long it is, text and constraints together, each as often as it is wanted."""
        return characters_of(self.text, *self.constraints, *self.avoid)


def characters_of(text: str, *asked: Any) -> int:
    """Return how long a request is: its text, and all that is asked, as often as it is wanted."""
    return len(text) + sum(len(word) * times_of(each) for each in asked for word in words_of(each))


def times_of(shape: Any) -> int:
    """Return how often a constraint is wanted."""
    times = (shape.get("count"), shape.get("exactly")) if isinstance(shape, dict) else ()
    return next((each for each in times if each), 1)


def words_of(shape: Any) -> Iterator[str]:
    """Yield the texts of a constraint."""
    if isinstance(shape, str):
        yield shape
    elif isinstance(shape, dict):
        for value in shape.values():
            yield from words_of(value)
    elif isinstance(shape, list):
        for value in shape:
            yield from words_of(value)


def draw(random: Random) -> TimeProblem:
    """Draw a request with at most 64 constraints and 4,000 characters."""
    length = random.choice((10, 40, 200, 1000, 3000))
    keep = tuple(random.sample(KEPT, random.choice((0, 0, 1, 2, len(KEPT)))))
    sentences = (*SENTENCES, *SENTENCES_TO_KEEP) if keep else SENTENCES
    text = ""
    while len(text) < length:
        text += random.choice(sentences) + " "
    count = random.choice((1, 4, 16, MOST_CONSTRAINTS))
    kinds = random.sample(KINDS, random.choice((1, 1, 2, len(KINDS))))
    ends = [kind for kind in ("prefix", "suffix") if kind in kinds]
    inner = [kind for kind in kinds if kind not in ends] or ["phrase"]
    drawn = [random.choice(inner) for _ in range(count - len(ends))] + ends
    problem = TimeProblem(text[:length].strip(), (), keep=keep)
    for kind in drawn:
        more = replace(problem, constraints=(*problem.constraints, _constraint(random, kind)))
        if more.characters <= MOST_CHARACTERS:
            problem = more
    if random.random() < 0.2:
        used = {
            word for each in problem.constraints for text in words_of(each) for word in text.split()
        }
        unused = [word for word in WORDS if word not in used]
        avoid = tuple(random.sample(unused, min(len(unused), random.choice((1, 8, 30)))))
        problem = replace(problem, avoid=avoid)
    return problem


def _constraint(random: Random, kind: str) -> Any:
    word, other = random.choice(WORDS), random.choice(WORDS)
    some = [random.choice(WORDS) for _ in range(random.choice((2, 3, 8)))]
    shapes: dict[str, Any] = {
        "phrase": word,
        "long phrase": " ".join(random.choices(WORDS, k=random.choice((5, 20)))),
        "any": {"any": some},
        "many": {"any": some, "count": random.choice((2, 5, 20, 100))},
        "gap": {"gap": [word, other], "within": random.choice((0, 5, 50))},
        "order": {"order": some},
        "soft": {"text": word, "soft": random.choice((1, 10, 100))},
        "exactly": {"text": word, "exactly": random.choice((1, 2, 5))},
        "at most": {"text": word, "at_most": random.choice((1, 2))},
        "suffix": {"suffix": word},
        "prefix": {"prefix": word + " "},
        "lemma": {"lemma": word, "count": random.choice((1, 1, 2))},
        "lemma exactly": {"lemma": word, "exactly": random.choice((1, 2, 5))},
        "lemma at most": {"lemma": word, "at_most": random.choice((1, 2))},
        "compound": {"text": word, "compound": True, "count": random.choice((1, 1, 2))},
        "lemmas": {"order": [{"lemma": word}, {"lemma": other}]},
    }
    shape = shapes[kind]
    if kind in ("gap", "order") and random.random() < 0.3:
        shape["count"] = random.choice((2, 5, 10))
    return shape


def show(problem: TimeProblem) -> str:
    """Return a problem as a program."""
    return (
        "import lexbeam\ntranslator = lexbeam.load()\n"
        f"print(translator.translate({problem.text!a}, {list(problem.constraints)!a}, "
        f"{list(problem.avoid)!a}, keep={list(problem.keep)!a}))\n"
    )


def simpler(problem: TimeProblem) -> Iterator[TimeProblem]:
    """Yield problems with half of the constraints, without what is avoided, or with less kept."""
    half = len(problem.constraints) // 2
    if half:
        yield replace(problem, constraints=problem.constraints[:half])
        yield replace(problem, constraints=problem.constraints[half:])
    if problem.avoid:
        yield replace(problem, avoid=())
    for kept in problem.keep:
        yield replace(problem, keep=tuple(each for each in problem.keep if each != kept))
