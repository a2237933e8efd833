"""The documentation site can be built, and none of its links is broken."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "docs" / "build_site.py"), str(tmp_path / "site")]
    built = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert built.returncode == 0, built.stderr
    pages = {page.name: page.read_text("utf-8") for page in (tmp_path / "site").rglob("*.html")}
    assert "lexbeam translate" in pages["commands.html"]
    assert "beam_size" in pages["settings.html"]
    assert "translate_each" in pages["python.html"]
    fetched = re.compile(r"""(?:src|<link[^>]*href)="https?://""")
    assert [name for name, page in pages.items() if fetched.search(page)] == []
