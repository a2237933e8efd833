"""Read what a glossary changes: ``python benchmarks/changed.py MODEL SRC GLOSSARY``.

Translates the sentences of SRC that have terms of the glossary, freely and with the glossary, and
prints those that it changed, one under the other: source, free translation, with the glossary.
They are for reading one by one. No term is shown more than a few times.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from random import Random

import lexbeam


def main() -> None:
    """Print the sentences that a glossary changes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help='a folder or a pair; "-" is the model that comes along')
    parser.add_argument("src", type=Path)
    parser.add_argument("glossary", type=Path)
    parser.add_argument("--compounds", action="store_true", help="terms may be in compounds")
    parser.add_argument("--lemmas", action="store_true", help="terms in any of their forms")
    parser.add_argument("--case", default="smart", help="how terms match: smart, exact, any")
    parser.add_argument("--first", type=int, default=0, help="the first sentence of SRC")
    parser.add_argument("--shuffle", type=int, help="take the sentences in an order drawn by it")
    parser.add_argument("--limit", type=int, default=36, help="so many changed sentences")
    parser.add_argument("--words", type=int, default=22, help="no longer sentences than that")
    parser.add_argument("--each", type=int, default=3, help="how often the same terms are shown")
    parser.add_argument("--ties", choices=("on", "off"), default="on")
    options = parser.parse_args()
    translator = lexbeam.load(None if options.model == "-" else options.model)
    how = {"compounds": options.compounds, "lemmas": options.lemmas, "case": options.case}
    glossary = lexbeam.Glossary.load(options.glossary, **how)
    languages = translator.info.get("source_language"), translator.info.get("target_language")
    lines = options.src.read_text(encoding="utf-8").splitlines()[options.first :]
    if options.shuffle is not None:
        Random(options.shuffle).shuffle(lines)
    lines = [line for line in lines if len(line.split()) <= options.words]
    sources = [line for line in lines if glossary.find(line, *languages).constraints]
    free = translator.translate(sources)
    tied = translator.translate(sources, glossary=glossary, settings={"ties": options.ties})
    shown, seen = 0, Counter[tuple[str, ...]]()
    for source, before, after in zip(sources, free, tied, strict=True):
        terms = tuple(sorted(report.text for report in after.constraints))
        if before.text == after.text or seen[terms] == options.each or shown == options.limit:
            continue
        seen[terms] += 1
        shown += 1
        print(f"{shown} {', '.join(terms)}\n  {source}\n  {before.text}\n  {after.text}")


if __name__ == "__main__":
    main()
