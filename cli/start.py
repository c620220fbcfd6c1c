"""The program's entry point. It imports Banyan's modules only where Ctrl-C is handled, so Ctrl-C shows no traceback."""

import gc
import sys

_INTERRUPTED = 130


def collect_rarely() -> None:
    """Make Python's garbage collector ignore all objects so far, and search later ones a hundred times less often.

    Modules, graphs and indexes are millions of objects that stay in use. Searching them again and again would take a
    third of the running time. Call this when the modules that a process needs are imported.
    """
    gc.freeze()
    gc.set_threshold(100_000)
    gc.enable()


def main() -> None:
    """Run the command line.

    Commands handle Ctrl-C themselves. If it is pressed while the command line is still being imported, or a second time
    while a command ends, the program exits without a message.
    """
    gc.disable()  # until the command is imported; see `main.py`
    try:
        from .main import main as run  # noqa: PLC0415  (this takes a second)
        run()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    finally:
        gc.freeze()  # keeps Python from searching all objects once more before it exits
