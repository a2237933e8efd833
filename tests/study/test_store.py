from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexbeam.study.store import Store, digest, digest_of_folder, digest_of_search, write


@dataclass(frozen=True)
class Size:
    name: str
    beam: int

    def key(self) -> dict[str, Any]:
        return {"beam": self.beam}


def test_a_result_is_found_again(tmp_path: Path) -> None:
    Store(tmp_path, {"model": "a"}).put(Size("x", 5), {"bleu": 3.5})
    assert Store(tmp_path, {"model": "a"}).get(Size("x", 5)) == {"bleu": 3.5}
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]


def test_another_model_or_setting_is_another_cell(tmp_path: Path) -> None:
    Store(tmp_path, {"model": "a"}).put(Size("x", 5), {"bleu": 3.5})
    assert Store(tmp_path, {"model": "b"}).get(Size("x", 5)) is None
    assert Store(tmp_path, {"model": "a"}).get(Size("x", 6)) is None


def test_a_damaged_file_is_as_good_as_none(tmp_path: Path) -> None:
    Store(tmp_path, {}).put(Size("x", 5), {"bleu": 3.5})
    (path,) = tmp_path.iterdir()
    for damaged in ("", '{"result": {"bl', "[]", "{}", "null"):
        path.write_text(damaged, encoding="utf-8")
        assert Store(tmp_path, {}).get(Size("x", 5)) is None


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    write(tmp_path / "new" / "file", "one")
    write(tmp_path / "new" / "file", b"two")
    assert (tmp_path / "new" / "file").read_text() == "two"
    assert len(list((tmp_path / "new").iterdir())) == 1


def test_a_models_digest_sees_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    first = digest_of_folder(tmp_path)
    (tmp_path / "a").write_text("y")
    second = digest_of_folder(tmp_path)
    (tmp_path / "a").rename(tmp_path / "b")
    assert len({first, second, digest_of_folder(tmp_path)}) == 3


def test_where_bytes_are_cut_matters() -> None:
    assert digest([b"ab", b"c"]) != digest([b"a", b"bc"])
    assert digest_of_search() == digest_of_search()
