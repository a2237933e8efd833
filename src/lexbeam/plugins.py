"""Parts that other packages add: policies, kinds of constraints, formats of models and files.

A package names a module of its own as an entry point of one of the groups below. The module is
imported when somebody asks for a name that is not known here, and registers what it adds.
"""

from __future__ import annotations

from functools import cache

from lexbeam.errors import LexbeamError

POLICIES = "lexbeam.policies"
CONSTRAINT_KINDS = "lexbeam.constraint_kinds"
MODEL_FORMATS = "lexbeam.model_formats"
FILE_FORMATS = "lexbeam.file_formats"


@cache
def load_plugins(group: str) -> None:
    """Import the modules that installed packages name in a group, once.

    Raises:
        LexbeamError: one of them can't be imported.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415  (slow to import, rarely needed)

    for entry in entry_points(group=group):
        try:
            entry.load()
        except Exception as error:
            raise LexbeamError(
                f"the plugin {entry.name} ({entry.value}, group {group}) can't be loaded: {error}"
            ) from error
