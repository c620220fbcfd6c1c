"""Answers from the graph's own statements: reports of communities for what is about the whole, facts for the rest."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ....schemas.retrieval import Claim, DraftAnswer, Passage, Quote
from ..content_words import content_words, language_of
from ..questions.answer_types import Question
from ..questions.names import mentions
from .rows import akin

_MARK = " | "
_MOST_REPORTS = 6
_FACTS_EACH = 3
_SURE = 0.9
_BY_FACT = 0.6
_NAME_END = ". "


def overview(items: Sequence[Passage]) -> DraftAnswer:
    """What documents open with, where they are few; else what reports say, by names and words of sources.

    Args:
        items: reports, each followed by its facts; or claims made of such reports, to be put together.
    """
    openings = [(item.statement, [number]) for number, item in enumerate(items, 1) if _is_opening(item)]
    claims = [Claim(text=text, quotes=[Quote(passage=number, words=items[number - 1].text) for number in numbers])
              for text, numbers in openings or list(_reports(items))[:_MOST_REPORTS]]
    return DraftAnswer(answerable=bool(claims), claims=claims, confidence=_SURE if claims else 0.0)


def _is_opening(item: Passage) -> bool:
    """Whether an item is a document's title with its first sentence."""
    return item.statement == f"{item.title or item.document}: {' '.join(item.text.split())}"


def _reports(items: Sequence[Passage]) -> Iterator[tuple[str, list[int]]]:
    """Each report's text and the numbers of the items it rests on, from 1; a claim has an item for each quote."""
    groups = [(statement, [number for number, _ in same])
              for statement, same in groupby(enumerate(items, 1), key=lambda pair: pair[1].statement)]
    heads = [i for i, (statement, _) in enumerate(groups) if _MARK not in statement]
    for head, end in zip(heads, [*heads[1:], len(groups)], strict=True):
        statement, own = groups[head]
        facts = [number for _, numbers in groups[head + 1 : end] for number in numbers][:_FACTS_EACH]
        said = list(dict.fromkeys(_told(items[number - 1]) for number in facts))
        name = statement.partition(_NAME_END)[0]
        if not said:
            yield statement, own
        elif language_of(name) == "zh":
            yield f"{name}：{'；'.join(said)}。", facts
        else:
            yield f"{name}: {'; '.join(said)}.", facts


def _told(item: Passage) -> str:
    """A fact in its source's words; a row of a table says more than the fact, so there it is the fact's own."""
    words = item.statement if item.text.lstrip().startswith("|") else item.text
    return " ".join(words.replace(_MARK, " ").split()).rstrip(".。")


def answer_from_facts(question: Question, passages: Sequence[Passage]) -> DraftAnswer | None:
    """The other end of a fact whose one end the question names and whose relation it asks for; None without one.

    Args:
        question: the question taken apart.
        passages: of which those with a statement `head | relation | tail` are read.
    """
    for number, item in enumerate(passages, 1):
        parts = item.statement.split(_MARK)
        if len(parts) != 3 or not question.names:  # noqa: PLR2004 - a triple
            continue
        head, relation, tail = parts
        asked = content_words(relation)
        if not asked or not all(any(akin(word, other) for other in question.words) for word in asked):
            continue
        for known, other in ((head, tail), (tail, head)):
            if any(mentions(known, name) for name in question.names) and not mentions(question.text, other):
                claim = Claim(text=f"{other}: {item.text}", quotes=[Quote(passage=number, words=item.text)])
                return DraftAnswer(answerable=True, claims=[claim], confidence=_BY_FACT, short=other)
    return None
