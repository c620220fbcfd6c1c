"""Which documents a question is limited to."""

from collections.abc import Mapping, Sequence

from .documents import Frozen


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
