"""The file of a knowledge base's tables: written with the index, opened for reading, made again when it is damaged."""

import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ...runtime.safe_files import own_folder
from ...schemas.naming import content_id
from ..ledger.notes import Version

if TYPE_CHECKING:
    import duckdb

    from .table_file import TableSource

_LOG = logging.getLogger("banyan")
_FORMAT = "13"  # another number when the tables change
_PREFIX, _SUFFIX = "tables-", ".duckdb"


class TableStore:
    """Writes and opens the tables of one knowledge base; the file's name tells the ledger's state that it shows."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, version: Version, source: "TableSource") -> None:
        """Write the tables of a state of the ledger; after an OSError there is no new file."""
        from .table_file import write_file  # noqa: PLC0415  (DuckDB takes as long as opening a knowledge base)

        with own_folder(self._folder, f".{_PREFIX}") as folder:
            write_file(folder / "new", source)
            (folder / "new").replace(self._path(version))

    def remove_others(self, version: Version) -> None:
        """Delete the files of other states of the ledger; readers that have them open keep them."""
        for file in files_in(self._folder):
            if file != self._path(version):
                with suppress(OSError):  # on Windows it is in use; the next write deletes it
                    file.unlink(missing_ok=True)

    def open(self, version: Version, source: "Callable[[], TableSource]") -> "duckdb.DuckDBPyConnection":
        """Return a connection that can only read the tables of a state of the ledger; in memory if there is no file."""
        from .table_file import TablesDamagedError, open_tables  # noqa: PLC0415

        path = self.file(version)
        try:
            return open_tables({"": (path, source)})
        except TablesDamagedError as error:
            _LOG.warning("%s; the tables are made again", error)
            with suppress(OSError):
                self._path(version).unlink(missing_ok=True)
            return open_tables({"": (None, source)})

    def file(self, version: Version) -> Path | None:
        """Return the file of the tables of a state of the ledger; None if there is none."""
        path = self._path(version)
        return path if path.is_file() else None

    def differs(self, version: Version, source: "TableSource") -> bool:
        """Return True if there is a file of a state of the ledger, and it is not what the state gives."""
        from .table_file import differs  # noqa: PLC0415

        return self.file(version) is not None and differs(self._path(version), source)

    def _path(self, version: Version) -> Path:
        return self._folder / f"{_PREFIX}{content_id(_FORMAT, *map(str, version))}{_SUFFIX}"


def files_in(folder: Path) -> list[Path]:
    """Return the files of tables in a knowledge base's folder."""
    return sorted(folder.glob(f"{_PREFIX}*{_SUFFIX}"))
