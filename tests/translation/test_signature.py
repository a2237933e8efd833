from __future__ import annotations

import json
from pathlib import Path

from lexbeam.translation.settings import TextSettings
from lexbeam.translation.signature import Signature
from lexbeam.translation.translator import Translator
from lexbeam.version import __version__


def test_a_translation_says_what_made_it(translator: Translator) -> None:
    signature = translator.translate("a", beam_size=3, algorithm="dba", prune=None).signature
    shown = str(signature)
    assert shown.startswith(f"lexbeam:{__version__}|model:echo|")
    for part in ("beam_size:3", "algorithm:dba", "prune:none", "lag:3", "split:yes"):
        assert part in shown.split("|")


def test_settings_that_change_nothing_are_left_out() -> None:
    signature = Signature.of({}, TextSettings(batch_size=3, prices=True))
    assert str(signature) == str(Signature.of({}, TextSettings()))
    assert "batch_size" not in signature.to_dict()


def test_a_model_is_known_by_its_languages_and_its_files(tmp_path: Path) -> None:
    info = {"source_language": "en", "target_language": "de"}
    digests = []
    for content in (b"1", b"2"):
        file = tmp_path / content.decode()
        file.write_bytes(content)
        signature = Signature.of({**info, "files": [str(file)]}, TextSettings())
        assert signature.to_dict()["model"] == "en-de"
        digests.append(signature.to_dict()["digest"])
    assert digests[0] != digests[1]
    gone = Signature.of({**info, "files": [str(tmp_path / "none")]}, TextSettings())
    assert "digest" not in gone.to_dict()


def test_it_can_be_written_as_json_on_request(translator: Translator) -> None:
    translation = translator.translate("a")
    assert "signature" not in translation.to_dict()
    written = json.loads(json.dumps(translation.to_dict(signature=True)))
    assert written["signature"]["algorithm"] == TextSettings().algorithm
