"""beta(q): how far a question is about named things rather than themes (UniAI-GraphRAG eq. 9)."""

import math
from collections import Counter

from ..graph_store.grounding import words
from .query import Query

# Eq. 9 gives no values. With these a question without any name has beta of at least 0.27, one that is
# nothing but names 0.98: names are what the graph is about, so their density counts most.
_DENSITY_WEIGHT = 4.0
_ABSTRACTION_WEIGHT = 1.0


def beta(query: Query) -> float:
    """The share of the graph routes in the entities' weight, 0 to 1; the community route has the rest.

    Args:
        query: its names are those that the knowledge base knows.
    """
    # The words in which names are found, not index terms: of a CJK name the two share nothing.
    said = words(query.text)
    if not said:
        return 0.5
    named = Counter(word for found in query.meaning.names for word in found.name.split(" "))
    plain = Counter(said) - named
    density = 1 - plain.total() / len(said)
    abstraction = 0.0
    if len(plain) > 1:
        shares = [count / plain.total() for count in plain.values()]
        abstraction = -sum(p * math.log(p) for p in shares) / math.log(len(said))
    return 1 / (1 + math.exp(-(_DENSITY_WEIGHT * density - _ABSTRACTION_WEIGHT * abstraction)))
