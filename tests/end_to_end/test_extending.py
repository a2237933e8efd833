"""The examples of docs/extending.md, installed as a package would be."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lexbeam

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
GROUPS = {
    "most_met": "lexbeam.policies",
    "number": "lexbeam.constraint_kinds",
    "link": "lexbeam.model_formats",
    "ini": "lexbeam.file_formats",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the package of the page, as if it were installed there."""
    folder = tmp_path_factory.mktemp("site")
    package, facts = folder / "my_package", folder / "my_package-1.0.dist-info"
    package.mkdir()
    facts.mkdir()
    (package / "__init__.py").touch()
    blocks = re.findall(r"```python\n# my_package/(\w+)\.py\n(.*?)```", PAGE.read_text(), re.S)
    assert [name for name, _ in blocks] == list(GROUPS)
    for name, code in blocks:
        (package / f"{name}.py").write_text(code, encoding="utf-8")
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    entries = "".join(f"[{group}]\n{name} = my_package.{name}\n" for name, group in GROUPS.items())
    (facts / "entry_points.txt").write_text(entries)
    return folder


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), str(Path(lexbeam.__file__).parents[1])])
    return subprocess.run(
        [sys.executable, "-m", "lexbeam", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_a_policy(site: Path) -> None:
    done = run(site, "translate", "The house is old.", "-c", "Gebäude", "--algorithm", "most-met")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Gebäude" in done.stdout
    unknown = run(site, "translate", "The house is old.", "--algorithm", "least-met")
    assert unknown.returncode == 2
    assert "least-met" in unknown.stderr


def test_a_kind_of_constraint(site: Path) -> None:
    done = run(site, "translate", "It costs 5000 euros.", "-c", '{"number": 5000}')
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"\b5[.,\u202f]?000\b", done.stdout)
    wrong = run(site, "translate", "It costs 5000 euros.", "-c", '{"number": "many"}')
    assert wrong.returncode == 1
    assert "must be a whole number" in wrong.stderr


def test_a_format_of_models(site: Path, tmp_path: Path) -> None:
    link = tmp_path / "production.link"
    link.write_text("en-de", encoding="utf-8")
    done = run(site, "translate", "--model", str(link), "The house is old.")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Haus" in done.stdout


def test_a_format_of_files(site: Path, tmp_path: Path) -> None:
    given, out = tmp_path / "menu.ini", tmp_path / "menu.de.ini"
    given.write_text("[menu]\nopen = Open the file {name}.\nsize=12\n", encoding="utf-8")
    done = run(site, "file", str(given), "-o", str(out))
    assert done.returncode == 0, done.stderr
    written = out.read_text(encoding="utf-8")
    assert re.fullmatch(r"\[menu\]\nopen = .*\{name\}.*\nsize=12\n", written)
    assert "Open" not in written


def test_a_plugin_that_is_broken_is_named(tmp_path: Path) -> None:
    facts = tmp_path / "broken-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[lexbeam.policies]\nmine = nowhere.at_all\n")
    done = run(tmp_path, "translate", "The house is old.", "--algorithm", "mine")
    assert done.returncode != 0
    assert "the plugin mine (nowhere.at_all, group lexbeam.policies) can't be loaded" in done.stderr
    assert "Traceback" not in done.stderr
