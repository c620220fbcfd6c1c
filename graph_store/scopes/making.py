"""Makes the knowledge base that some documents of another one would be alone.

Everything derived is a function of the ledger's rows. So the rows of these documents, in a ledger of their own, give
the passages, facts, communities and statistics that a knowledge base of these documents alone has, without a model:
extractions, decisions and verdicts come with the rows, vectors from the other one's index.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from ...models.embedding.embedder import Embedder, RememberingEmbedder, Vectors, as_queries
from ...models.rules.rules_reasoner import RulesReasoner
from ..derive import derive
from ..evolution.growth import Thresholds
from ..index.array_file import Arrays
from ..index.vector_rows import COMPARED, vectors_of
from ..knowledge_base import KnowledgeBase
from ..layout import Layout
from ..ledger.copying import copy_documents
from ..ledger.database import Database
from ..vectors.embedded_texts import embedded

_NEW_TEXTS = 10_000
"""Room for the vectors of texts that the index has not: labels, sentences that are sampled."""


class _KnownVectors(RememberingEmbedder):
    """An `Embedder` that remembers the vectors of texts which are in an index."""

    @property
    def queries(self) -> Embedder:
        """The embedder of questions."""
        return as_queries(self._embedder)


def make_scope(base: KnowledgeBase, documents: Sequence[str], layout: Layout,
               thresholds: Callable[[KnowledgeBase], Thresholds]) -> None:
    """Make the knowledge base of some documents of a frozen one, in a place where nothing is yet.

    `thresholds` gives what the schema grows by, for the number of its documents.
    """
    layout.make("")
    with closing(Database(layout.ledger)) as ledger:
        copy_documents(base.database, ledger, documents)
    index = base.index()
    room = sum(len(index[kind]) for kind in COMPARED) + _NEW_TEXTS
    embedder = _KnownVectors(base.embedder, room)
    with KnowledgeBase(layout, embedder) as scope, scope.writing():
        embedder.remember(dict(_vectors(scope, index)))
        derive(scope, RulesReasoner(), thresholds(scope), of_all=False)


def _vectors(scope: KnowledgeBase, index: Arrays) -> Iterator[tuple[str, Vectors]]:
    """Yield the texts that a scope embeds, as far as an index has their vectors."""
    for kind, ids, texts in embedded(scope.ledger_graph.mentions, scope.documents, scope.documents.done()):
        if kind in COMPARED:
            known = texts(ids)
            yield from ((known[key], vector) for key, vector in vectors_of(index, kind, known))
