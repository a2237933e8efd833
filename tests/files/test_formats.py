"""What goes for every format, checked on samples of each."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from files.fake import FakeTranslator, Hostile, opened
from files.samples import SAMPLES
from lexbeam import files
from lexbeam.errors import InputError, LexbeamError
from lexbeam.files.units import Edit
from lexbeam.translation.marked_text import Code, MarkedText, fill_in
from lexbeam.translation.markup import translate_marked

NAMES = sorted(SAMPLES)


def codes(marked: MarkedText) -> Counter[str]:
    return Counter(part.raw for part in marked if isinstance(part, Code))


@pytest.mark.parametrize("name", NAMES)
def test_a_file_without_edits_comes_back_byte_for_byte(name: str) -> None:
    assert b"".join(opened(name, SAMPLES[name]).spliced([])) == SAMPLES[name]


@pytest.mark.parametrize("name", NAMES)
def test_there_is_something_to_translate_and_afterwards_only_where_it_stays_open(
    name: str, tmp_path: Path
) -> None:
    source, out = tmp_path / name, tmp_path / f"out-{name}"
    source.write_bytes(SAMPLES[name])
    report = files.translate(source, out, FakeTranslator())
    assert report.translated == report.open > 0
    assert not report.failures
    assert out.read_bytes() != SAMPLES[name]
    before = list(opened(name, SAMPLES[name]).units())
    after = list(opened(name, out.read_bytes()).units())
    assert len(after) == len(before)
    if any(unit.state != "untranslated" for unit in after):  # a format that has states
        assert all(unit.state != "untranslated" for unit in after)
        again = tmp_path / f"again-{name}"
        files.translate(out, again, FakeTranslator())
        assert again.read_bytes() == out.read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_every_code_is_there_once_in_every_unit(name: str, tmp_path: Path) -> None:
    source, out = tmp_path / name, tmp_path / f"out-{name}"
    source.write_bytes(SAMPLES[name])
    files.translate(source, out, FakeTranslator())
    for unit, new in zip(
        opened(name, SAMPLES[name]).units(), opened(name, out.read_bytes()).units(), strict=True
    ):
        if all(other.state == "untranslated" for other in (unit, new)):  # monolingual
            for one, other in zip(unit.sources, new.sources, strict=True):
                assert sum(codes(one).values()) == sum(codes(other).values())
                if not name.endswith((".html", ".json", ".arb")):  # codes with texts inside
                    assert codes(one) == codes(other)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(12))
def test_whatever_the_model_says_the_file_stays_readable(name: str, seed: int) -> None:
    scan = opened(name, SAMPLES[name])
    edits: list[Edit] = []
    count = 0
    for unit in scan.units():
        count += 1
        if unit.is_open():
            found = translate_marked(unit.sources, Hostile(seed))
            for source, target in zip(unit.sources, found, strict=True):
                assert isinstance(target, list)
                assert codes(fill_in(target, source)) == codes(source)
            edits += unit.write(
                [
                    fill_in(target, source)
                    for target, source in zip(found, unit.sources, strict=True)
                    if isinstance(target, list)
                ]
            )
    written = b"".join(scan.spliced([*edits, *scan.header()]))
    again = opened(name, written)
    if not name.endswith((".txt", ".md", ".html", ".docx")):  # there emptied texts are no units
        assert sum(1 for _ in again.units()) <= count
    else:
        list(again.units())


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_give_a_result_or_one_error(name: str) -> None:
    data = SAMPLES[name]
    generator = random.Random(name)
    for _ in range(150):
        changed = bytearray(data)
        choice = generator.random()
        if choice < 0.3:
            changed = changed[: generator.randrange(len(changed))]
        for _ in range(generator.randrange(0, 6) if choice > 0.2 else 0):
            if changed:
                changed[generator.randrange(len(changed))] = generator.choice(
                    [generator.randrange(256), *b"<>&\"'{}[]\\\n\0:=;,#`*-"]
                )
        try:
            scan = opened(name, bytes(changed))
            edits: list[Edit] = []
            for unit in scan.units():
                if unit.is_open("all"):
                    edits += unit.write(unit.sources)
            b"".join(scan.spliced([*edits, *scan.header()]))
        except LexbeamError as error:
            assert "\n" not in str(error).strip()  # noqa: PT017


def test_an_unknown_format_is_one_error_that_lists_the_known_ones(tmp_path: Path) -> None:
    path = tmp_path / "file.xyz"
    path.write_text("x")
    with pytest.raises(InputError, match=r"xyz.*android.*po.*xliff1"):
        files.units(path)
    with pytest.raises(InputError, match=r"unknown format 'doc'.*po"):
        files.units(path, "doc")
