"""Questions that need no decomposition: one thing and what is asked of it, in English or Chinese.

The decision is conservative: a question that is decomposed without need costs a call, and one that is not although it
should be may lose its answer.
"""

import re
from collections.abc import Sequence

from ...graph_store.index.name_trie import Named
from ...models.rules.lexicon import SUMMARY_CUES

_MOST_WORDS, _MOST_SIGNS = 12, 24
"""Words of a plain question, of a Chinese one signs; a longer one has parts."""
_QUESTION = re.compile(r"(?:who|whom|what|which|where|when|how (?:old|tall|high|long|far|deep|large|big|wide|heavy))\b|"
                       r"(?:in|on|at|by|from|for) (?:what|which) (?:year|date|day|city|town|country|state|river)\b",
                       re.IGNORECASE)
_SEVERAL = re.compile(
    r"\b(?:who|whom|whose|which|that|where|when|while|after|before|during|since|until|if|because)\b|"
    r"\b(?:and|or|both|than|same|other|another|also|either|neither|between|compared?|versus|vs|most|more|less|least|"
    r"first|last|earlier|later|older|younger|\w+est|many|total|all|each|every|not)\b|[,;:()—]", re.IGNORECASE)
_OF = re.compile(r"\b(?:of|by|for|in|from|with|to|at|on)\b|['’]s\b", re.IGNORECASE)
_COPULA = re.compile(r"(?:who|what) (?:is|are|was|were) ", re.IGNORECASE)
_TITLE_CASE = re.compile(r"(?<=\s)[A-Z][\w.-]*(?:\s+(?:(?:of|the|de|von|van)\s+)?[A-Z][\w.-]*)*")
_QUOTED = re.compile("[\"“«《][^\"“”«»《》]++[\"”»》]")
_CHINESE_ASKS = re.compile("谁|什么|何|哪|几|多")
_CHINESE_OF = re.compile("^[^的]*的[^的]{1,8}是(?:谁|什么|何|哪|几|多)[^的]*$")
_CHINESE_SEVERAL = re.compile("[和与及或比最同都各并不，；、]|还是|哪些|多少个|几个|之前|之后|以前|以后|期间|其中")


def is_simple(question: str, names: Sequence[Named]) -> bool:
    """Return True if a question plainly asks one thing about one entity.

    Args:
        question: the question.
        names: the names of the knowledge base in it.
    """
    text = question.strip().rstrip("?？。.! ")
    if SUMMARY_CUES.search(text):
        return False
    if _CHINESE_ASKS.search(text):
        return _is_simple_chinese(text, names)
    return _is_simple_english(text, names)


def _is_simple_english(text: str, names: Sequence[Named]) -> bool:
    spans = _merge([*((name.start, name.end) for name in names),
                     *(match.span() for form in (_QUOTED, _TITLE_CASE) for match in form.finditer(text))], text)
    asked = _QUESTION.match(text)
    if len(spans) != 1 or asked is None or len(text.split()) > _MOST_WORDS:
        return False
    (start, end), = spans
    before, after = text[asked.end():start], text[end:]
    if _SEVERAL.search(f"{before} {after}"):
        return False
    # "the mother of Ada" is asked for by "who was", and describes somebody else in "where was ... born".
    described = len(_OF.findall(before)) + len(re.findall(r"^['’]s\b", after))
    if described > 1 or (described and not _COPULA.match(text)):
        return False
    return not described or not after.strip() or bool(re.match(r"['’]s(?: \w+){1,2}$", after))


def _is_simple_chinese(text: str, names: Sequence[Named]) -> bool:
    if len(names) != 1 or len(text) > _MOST_SIGNS:
        return False
    rest = text[:names[0].start] + text[names[0].end:]
    return not _CHINESE_SEVERAL.search(rest) and ("的" not in rest or bool(_CHINESE_OF.search(rest)))


def _merge(spans: Sequence[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Return the spans in order, those that overlap, and "Alexandria, Minnesota", as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and (start <= merged[-1][1] or text[merged[-1][1]:start] == ", "):
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
