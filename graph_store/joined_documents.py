"""The documents of several knowledge bases: each is called by its base and its id there, as `papers/curie.md`."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from .ledger.document_rows import Documents
from .store_errors import UnknownDocumentError


class JoinedDocuments:
    """The documents of several knowledge bases, given by the bases' names.

    It has the methods of `Documents` whose first argument is a document's id, which is a joined one here.
    """

    def __init__(self, documents: Mapping[str, Documents]) -> None:
        self._documents = documents

    def __getattr__(self, method: str) -> Callable[..., Any]:
        """Return the method of that name, for a document of any of the bases."""
        def call(document_id: str, *arguments: Any) -> Any:
            base, own_id = split_id(document_id)
            if base not in self._documents:
                raise UnknownDocumentError(f"there is no document {document_id!r}; see `banyan documents`")
            return getattr(self._documents[base], method)(own_id, *arguments)

        return call


SourceDocuments: TypeAlias = Documents | JoinedDocuments  # the documents that an answer cites


def joined_id(base: str, document_id: str) -> str:
    """Return how a document of one of several knowledge bases is called; of one alone ("") by its id."""
    return f"{base}/{document_id}" if base and document_id else document_id


def split_id(document_id: str) -> tuple[str, str]:
    """Return the knowledge base and the id there of one of several bases' documents."""
    base, _, own_id = document_id.partition("/")  # no name of a base has a slash
    return base, own_id
