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
    """Return the question, which has no references, and its steps as sub-queries, each after those that it follows."""
    steps = unfold(question, _MOST, parser)
    if len(steps) == 1 or _is_misread(steps, names_in):
        return [SubQuery(question=question)]
    parts, part_of_step = [SubQuery(question=question)], dict[int, int]()
    for step_number, step in enumerate(steps, 1):
        waits_for = references(step)
        follows = tuple(dict.fromkeys(part_of_step[number] for number in waits_for if number in part_of_step))
        # A step that waits for an answer needs an earlier part that leads to it, and words of its own to search by.
        if _is_new(step, parts) and (not waits_for or (follows and words(strip_placeholders(step)))):
            part_of_step[step_number] = len(parts)
            parts.append(SubQuery(question=step, follows=follows))
    return parts


def unfold(question: str, limit: int, parser: Parser) -> list[str]:
    """Return the steps of a nested question ("the X of the Y of Z", relative clauses) as texts.

    A step may refer to earlier answers (`schemas/retrieval.py`). Any other question, one in another language, and one
    that would need more than `limit` steps, is returned unchanged.
    """
    question = question.strip() or question
    if question.isspace() or SUMMARY_CUES.search(question) or analyse(question).language != "en":
        return [question]
    return unfold_english(question, parser, limit)


def _is_misread(steps: Sequence[str], names_in: NamesIn) -> bool:
    """Return True if a step without a reference has no known name, while a later one has."""
    has_name = [bool(names_in(strip_placeholders(step))) for step in steps]
    return any(not has_name[index] and not references(step) and any(has_name[index:])
               for index, step in enumerate(steps))


def _is_new(step: str, parts: Sequence[SubQuery]) -> bool:
    return canonical_name(step) not in {canonical_name(part.question) for part in parts}
