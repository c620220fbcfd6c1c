"""Which set of vectors counts, and where it stands.

Vectors that are made anew are made beside those in service, and the ledger says in one commit that they
count from now on. Ended in the middle, the old ones still stand; a reader of another process that has them
open keeps them until it looks at the ledger again.
"""

import time
import uuid
from contextlib import suppress
from functools import cached_property

from ...schemas.naming import content_id
from ..layout import Layout
from ..ledger.database import Database
from .backend import Generation, VectorBackend
from .chroma_folder import FolderBackend
from .chroma_server import ServerBackend

IDENTITY = "vectors_identity"
"""What the ledger keeps the knowledge base's identity on servers by."""
_KEY = "vectors_generation"
_SINCE = "vectors_since"
_PLACE = "vectors_place"
_SERVER = "server"
# A question with all its rounds takes an LLM a minute or two.
_GRACE_SECONDS = 600


class VectorGenerations:
    """The generations of one knowledge base's vectors, numbered; the number in the ledger is in service."""

    def __init__(self, layout: Layout, database: Database) -> None:
        self._layout = layout
        self._db = database
        self._tidied: int | None = None

    @cached_property
    def _folders(self) -> FolderBackend:
        return FolderBackend(self._layout.vectors)

    @cached_property
    def _place(self) -> VectorBackend:
        server = self._layout.server
        return self._folders if server is None else ServerBackend(server, self._scope(), self._layout.name)

    def _scope(self) -> str:
        """What tells this knowledge base from all others on a server, whatever they are called.

        A copy of its folder has the same ledger, but not the same inode: it gets vectors of its own.
        """
        if self._db.get_meta(IDENTITY) is None:
            with self._db.transaction():
                # Looked for again inside: another process may have been quicker.
                self._db.set_meta(IDENTITY, self._db.get_meta(IDENTITY) or uuid.uuid4().hex)
        return content_id("vectors", str(self._db.get_meta(IDENTITY)), str(self._layout.root.stat().st_ino))

    def current(self) -> int:
        """The number of the generation in service; the first is 0."""
        return int(self._db.get_meta(_KEY) or 0)

    def open(self, number: int) -> Generation:
        """A generation by its number."""
        return self._place.generation(number)

    def begin(self) -> int:
        """The number of a new, empty generation; what an earlier attempt left there is removed.

        Raises:
            OSError, StoreError: it cannot be removed.
        """
        number = self.current() + 1
        self._place.remove(number)
        return number

    def put_in_service(self, number: int) -> None:
        """Make a generation the one that counts."""
        self._db.set_meta(_KEY, str(number))
        self._db.set_meta(_SINCE, str(int(time.time())))

    def stands_elsewhere(self) -> bool:
        """Whether the vectors that count were last kept up in a folder and are now looked for on a server, or so."""
        return (self._db.get_meta(_PLACE) or "") != self._here()

    def stand_here(self) -> None:
        """From now on those count that stand here."""
        if self.stands_elsewhere():
            self._db.set_meta(_PLACE, self._here())

    def _here(self) -> str:
        return "" if self._layout.server is None else _SERVER

    def drop_others(self) -> None:
        """Remove the generations that are in service no more, as far as that is possible.

        Not at once: whoever began to answer a question before may open one yet.
        """
        current = self.current()
        if current == self._tidied or time.time() - int(self._db.get_meta(_SINCE) or 0) < _GRACE_SECONDS:
            return
        for place in dict.fromkeys((self._place, self._folders)):
            for number in place.numbers():
                if place is not self._place or number != current:
                    with suppress(OSError):
                        place.remove(number)
        self._tidied = current
