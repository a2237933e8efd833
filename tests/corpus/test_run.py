from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from corpus.toy_corpus import TEXTS, everything, manifest, parts, translate, write_lines
from lexbeam.constraints.glossary import Glossary
from lexbeam.corpus import worker
from lexbeam.corpus.folder import OutputFolder
from lexbeam.corpus.formats import Writing
from lexbeam.errors import InputError, ModelError
from lexbeam.translation.asked import Asked
from lexbeam.translation.settings import TextSettings
from lexbeam.translation.translator import Translator

pytestmark = pytest.mark.usefixtures("toy_model")


def test_lines_become_parts_in_order(tmp_path: Path, translator: Translator) -> None:
    source = write_lines(tmp_path / "in.txt", TEXTS)
    counts, heard = translate([source], tmp_path / "out", shard_rows=4)
    assert counts == {"rows": 6, "failed": 0, "duplicates": 0}
    assert (heard.total, heard.done) == (6, 6)
    assert list(parts(tmp_path / "out")) == ["part-00000.txt", "part-00001.txt"]
    lines = b"".join(parts(tmp_path / "out").values()).decode().split("\n")
    expected = [translator.translate(text).text if text else "" for text in TEXTS]
    assert lines == [*expected, ""]


def test_files_of_several_kinds_do_not_share_parts(tmp_path: Path) -> None:
    text = write_lines(tmp_path / "a.txt", TEXTS[:3])
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"text": "the cat", "id": 7}\n{"text": "the house"}'))
    counts, _ = translate([text, str(packed)], tmp_path / "out")
    assert counts["rows"] == 5
    made = parts(tmp_path / "out")
    assert list(made) == ["part-00000.txt", "part-00001.txt", "part-00002.jsonl"]
    records = [json.loads(line) for line in made["part-00002.jsonl"].splitlines()]
    assert [record.get("id") for record in records] == [7, None]
    assert all(record["translation"] for record in records)


def test_a_slice_of_a_packed_file_is_found(tmp_path: Path) -> None:
    plain = write_lines(tmp_path / "a.txt", TEXTS)
    packed = tmp_path / "b.txt.gz"
    packed.write_bytes(gzip.compress(Path(plain).read_bytes()))
    translate([plain], tmp_path / "plain")
    translate([str(packed)], tmp_path / "packed")
    assert parts(tmp_path / "plain") == parts(tmp_path / "packed")


def test_the_manifest_says_what_made_the_parts(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.txt", TEXTS)
    asked = Asked(constraints=["gato"], settings=TextSettings(beam_size=3))
    translate([source], tmp_path / "out", asked=asked, shard_rows=4)
    found = manifest(tmp_path / "out")
    assert found["settings"]["beam_size"] == 3
    assert found["settings"]["constraints"] == ["gato"]
    assert found["lexbeam"]
    assert found["model"]["name"]
    assert found["shard"] == 4
    (given,) = found["inputs"]
    assert given["sha256"] == hashlib.sha256(Path(source).read_bytes()).hexdigest()
    for entry, (name, content) in zip(found["parts"], parts(tmp_path / "out").items(), strict=True):
        assert entry["part"] == name
        assert entry["sha256"] == hashlib.sha256(content).hexdigest()
        assert entry["bytes"] == len(content)
    assert found["counts"] == {"rows": 6, "failed": 0, "duplicates": 0}


def test_equal_lines_are_translated_once_per_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    translate_each = Translator.translate_each

    def count(self: Translator, requests: Any) -> Any:
        asked.extend(request.text for request in requests)
        return translate_each(self, requests)

    monkeypatch.setattr(Translator, "translate_each", count)
    source = write_lines(tmp_path / "in.txt", ["the cat", "the house", "the cat"] * 2)
    counts, heard = translate([source], tmp_path / "out", shard_rows=6)
    assert counts["duplicates"] == 4
    assert asked == ["the cat", "the house"]
    assert heard.done == 6
    lines = parts(tmp_path / "out")["part-00000.txt"].splitlines()
    assert lines[:3] == lines[3:]
    assert lines[0] == lines[2] != lines[1]


def test_rows_that_fail_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_bytes(b"the cat\n\xff\nthe house\nthe\0cat\n")
    counts, heard = translate([str(source)], tmp_path / "out")
    assert counts["failed"] == 2
    (line_2, line_4) = heard.failures
    assert line_2 == (f"{source}, line 2", "not valid UTF-8: byte 0xff at 0")
    assert line_4[0] == f"{source}, line 4"
    lines = b"".join(parts(tmp_path / "out").values()).split(b"\n")
    assert [bool(line) for line in lines] == [True, False, True, False, False]
    failed = [row for entry in manifest(tmp_path / "out")["parts"] for row in entry["failed"]]
    assert [row["row"] for row in failed] == [2, 4]


def test_a_row_that_breaks_the_translator_does_not_break_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    translate_each = Translator.translate_each

    def break_(self: Translator, requests: Any) -> Any:
        if any("house" in request.text for request in requests):
            raise RuntimeError("out of luck")
        return translate_each(self, requests)

    monkeypatch.setattr(Translator, "translate_each", break_)
    source = write_lines(tmp_path / "in.txt", ["the cat", "the house", "the mat", "the dog"])
    counts, heard = translate([source], tmp_path / "out", shard_rows=10)
    assert counts["failed"] == 1
    assert heard.failures == [(f"{source}, line 2", "RuntimeError: out of luck")]


def test_long_texts_can_be_refused(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.txt", ["the cat", "the cat " * 10])
    _, heard = translate([source], tmp_path / "out", writing=Writing(max_chars=20))
    assert heard.failures == [(f"{source}, line 2", "the text has 80 characters, over 20")]


def test_all_that_can_be_asked_reaches_the_rows(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.txt", ["the cat\tgato\tcasa", "the 25 cats"])
    asked = Asked(
        constraints=["tapete"],
        glossary=Glossary.from_terms({"cats": "gatos"}),
        keep=["numbers"],
        settings=TextSettings(nbest=2),
    )
    translate([source], tmp_path / "out", asked=asked, writing=Writing(tabs=True, ordered=True))
    lines = parts(tmp_path / "out")["part-00000.txt"].decode().splitlines()
    first = [line for line in lines if line.startswith("1 ||| ")]
    second = [line for line in lines if line.startswith("2 ||| ")]
    assert all(line.index("gato") < line.index("casa") for line in first)
    assert all("25" in line and "gatos" in line for line in second)
    assert all("tapete" in line for line in lines)
    assert len(first) == 2


def test_the_text_may_be_in_another_field(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.jsonl", ['{"en": "the cat", "text": 3}', '{"text": "x"}'])
    counts, heard = translate([source], tmp_path / "out", writing=Writing(text="en"))
    assert counts["failed"] == 1
    assert heard.failures[0][1] == 'the JSON object has no "en" that is a string'
    first = json.loads(parts(tmp_path / "out")["part-00000.jsonl"].splitlines()[0])
    assert first["translation"]
    assert (first["en"], first["text"]) == ("the cat", 3)


def test_an_empty_file_has_no_parts(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.txt", [])
    counts, _ = translate([source], tmp_path / "out")
    assert counts == {"rows": 0, "failed": 0, "duplicates": 0}
    assert not parts(tmp_path / "out")


@pytest.mark.parametrize("cut", range(1, 4))
def test_a_run_that_was_stopped_goes_on_with_the_same_bytes(
    tmp_path: Path, cut: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_lines(tmp_path / "in.txt", [*TEXTS, "a\0b", "the dog"])
    translate([source], tmp_path / "whole")
    calls: list[str] = []
    work = worker.Worker.run

    def stop(self: worker.Worker, shard: Any, on_rows: Any) -> Any:
        calls.append(shard.part)
        if len(calls) == cut + 1:
            raise KeyboardInterrupt
        return work(self, shard, on_rows)

    monkeypatch.setattr(worker.Worker, "run", stop)
    with pytest.raises(KeyboardInterrupt):
        translate([source], tmp_path / "cut")
    assert manifest(tmp_path / "cut")["counts"] is None
    _, heard = translate([source], tmp_path / "cut")
    assert sorted(set(calls)) == [f"part-{n:05}.txt" for n in range(4)]
    assert len(calls) == 5  # only the one that was stopped is made again
    assert (heard.total, heard.done) == (8, 8)
    assert everything(tmp_path / "cut") == everything(tmp_path / "whole")


def test_what_is_complete_is_not_touched(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.txt", TEXTS)
    first, _ = translate([source], tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("part-*")}
    again, heard = translate([source], tmp_path / "out")
    assert again == first
    assert heard.done == 6
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("part-*")}


@pytest.mark.parametrize("damage", ["removed", "cut short"])
def test_a_part_that_was_damaged_is_made_again(tmp_path: Path, damage: str) -> None:
    source = write_lines(tmp_path / "in.txt", TEXTS)
    translate([source], tmp_path / "out")
    whole = everything(tmp_path / "out")
    victim = tmp_path / "out" / "part-00001.txt"
    if damage == "removed":
        victim.unlink()
    else:
        victim.write_bytes(victim.read_bytes()[:3])
    translate([source], tmp_path / "out")
    assert everything(tmp_path / "out") == whole


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"asked": Asked(settings=TextSettings(beam_size=3))}, "settings.beam_size 10, not 3"),
        ({"asked": Asked(constraints=["gato"])}, r'settings.constraints \[\], not \["gato"\]'),
        ({"asked": Asked(glossary=Glossary.from_terms({"a": "b"}))}, "settings.glossary null, not"),
        ({"shard_rows": 3}, "shard 2, not 3: go on as it began, or use another folder"),
        ({"lines": "jsonl"}, "took .*in.txt for text"),
    ],
)
def test_a_run_goes_on_as_it_began_or_not_at_all(
    tmp_path: Path, more: dict[str, Any], message: str
) -> None:
    source = write_lines(tmp_path / "in.txt", TEXTS)
    translate([source], tmp_path / "out")
    before = everything(tmp_path / "out")
    with pytest.raises(InputError, match=message):
        translate([source], tmp_path / "out", **more)
    assert everything(tmp_path / "out") == before


def test_a_run_goes_on_with_the_same_input_or_not_at_all(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.txt", TEXTS)
    translate([source], tmp_path / "out")
    write_lines(tmp_path / "in.txt", TEXTS)  # later, but the same
    translate([source], tmp_path / "out")
    moved = str((tmp_path / "in.txt").rename(tmp_path / "moved.txt"))
    translate([moved], tmp_path / "out")
    write_lines(tmp_path / "moved.txt", [*TEXTS[:-1], "The cat sap."])
    with pytest.raises(InputError, match=r"out: the run in it began with another .*moved\.txt"):
        translate([moved], tmp_path / "out")
    with pytest.raises(InputError, match="the run in it has 1 inputs, not 2"):
        translate([moved, moved], tmp_path / "out")


def test_a_file_that_changes_during_the_run_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_lines(tmp_path / "in.txt", TEXTS)
    work = worker.Worker.run

    def change(self: worker.Worker, shard: Any, on_rows: Any) -> Any:
        part = work(self, shard, on_rows)
        write_lines(tmp_path / "in.txt", ["the dog"] * 6)
        return part

    monkeypatch.setattr(worker.Worker, "run", change)
    with pytest.raises(InputError, match=r"in\.txt: has changed since the run began"):
        translate([source], tmp_path / "out")
    assert list(parts(tmp_path / "out")) == ["part-00000.txt"]


def test_another_lexbeam_is_refused() -> None:
    task = worker.Task("out", (), None, 1, Asked(), Writing(), version="0.0")
    with pytest.raises(InputError, match=r"the run is of lexbeam 0\.0, and here is"):
        worker.Worker(task)


def test_a_part_that_is_not_seen_here_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_lines(tmp_path / "in.txt", TEXTS)
    monkeypatch.setattr(worker, "write_file", lambda *_: None)  # on another machine's disk
    with pytest.raises(InputError, match=r"part-00000\.txt: .* not seen here: the output folder"):
        translate([source], tmp_path / "out")
    monkeypatch.setattr(worker, "write_file", lambda path, _: path.write_bytes(b"x"))
    with pytest.raises(InputError, match=r"part-00000\.txt: has 1 bytes, not the \d+ that"):
        translate([source], tmp_path / "out")


def test_another_model_is_refused(translator: Translator) -> None:
    task = worker.Task("out", (), "en-pt", 1, Asked(), Writing(), digest="0123456789ab")
    with pytest.raises(ModelError, match="the model en-pt differs from the one that the run began"):
        worker.Worker(task, translator)


def test_two_runs_do_not_share_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_lines(tmp_path / "in.txt", TEXTS)
    begin = OutputFolder.begin

    def meanwhile(self: OutputFolder, *arguments: Any) -> None:
        begin(self, *arguments)
        monkeypatch.setattr(OutputFolder, "begin", begin)
        with pytest.raises(InputError, match="out: another run is writing to it"):
            translate([source], tmp_path / "out")

    monkeypatch.setattr(OutputFolder, "begin", meanwhile)
    translate([source], tmp_path / "out")
    assert OutputFolder.begin is begin


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.txt", TEXTS)
    (tmp_path / "part-7").touch()
    with pytest.raises(InputError, match=r"has parts but no manifest\.json: use another folder"):
        translate([source], tmp_path)
    (tmp_path / "manifest.json").write_text('{"name": "an application"}')
    with pytest.raises(InputError, match=r"manifest\.json is not a manifest of format 1"):
        translate([source], tmp_path)
    (tmp_path / "manifest.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match=r"manifest\.json can't be read"):
        translate([source], tmp_path)
    with pytest.raises(InputError, match=r"in\.txt: can't be written: "):
        translate([source], tmp_path / "in.txt")


def test_inputs_that_cant_be_read_are_one_error(tmp_path: Path) -> None:
    packed = tmp_path / "in.txt.gz"
    whole = gzip.compress(b"the cat\n" * 1000)
    packed.write_bytes(whole[: len(whole) // 2])
    for path, reason in [
        (tmp_path / "none.txt", "No such file"),
        (tmp_path, "it is not a file"),
        (packed, "Compressed file ended"),
        (tmp_path / "a\0b", "embedded null"),
    ]:
        with pytest.raises(InputError, match=f"can't be read: {reason}"):
            translate([str(path)], tmp_path / "out")
    packed.write_bytes(b"not packed at all")
    with pytest.raises(InputError, match="can't be read: Not a gzipped file"):
        translate([str(packed)], tmp_path / "out")
