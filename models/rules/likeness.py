"""The similarity of texts to a question's words, by equal words and by words used in a similar way."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from ...text.content_words import spoken_words
from ..embedding.embedder import Vectors, products
from ..embedding.onnx_export import word_vectors


def likeness(asked: Sequence[str], texts: Sequence[str]) -> Vectors:
    """Return the certainty that each text says each word: the best cosine of its words. No model runs.

    Args:
        asked: n English words, in lower case.
        texts: m texts.

    Returns:
        float32 array of shape (m, n), at most 1; 0 for a text without words.

    Raises:
        EmbeddingError: see `word_vectors`.
    """
    best = np.zeros((len(texts), len(asked)), np.float32)
    spoken = [spoken_words(text) for text in texts]
    known = list(dict.fromkeys(chain.from_iterable(spoken)))
    if not asked or not known:
        return best
    cosines = products(word_vectors(asked), word_vectors(known))
    place = {word: i for i, word in enumerate(known)}
    for row, words in enumerate(spoken):
        if words:
            best[row] = cosines[:, [place[word] for word in words]].max(1)
    return best
