"""Whether words can be the name of a person, a place or a body, by what they are used like.

Recognisers guess "Hard Copy" a person and "Word Marks" a place. In the bundled model's space of words, names of a kind
are together, and far from the words for things.
"""

from functools import cache, lru_cache

import numpy as np

from ...embedding.embedder import Vectors
from ...embedding.onnx_export import bundled_tokenizer
from ...embedding.word_vectors import word_vectors
from ..lexicon import words

_LIKE = {
    "person": words("john mary james anna peter robert maria david karl elena paul susan ahmed thomas julia yuki ivan"),
    "location": words("london paris germany texas tokyo india oslo chicago brazil vienna madrid canada egypt sydney ohio"),
    "organization": words("google microsoft toyota ibm siemens sony intel nokia honda nasa unesco fiat boeing samsung"),
}
_THINGS = words("project policy group system service price network general product data software market office public")
_LEAST = {"person": (0.08, -0.07), "location": (0.08, -0.04), "organization": (0.0, -0.1)}
"""How much closer a common word, and a rare one, must be to names than to things."""


@lru_cache(8192)
def may_be(kind: str, name: str) -> bool:
    """Return True if a word of a name is used like names of a kind, or is spelled as no common word is.

    Args:
        kind: "person", "location" or "organization".
        name: words with capitals.
    """
    return any((kind != "person" and _is_spelled(word)) or _is_like(word.lower(), kind)
               for word in name.replace("-", " ").split() if len(word.strip(".,")) > 1)


def _is_spelled(word: str) -> bool:
    """Return True for words such as OpenChain, 3M and U.S."""
    return (any(map(str.isupper, word[1:])) and not word.isupper()) or any(map(str.isdigit, word)) or "." in word[:-1]


@lru_cache(8192)
def _is_like(word: str, kind: str) -> bool:
    rare = len(bundled_tokenizer().encode(word, add_special_tokens=False).ids) > 1
    return float(word_vectors([word])[0] @ _direction(kind)) > _LEAST[kind][rare]


@cache
def _direction(kind: str) -> Vectors:
    names, things = (word_vectors(sorted(one)).mean(axis=0) for one in (_LIKE[kind], _THINGS))
    return np.asarray(names / np.linalg.norm(names) - things / np.linalg.norm(things), np.float32)
