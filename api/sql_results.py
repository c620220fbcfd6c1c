"""The result of SQL in Python: rows as dicts, a data frame or CSV, with the records that it rests on."""

import csv
import io
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from ..schemas.errors import BanyanError
from ..schemas.records import SqlResult

MOST_ROWS = 1000
SQL_SECONDS = 10.0
_RUN = tuple("=+-@\t\r")
"""Characters at the beginning of a cell that a spreadsheet would run as a formula."""


class SqlRows(SqlResult):
    """The result of `kb.sql`: iterate over it for its rows as dicts."""

    def __iter__(self) -> Iterator[dict[str, Any]]:  # type: ignore[override]  # rows are of more use than fields
        """Yield each row as a dict by column."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def __len__(self) -> int:
        """Return the number of rows here; `total` is that of the whole result."""
        return len(self.rows)

    def df(self) -> Any:
        """Return the rows as a data frame; pandas has to be installed.

        Raises:
            BanyanError: pandas is not installed.
        """
        try:
            pandas = import_module("pandas")  # optional, and slow to import
        except ImportError as error:
            raise BanyanError("df() needs pandas: run `pip install pandas`, or use `rows` or `to_csv()`") from error
        return pandas.DataFrame(list(self.rows), columns=list(self.columns))

    def to_csv(self) -> str:
        """Return the rows as CSV with a line of headers.

        A text that a spreadsheet would run as a formula gets an apostrophe before it.
        """
        written = io.StringIO()
        writer = csv.writer(written, lineterminator="\n")
        writer.writerow(map(_csv_cell, self.columns))
        writer.writerows(map(_csv_cell, row) for row in self.rows)
        return written.getvalue()


def _csv_cell(value: object) -> object:
    if isinstance(value, list | tuple):
        value = "; ".join("" if one is None else str(one) for one in value)
    return f"'{value}" if isinstance(value, str) and value.startswith(_RUN) else value
