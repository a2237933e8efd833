"""A search to look at: what stood on the beam at every step, and why.

`Recorder` watches a translator and keeps what its searches did; `Trace` is what it kept, and
writes it as one page for a browser. See ``docs/tracing.md``.
"""

from lexbeam.translation.tracing.recorder import Recorder, Trace

__all__ = ["Recorder", "Trace"]
