"""Overviews without a model: the openings of documents, or the facts behind the reports of communities."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ...schemas.retrieval import Claim, DraftAnswer, Passage, Quote
from .content_words import language_of

_MARK = " | "
_MOST_REPORTS = 6
_FACTS_EACH = 3
_CONFIDENCE = 0.9
_NAME_END = ". "


def overview(items: Sequence[Passage]) -> DraftAnswer:
    """Return the openings of the documents as claims if there are any, else the facts behind the reports.

    Args:
        items: documents' openings and reports, each report followed by its facts; or claims about such items.
    """
    openings = [(item.statement, [number]) for number, item in enumerate(items, 1) if _is_opening(item)]
    claims = [Claim(text=text, quotes=[Quote(passage=number, words=items[number - 1].text) for number in numbers])
              for text, numbers in openings or list(_reports(items))[:_MOST_REPORTS]]
    return DraftAnswer(answerable=bool(claims), claims=claims, confidence=_CONFIDENCE if claims else 0.0)


def _is_opening(item: Passage) -> bool:
    """Return True if an item is a document's title with its first sentence."""
    return item.statement == f"{item.title or item.document}: {' '.join(item.text.split())}"


def _reports(items: Sequence[Passage]) -> Iterator[tuple[str, list[int]]]:
    """Yield each report's text with the numbers of its supporting items, from 1."""
    groups = [(statement, [number for number, _ in same])
              for statement, same in groupby(enumerate(items, 1), key=lambda pair: pair[1].statement)]
    heads = [at for at, (statement, _) in enumerate(groups) if _MARK not in statement]
    for head, end in zip(heads, [*heads[1:], len(groups)], strict=True):
        statement, own = groups[head]
        facts = [number for _, numbers in groups[head + 1 : end] for number in numbers][:_FACTS_EACH]
        quoted = list(dict.fromkeys(_readable(items[number - 1]) for number in facts))
        name = statement.partition(_NAME_END)[0]
        if not quoted:
            yield statement, own
        elif language_of(name) == "zh":
            yield f"{name}：{'；'.join(quoted)}。", facts
        else:
            yield f"{name}: {'; '.join(quoted)}.", facts


def _readable(item: Passage) -> str:
    """Return a fact in its source's words; for a table row, which says more, return the fact itself."""
    words = item.statement if item.text.lstrip().startswith("|") else item.text
    return " ".join(words.replace(_MARK, " ").split()).rstrip(".。")
