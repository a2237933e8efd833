"""The options by which a command takes settings: one for each that is declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_args, get_type_hints

import click

from lexbeam.errors import SettingError
from lexbeam.search.settings import Declaration, declarations
from lexbeam.translation.settings import TextSettings

_LETTERS = {"beam_size": "-k", "nbest": "-n", "batch_size": "-b"}
"""Settings that have a short option, too."""

Command = TypeVar("Command", bound=Callable[..., Any])


def setting_options(command: Command) -> Command:
    """Let a command take the fields of `TextSettings`, under their names."""
    hints = get_type_hints(TextSettings)
    for name, declaration in reversed(list(declarations(TextSettings).items())):
        command = _option(name, declaration, hints[name])(command)
    return command


def _option(name: str, declaration: Declaration, hint: Any) -> Callable[[Command], Command]:
    default = getattr(TextSettings, name)
    option = "--" + name.replace("_", "-")
    if hint is bool:
        switch = option.replace("--", "--no-", 1)
        return click.option(
            f"{option}/{switch}" if default else option,
            is_flag=True,
            default=default,
            show_default=default,
            help=declaration.help,
        )
    names = [_LETTERS[name], option] if name in _LETTERS else [option]
    return click.option(
        *names,
        type=_type(name, declaration, hint),
        default=default,
        show_default=default is not None,
        help=declaration.help,
    )


class _OneOf(click.Choice[str]):
    """A choice to which plugins may add."""

    def __init__(self, setting: str, declaration: Declaration) -> None:
        super().__init__(list(declaration.choices))
        self._setting, self._declaration = setting, declaration

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return str(self._declaration.check(self._setting, value))
        except SettingError:
            return super().convert(value, param, ctx)


def _type(name: str, declaration: Declaration, hint: Any) -> Any:
    """Return what click takes for a setting."""
    if declaration.choices:
        return _OneOf(name, declaration)
    if float not in (hint, *get_args(hint)):
        least, most = (None if x is None else int(x) for x in (declaration.least, declaration.most))
        return click.IntRange(least, most)
    return click.FloatRange(declaration.least, declaration.most)
