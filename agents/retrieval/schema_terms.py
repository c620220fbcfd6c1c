"""The schema's terms as a prompt shows them: relations and attributes with their numbers of rows."""

from collections.abc import Sequence

from ...schemas.graph_schema import GraphSchema
from ...text.tokens import estimate_tokens
from ...tools.retriever import Retriever
from ...tools.schema_names import Term, named_terms, terms_of

_TOKENS = 200
"""The most estimated tokens of the terms: they are in every prompt of a question."""
_LONGEST_ENDS = 40
"""Characters of domain and range: longer ones say that nearly anything fits."""


def terms_text(retriever: Retriever, schema: GraphSchema, question: str) -> str:
    """Return all terms of a small schema, of a large one those that a question names or that are nearest to it.

    Args:
        retriever: of the knowledge base; embeds the terms once.
        schema: the schema in force, with domain and range of its relations.
        question: the question.
    """
    terms = terms_of(retriever.index)
    said = {term: _describe_term(term, schema) for term in terms}
    if estimate_tokens(", ".join(said.values())) <= _TOKENS:
        return ", ".join(said.values())
    chosen, left = set[Term](), _TOKENS
    for term in _by_nearness(retriever, schema, question, terms):
        left -= estimate_tokens(said[term]) + 1
        if left < 0:
            break
        chosen.add(term)
    return f"{', '.join(said[term] for term in terms if term in chosen)}, … {len(terms) - len(chosen)} more"


def _describe_term(term: Term, schema: GraphSchema) -> str:
    relation = None if term.is_attribute else schema.relation_type(term.name)
    ends = f" {'|'.join(relation.domain)}->{'|'.join(relation.range)}" if relation and not schema.open else ""
    return f"{term.name}{ends if len(ends) <= _LONGEST_ENDS else ''} {term.rows}"


def _by_nearness(retriever: Retriever, schema: GraphSchema, question: str, terms: Sequence[Term]) -> list[Term]:
    named = frozenset(named_terms(retriever.index, schema, question))
    asked, *vectors = retriever.embed([question, *(term.name.replace("_", " ") for term in terms)])
    near = {term: round(float(vector @ asked), 6) for term, vector in zip(terms, vectors, strict=True)}
    return sorted(terms, key=lambda term: (term.name not in named, -near[term], term))
