"""Texts made to keep a reader busy: they are read in time that grows with their length."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from files.fake import FakeTranslator
from lexbeam import files
from lexbeam.errors import LexbeamError

N = 20_000
TEXTS = {
    "braces": "{a," * N,
    "closed braces": "{a,{}" * N,
    "nested": "{" * N + "}" * N,
    "tags": "<a " * N,
    "quoted tags": '<a "' * N,
    "open and close": "<b>" * N + "x" + "</b>" * N,
    "crossing": "<b><i>x</b></i>" * N,
    "stars": "*a **b " * N,
    "ticks": "`a ``b ```c " * N,
    "brackets": "[a" * N + "](b)" * N,
    "entities": "&amp;" * N,
    "percent": "%s word " * N,
    "apostrophes": "it's '{' " * N,
    "colons": ":a:`b <" * N,
    "icu": "{n, plural, one {" * N,
    "spaces": "word " + " " * N + "word",
    "mails": "a.b+c-d@" * N,
    "sentences": "One. Two! " * N,
    "pipes": "|a |b| " * N,
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", sorted(TEXTS))
@pytest.mark.parametrize("kind", ["json", "md", "html", "po", "txt", "srt", "properties"])
def test_no_text_takes_for_ever(name: str, kind: str, tmp_path: Path) -> None:
    text = TEXTS[name][: 40_000 if kind == "md" else 100_000]
    path = tmp_path / f"a.{kind}"
    written = {
        "json": json.dumps({"a": text}),
        "po": f'msgid "{text.replace(chr(34), "")}"\nmsgstr ""\n',
        "srt": f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n",
        "properties": f"key={text}\n",
        "html": f"<p>{text}</p>",
    }.get(kind, text)
    path.write_text(written)
    try:
        files.translate(path, path, FakeTranslator())
    except LexbeamError as error:
        assert "\n" not in str(error)  # noqa: PT017
