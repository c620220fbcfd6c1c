"""Names and descriptions of communities without a model: their own keywords and facts."""

from collections.abc import Sequence

from ...schemas.retrieval import CommunityDigest, CommunitySummary
from .content_words import language_of

_NAME_KEYWORDS = 3
_MOST_FACTS = 8
_UNNAMED = "Unnamed community"


def summarise(communities: Sequence[CommunityDigest]) -> list[CommunitySummary]:
    """Each community named by its first keywords and described by its strongest facts.

    Args:
        communities: keywords and facts, strongest first.

    Returns:
        One summary for each, in order; the name is never empty.
    """
    return [_summarise(digest) for digest in communities]


def _summarise(digest: CommunityDigest) -> CommunitySummary:
    keywords = _clean(digest.keywords)
    facts = _clean(digest.facts)
    chinese = language_of(" ".join([*keywords, *facts])) == "zh"
    name = ("、" if chinese else ", ").join(keywords[:_NAME_KEYWORDS]) or (facts[0] if facts else _UNNAMED)
    sentences = [_sentence(fact, chinese=chinese) for fact in facts[:_MOST_FACTS]]
    return CommunitySummary(name=name, summary=("" if chinese else " ").join(sentences) or name)


def _clean(texts: Sequence[str]) -> list[str]:
    """The texts on one line each, without blanks and repeats."""
    return list(dict.fromkeys(folded for text in texts if (folded := " ".join(text.split()))))


def _sentence(fact: str, *, chinese: bool) -> str:
    return fact if fact[-1] in ".!?。！？" else f"{fact}{'。' if chinese else '.'}"
