"""Find documents by parts of their ids and titles."""

from collections.abc import Sequence

from ..schemas.naming import normalise
from .index import RetrievalIndex

_FEW = 2
"""The most documents that one name means."""


def documents_with(index: RetrievalIndex, parts: Sequence[str]) -> frozenset[str]:
    """Return the ids of the documents with one of these ids or titles; if none has it exactly, with it as a part."""
    found = set[str]()
    for part in (normalise(part) for part in parts if part.strip()):
        exact = index.documents_by_name.get(part)
        inside = (keys for name, keys in index.documents_by_name.items() if part in name)
        found.update([*exact] if exact else [key for keys in inside for key in keys])
    return frozenset(found)


def documents_called(index: RetrievalIndex, name: str) -> frozenset[str]:
    """Return the ids of the few documents that are called by a name, as their titles or files are quoted."""
    found = frozenset(index.documents_called(normalise(name)))
    return found if len(found) <= _FEW else frozenset()
