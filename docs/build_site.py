"""Builds the documentation site: ``python docs/build_site.py [FOLDER]`` (extra ``docs``).

The reference of commands and settings is made from the code, that of the Python API by
mkdocstrings. Nothing is fetched, and a broken link is an error.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import click

from lexbeam.cli.main import COMMANDS, main
from lexbeam.search.settings import declarations
from lexbeam.translation.settings import TextSettings

DOCS = Path(__file__).parent
ROOT = DOCS.parent
PAGES = {"../CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md",
         "README.md": "index.md", "docs/": ""}  # fmt: skip
"""Where pages are on the site that are elsewhere in the repository: beginnings of links."""
OUTSIDE = re.compile(r"\[([^\]]*)\]\(\.\./[\w./-]+(#[\w-]*)?\)")
"""A link to a file of the repository that is no page."""

API = {
    "Translating": [
        "lexbeam.load",
        "lexbeam.Translator",
        "lexbeam.Translation",
        "lexbeam.ConstraintReport",
        "lexbeam.Link",
        "lexbeam.TextRequest",
        "lexbeam.Glossary",
        "lexbeam.translation.settings.TextSettings",
    ],
    "Files and corpora": ["lexbeam.files.translate", "lexbeam.files.units", "lexbeam.Batches"],
    "The search": [
        "lexbeam.search.decode",
        "lexbeam.search.settings.Settings",
        "lexbeam.search.Pattern",
        "lexbeam.search.scorer.Scorer",
        "lexbeam.search.allocation.Policy",
        "lexbeam.search.candidates.ObservedStep",
        "lexbeam.testing",
    ],
    "Hugging Face": ["lexbeam.hf.generate", "lexbeam.hf.constrained"],
    "Studies": ["lexbeam.study.run"],
    "Errors": ["lexbeam.errors"],
}


def build(out: Path) -> int:
    """Build the site into a folder; return the exit status of the builder."""
    pages = ROOT / "build" / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(DOCS, pages, ignore=shutil.ignore_patterns("*.py", "*.yml", "__pycache__"))
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, pages / name.lower())
    (pages / "README.md").rename(pages / "index.md")
    for page in pages.glob("*.md"):
        page.write_text(with_inside_links(page.read_text(encoding="utf-8")), encoding="utf-8")
    reference = pages / "reference"
    reference.mkdir()
    (reference / "commands.md").write_text("\n".join(commands()), encoding="utf-8")
    (reference / "settings.md").write_text("\n".join(settings()), encoding="utf-8")
    (reference / "python.md").write_text("\n".join(python_api()), encoding="utf-8")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    command += ["-f", str(DOCS / "site.yml"), "-d", str(out.absolute())]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, env=environment, check=False).returncode


def with_inside_links(text: str) -> str:
    """Return a page whose links lead to pages of the site; to other files there are none."""
    for outside, page in PAGES.items():
        text = text.replace(f"]({outside}", f"]({page}")
    text = re.sub(
        r"(\]\([\w./]+\.md#[\w-]*?)-+\)", r"\1)", text
    )  # anchors have no hyphen at the end
    return OUTSIDE.sub(r"\1", text)


def commands() -> Iterator[str]:
    """Yield the page of all commands, as they say themselves what they take."""
    yield "# Commands\n"
    yield "For everybody who uses the command line: what `--help` prints for every command.\n"
    context = click.Context(main, info_name="lexbeam")
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None
        yield from _command(command, f"lexbeam {name}", 2)


def _command(command: click.Command, name: str, depth: int) -> Iterator[str]:
    context = click.Context(command, info_name=name, max_content_width=96, terminal_width=96)
    yield f"{'#' * depth} {name}\n\n```text\n{command.get_help(context)}\n```\n"
    for inner, each in getattr(command, "commands", {}).items():
        yield from _command(each, f"{name} {inner}", depth + 1)


def settings() -> Iterator[str]:
    """Yield the page of all settings, with their defaults."""
    yield "# Settings\n"
    yield (
        "For everybody. A setting has one name everywhere: an argument of `translate(…)` in "
        "Python, a field of `settings` in JSON and on the server, and an option on the command "
        "line (`beam_size` is `--beam-size`).\n"
    )
    yield "| setting | default | values | what it does |\n| --- | --- | --- | --- |"
    hints = get_type_hints(TextSettings)
    for name, declared in declarations(TextSettings).items():
        default = getattr(TextSettings, name)
        values = ", ".join(f"`{each}`" for each in declared.choices) or _values(
            hints[name], declared
        )
        yield f"| `{name}` | `{default}` | {values} | {declared.help} |"
    yield "\nWhat the search does with each is in [the Python reference](python.md#the-search)."


def _values(hint: Any, declared: Any) -> str:
    kind = "yes or no" if hint is bool else "whole number" if "int" in str(hint) else "number"
    least = "" if declared.least is None else f", at least {declared.least:g}"
    return kind + least


def python_api() -> Iterator[str]:
    """Yield the page of the Python API, which mkdocstrings fills in."""
    yield "# Python\n"
    yield "For developers: every public name, from the docstrings of the code.\n"
    for title, names in API.items():
        yield f"## {title}\n"
        yield from (f"::: {name}\n" for name in names)


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "site")))
