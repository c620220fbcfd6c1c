"""Which set of vectors is in service, and where it is stored.

Vectors that are rebuilt go into a new generation, and the ledger puts it in service in one commit. A rebuild that is
killed leaves the old generation in service; a reader of another process that has it open keeps it until it looks at
the ledger again.
"""

import time
import uuid
from contextlib import suppress
from functools import cached_property

from ...schemas.naming import content_id
from ..layout import Layout
from ..ledger.database import Database
from .backend import Generation
from .chroma_folder import FolderBackend
from .chroma_server import ServerBackend

IDENTITY = "vectors_identity"
"""The ledger's key for the knowledge base's identity on servers."""
_KEY = "vectors_generation"
_SINCE = "vectors_since"
_BACKEND = "vectors_backend"
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
        return FolderBackend(self._layout.vectors, marked=self.own)

    @property
    def own(self) -> bool:
        """Whether each home folder has its own, all with the same numbers: the ledger is shared and they are not."""
        return self._layout.database is not None and self._layout.server is None

    @cached_property
    def _backend(self) -> FolderBackend | ServerBackend:
        server = self._layout.server
        return self._folders if server is None else ServerBackend(server, self._scope(), self._layout.name)

    def _scope(self) -> str:
        """An id that distinguishes this knowledge base from all others on a server, whatever their names.

        A copy of its folder has the same ledger, but not the same inode: it gets vectors of its own. So does a ledger
        that is restored in a database.
        """
        if self._db.get_meta(IDENTITY) is None:
            with self._db.transaction():
                # Looked for again inside: another process may have been quicker.
                self._db.set_meta(IDENTITY, self._db.get_meta(IDENTITY) or uuid.uuid4().hex)
        return content_id("vectors", str(self._db.get_meta(IDENTITY)),
                          self._db.identity or str(self._layout.root.stat().st_ino))

    def current(self) -> int:
        """The number of the generation in service; the first is 0."""
        return int(self._db.get_meta(_KEY) or 0)

    def open(self, number: int) -> Generation:
        """A generation by its number."""
        return self._backend.generation(number)

    def emptied(self, number: int) -> Generation:
        """A generation with nothing in it.

        Raises:
            OSError, StoreError: what was in it cannot be removed.
        """
        self._backend.remove(number)
        return self.open(number)

    def begin(self) -> int:
        """The number of a new, empty generation; what an earlier attempt left there is removed.

        Raises:
            OSError, StoreError: it cannot be removed.
        """
        number = self.current() + 1
        self._backend.remove(number)
        return number

    def put_in_service(self, number: int) -> None:
        """Put a generation in service."""
        self._db.set_meta(_KEY, str(number))
        self._db.set_meta(_SINCE, str(int(time.time())))

    def moved_backend(self) -> bool:
        """Whether the vectors in service are in another backend, a folder or a server, than is set now."""
        return (self._db.get_meta(_BACKEND) or "") != self._here()

    def use_backend(self) -> None:
        """Note that the vectors in service are stored in the backend that is set."""
        if self.moved_backend():
            self._db.set_meta(_BACKEND, self._here())

    def _here(self) -> str:
        return "" if self._layout.server is None else _SERVER

    def remove_all(self) -> None:
        """Remove every generation, the one in service too.

        Raises:
            OSError, StoreError: one cannot be removed.
        """
        for number in self._backend.numbers():
            self._backend.remove(number)

    def drop_others(self) -> None:
        """Remove generations that are out of service, as far as that is possible.

        Not at once: a question that is being answered may still open one.
        """
        current = self.current()
        if current == self._tidied or time.time() - int(self._db.get_meta(_SINCE) or 0) < _GRACE_SECONDS:
            return
        for backend in dict.fromkeys((self._backend, self._folders)):
            for number in backend.numbers():
                if backend is not self._backend or number != current:
                    with suppress(OSError):
                        backend.remove(number)
        self._tidied = current
