"""The documents of several knowledge bases: each is called by its base and its id there, as `papers/curie.md`."""

from collections.abc import Mapping
from typing import TypeAlias

from .ledger.document_rows import Documents
from .store_errors import UnknownDocumentError


class JoinedDocuments:
    """What citations need of the documents of several knowledge bases, given by the bases' names."""

    def __init__(self, documents: Mapping[str, Documents]) -> None:
        self._documents = documents

    def text(self, document_id: str) -> str:
        """See `Documents.text`."""
        documents, own_id = self._find(document_id)
        return documents.text(own_id)

    def metadata(self, document_id: str) -> dict[str, str]:
        """See `Documents.metadata`."""
        documents, own_id = self._find(document_id)
        return documents.metadata(own_id)

    def page(self, document_id: str, character: int) -> int | None:
        """See `Documents.page`."""
        documents, own_id = self._find(document_id)
        return documents.page(own_id, character)

    def meant_dates(self, document_id: str, start: int, end: int) -> tuple[str, ...]:
        """See `Documents.meant_dates`."""
        documents, own_id = self._find(document_id)
        return documents.meant_dates(own_id, start, end)

    def _find(self, document_id: str) -> tuple[Documents, str]:
        """Return the documents of the base that a document's joined id names, and its id there."""
        base, own_id = split_id(document_id)
        if base not in self._documents:
            raise UnknownDocumentError(f"there is no document {document_id!r}; see `banyan documents`")
        return self._documents[base], own_id


SourceDocuments: TypeAlias = Documents | JoinedDocuments  # the documents that an answer cites


def joined_id(base: str, document_id: str) -> str:
    """Return how a document of one of several knowledge bases is called; of one alone ("") by its id."""
    return f"{base}/{document_id}" if base and document_id else document_id


def split_id(document_id: str) -> tuple[str, str]:
    """Return the knowledge base and the id there of one of several bases' documents."""
    base, _, own_id = document_id.partition("/")  # no name of a base has a slash
    return base, own_id
