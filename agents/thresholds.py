"""When a schema grows by itself, by the settings and the size of the corpus."""

from ..config import Settings
from ..graph_store.evolution.elements import KIND_NAMES
from ..graph_store.evolution.growth import Thresholds
from ..graph_store.knowledge_base import KnowledgeBase

_SMALL_CORPUS = 50
"""A corpus with fewer documents is small: one document is enough to support a new element."""


def support_in(kb: KnowledgeBase, settings: Settings) -> int:
    """Return how many documents must support a candidate before it can join the schema: 2, or 1 in a small corpus.

    The setting `schema_support` overrides this.
    """
    return settings.schema_support or (1 if kb.documents.count_documents() < _SMALL_CORPUS else 2)


def thresholds_in(kb: KnowledgeBase, settings: Settings) -> Thresholds:
    """Return the thresholds at which a candidate joins the schema of a knowledge base without a person's decision."""
    return Thresholds(confidence=settings.schema_confidence, support=support_in(kb, settings),
                      growth=dict.fromkeys(KIND_NAMES, settings.schema_growth))
