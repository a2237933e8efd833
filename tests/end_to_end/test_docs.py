"""The documentation says what is so."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

import figures
import transcripts
import type_check

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def _without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def _anchors(text: str) -> set[str]:
    """Return the names that headings can be linked by, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", _without_code(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", _without_code(page.read_text(encoding="utf-8")))
    broken = []
    for link in links:
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = page.parent / name if name else page
        there = target.exists()
        if there and anchor:
            there = anchor in _anchors(target.read_text(encoding="utf-8"))
        if not there:
            broken.append(link)
    assert not broken


def test_every_page_can_be_reached_from_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    assert linked == {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}


@pytest.mark.parametrize("page", transcripts.PAGES, ids=lambda page: page.name)
def test_examples_say_what_they_show(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("\n$ lexbeam ") >= 4
    assert transcripts.rerun(text) == text


def test_what_has_changed_is_put_in() -> None:
    console = "```console\n$ {}\n```\n"
    stale = console.format('lexbeam translate "Restart the computer." -c Rechner\nsomething else')
    assert "Rechner" in transcripts.rerun(stale).splitlines()[2]
    for elsewhere in ("lexbeam translate --model en-pt Hello\nwhatever", "ls\nwhatever"):
        assert transcripts.rerun(console.format(elsewhere)) == console.format(elsewhere)
    assert transcripts.rerun("```pycon\n>>> 1 + 1\n3\n```\n") == "```pycon\n>>> 1 + 1\n2\n```\n"


def test_lines_of_a_type_checked_block_are_those_of_the_page() -> None:
    page = "# A\n\n```python\nx = 1\n```\n\n```pycon\n>>> y = [\n...   2\n... ]\n>>> y\n[2]\n```\n"
    block, session = type_check.modules(page)
    assert block.splitlines() == [type_check.PREAMBLE, "", "", "x = 1"]
    assert session.splitlines()[7:] == ["y = [", "  2", "]", "y"]


def test_all_python_blocks_are_type_checked() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        sessions = "```pycon" in text
        assert len(list(type_check.modules(text))) == text.count("```python\n") + sessions


def test_files_of_an_example_are_written_and_read() -> None:
    page = (
        "```console\n$ cat in.txt\nThank you.\n$ lexbeam translate < in.txt > out.txt\n"
        "$ echo $?\n$ cat out.txt\n```\n"
    )
    lines = transcripts.rerun(page).splitlines()
    assert lines[4:6] == ["$ echo $?", "0"]
    assert lines[6] == "$ cat out.txt"
    assert "Danke" in lines[7]


def test_only_last_digits_of_numbers_may_differ() -> None:
    assert transcripts._alike("a -0.12345 b", "a -0.12346 b")
    assert not transcripts._alike("a -0.12345 b", "a -0.22345 b")
    assert not transcripts._alike("a -0.12345 b", "a -0.12345 c")


def test_the_pictures_can_be_drawn_again(tmp_path: Path) -> None:
    figures.main(tmp_path)
    drawn = {path.name for path in tmp_path.iterdir()}
    shown = (ROOT / "docs" / "algorithm.md").read_text(encoding="utf-8")
    assert drawn == {
        f"{name}.{kind}"
        for name in re.findall(r"\(figures/([\w-]+)\.svg\)", shown)
        for kind in ("svg", "png")
    }
    assert drawn <= {path.name for path in (ROOT / "docs" / "figures").iterdir()}


def test_the_tables_of_the_performance_page_are_what_was_printed() -> None:
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    results = sorted((ROOT / "benchmarks" / "results").glob("*.txt"))
    assert len(results) >= 2
    for path in results:
        assert f"<!-- {path.name} -->\n```\n{path.read_text(encoding='utf-8').strip()}\n```" in page
