"""Python's garbage collector in a process of the command line."""

import gc


def collect_rarely() -> None:
    """Make the collector ignore all objects so far, and search later ones a hundred times less often.

    Modules, graphs and indexes are millions of objects that stay in use. Searching them again and again would take a
    third of the running time. Call this when the modules that a process needs are imported.
    """
    gc.freeze()
    gc.set_threshold(100_000)
    gc.enable()
