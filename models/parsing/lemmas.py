"""The lemmas that a word may have, without a parse."""

from collections.abc import Callable
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language

Lemmas = Callable[[str], frozenset[str]]

_WORDS_KEPT = 50_000
_TAGGED = ("verb", "aux", "noun", "adj")
"""The parts of speech whose words have other forms."""


def possible_lemmas(pipeline: "Language") -> Lemmas | None:
    """Return a function that gives all lemmas, in lower case, that a pipeline may give a word.

    Args:
        pipeline: a pipeline of spaCy.

    Returns:
        The function, or None if the pipeline's lemmas are not those of tables.
    """
    lemmatizer: Any = pipeline.get_pipe("lemmatizer") if pipeline.has_pipe("lemmatizer") else None
    if getattr(lemmatizer, "mode", "") != "rule":
        return None
    tables = [{pos: lemmatizer.lookups.get_table(name, {}).get(pos, {}) for pos in _TAGGED}
              for name in ("lemma_exc", "lemma_rules")]
    given = _given(pipeline.get_pipe("attribute_ruler")) if pipeline.has_pipe("attribute_ruler") else {}

    @lru_cache(_WORDS_KEPT)
    def lemmas(word: str) -> frozenset[str]:
        lower = word.lower()
        exceptions = chain.from_iterable(table.get(lower, ()) for table in tables[0].values())
        regular = (lower[: len(lower) - len(old)] + new for rules in tables[1].values() for old, new in rules
                   if lower.endswith(old))
        return frozenset(lemma.lower() for lemma in (lower, *exceptions, *regular, *given.get(lower, ())))

    return lemmas


def _given(ruler: Any) -> dict[str, set[str]]:
    """Return the lemmas that rules give to words such as "'s"."""
    found: dict[str, set[str]] = {}
    for rule in ruler.patterns:
        if "LEMMA" in rule["attrs"]:
            for token in chain.from_iterable(rule["patterns"]):
                words = token.get("LOWER", "")
                for word in [words] if isinstance(words, str) else words.get("IN", ()):
                    found.setdefault(word, set()).add(rule["attrs"]["LEMMA"])
    return found
