"""Find documents by parts of their ids and titles."""

from collections.abc import Sequence

from ..schemas.naming import normalise
from .index import RetrievalIndex


def documents_with(index: RetrievalIndex, parts: Sequence[str]) -> frozenset[str]:
    """Return the ids of the documents with one of these ids or titles; if none has it exactly, with it as a part."""
    names = {entry.id: (normalise(entry.id), normalise(entry.title)) for entry in index.store.documents.entries()}
    found = set[str]()
    for part in (normalise(part) for part in parts if part.strip()):
        exact = [key for key, own in names.items() if part in own]
        found.update(exact or (key for key, own in names.items() if any(part in name for name in own)))
    return frozenset(found)
