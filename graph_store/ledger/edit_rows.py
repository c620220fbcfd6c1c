"""Store people's edits of the graph in the ledger; each applies until it is undone."""

from pydantic import TypeAdapter

from ...schemas.edits import Edit, EditDecision
from ..store_errors import readable
from .database import Database, now
from .tables import EDITS
from .version import count_resolution

_EDIT: TypeAdapter[Edit] = TypeAdapter(Edit)


class EditTable:
    """Edits in the order they were made; those in force determine the graph."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def all(self) -> list[EditDecision]:
        """Return every edit in order, including undone ones."""
        return [self._read(*row) for row in self._db.rows(
            "SELECT number, edit, who, why, decided_at, undone_by, undone_at FROM edits ORDER BY number")]

    def in_force(self) -> list[Edit]:
        """Return the edits that were not undone, in order."""
        return [decision.edit for decision in self.all() if not decision.undone_at]

    def record(self, edit: Edit, who: str, why: str) -> int:
        """Record an edit, unless it repeats the last one in force, as when a killed run is resumed.

        Returns:
            The edit's number.
        """
        row = (_EDIT.dump_json(edit).decode(), who, why)
        with self._db.transaction():
            last = self._db.rows("SELECT edit, who, why, number FROM edits WHERE undone_at = '' AND number = "
                                 "(SELECT max(number) FROM edits)")
            if last and tuple(last[0])[:3] == row:
                return int(last[0].number)
            number = 1 + self._db.count("SELECT max(number) FROM edits")
            self._db.insert(EDITS, [(number, *row, now(), "", "")])
            count_resolution(self._db)
            return number

    def undo(self, number: int, who: str) -> None:
        """Undo an edit, unless it is undone already."""
        with self._db.transaction():
            if self._db.execute("UPDATE edits SET undone_by = :who, undone_at = :now "
                                "WHERE number = :number AND undone_at = ''", who=who, now=now(), number=number):
                count_resolution(self._db)

    @staticmethod
    def _read(number: int, edit: str, *rest: str) -> EditDecision:
        who, why, decided_at, undone_by, undone_at = rest
        with readable(f"edit {number}"):
            return EditDecision(number=number, edit=_EDIT.validate_json(edit), who=who, why=why,
                                decided_at=decided_at, undone_by=undone_by, undone_at=undone_at)
