"""Which folder the vectors stand in.

Vectors that are made anew are made in a folder of their own, beside those in service, and the ledger
says in one commit that they count from now on. Ended in the middle, the old ones still stand; a
reader of another process that has them open keeps them until it looks at the ledger again.
"""

import re
import shutil
import time
from pathlib import Path

from .database import Database
from .layout import Layout

_KEY = "vectors_generation"
_SINCE = "vectors_since"
# A question with all its rounds takes an LLM a minute or two.
_GRACE_SECONDS = 600
_NAME = re.compile(r"chroma(-[0-9]+)?")


class VectorFolders:
    """The folders of one knowledge base, numbered; the number in the ledger is in service."""

    def __init__(self, layout: Layout, database: Database) -> None:
        self._layout = layout
        self._db = database

    def current(self) -> int:
        """The number of the folder in service; the first is 0."""
        return int(self._db.get_meta(_KEY) or 0)

    def path(self, number: int) -> Path:
        """A folder by its number."""
        first = self._layout.vectors
        return first.with_name(f"{first.name}-{number}") if number else first

    def begin(self) -> int:
        """The number of a new, empty folder; what an earlier attempt left there is removed.

        Raises:
            OSError: it cannot be removed.
        """
        number = self.current() + 1
        if self.path(number).exists():
            shutil.rmtree(self.path(number))
        return number

    def put_in_service(self, number: int) -> None:
        """Make a folder the one that counts."""
        self._db.set_meta(_KEY, str(number))
        self._db.set_meta(_SINCE, str(int(time.time())))

    def drop_others(self) -> None:
        """Remove the folders that are in service no more, as far as that is possible.

        Not at once: whoever began to answer a question before may open one yet.
        """
        if time.time() - int(self._db.get_meta(_SINCE) or 0) < _GRACE_SECONDS:
            return
        current = self.path(self.current())
        for entry in current.parent.iterdir():
            if _NAME.fullmatch(entry.name) and entry != current:
                shutil.rmtree(entry, ignore_errors=True)
