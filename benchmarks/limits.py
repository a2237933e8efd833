"""How long may a request take? ``python benchmarks/limits.py``.

Requests with as many constraints as may be expected, of each kind and of several, on a text of four
words and on longer ones. Each is compared with a free translation (`request_size`).
"""

from __future__ import annotations

import argparse
import os
import random
import time
from typing import Any

import lexbeam
from request_size import FreeTime, characters_of

WORDS = (
    "Haus", "Passwort", "Kennwort", "Baum", "Name", "Server", "Option", "Schaltfläche", "falsch",
    "kann", "bitte", "nicht", "Datei", "Ordner", "Liste", "Fenster", "Seite", "Text", "Bild",
    "Farbe", "Größe", "Linie", "Tabelle", "Zelle", "Zeile", "Spalte", "Wert", "Formel",
    "Funktion", "Bereich", "Blatt", "Drucker", "Papier", "Rand", "Kopf", "Fuß", "Absatz",
    "Zeichen", "Schrift", "Stil", "Vorlage", "Menü", "Symbol", "Leiste", "Ansicht", "Objekt",
    "Rahmen", "Grafik", "Diagramm", "Achse", "Titel", "Legende", "Daten", "Quelle", "Ziel",
    "Anfang", "Ende", "Mitte", "links", "rechts", "oben", "unten", "neu", "alt", "groß", "klein",
    "um", "mit", "zu", "auf", "dem", "der", "die", "das",
)  # fmt: skip
TEXTS = (
    "The password is wrong.",
    "Select the rows that you want to delete, and press Enter. " * 18,
    "She said that she had never seen such a large house in the middle of the city. " * 36,
)


def requests(seed: int) -> dict[str, tuple[list[Any], list[str]]]:
    """Return constraints and what is avoided, by what they show."""
    pairs = [[WORDS[i], WORDS[(i + 7) % len(WORDS)]] for i in range(64)]
    some = [[*pair, WORDS[(i + 13) % len(WORDS)]] for i, pair in enumerate(pairs)]
    chance, mixed = random.Random(seed), []
    for _ in range(10):
        one, other = chance.choice(WORDS), chance.choice(WORDS)
        mixed += [
            one,
            {"any": [one, other]},
            {"gap": [other, one], "within": 5},
            {"order": [one, other]},
            {"text": chance.choice(WORDS), "exactly": 2},
            {"text": chance.choice(WORDS), "soft": 5},
        ]
    return {
        "64 phrases": (list(WORDS[:64]), []),
        "64 alternatives": ([{"any": each} for each in some], []),
        "64 gaps within 5": ([{"gap": each, "within": 5} for each in pairs], []),
        "32 gaps, 10 avoided": ([{"gap": p, "within": 5} for p in pairs[:32]], list(WORDS[60:70])),
        "64 orders of three": ([{"order": each} for each in some], []),
        "16 soft orders": ([{"order": each, "soft": 5} for each in some[:16]], []),
        "64 soft phrases": ([{"text": each, "soft": 5} for each in WORDS[:64]], []),
        "32 exact counts": ([{"text": each, "exactly": 2} for each in WORDS[:32]], []),
        "a count of 100": ([{"any": ["um", "mit"], "count": 100}], []),
        "60 of six kinds": (mixed, []),
    }


def attempt(translator: lexbeam.Translator, text: str, *asked: Any) -> tuple[float, str]:
    """Return the processor's time of a translation, and why it was refused, if it was."""
    started, why = time.process_time(), ""
    try:
        translator.translate(text, *asked)
    except lexbeam.LexbeamError as error:
        why = f"refused: {error}"[:60]
    return time.process_time() - started, why


def main() -> None:
    """Print a line for each request and text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=5)
    given = parser.parse_args()
    translator = lexbeam.load()
    free = FreeTime(translator, " ".join(TEXTS))
    print(f"load {os.getloadavg()[0]:.1f}\n{'':22}characters  seconds  free  times")
    for name, (constraints, avoid) in requests(given.seed).items():
        for text in TEXTS:
            characters = characters_of(text, *constraints, *avoid)
            least = free.as_long(text, characters)
            taken, why = attempt(translator, text, constraints, avoid)
            print(f"{name:22}{characters:10}{taken:9.2f}{least:6.2f}{taken / least:7.1f} {why}")


if __name__ == "__main__":
    main()
