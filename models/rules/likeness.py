"""How near texts come to the words of a question: by their own words, and by words that are used like them."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from ..embedding.embedder import Vectors, products
from ..embedding.word_vectors import word_vectors
from .content_words import spoken_words


def likeness(asked: Sequence[str], texts: Sequence[str]) -> Vectors:
    """How surely each text says each word: the best cosine of one of its words to it. No model is run.

    Args:
        asked: n English words, in lower case.
        texts: m texts.

    Returns:
        float32 array of shape (m, n), at most 1; 0 for a text without words.

    Raises:
        EmbeddingError: see `word_vectors`.
    """
    said = np.zeros((len(texts), len(asked)), np.float32)
    spoken = [spoken_words(text) for text in texts]
    known = list(dict.fromkeys(chain.from_iterable(spoken)))
    if not asked or not known:
        return said
    cosines = products(word_vectors(asked), word_vectors(known))
    place = {word: i for i, word in enumerate(known)}
    for row, words in enumerate(spoken):
        if words:
            said[row] = cosines[:, [place[word] for word in words]].max(1)
    return said
