"""Late interaction: how near a text is to a question, word by word, each as it is meant where it stands.

ColBERT's score (Khattab and Zaharia 2020) with the bundled MiniLM, which was trained for whole texts alone: of each of
the question's tokens the best cosine to one of the text's. A vector of the whole says what a sentence is about; this
says whether each thing that is asked for is there.
"""

import functools
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .embedder import Vectors
from .onnx_embedder import bundled_session
from .onnx_export import bundled_tokenizer

_TEXTS_KEPT = 1024
"""Texts whose tokens' vectors are kept for the next question; some 20 MB."""


class _Tokens(NamedTuple):
    """The tokens of a text as the tokenizer numbers them, and their vectors, float16 of shape (tokens, d)."""

    ids: tuple[int, ...]
    vectors: NDArray[np.float16]


def late_interaction(question: str, texts: Sequence[str], among: Sequence[str]) -> list[float]:
    """The mean, over a question's tokens, of the best cosine to one of a text's; rare tokens weigh more.

    Args:
        question: a question in English.
        texts: what may answer it.
        among: the texts over which tokens are counted; the model does not run on them.

    Returns:
        For each text -1 to 1, of near ones some .4 to .8.

    Raises:
        EmbeddingError: the bundled model is missing or was altered.
    """
    asked, read = _tokens(question), [_tokens(text) for text in texts]
    held = Counter(token for text in among for token in set(_ids(text)))
    weights = np.array([np.log(1 + (len(among) + 1) / (held[token] + 0.5)) * _is_word(token) for token in asked.ids])
    if not weights.any():
        return [0.0] * len(texts)
    weights /= weights.sum()
    vectors = asked.vectors.astype(np.float32)
    return [float(_best(vectors, tokens) @ weights) for tokens in read]


def _best(asked: Vectors, tokens: _Tokens) -> Vectors:
    """The best cosine to a token of a text, for each of the question's; its first and last token only bound it."""
    inner = tokens.vectors[1:-1].astype(np.float32)
    return (asked @ inner.T).max(1) if len(inner) else np.zeros(len(asked), np.float32)


@functools.lru_cache(_TEXTS_KEPT)
def _tokens(text: str) -> _Tokens:
    ids = _ids(text)
    vectors = bundled_session().run(["tokens"], {"input_ids": np.array([ids], np.int64)})[0][0]
    return _Tokens(ids, vectors.astype(np.float16))


@functools.lru_cache(8 * _TEXTS_KEPT)
def _ids(text: str) -> tuple[int, ...]:
    return tuple(bundled_tokenizer().encode(text).ids)


@functools.lru_cache(4096)
def _is_word(token: int) -> bool:
    """Whether a token is no punctuation and no mark of the model's own."""
    written = bundled_tokenizer().id_to_token(token) or ""
    return not written.startswith("[") and any(map(str.isalnum, written))
