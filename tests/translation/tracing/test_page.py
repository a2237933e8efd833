from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.beam_search import decode
from lexbeam.search.settings import Settings
from lexbeam.testing import HistoryScorer
from lexbeam.translation.jobs import Job
from lexbeam.translation.tracing.collect import BatchWatcher, SearchTrace
from lexbeam.translation.tracing.page import render, to_data

NASTY = "</script><script>alert(1)</script><!-- & \" ' $data ${title} \u2028 שלום 猫 🐈"
VOID = {"meta", "input"}


class Reader(HTMLParser):
    """Reads a page: its elements, and the text inside them; refuses what is not closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(data)


def search(*phrases: Any) -> SearchTrace:
    scorer = HistoryScorer(8, bos=1, eos=0)
    watcher = BatchWatcher([Job((1,), phrases)], Settings(beam_size=3), scorer)
    answers = decode(scorer, [(1,)], [list(phrases)], beam_size=3, max_length=8, observer=watcher)
    return watcher.searches([answers[0][0].tokens])[0]


def pieces(tokens: Sequence[int]) -> list[str]:
    return [f"▁{token}{NASTY}" for token in tokens]


def page(text: str = NASTY) -> str:
    return render([(text, text, search((2, 3)))], pieces, {"name": NASTY}, 1)


def test_whatever_a_text_or_a_vocabulary_holds_is_data() -> None:
    read, harmless = Reader(page()), Reader(page("text"))
    assert [tag for tag, _ in read.elements] == [tag for tag, _ in harmless.elements]
    data, script = read.texts["script"]
    assert "alert" not in script
    loaded = json.loads(data)
    assert loaded["searches"][0]["source"] == NASTY
    assert loaded["model"] == NASTY
    assert loaded["pieces"]
    assert all(NASTY in piece for piece in loaded["pieces"])
    assert read.texts["p"].count(NASTY) == 2  # for readers without JavaScript
    assert not set(data) & set("<>&\u2028\u2029")


def test_nothing_comes_from_elsewhere() -> None:
    shown = page("text")
    attributes = {name for _, attrs in Reader(shown).elements for name in attrs}
    assert not attributes & {"src", "href", "srcset", "style", "onclick", "onload"}
    assert set(re.findall(r"https?://[^\s\"']*", shown)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\(|\bfetch\(|XMLHttpRequest|\bimport\(", shown)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", shown)


def test_the_policy_lets_in_this_style_and_this_script_only() -> None:
    read = Reader(page())
    policy = next(a["content"] for _, a in read.elements if "http-equiv" in a)
    (style,), (_, script) = read.texts["style"], read.texts["script"]
    allowed = [b64encode(sha256(each.encode()).digest()).decode() for each in (style, script)]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{allowed[0]}'; script-src 'sha256-{allowed[1]}'"
    )


def test_everything_the_script_looks_for_is_in_the_page() -> None:
    read = Reader(page("text"))
    ids = {attrs["id"] for _, attrs in read.elements if "id" in attrs}
    wanted = set(re.findall(r"at\(\"(\w+)\"\)", read.texts["script"][1]))
    assert wanted
    assert wanted <= ids


def test_the_data_leads_back_to_the_output() -> None:
    seen = search((2, 3), (4,))
    data = to_data([("source", "output", seen)], lambda ids: [str(i) for i in ids], {}, 0)
    (shown,) = json.loads(json.dumps(data))["searches"]
    tokens = []
    slot = shown["path"][shown["ended"]]
    for step in reversed(shown["steps"][: shown["ended"] + 1]):
        parent, token, *_ = step["candidates"][step["beam"][slot][0]]
        tokens.append(data["pieces"][token])
        slot = parent
    assert slot == 0
    assert tokens[0] == "0"  # the end
    assert {"2", "3", "4"} <= set(tokens)
    assert [each["size"] for each in shown["constraints"]] == [2, 1]
    first = shown["steps"][0]["candidates"][0]
    assert [name for i, name in enumerate(data["origins"]) if first[4] >> i & 1]


def test_a_pattern_is_written_with_its_parts_and_forms() -> None:
    pattern = Pattern(
        ((Form((2,)), Form((3, 4), first=True)), (Form((5,)),)), within=3, penalty=7.0
    )
    data = to_data([("s", "o", search(pattern))], lambda ids: [str(i) for i in ids], {}, 0)
    (constraint,) = data["searches"][0]["constraints"]
    written = [[[data["pieces"][n] for n in form] for form in p] for p in constraint["parts"]]
    assert written == [[["2"], ["3", "4"]], [["5"]]]
    assert constraint["first"] == [[False, True], [False]]
    assert (constraint["within"], constraint["price"], constraint["last"]) == (3, 7.0, False)


def test_a_page_without_searches() -> None:
    assert json.loads(Reader(render([], pieces, {}, 0)).texts["script"][0])["searches"] == []
