"""The program's entry point. It imports Banyan's modules only where Ctrl-C is handled, so Ctrl-C shows no traceback."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is being imported, or again while it ends, exits without a message."""
    try:
        from .main import main as run  # noqa: PLC0415  (this takes a second)

        run()
    except KeyboardInterrupt:
        sys.exit(130)  # the exit code of a command that Ctrl-C ends, by the shells' convention
