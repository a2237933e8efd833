"""Take the picture of the server's page in docs/page.png: ``python docs/page_picture.py [FILE]``.

Starts ``lexbeam serve`` and opens its page in Chromium, pins one word and looks at what else could
stand at the place of another. Needs the extra ``server``, Playwright and Debian's Chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

PICTURE = Path(__file__).parent / "page.png"
PINNED = "Rechner"
SIZE = {"width": 1180, "height": 600}


@contextmanager
def served() -> Iterator[str]:
    """Run a server; gives its address."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "lexbeam", "serve", "--port", "0", "--data", folder]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
            try:
                assert running.stderr is not None
                line = running.stderr.readline()
                yield next(word for word in line.split() if word.startswith("http"))
            finally:
                running.terminate()


def try_page(page: Page, address: str) -> None:
    """Pin a word, then open the choices for another."""
    page.goto(address)
    page.click('.word:text-is("Computer")')
    page.fill("#choices input", PINNED)
    page.keyboard.press("Enter")
    page.wait_for_selector(f'.word.kept:text-is("{PINNED}")')
    page.wait_for_selector(".chip .cost")
    page.click('.word:text-is("Treffen")')
    page.wait_for_selector("#choices li button")
    page.mouse.move(0, 0)


def main() -> None:
    """Take the picture."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=SIZE, device_scale_factor=1.25)  # type: ignore[arg-type]
        try_page(page, address)
        page.screenshot(path=file)
        browser.close()
    print(f"{file}: {file.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
