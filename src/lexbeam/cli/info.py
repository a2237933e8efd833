"""``lexbeam info``: what a model is, and what searches it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from lexbeam.models.engines import compiled_network
from lexbeam.search import kernel
from lexbeam.translation.translator import load


@click.command("info")
@click.argument("model", required=False, metavar="[DIR|PAIR]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(model: str | None, as_json: bool) -> None:
    """Show what a model is.

    \b
    Examples:
      lexbeam info en-pt
      lexbeam info ./my-model --json
    """
    runs = {"kernel": kernel.describe(), "networks": compiled_network.describe()}
    facts = {**load(model).info, **runs}
    if as_json:
        click.echo(json.dumps(facts, ensure_ascii=False, default=str))
        return
    _show_facts(facts)


def _show_facts(facts: Mapping[str, Any], indent: str = "") -> None:
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        if isinstance(value, Mapping):
            click.echo(f"{indent}{name}")
            _show_facts(value, indent + "  ")
        else:
            shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
            click.echo(f"{indent}{name:{width}}  {shown}".rstrip())
