"""The program's entry point. It imports Banyan's modules only where Ctrl-C is handled, so Ctrl-C shows no traceback."""

import gc
import sys

_INTERRUPTED = 130


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
