"""Decomposition of nested questions by grammar."""

from ...models.parsing.parser import Parser
from ...models.rules.lexicon import SUMMARY_CUES
from ...models.rules.question import analyse
from .nested_chinese import unfold_chinese
from .nested_english import unfold_english


def unfold(question: str, limit: int, parser: Parser) -> list[str]:
    """Return the steps of a question as texts.

    A nested question ("the X of the Y of Z", relative clauses) gives a text for each step, which may refer to earlier
    answers (`schemas/references.py`). Any other question, and one that would need more steps, is returned unchanged.

    Args:
        question: the question, not blank.
        limit: the most steps, at least 1.
        parser: parses English questions.
    """
    question = question.strip() or question
    if question.isspace() or SUMMARY_CUES.search(question):
        return [question]
    language = analyse(question).language
    if language == "zh":
        return unfold_chinese(question, limit)
    return unfold_english(question, parser, limit) if language == "en" else [question]
