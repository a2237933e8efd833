"""The page in a real browser, as somebody uses it who has not seen it before."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("there is no Chromium to open the page with", allow_module_level=True)

_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
_FLAGS += ["--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, server: str) -> Iterator[Page]:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    problems: list[str] = []
    hosts: set[str] = set()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.extend([said.text] * (said.type == "error")))
    page.on("request", lambda request: hosts.add("/".join(request.url.split("/")[:3])))
    page.goto(f"{server}/")
    page.wait_for_selector(".word")
    yield page
    assert problems == []
    assert hosts <= {server, "blob:"}
    context.close()


def write(page: Page, text: str, expected: str) -> None:
    page.fill("#source", text)
    shows(page, expected)


def shows(page: Page, expected: str) -> None:
    expect(page.locator("#target")).to_have_text(expected, timeout=20_000)


def choose(page: Page, word: str) -> None:
    page.click(f'.word:text-is("{word}")')
    page.wait_for_selector("#choices:not([hidden])")


def test_translates_while_one_types(page: Page) -> None:
    write(page, "Restart the computer.", "Starten Sie den Computer neu.")


def test_another_word_is_written(page: Page) -> None:
    write(page, "Restart the computer.", "Starten Sie den Computer neu.")
    choose(page, "Computer")
    page.fill("#choices input", "Rechner")
    page.keyboard.press("Enter")
    shows(page, "Starten Sie den Rechner neu.")
    assert page.locator(".word.kept").all_text_contents() == ["Rechner"]
    expect(page.locator(".chip .cost")).to_be_visible(timeout=20_000)
    page.click('button[aria-label="Drop: Rechner"]')
    shows(page, "Starten Sie den Computer neu.")


def test_one_of_the_models_choices_is_taken(page: Page) -> None:
    write(page, "The password is wrong.", "Das Kennwort ist falsch.")
    choose(page, "Kennwort")
    page.click('#choices li button:has-text("Passwort")')
    shows(page, "Das Passwort ist falsch.")


def test_a_choice_may_change_what_stands_before(page: Page) -> None:
    write(page, "The meeting was very successful.", "Das Treffen war sehr erfolgreich.")
    choose(page, "Treffen")
    page.click('#choices li button:has-text("Sitzung")')
    shows(page, "Die Sitzung war sehr erfolgreich.")


def test_not_this_and_undo(page: Page) -> None:
    write(page, "The doctor is very tired.", "Der Arzt ist sehr müde.")
    choose(page, "Arzt")
    page.click('#choices button:has-text("Not this")')
    shows(page, "Der Doktor ist sehr müde.")
    page.click("#undo")
    shows(page, "Der Arzt ist sehr müde.")


def test_typing_the_beginning(page: Page) -> None:
    write(page, "The password is wrong.", "Das Kennwort ist falsch.")
    page.locator("#prefix").press_sequentially("Ihr")
    expect(page.locator("#target")).to_contain_text("Ihr Passwort ist")
    page.locator("#prefix").press("Tab")
    assert page.input_value("#prefix") == "Ihr Passwort "


def test_all_by_keyboard(page: Page) -> None:
    write(page, "Restart the computer.", "Starten Sie den Computer neu.")
    page.focus("#source")
    page.keyboard.press("Tab")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector("#choices:not([hidden])")
    page.keyboard.press("Enter")  # keep this
    expect(page.locator(".chip")).to_contain_text("Computer")
    assert page.evaluate("document.activeElement.textContent") == "Computer"
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    assert page.is_hidden("#choices")


def test_a_glossary_is_pasted(page: Page) -> None:
    write(page, "Restart the computer.", "Starten Sie den Computer neu.")
    page.click("#glossary-box summary")
    page.fill("#glossary", "computer,Rechner\nprinter;Druckgerät")
    shows(page, "Starten Sie den Rechner neu.")
    assert page.text_content("#glossary-count") == "(2 terms)"


def test_a_link_holds_the_state(page: Page, server: str) -> None:
    write(page, "Restart the computer.", "Starten Sie den Computer neu.")
    choose(page, "Computer")
    page.fill("#choices input", "Rechner")
    page.keyboard.press("Enter")
    shows(page, "Starten Sie den Rechner neu.")
    page.click("#link")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(server)
    page.goto("about:blank")
    page.goto(link)
    shows(page, "Starten Sie den Rechner neu.")
    page.click("#copy")
    page.wait_for_function("document.getElementById('status').textContent.includes('copied')")
    assert page.evaluate("navigator.clipboard.readText()") == "Starten Sie den Rechner neu."


def test_links_of_others_do_no_harm(page: Page, server: str) -> None:
    for hash_ in ("#%00", "#e30", "#W10", "#bnVsbA"):
        page.goto("about:blank")
        page.goto(f"{server}/{hash_}")
        page.wait_for_selector("#model option", state="attached")
    write(page, "<img src=x onerror=alert(1)>", page.text_content("#target") or "")


def test_the_trace_opens(page: Page) -> None:
    write(page, "Restart the computer.", "Starten Sie den Computer neu.")
    with page.context.expect_page() as opened:
        page.click("#trace")
    opened.value.wait_for_load_state()
    assert "Starten Sie den Computer neu." in (opened.value.text_content("body") or "")


def test_a_word_lights_up_its_source(page: Page) -> None:
    write(page, "Hello! Restart the computer.", "Hallo! Starten Sie den Computer neu.")
    page.hover('.word:text-is("Computer")')
    assert page.text_content("#backdrop mark") == "computer"


def test_the_page_about_the_api(page: Page, server: str) -> None:
    page.goto(f"{server}/docs")
    page.wait_for_selector("dt")
    assert "/v2/translate" in (page.text_content("#doc") or "")


def test_a_phone(browser: Browser, server: str) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 700})
    page.goto(f"{server}/")
    page.wait_for_selector(".word")
    page.click(".word >> nth=1")
    page.wait_for_selector("#choices li button")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()
