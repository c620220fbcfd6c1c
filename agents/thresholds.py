"""When a schema grows by itself, by the settings and the size of the corpus."""

from ..config import Settings
from ..graph_store.evolution.elements import KIND_NAMES
from ..graph_store.evolution.growth import Thresholds
from ..graph_store.knowledge_base import KnowledgeBase

_SMALL_CORPUS = 50
"""How many documents a corpus has from which a single one no longer supports a new element."""


def support_in(kb: KnowledgeBase, settings: Settings) -> int:
    """Return how many documents of a knowledge base must support a new element of its schema."""
    return settings.schema_support or (1 if kb.documents.count_documents() < _SMALL_CORPUS else 2)


def thresholds_in(kb: KnowledgeBase, settings: Settings) -> Thresholds:
    """Return when a schema candidate of a knowledge base is accepted without a person."""
    return Thresholds(confidence=settings.schema_confidence, support=support_in(kb, settings),
                      growth=dict.fromkeys(KIND_NAMES, settings.schema_growth))
