"""Names and descriptions of communities without a model: their own keywords and facts."""

import re
from collections.abc import Sequence

from ...schemas.retrieval import CommunityDigest, CommunitySummary
from .content_words import language_of

_NAME_KEYWORDS = 3
_MOST_FACTS = 8
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
_CHINESE_KINDS = {"person": "人物", "organisation": "机构", "organization": "机构", "company": "公司", "place": "地点",
                  "location": "地点", "city": "城市", "country": "国家", "event": "事件", "product": "产品",
                  "work": "作品", "concept": "概念", "thing": "事物", "date": "日期"}
_UNNAMED = "Unnamed community"


def summarise(communities: Sequence[CommunityDigest]) -> list[CommunitySummary]:
    """Name each community by the keywords that most of its facts name, and describe it by its strongest facts.

    Args:
        communities: the communities' keywords and facts, strongest first.

    Returns:
        One summary for each, in order; the name is never empty.
    """
    return [_summarise(digest) for digest in communities]


def _summarise(digest: CommunityDigest) -> CommunitySummary:
    keywords = _clean(digest.keywords)
    facts = _clean(digest.statements)
    chinese = _mostly_chinese([*keywords, *facts])
    # What most of the facts are about says more than what is nearest to the centre.
    named = sorted(keywords, key=lambda keyword: -sum(keyword in fact for fact in facts))
    name = ("、" if chinese else ", ").join(named[:_NAME_KEYWORDS]) or (facts[0] if facts else _UNNAMED)
    if keywords and digest.kind:
        plain = _CAMEL.sub(" ", digest.kind).lower()
        kind = _CHINESE_KINDS.get(plain, digest.kind) if chinese else plain
        name = f"{name}（{kind}）" if chinese else f"{name} ({kind})"
    sentences = [_sentence(fact, chinese=chinese) for fact in facts[:_MOST_FACTS]]
    return CommunitySummary(name=name, summary=("" if chinese else " ").join(sentences) or name)


def _mostly_chinese(texts: Sequence[str]) -> bool:
    """Return True if more than half of the texts are Chinese, so a single foreign name does not decide."""
    return 2 * sum(language_of(text) == "zh" for text in texts) > len(texts)


def _clean(texts: Sequence[str]) -> list[str]:
    """Return the texts on one line each, without blanks and repeats."""
    return list(dict.fromkeys(folded for text in texts if (folded := " ".join(text.split()))))


def _sentence(fact: str, *, chinese: bool) -> str:
    return fact if fact[-1] in ".!?。！？" else f"{fact}{'。' if chinese else '.'}"
