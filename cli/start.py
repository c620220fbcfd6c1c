"""Where the program begins: it imports nothing of its own until Ctrl-C can end it without a traceback."""

import gc
import sys

_INTERRUPTED = 130


def collect_rarely() -> None:
    """Have Python look for unreachable objects a hundred times less often.

    Modules, graphs and indexes are millions of objects that stay: looking through them would take a third of the time.
    """
    gc.set_threshold(100_000)


def main() -> None:
    """Run the command line; Ctrl-C while it is being loaded, or a second one while it ends, ends it without a word."""
    collect_rarely()
    try:
        from .main import main as run  # noqa: PLC0415  (this takes a second)
        run()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    finally:
        gc.freeze()  # otherwise Python would look through all of them once more before it ends
