"""One sub-query as the routes see it, with what was computed once for all of them."""

from dataclasses import dataclass

from ..models.embedding import Vectors
from ..schemas.retrieval import SubQuery


@dataclass(frozen=True)
class Query:
    """A sub-query, its unit vector of shape (d,), and how far vectors can be trusted for it (0 to 1)."""

    sub_query: SubQuery
    vector: Vectors
    trust: float

    @property
    def text(self) -> str:
        """The question asked."""
        return self.sub_query.question
