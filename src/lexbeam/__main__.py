"""Starts the command ``lexbeam``; ``python -m lexbeam`` is the same.

The first thing it does is to let an interrupt end the process without a word: importing takes a
second, and an exception in the middle of an import helps nobody. The module that is imported for it
is part of the interpreter, at hand at once. An interrupt that is ignored, as in a background job,
stays so.
"""

import _signal as signal  # type: ignore[import-not-found]

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from lexbeam.cli.start import main

if __name__ == "__main__":
    main()
