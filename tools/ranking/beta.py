"""beta(q): how far a question is about named things rather than themes (UniAI-GraphRAG eq. 9)."""

import math
from collections import Counter

from ...graph_store.bounding.grounding import words
from ..query import Query

# Eq. 9 gives no values. With these beta is 0.3 for a question without any name, 0.5 where one word in ten is of
# a name and 0.9 where every third is: multi-hop questions of our own have 0.8 in the mean, thematic ones 0.6.
_DENSITY_WEIGHT = 8.0
_ABSTRACTION_WEIGHT = 1.0


def beta(query: Query) -> float:
    """Return the weight of what names lead to, 0 to 1; the communities have the rest.

    Args:
        query: a query with the names that the knowledge base knows.
    """
    # The words by which names are matched, not index terms: a CJK name has different ones.
    spoken = words(query.text)
    if not spoken:
        return 0.5
    named = Counter(word for name in query.meaning.names for word in name.name.split(" "))
    plain = Counter(spoken) - named
    density = 1 - plain.total() / len(spoken)
    abstraction = 0.0
    if len(plain) > 1:
        shares = [count / plain.total() for count in plain.values()]
        abstraction = -sum(p * math.log(p) for p in shares) / math.log(len(spoken))
    return 1 / (1 + math.exp(-(_DENSITY_WEIGHT * density - _ABSTRACTION_WEIGHT * abstraction)))
