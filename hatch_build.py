"""Compile the search kernel: when the package is built, or by ``python hatch_build.py``.

The kernel makes the search faster and changes none of its results (`lexbeam.search.kernel`), so a
machine without a compiler, or without Python's headers, gets the package without it.
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

FOLDER = Path(__file__).resolve().parent / "src" / "lexbeam" / "search"


def build_kernel() -> str | None:
    """Compile the kernel beside its source; return why that was not possible, else None."""
    source = FOLDER / "_kernel.c"
    try:
        from setuptools import Distribution, Extension  # noqa: PLC0415  (may not be there)

        number = 0
        for path in sorted(FOLDER.glob("_kernel*.[ch]")):  # as in lexbeam.search.kernel
            number = zlib.crc32(path.read_bytes(), number)
        extension = Extension(
            "_kernel",
            [str(source)],
            define_macros=[("SOURCE_CHECKSUM", f"{number}u")],
            extra_compile_args=["-g0"] if os.name == "posix" else [],
            py_limited_api=True,
        )
        with tempfile.TemporaryDirectory() as folder:
            command = Distribution({"ext_modules": [extension]}).get_command_obj("build_ext")
            command.build_lib = command.build_temp = folder
            command.ensure_finalized()
            command.run()
            built = Path(command.get_ext_fullpath("_kernel"))
            target = FOLDER / built.name
            copyfile(built, target.with_suffix(".new"))
            target.with_suffix(".new").replace(target)  # the old one may be in use
    except (Exception, SystemExit) as error:  # whatever is missing, the package works without
        return f"{type(error).__name__}: {error}"
    return None


class CustomBuildHook(BuildHookInterface):
    """Compiles the kernel before a wheel is made, of the editable kind too."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Compile; if that succeeds, the wheel is one for this platform."""
        fault = build_kernel()
        if fault is not None:
            self.app.display_warning(f"the search kernel is left out: {fault}")
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform}"
        build_data["artifacts"] += ["src/lexbeam/search/_kernel*.so", "src/lexbeam/search/*.pyd"]


if __name__ == "__main__":
    sys.exit(build_kernel())
