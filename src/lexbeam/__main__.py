"""Starts the command ``lexbeam``; ``python -m lexbeam`` is the same.

The first thing it does is to let an interrupt end the process without a word: importing takes a
second, and an exception in the middle of an import helps nobody. An interrupt that is ignored, as
in a background job, stays so.
"""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from lexbeam.cli.start import main

if __name__ == "__main__":
    main()
