"""Find what registers itself: a new kind, family or format is one new file in its package."""

from __future__ import annotations

import pkgutil
from importlib import import_module


def module_names(package: str) -> list[str]:
    """Return the names of the modules right below a package, without importing them."""
    path = import_module(package).__path__
    return sorted(f"{package}.{found.name}" for found in pkgutil.iter_modules(path))


def register_all(package: str) -> None:
    """Import all modules of a package, so that what is in them registers itself."""
    for name in module_names(package):
        import_module(name)
