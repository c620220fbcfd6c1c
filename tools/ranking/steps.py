"""Split a question into the sub-queries that its passages are ranked by.

English grammar unfolds a nested question into steps ("the X of the Y of Z"). A step that refers to the answer of an
earlier one is searched by its other words, and the entities that the earlier step leads to stand in for the answer.
The whole question is always searched beside its steps, because a decomposition that went wrong must not hide it.
"""

from collections.abc import Callable, Sequence

from ...graph_store.bounding.words import words
from ...graph_store.index.browsing import NamedSpan
from ...models.parsing.parser import Parser
from ...models.rules.question import analyse
from ...schemas.naming import canonical_name
from ...schemas.retrieval import SubQuery, references
from ...text.lexicon import SUMMARY_CUES
from ..query import strip_placeholders
from .nested_english import unfold_english

NamesIn = Callable[[str], Sequence[NamedSpan]]
"""Returns the names of a text that the knowledge base knows, from left to right."""
# A question of more steps is searched as it is, as in one round of the agent.
_MOST = 5


def split_question(question: str, parser: Parser, names_in: NamesIn) -> list[SubQuery]:
    """Return the question and its steps as sub-queries, each after those that it follows.

    Args:
        question: the question, without references.
        parser: parses the question.
        names_in: returns the names of a text that the knowledge base knows.
    """
    steps = unfold(question, _MOST, parser)
    if len(steps) == 1 or _is_misread(steps, names_in):
        return [SubQuery(question=question)]
    parts, numbers = [SubQuery(question=question)], dict[int, int]()
    for position, step in enumerate(steps, 1):
        waits_for = references(step)
        follows = tuple(dict.fromkeys(numbers[one] for one in waits_for if one in numbers))
        if _is_new(step, parts) and (not waits_for or (follows and words(strip_placeholders(step)))):
            numbers[position] = len(parts)
            parts.append(SubQuery(question=step, follows=follows))
    return parts


def unfold(question: str, limit: int, parser: Parser) -> list[str]:
    """Return the steps of a question as texts.

    A nested question ("the X of the Y of Z", relative clauses) gives a text for each step, which may refer to earlier
    answers (`schemas/retrieval.py`). Any other question, one in another language, and one that would need more steps,
    is returned unchanged.

    Args:
        question: the question, not blank.
        limit: the most steps, at least 1.
        parser: parses English questions.
    """
    question = question.strip() or question
    if question.isspace() or SUMMARY_CUES.search(question) or analyse(question).language != "en":
        return [question]
    return unfold_english(question, parser, limit)


def _is_misread(steps: Sequence[str], names_in: NamesIn) -> bool:
    """Return True if a step that nothing leads to names nothing, while a later one names something.

    "Where was the composer of film Billy Elliot born?" then reads as "Who is the composer of film?" and "Where was
    Billy Elliot born?".
    """
    named = [bool(names_in(strip_placeholders(step))) for step in steps]
    return any(not there and not references(step) and any(named[place:])
               for place, (step, there) in enumerate(zip(steps, named, strict=True)))


def _is_new(step: str, parts: Sequence[SubQuery]) -> bool:
    return canonical_name(step) not in {canonical_name(part.question) for part in parts}
