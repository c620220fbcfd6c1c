"""SQL over the tables of several knowledge bases: each table is called BASE.TABLE."""

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from ...schemas.records import SqlResult, TableInfo
from ..joined_documents import JoinedDocuments
from .engine import SqlEngine
from .sql_errors import SqlError
from .table_file import TableSource, open_together, read_catalogue
from .traced_records import MOST_CITED

TableFile: TypeAlias = tuple[Path | None, Callable[[], TableSource]]
"""The file of a base's tables, None if there is none, and what makes them."""


class JoinedEngine(SqlEngine):
    """The tables of several knowledge bases, given by name; opened anew for each use, and to be closed."""

    def __init__(self, files: Mapping[str, TableFile], documents: JoinedDocuments) -> None:
        """Attach the tables of each base to one connection that can only read."""
        super().__init__(open_together(files), documents)
        self._bases = tuple(files)

    @cached_property
    def _tables(self) -> dict[str, TableInfo]:
        infos = [info.model_copy(update={"name": f"{base}.{info.name}"})
                 for base in self._bases for info in read_catalogue(self._connection.cursor(), base)]
        return {info.name.lower(): info for info in infos}

    def run(self, sql: str, *, most_rows: int = 1000, seconds: float = 10, most_cited: int = MOST_CITED) -> SqlResult:
        """Run one SELECT; see `SqlEngine.run`. An error about the name of a base with a sign says how to write it."""
        try:
            return super().run(sql, most_rows=most_rows, seconds=seconds, most_cited=most_cited)
        except SqlError as error:
            for base in self._bases:
                if "-" in base and re.search(rf'(?<!["\w]){re.escape(base)}\.', sql):
                    raise SqlError(f'{error}; a name with "-" needs quotation marks: write "{base}".TABLE') from error
            raise

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
