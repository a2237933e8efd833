"""A text that kills whoever translates it, for processes that a test starts.

A folder with this on the path of Python makes every process of Python that imports the translator
end at once, like one that runs out of memory, when it is given the text.
"""

from __future__ import annotations

from pathlib import Path

POISON = "Open the poison cabinet."

_CODE = f"""
import os, signal, sys
from importlib.abc import MetaPathFinder

NAME = "lexbeam.translation.translator"


class Finder(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != NAME:
            return None
        sys.meta_path.remove(self)
        import importlib.util

        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            translate_each = module.Translator.translate_each

            def deadly(self, requests):
                requests = list(requests)
                if any({POISON!r} == request.text for request in requests):
                    os.kill(os.getpid(), signal.SIGKILL)
                return translate_each(self, requests)

            module.Translator.translate_each = deadly

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Finder())
"""


def write_poison(folder: Path) -> str:
    """Write the module; return the folder, to be put before others in PYTHONPATH."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_CODE, encoding="utf-8")
    return str(folder)
