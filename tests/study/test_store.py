from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lexbeam
from lexbeam.study.store import (
    Store,
    digest,
    digest_of_code,
    digest_of_folder,
    measured_code,
)


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


def test_a_models_digest_sees_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    first = digest_of_folder(tmp_path)
    (tmp_path / "a").write_text("y")
    second = digest_of_folder(tmp_path)
    (tmp_path / "a").rename(tmp_path / "b")
    assert len({first, second, digest_of_folder(tmp_path)}) == 3


def test_where_bytes_are_cut_matters() -> None:
    assert digest([b"ab", b"c"]) != digest([b"a", b"bc"])


MEASURED = ("search", "text", "constraints", "translation", "models")


def make_package(root: Path) -> None:
    for package in (*MEASURED, "search/automaton", "models/engines", "cli", "study/parts"):
        (root / package).mkdir(parents=True, exist_ok=True)
        (root / package / "module.py").write_text("a = 1\n")


def test_a_change_of_code_that_shapes_an_answer_is_seen(tmp_path: Path) -> None:
    make_package(tmp_path)
    digests = [digest_of_code(tmp_path)]
    for package in (*MEASURED, "search/automaton", "models/engines"):
        (tmp_path / package / "module.py").write_text("a = 2\n")
        digests.append(digest_of_code(tmp_path))
    (tmp_path / "search" / "another.py").write_text("")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "module.py").write_text("")
    digests.append(digest_of_code(tmp_path))
    assert len(set(digests)) == len(digests)


def test_a_change_of_code_that_only_shows_answers_is_not(tmp_path: Path) -> None:
    make_package(tmp_path)
    before = digest_of_code(tmp_path)
    for package in ("cli", "study/parts"):
        (tmp_path / package / "module.py").write_text("a = 2\n")
    assert digest_of_code(tmp_path) == before


def test_all_code_that_a_measurement_loads_is_in_the_digest() -> None:
    loading = (
        "import sys, lexbeam.study.dictionaries, lexbeam.study.beam_observer\n"
        "for name, module in sys.modules.items():\n"
        "    if name.split('.')[0] == 'lexbeam': print(module.__file__)\n"
    )
    printed = subprocess.run(
        [sys.executable, "-c", loading], capture_output=True, text=True, check=True
    )
    loaded = {Path(line) for line in printed.stdout.splitlines()}
    root = Path(lexbeam.__file__).parent
    assert {path.relative_to(root).parts[0] for path in loaded} >= set(MEASURED)
    assert loaded <= set(measured_code(root))
    assert digest_of_code() == digest_of_code(root)
