"""Compile what makes lexbeam faster: when the package is built, or by ``python hatch_build.py``.

These are the kernel of the search (`lexbeam.search.kernel`) and the output layer of networks
(`lexbeam.models.engines.output`). A machine without a compiler, or without Python's headers, gets
the package without them.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
import zlib
from pathlib import Path
from shutil import copyfile
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # as a script it needs nothing but setuptools
    BuildHookInterface = object

PACKAGE = Path(__file__).resolve().parent / "src" / "lexbeam"
MODULES = {"_kernel": PACKAGE / "search", "_network": PACKAGE / "models" / "engines"}
"""The compiled modules and their folders."""


def build_modules() -> str | None:
    """Compile each module beside its source; return why that was not possible, else None."""
    try:
        from setuptools import Distribution, Extension  # noqa: PLC0415  (may not be there)

        for name, folder in MODULES.items():
            number = 0
            sources = sorted(folder.glob(f"{name}*.[ch]"))  # as in lexbeam.compiled_modules
            for path in [*sources, PACKAGE / "_compiled_arrays.h"]:
                number = zlib.crc32(path.read_bytes(), number)
            extension = Extension(
                name,
                [str(folder / f"{name}.c")],
                define_macros=[("SOURCE_CHECKSUM", f"{number}u")],
                extra_compile_args=["-g0", "-O3", "-ffp-contract=off"]
                if os.name == "posix"
                else [],
                py_limited_api=True,
            )
            _build(Distribution({"ext_modules": [extension]}), folder, name)
    except (Exception, SystemExit) as error:  # whatever is missing, the package works without
        return f"{type(error).__name__}: {error}"
    return None


def _build(distribution: Any, target: Path, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = distribution.get_command_obj("build_ext")
        command.build_lib = command.build_temp = folder
        command.ensure_finalized()
        command.run()
        built = Path(command.get_ext_fullpath(name))
        new = (target / built.name).with_suffix(".new")
        copyfile(built, new)
        new.replace(target / built.name)  # the old one may be in use


class CustomBuildHook(BuildHookInterface):
    """Compiles the modules before a wheel is made, of the editable kind too."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Compile; if that succeeds, the wheel is one for this platform."""
        fault = build_modules()
        if fault is not None:
            self.app.display_warning(f"the compiled modules are left out: {fault}")
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform}"
        build_data["artifacts"] += ["src/lexbeam/**/_*.so", "src/lexbeam/**/_*.pyd"]


if __name__ == "__main__":
    sys.exit(build_modules())
