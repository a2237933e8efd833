"""The description of the API against the API itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from helpers.http_client import ask
from lexbeam.server.app import ENDPOINTS


def test_every_endpoint_is_described(server: str) -> None:
    described = ask(server, "GET", "/openapi.json").json["paths"]
    for endpoint in ENDPOINTS:
        for method in endpoint.methods:
            assert described[endpoint.path][method.lower()]["summary"]


def test_methods_that_are_not_there_name_those_that_are(server: str) -> None:
    reply = ask(server, "PATCH", "/v3/glossaries")
    assert reply.status == 405
    assert set(reply.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}


def test_schemathesis_finds_nothing(server: str, tmp_path: Path) -> None:
    """Whether a language has a model or a phrase fits a text no schema can say."""
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{server}/openapi.json"),
        *("--max-examples", "3", "--phases", "coverage,fuzzing", "--request-timeout", "60"),
        *("--exclude-checks", "positive_data_acceptance,negative_data_rejection"),
        "--no-color",
    ]
    found = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert found.returncode == 0, found.stdout[-4000:]
