"""The program's entry point. It imports Banyan's modules only where Ctrl-C is handled, so Ctrl-C shows no traceback."""

import gc
import sys

_INTERRUPTED = 130


def collect_rarely() -> None:
    """Make Python's garbage collector search for unreachable objects about a hundred times less often than by default.

    Modules, graphs and indexes are millions of objects that stay in use. Searching them again and again would take a
    third of the running time.
    """
    gc.set_threshold(100_000)


def main() -> None:
    """Run the command line.

    Commands handle Ctrl-C themselves. If it is pressed while the command line is still being imported, or a second time
    while a command ends, the program exits without a message.
    """
    collect_rarely()
    try:
        from .main import main as run  # noqa: PLC0415  (this takes a second)
        run()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    finally:
        gc.freeze()  # keeps Python from searching all objects once more before it exits
