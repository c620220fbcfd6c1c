"""Guards around calls of libraries: Rust panics, unwanted warnings, threads, and Python's garbage collector."""

import gc
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController

_warnings_lock = threading.RLock()  # filters are the process's: the end of a block would restore them in another's
_algebra_lock = threading.RLock()  # one for the process, because the limit applies to the process


def is_panic(error: BaseException) -> bool:
    """Return True for a Rust panic, which PyO3 raises as a BaseException of a class that it does not export."""
    return type(error).__name__ == "PanicException"


@contextmanager
def ignoring(category: type[Warning]) -> Iterator[None]:
    """Suppress warnings of a category within the block."""
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", category)
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit the process's linear algebra to one thread, which adds in a fixed order; other threads' blocks wait."""
    with _algebra_lock, ThreadpoolController().limit(limits=1):
        yield


def collect_rarely() -> None:
    """Make the garbage collector ignore all objects so far, and search later ones a hundred times less often.

    Modules, graphs and indexes are millions of objects that stay in use: searching them again and again would take a
    third of the running time. Call this when the modules that a process needs are imported.
    """
    gc.freeze()
    gc.set_threshold(100_000)  # new objects, instead of about a thousand
