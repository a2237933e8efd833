from __future__ import annotations

import gzip
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from lexbeam.errors import ModelError
from lexbeam.models import download, registry

FILES = {
    "model.ende.intgemm.alphas.bin": b"model" * 50_000,
    "lex.50.50.ende.s2t.bin": b"lex" * 5_000,
    "vocab.ende.spm": b"vocabulary" * 100,
}
KINDS = dict(zip(FILES, ("model", "lexicalShortlist", "vocab"), strict=True))


class Server(ThreadingHTTPServer):
    """A registry on loopback that can be told to misbehave."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.content: dict[str, bytes] = {}
        self.cuts: list[int] = []  # after how many bytes the next answers break off
        self.failures: list[int] = []  # the status of the next answers
        self.knows_ranges = True
        self.requests: list[tuple[str, str | None]] = []

    def offer(self, pair: str = "en-de", **changes: Any) -> dict[str, Any]:
        """Put a model on the server and return its entry for further changes."""
        files = {}
        for name, data in FILES.items():
            path = f"models/{pair}/{name}.gz"
            self.content["/" + path] = gzip.compress(data)
            files[KINDS[name]] = {
                "path": path,
                "uncompressedSize": len(data),
                "uncompressedHash": hashlib.sha256(data).hexdigest(),
            }
        entry: dict[str, Any] = {
            "architecture": "tiny",
            "releaseStatus": "Release",
            "sourceLanguage": "en",
            "targetLanguage": "de",
            "files": files,
        }
        entry.update(changes)
        return entry

    def publish(self, *entries: dict[str, Any], pair: str = "en-de") -> str:
        body = {"baseUrl": self.url, "models": {pair: list(entries)}}
        self.content["/db/models.json"] = json.dumps(body).encode()
        return f"{self.url}/db/models.json"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.requests.append((self.path, wanted))
        if self.server.failures:
            self.send_error(self.server.failures.pop(0))
            return
        data = self.server.content.get(self.path)
        if data is None:
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        if wanted and self.server.knows_ranges:
            if start >= len(data):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(data)}")
                self.end_headers()
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(200)
            start = 0
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        cut = None
        if self.path.endswith(".gz") and self.server.cuts:
            cut = self.server.cuts.pop(0)
        self.wfile.write(data[start:] if cut is None else data[start : start + cut])

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEXBEAM_HOME", str(tmp_path))
    return tmp_path


def test_a_pair_is_pulled_unpacked_and_found(server: Server, home: Path) -> None:
    url = server.publish(server.offer())
    seen: list[tuple[str, int, int | None]] = []
    path = registry.pull("en-de", url, progress=lambda *state: seen.append(state))
    assert path == home / "models" / "en-de" == registry.find_installed("en-de")
    assert {name: (path / name).read_bytes() for name in FILES} == FILES
    assert sorted(p.name for p in path.iterdir()) == sorted([*FILES, registry.METADATA])
    info = json.loads((path / registry.METADATA).read_text())
    assert (info["source_language"], info["target_language"]) == ("en", "de")
    assert {name for name, _, _ in seen} == set(FILES)
    name, done, total = seen[-1]
    assert done == total == len(server.content[f"/models/en-de/{name}.gz"])
    assert [model.pair for model in registry.installed()] == ["en-de"]
    assert registry.only_installed() == path


def test_what_is_there_is_not_fetched_again(server: Server) -> None:
    url = server.publish(server.offer())
    registry.pull("en-de", url)
    before = len(server.requests)
    registry.pull("en-de", url)
    assert len(server.requests) == before
    registry.pull("en-de", url, force=True)
    assert len(server.requests) == before + 1 + len(FILES)
    assert registry.find_installed("en-de")


def test_a_version_can_be_pinned(server: Server) -> None:
    url = server.publish(server.offer(), server.offer(architecture="base", releaseStatus="x"))
    path = registry.pull("en-de", url)
    version = json.loads((path / registry.METADATA).read_text())["version"]
    seen = len(server.requests)
    assert registry.pull("en-de", url, version=version) == path
    assert len(server.requests) == seen
    newer = server.offer()
    newer["files"]["vocab"]["uncompressedHash"] = "0" * 64
    with pytest.raises(ModelError, match=f"no version '{version}' of en-de any more: it has "):
        registry.pull("en-de", server.publish(newer), force=True, version=version)
    assert registry.pull("en-de", url) == path


def test_a_cut_download_goes_on_by_itself(server: Server) -> None:
    url = server.publish(server.offer())
    server.cuts = [100, 50]
    path = registry.pull("en-de", url)
    assert {name: (path / name).read_bytes() for name in FILES} == FILES
    assert [wanted for _, wanted in server.requests if wanted] == ["bytes=100-", "bytes=150-"]


def test_a_cut_download_never_looks_like_a_model(server: Server, home: Path) -> None:
    url = server.publish(server.offer())
    server.cuts = [100] * download.ATTEMPTS
    with pytest.raises(ModelError, match=r"model\.ende.*the connection was cut; run the same"):
        registry.pull("en-de", url)
    assert registry.installed() == []
    assert not (home / "models" / "en-de").exists()
    path = registry.pull("en-de", url)
    assert (path / "model.ende.intgemm.alphas.bin").read_bytes() == next(iter(FILES.values()))
    assert (f"/models/en-de/{next(iter(FILES))}.gz", "bytes=300-") in server.requests
    assert list((home / "models" / ".partial").iterdir()) == []


def test_files_that_are_whole_are_not_fetched_again(server: Server) -> None:
    url = server.publish(server.offer())
    lost = server.content.pop("/models/en-de/vocab.ende.spm.gz")
    with pytest.raises(ModelError, match="404"):
        registry.pull("en-de", url)
    server.content["/models/en-de/vocab.ende.spm.gz"] = lost
    registry.pull("en-de", url)
    fetched = [path for path, _ in server.requests if path.endswith("alphas.bin.gz")]
    assert len(fetched) == 1


def test_a_model_without_files_is_an_error(server: Server) -> None:
    with pytest.raises(ModelError, match="lists no files for en-de"):
        registry.pull("en-de", server.publish(server.offer(files={})))


def test_a_folder_that_can_not_be_written_is_an_error(server: Server, home: Path) -> None:
    (home / "models").write_text("in the way")
    with pytest.raises(ModelError, match="can't store the model en-de"):
        registry.pull("en-de", server.publish(server.offer()))


def test_a_damaged_description_is_no_obstacle(server: Server) -> None:
    path = registry.pull("en-de", server.publish(server.offer()))
    (path / registry.METADATA).write_bytes(b"\xff")
    (model,) = registry.installed()
    assert (model.pair, model.info) == ("en-de", {})


def test_a_server_without_ranges_starts_over(server: Server) -> None:
    url = server.publish(server.offer())
    server.knows_ranges = False
    server.cuts = [100]
    path = registry.pull("en-de", url)
    assert {name: (path / name).read_bytes() for name in FILES} == FILES


def test_a_complete_part_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    server.content["/file"] = b"abc"
    destination = tmp_path / "file.part"
    destination.write_bytes(b"abc")
    download.fetch_file(f"{server.url}/file", destination)
    assert destination.read_bytes() == b"abc"
    destination.write_bytes(b"abcdef")  # longer than the file is now: worthless
    download.fetch_file(f"{server.url}/file", destination)
    assert destination.read_bytes() == b"abc"


def test_a_wrong_hash_is_thrown_away(server: Server, home: Path) -> None:
    entry = server.offer()
    entry["files"]["vocab"]["uncompressedHash"] = "0" * 64
    url = server.publish(entry)
    with pytest.raises(ModelError, match=r"vocab\.ende\.spm is damaged: its SHA-256"):
        registry.pull("en-de", url)
    assert registry.installed() == []
    assert not list(home.rglob("vocab*"))
    registry.pull("en-de", server.publish(server.offer()))
    assert registry.find_installed("en-de")


@pytest.mark.parametrize("size", [999, 1001])
def test_a_wrong_size_is_an_error(server: Server, size: int) -> None:
    entry = server.offer()
    entry["files"]["vocab"]["uncompressedSize"] = size
    with pytest.raises(ModelError, match=r"vocab\.ende\.spm"):
        registry.pull("en-de", server.publish(entry))


@pytest.mark.parametrize(
    "damage", [b"", gzip.compress(b"x" * 1000, mtime=0)[:-9], b"\x1f\x8bnot gzip"]
)
def test_a_damaged_file_is_an_error(server: Server, damage: bytes) -> None:
    entry = server.offer()
    server.content["/models/en-de/vocab.ende.spm.gz"] = damage
    with pytest.raises(ModelError, match=r"vocab\.ende\.spm"):
        registry.pull("en-de", server.publish(entry))
    assert registry.installed() == []


@pytest.mark.parametrize(
    "path",
    [
        "../../evil.bin.gz",
        "models/../../evil.bin",
        "/etc/evil.bin",
        "models/..",
        "models/.hidden",
        "models/a b.bin",
        "models\\..\\evil.bin",
        "models/lexbeam.json",
        "",
    ],
)
def test_unsafe_paths_are_refused(server: Server, home: Path, path: str) -> None:
    entry = server.offer()
    entry["files"]["model"]["path"] = path
    with pytest.raises(ModelError, match="the registry gives en-de"):
        registry.pull("en-de", server.publish(entry))
    assert not (home / "models" / "en-de").exists()


def test_two_vocabularies_and_no_hashes(server: Server) -> None:
    entry = server.offer()
    for side in ("src", "trg"):
        name = f"{side}vocab.ende.spm"
        server.content[f"/models/{name}"] = side.encode()  # not even gzipped
        entry["files"][f"{side}Vocab"] = {"path": f"models/{name}"}
    del entry["files"]["vocab"]
    path = registry.pull("en-de", server.publish(entry))
    assert (path / "srcvocab.ende.spm").read_bytes() == b"src"
    assert (path / "trgvocab.ende.spm").read_bytes() == b"trg"


def test_released_models_are_preferred(server: Server) -> None:
    nightly = server.offer(releaseStatus="Nightly", architecture="base")
    android = server.offer(releaseStatus="Release Android", architecture="tiny")
    released = server.offer(releaseStatus="Release", architecture="base-memory")
    found = registry.Registry.fetch(server.publish(nightly, android, released))
    assert found.choose("en-de").architecture == "base-memory"
    assert found.choose("en-de", "base").release == "Nightly"
    with pytest.raises(
        ModelError, match="no architecture 'huge': there is base, base-memory, tiny"
    ):
        found.choose("en-de", "huge")
    with pytest.raises(ModelError, match="no pair 'en-xx'; it has en-de"):
        found.choose("en-xx")


def test_parts_of_one_model_never_mix_with_another(server: Server) -> None:
    entry = server.offer()
    server.cuts = [100] * download.ATTEMPTS
    with pytest.raises(ModelError):
        registry.pull("en-de", server.publish(entry))
    other = server.offer(architecture="base")
    registry.pull("en-de", server.publish(other))
    assert all(wanted != "bytes=300-" for _, wanted in server.requests)


@pytest.mark.parametrize(
    "content",
    [b"not json", b"[]", b'{"models": 3}', b'{"models": {"en-de": [3]}}', b"{}", b"\xff"],
)
def test_what_is_not_a_registry_is_an_error(server: Server, content: bytes) -> None:
    server.content["/db/models.json"] = content
    with pytest.raises(ModelError, match=r"models\.json is not a registry"):
        registry.pull("en-de", f"{server.url}/db/models.json")


def test_servers_that_fail(server: Server) -> None:
    url = server.publish(server.offer())
    with pytest.raises(ModelError, match="404"):
        registry.pull("en-de", server.url + "/nothing")
    server.failures = [500]
    with pytest.raises(ModelError, match="500"):
        registry.pull("en-de", url)
    del server.content["/models/en-de/vocab.ende.spm.gz"]
    with pytest.raises(ModelError, match=r"vocab\.ende\.spm\.gz: the server answers 404"):
        registry.pull("en-de", url)


def test_a_file_survives_a_hiccup_of_the_server(server: Server, tmp_path: Path) -> None:
    server.content["/file"] = b"abc"
    server.failures = [503]
    download.fetch_file(f"{server.url}/file", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"abc"


@pytest.mark.parametrize("url", ["ftp://example.org/x", "file:///etc/passwd", "models.json"])
def test_only_the_web_is_asked(url: str) -> None:
    with pytest.raises(ModelError, match="only http and https"):
        registry.pull("en-de", url)


def test_nobody_there() -> None:
    with pytest.raises(ModelError, match="can't fetch"):
        registry.pull("en-de", "http://127.0.0.1:9/models.json")


@pytest.mark.parametrize("pair", ["../en-de", "en", "", "en-de/..", "en de"])
def test_what_is_not_a_pair_is_refused(pair: str) -> None:
    with pytest.raises(ModelError, match="is not a language pair"):
        registry.pull(pair, "http://127.0.0.1:9/models.json")


def test_the_only_model_is_found_without_a_name(server: Server) -> None:
    with pytest.raises(ModelError, match="none was pulled yet"):
        registry.only_installed()
    url = server.publish(server.offer())
    registry.pull("en-de", url)
    registry.pull("de-en", server.publish(server.offer(pair="de-en"), pair="de-en"))
    with pytest.raises(ModelError, match="choose one of de-en, en-de"):
        registry.only_installed()
