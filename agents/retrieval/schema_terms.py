"""The schema's terms as a prompt shows them: relations and attributes with their numbers of rows."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

from ...schemas.graph_schema import GraphSchema
from ...text.tokens import estimate_tokens
from ...tools.retriever import Retriever
from ...tools.schema_names import Term

_TOKENS = 200
"""The most estimated tokens of the terms: they are in every prompt of a question."""
_LARGEST_SHARE = 1 / 2
"""Of the tokens, for the terms with the most rows: what nearly all documents have, whatever is asked."""


def terms_text(retriever: Retriever, schema: GraphSchema, question: str) -> str:
    """Return all terms of a small schema; of a large one the largest, and those that a question names or is near to.

    Args:
        retriever: of the knowledge base; embeds the terms once.
        schema: the schema in force, with domain and range of its relations.
        question: the question.
    """
    terms = retriever.labelled_terms(schema).terms
    described = {term: _describe_term(term, schema) for term in terms}
    if estimate_tokens(", ".join(described.values())) <= _TOKENS:
        return ", ".join(described.values())
    costs = {term: estimate_tokens(text) + 1 for term, text in described.items()}
    chosen = _fitting(sorted(terms, key=lambda term: (-term.rows, term.name)), costs, int(_TOKENS * _LARGEST_SHARE))
    near = [term for term in _by_nearness(retriever, schema, question, terms) if term not in chosen]
    chosen |= _fitting(near, costs, _TOKENS - sum(costs[term] for term in chosen))
    return f"{', '.join(described[term] for term in terms if term in chosen)}, … {len(terms) - len(chosen)} more"


def _fitting(terms: Sequence[Term], costs: Mapping[Term, int], tokens: int) -> set[Term]:
    """Return the first terms that fit into so many tokens."""
    spent = accumulate(costs[term] for term in terms)
    return {term for term, all_so_far in zip(terms, spent, strict=True) if all_so_far <= tokens}


def _describe_term(term: Term, schema: GraphSchema) -> str:
    """Return a term with its rows, and with its domain and range if each is one type: several say that much fits."""
    relation = None if term.is_attribute or schema.open else schema.relation_type(term.name)
    one_each = relation is not None and len(relation.domain) == len(relation.range) == 1
    ends = f" {relation.domain[0]}->{relation.range[0]}" if relation and one_each else ""
    return f"{term.name}{ends} {term.rows}"


def _by_nearness(retriever: Retriever, schema: GraphSchema, question: str, terms: Sequence[Term]) -> list[Term]:
    named = frozenset(retriever.labelled_terms(schema).named(question))
    near = retriever.term_cosines(retriever.embed([question])[0])
    return sorted(terms, key=lambda term: (term.name not in named, -near[term.name], term))
