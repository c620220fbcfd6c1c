"""Where the program begins: it imports nothing of its own until Ctrl-C can end it without a traceback."""

import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command line; Ctrl-C while it is being loaded, or a second one while it ends, ends it without a word."""
    try:
        from .main import main as run  # noqa: PLC0415  (this takes a second)
        run()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
