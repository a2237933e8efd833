"""What each public package promises (``__all__``) is what is there, no more and no less."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import lexbeam

PUBLIC = [
    "lexbeam",
    "lexbeam.hf",
    "lexbeam.models.bundle",
    "lexbeam.search",
    "lexbeam.study",
    "lexbeam.testing",
    "lexbeam.train",
]


@pytest.mark.parametrize("name", PUBLIC)
def test_exported_members(name: str) -> None:
    module = import_module(name)
    assert list(module.__all__) == sorted(module.__all__)
    assert [member for member in module.__all__ if not hasattr(module, member)] == []
    assert sorted(set(public_names(name)) - set(module.__all__)) == []


def public_names(name: str) -> Iterator[str]:
    """Yield what a module defines, or brings in from modules below it, for others to use."""
    path = import_module(name).__file__
    assert path is not None
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    for statement in statements(tree.body):
        for defined in names_of(statement, name):
            if not defined.startswith("_") and defined != "TYPE_CHECKING":
                yield defined


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield from statements(statement.body) if isinstance(statement, ast.If) else [statement]


def names_of(statement: ast.stmt, module: str) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.ImportFrom(module=source, names=aliases) if source:
            if source.startswith(f"{module}."):
                yield from (alias.asname or alias.name for alias in aliases)


def test_what_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lexbeam.nothing
    assert set(lexbeam.__all__) <= set(dir(lexbeam))
