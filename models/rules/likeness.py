"""The similarity of texts to a question's words, by equal words and by words used in a similar way."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from ...text.content_words import spoken_words
from ..embedding.embedder import Vectors, products
from ..embedding.minilm import word_vectors


def likeness(asked: Sequence[str], texts: Sequence[str]) -> Vectors:
    """Return how certainly each text says each English word in lower case, as float32 of shape (texts, words).

    It is the highest cosine between the word and a word of the text, and 0 for a text without words. The vectors are
    those of the bundled model's input words, so no model runs.

    Raises:
        ModelError: see `word_vectors`.
    """
    best = np.zeros((len(texts), len(asked)), np.float32)
    words_of_texts = [spoken_words(text) for text in texts]
    distinct_words = list(dict.fromkeys(chain.from_iterable(words_of_texts)))
    if not asked or not distinct_words:
        return best
    cosines = products(word_vectors(asked), word_vectors(distinct_words))
    column_of = {word: column for column, word in enumerate(distinct_words)}
    for row, words in enumerate(words_of_texts):
        if words:
            best[row] = cosines[:, [column_of[word] for word in words]].max(1)
    return best
