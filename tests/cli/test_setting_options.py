from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner

from lexbeam.cli.setting_options import setting_options
from lexbeam.translation.settings import TextSettings


@click.command()
@setting_options
def show(**settings: Any) -> None:
    click.echo(repr(TextSettings(**settings)))


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(show, arguments)
    return result.exit_code, result.output


def test_every_setting_has_an_option() -> None:
    assert {parameter.name for parameter in show.params} == set(TextSettings.__dataclass_fields__)
    assert run() == (0, f"{TextSettings()!r}\n")


def test_options_set_what_they_are_called() -> None:
    status, shown = run(
        *("-k", "3", "--algorithm", "dba", "--prune", "0", "--no-split", "--prices"),
        *("--max-length", "9", "--length-penalty", "-0.5"),
    )
    expected = TextSettings(
        beam_size=3,
        algorithm="dba",
        prune=0,
        split=False,
        prices=True,
        max_length=9,
        length_penalty=-0.5,
    )
    assert (status, shown) == (0, f"{expected!r}\n")


@pytest.mark.parametrize(
    "arguments",
    [["-k", "0"], ["--stop", "never"], ["--lag", "-1"], ["--nbest", "many"], ["--max-length", "0"]],
)
def test_what_may_not_be_given_is_wrong_usage(arguments: list[str]) -> None:
    status, shown = run(*arguments)
    assert status == 2
    assert "Invalid value" in shown
