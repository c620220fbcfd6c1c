"""Starting fast: what a process imports and loads stays until it ends."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """Within the block Python does not look for garbage, and what was made in it is not looked through later either.

    Modules make hundreds of thousands of objects that stay: to look through them again and again takes a quarter of the
    time of importing them.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
