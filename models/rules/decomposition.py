"""Decomposition of questions: sub-queries with the schema's elements and their routes."""

import re

from ...schemas.graph_schema import GraphSchema, SchemaElement
from ...schemas.naming import normalise
from ...schemas.references import literal, reference, replace_references
from ...schemas.retrieval import ROUTES, Route, SubQuery
from ..parsing.parser import Parser
from .content_words import content_words, language_of
from .lexicon import SUMMARY_CUES
from .nested_chinese import unfold_chinese
from .nested_english import unfold_english
from .question import analyse

_TYPE_WORDS = {
    "person": "person people human 人物 人",
    "location": "place location 地点 地方",
    "organization": "organisation organization institution 组织 机构",
}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|[_/-]")


def decompose(question: str, schema: GraphSchema, limit: int, parser: Parser) -> list[SubQuery]:
    """Return the atomic sub-queries of a question, by grammar.

    A nested question ("the X of the Y of Z", relative clauses) gives one sub-query for each step, which may refer to
    earlier answers. A question about the whole corpus gives one for the communities. Any other question, and one that
    would need more than `limit` sub-queries, is returned unchanged.

    Args:
        question: the question, not blank.
        schema: the schema, whose elements may be named.
        limit: the most sub-queries, at least 1.
        parser: parses English questions.
    """
    steps = unfold(question, limit, parser)
    return [sub_query(step, schema, chained=len(steps) > 1) for step in steps]


def unfold(question: str, limit: int, parser: Parser) -> list[str]:
    """Return the steps of a question as texts; see `decompose`."""
    question = question.strip() or question
    if question.isspace() or SUMMARY_CUES.search(question):
        return [question]
    language = analyse(question).language
    if language == "zh":
        return unfold_chinese(question, limit)
    return unfold_english(question, parser, limit) if language == "en" else [question]


def sub_query(question: str, schema: GraphSchema, *, chained: bool) -> SubQuery:
    """Return an atomic question with the schema elements whose names, labels or cues it contains.

    Args:
        question: the question; it may refer to answers.
        schema: the current schema.
        chained: whether it is one of several steps, so paths between entities may matter.
    """
    # The replacement is not a word, so no schema element matches inside a reference.
    spoken = replace_references(question, "#{}".format)
    text = f"{spoken} {_TYPE_WORDS.get(analyse(spoken).expected, '')}"
    words = frozenset(content_words(text))
    return SubQuery(
        question=question,
        entity_types=_matching_names(schema.entity_types, text, words),
        relations=_matching_names(schema.relation_types, text, words),
        attributes=_matching_names(schema.attribute_types, text, words),
        routes=_routes(question, chained=chained),
    )


def fill(question: str, answers: list[str]) -> str:
    """Replace the references in a question by the known answers.

    Args:
        question: a decomposed question.
        answers: the answers so far, in order; "" for a missing one.
    """
    def answer_of(number: int) -> str:
        known = 0 < number <= len(answers) and answers[number - 1]
        return literal(answers[number - 1]) if known else reference(number)

    return replace_references(question, answer_of)


def _routes(question: str, *, chained: bool) -> tuple[Route, ...]:
    if SUMMARY_CUES.search(question):
        return ("community",)
    # A step asks for one thing; a whole question may need communities, and beta(q) weighs them.
    return ("entity", "triple", "dfs") if chained else ROUTES


def _matching_names(elements: tuple[SchemaElement, ...], text: str, words: frozenset[str]) -> tuple[str, ...]:
    """Return the names of the elements that a text mentions, in the schema's order."""
    folded = normalise(text)
    return tuple(element.name for element in elements
                 if any(_speaks_of(cue, folded, words) for cue in _cues(element)))


def _cues(element: SchemaElement) -> list[str]:
    return [*(_CAMEL.sub(" ", name) for name in element.all_names()), *element.rules.all_cues()]


def _speaks_of(cue: str, folded: str, words: frozenset[str]) -> bool:
    """Return True if a cue occurs: a Chinese cue literally, other cues by their stems."""
    if language_of(cue) == "zh":
        return normalise(cue) in folded or (bool(content_words(cue)) and words.issuperset(content_words(cue)))
    needed = content_words(cue)
    return bool(needed) and words.issuperset(needed)
