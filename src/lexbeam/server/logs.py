"""What the server writes to its log: never a text, never a key.

The message of an exception may quote what somebody sent, so only its type and the lines of code
are written.
"""

from __future__ import annotations

import logging
import sys
import traceback

LOG = logging.getLogger("lexbeam.server")


def log_failure(what: str) -> None:
    """Write that something failed, with the type of the current exception and where it came up."""
    kind, _, frames = sys.exc_info()
    name = kind.__name__ if kind is not None else "nothing"
    LOG.error("%s: %s\n%s", what, name, "".join(traceback.format_tb(frames)))
