"""Questions taken apart: sub-queries with the schema's elements and the routes they should take."""

import re

from ....schemas.graph_schema import GraphSchema, SchemaElement
from ....schemas.naming import normalise
from ....schemas.references import literal, reference, replaced
from ....schemas.retrieval import ROUTES, Route, SubQuery
from ...parsing.parser import Parser
from ..content_words import content_words, language_of
from ..lexicon import SUMMARY_CUES
from .answer_types import Expected, analyse
from .comparisons import comparison
from .unfolding_chinese import unfold_chinese
from .unfolding_english import unfold_english
from .unfolding_patterns import unfold_by_patterns

_COPULAR = re.compile(r"(?:who|what)\s+(?:is|was|are|were)\b", re.IGNORECASE)
"""Questions in plain word order, which the parser reads well."""
_LONGEST_PATTERN = 400
"""Characters: the patterns take more than linear time, and longer questions are not written in one sentence."""
_TYPE_WORDS = {
    Expected.PERSON: "person people human 人物 人",
    Expected.PLACE: "place location 地点 地方",
    Expected.ORGANISATION: "organisation organization institution 组织 机构",
}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|[_/-]")


def decompose(question: str, schema: GraphSchema, limit: int, parser: Parser) -> list[SubQuery]:
    """The atomic sub-queries of a question, by general grammar.

    Comparisons give one sub-query per side, nested questions one per step referring to
    answers of earlier ones, questions about the whole one for the communities; any other question comes back
    as it is. What would need more than `limit` sub-queries is not taken apart.

    Args:
        question: the question, not blank.
        schema: elements are named only if they stand in it.
        limit: the most sub-queries, at least 1.
        parser: parses English.

    Returns:
        1 to `limit` sub-queries.
    """
    steps = unfold(question, limit, parser)
    return [sub_query(step, schema, parser, chained=len(steps) > 1) for step in steps]


def unfold(question: str, limit: int, parser: Parser) -> list[str]:
    """The steps of a question as texts; see `decompose`."""
    question = question.strip() or question
    if question.isspace() or SUMMARY_CUES.search(question):
        return [question]
    compared = comparison(question, parser)
    if compared is not None:
        return list(compared.asked) if limit >= len(compared.asked) else [question]
    if language_of(question) == "zh":
        return unfold_chinese(question, limit)
    parsed = unfold_english(question, parser, limit) if _COPULAR.match(question) else [question]
    if len(parsed) > 1:
        return parsed
    by_patterns = unfold_by_patterns(question, limit) if len(question) <= _LONGEST_PATTERN else [question]
    return by_patterns if len(by_patterns) > 1 else unfold_english(question, parser, limit)


def sub_query(question: str, schema: GraphSchema, parser: Parser, *, chained: bool) -> SubQuery:
    """One atomic question with the schema elements whose names, labels or cues it holds.

    Args:
        question: the question; may refer to answers.
        schema: the schema in force.
        parser: parses English.
        chained: whether it is a step of several, so that paths between entities may matter.
    """
    # One sign that is no word: neither the parse nor the schema's words take it for what is asked about.
    spoken = replaced(question, "#{}".format)
    analysed = analyse(spoken, parser)
    text = f"{spoken} {_TYPE_WORDS.get(analysed.expected, '')}"
    words = frozenset(content_words(text))
    return SubQuery(
        question=question,
        entity_types=_named(schema.entity_types, text, words),
        relations=_named(schema.relation_types, text, words),
        attributes=_named(schema.attribute_types, text, words),
        routes=_routes(question, chained=chained),
    )


def fill(question: str, answers: list[str]) -> str:
    """The question with its references replaced by the answers that there are.

    Args:
        question: a question as decomposed.
        answers: the answers found so far, in order; empty where nothing was found.
    """
    def found(number: int) -> str:
        known = 0 < number <= len(answers) and answers[number - 1]
        return literal(answers[number - 1]) if known else reference(number)

    return replaced(question, found)


def _routes(question: str, *, chained: bool) -> tuple[Route, ...]:
    if SUMMARY_CUES.search(question):
        return ("community",)
    # A step of several asks for one thing; what a whole question is about only beta(q) says.
    return ("entity", "triple", "dfs") if chained else ROUTES


def _named(elements: tuple[SchemaElement, ...], text: str, words: frozenset[str]) -> tuple[str, ...]:
    """The names of the elements that a text speaks of, in the schema's order."""
    folded = normalise(text)
    return tuple(element.name for element in elements
                 if any(_speaks_of(cue, folded, words) for cue in _cues(element)))


def _cues(element: SchemaElement) -> list[str]:
    return [*(_CAMEL.sub(" ", name) for name in element.all_names()), *element.rules.all_cues()]


def _speaks_of(cue: str, folded: str, words: frozenset[str]) -> bool:
    """Whether a cue occurs: a Chinese one as written, one with spaces between words by its stems."""
    if language_of(cue) == "zh":
        return normalise(cue) in folded or (bool(content_words(cue)) and words.issuperset(content_words(cue)))
    needed = content_words(cue)
    return bool(needed) and words.issuperset(needed)
