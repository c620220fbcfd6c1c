"""Where the vectors of a knowledge base are: in its folder, or on a Chroma server."""

import uuid

from ...schemas.naming import content_id
from ..layout import Layout
from ..ledger.database import Database
from .backend import Collections
from .chroma_folder import FolderCollections
from .server_store import ServerCollections

IDENTITY = "vectors_identity"
"""The ledger's key for the knowledge base's identity on servers."""


def collections_of(layout: Layout, database: Database, fingerprint: str) -> Collections:
    """Return the collections of a knowledge base for an embedding model, in its folder or on its server."""
    model = content_id("model", fingerprint)
    if layout.server is None:
        return FolderCollections(layout.vectors, model)
    return ServerCollections(layout.server, _scope(layout, database), layout.name, model)


def _scope(layout: Layout, database: Database) -> str:
    """Return an id that distinguishes this knowledge base from all others on a server, even those of the same name.

    A copy of its folder has the same ledger, but not the same inode: it gets separate vectors. So does a ledger that
    is restored in a database.
    """
    if database.get_meta(IDENTITY) is None:
        with database.transaction():
            # Looked for again inside: another process may have been quicker.
            database.set_meta(IDENTITY, database.get_meta(IDENTITY) or uuid.uuid4().hex)
    return content_id("vectors", str(database.get_meta(IDENTITY)),
                      database.identity or str(layout.root.stat().st_ino))
