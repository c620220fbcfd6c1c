"""Rows in a file that only grows at its end, so that what was written once is not written again."""

import mmap
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from .array_file import IndexDamagedError

Sums = list[list[Any]]
"""Of each stretch that was added: how many rows, and their checksum."""


class RowFile:
    """The rows of one file, mapped."""

    def __init__(self, path: Path, row: np.dtype[Any], sums: Sequence[Sequence[Any]] | None = None) -> None:
        """Map what `sums` say is there, or begin a new file.

        Args:
            path: the file.
            row: the type of a row.
            sums: what `append` returned last; None: the file is to be written anew.

        Raises:
            FileNotFoundError: the file is not there.
            IndexDamagedError: it is not as it was written.
        """
        self.path, self._row = path, row
        self._sums: Sums | None = None if sums is None else [list(entry) for entry in sums]
        self.stored: NDArray[Any] = self._map(self._sums or [])

    def _map(self, sums: Sums) -> NDArray[Any]:
        rows, width = sum(count for count, _ in sums), self._row.itemsize
        if not rows:
            return np.zeros(0, self._row)
        with self.path.open("rb") as file:
            if self.path.stat().st_size < rows * width:
                raise IndexDamagedError(f"{self.path} is cut short")
            mapped = mmap.mmap(file.fileno(), rows * width, access=mmap.ACCESS_READ)
        begin, view = 0, memoryview(mapped)
        for count, checksum in sums:
            end = begin + count * width
            if xxhash.xxh3_64_hexdigest(view[begin:end]) != checksum:
                raise IndexDamagedError(f"{self.path} is not as it was written")
            begin = end
        return np.frombuffer(mapped, self._row)

    def append(self, rows: NDArray[Any]) -> Sums:
        """Write rows behind what is noted, and return what is to be noted now.

        Raises:
            OSError: the disk is full or not writable; what is noted is unchanged.
        """
        sums = self._sums or []
        if len(rows) or self._sums is None:
            data = np.ascontiguousarray(rows).view(np.uint8).data if len(rows) else b""
            # Behind what is noted there may be what a writer left that was killed.
            with self.path.open("wb" if self._sums is None else "r+b") as file:
                file.truncate(self.stored.nbytes)
                file.seek(self.stored.nbytes)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if len(rows):
                sums.append([len(rows), xxhash.xxh3_64_hexdigest(data)])
        self._sums = sums
        return sums
