"""Which documents a question is limited to."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from .documents import Frozen

MOST_NAMES = 100
"""The most documents that a request can name one by one."""
_Name = Annotated[str, Field(min_length=1, max_length=1000)]
DocumentNames = Annotated[list[_Name], Field(max_length=MOST_NAMES, description=(
    "ids, titles or paths of the documents to answer from, or patterns such as `reports/*.pdf`; empty: all"))]
MetadataValues = Annotated[dict[_Name, _Name], Field(max_length=20, description=(
    "metadata of the documents to answer from, as {key: value or pattern}, such as {\"date\": \"2024-*\"}"))]


class Scope(Frozen):
    """Some of a knowledge base's documents; without any condition all of them.

    `documents` are ids, titles or paths, or patterns of them such as `reports/*.pdf`: what fits one is in the scope.
    `where` is metadata that each of the documents has, as (key, value or pattern), sorted.
    """

    documents: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, documents: Sequence[str] | str = (), where: Mapping[str, str] | None = None) -> "Scope":
        """Return the scope of some documents, of which one may be given as it is."""
        return cls(documents=(documents,) if isinstance(documents, str) else tuple(documents),
                   where=tuple(sorted((where or {}).items())))

    @property
    def is_everything(self) -> bool:
        """Whether all documents are in it."""
        return not self.documents and not self.where


EVERYTHING = Scope()
