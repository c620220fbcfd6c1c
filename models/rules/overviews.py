"""Overviews without a model: the openings of documents, or the facts behind the reports of communities."""

from collections.abc import Iterator, Sequence

from ...schemas.retrieval import Claim, DraftAnswer, Passage, Place, Quote
from .content_words import language_of

_MOST_REPORTS = 6
_CONFIDENCE = 0.9
_NAME_END = ". "


def overview(items: Sequence[Passage]) -> DraftAnswer:
    """Return the openings of the documents as claims if there are any, else the facts behind the reports.

    Args:
        items: documents' openings and reports; any other item is left out.
    """
    openings = [(item.statement, number) for number, item in enumerate(items, 1) if item.kind == "opening"]
    claims = [Claim(text=text, quotes=[Quote(item=number, words=items[number - 1].text)])
              for text, number in openings or list(_reports(items))[:_MOST_REPORTS]]
    return DraftAnswer(answerable=bool(claims), claims=claims, confidence=_CONFIDENCE if claims else 0.0)


def _reports(items: Sequence[Passage]) -> Iterator[tuple[str, int]]:
    """Yield each report's name with the facts that it rests on, and its number."""
    for number, item in enumerate(items, 1):
        if item.kind == "report":
            name = item.statement.partition(_NAME_END)[0]
            facts = list(dict.fromkeys(map(_readable, item.places)))
            is_chinese = language_of(name) == "zh"
            yield (f"{name}：{'；'.join(facts)}。" if is_chinese else f"{name}: {'; '.join(facts)}."), number


def _readable(place: Place) -> str:
    """Return a fact in its source's words; of a row of a table, which says more, what it tells."""
    words = place.member if place.text.lstrip().startswith("|") else place.text
    return " ".join(words.split()).rstrip(".。")
