"""The schema's terms as a prompt shows them: relations and attributes with their numbers of rows."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

from ...schemas.graph_schema import GraphSchema
from ...text.tokens import estimate_tokens
from ...tools.retriever import Retriever
from ...tools.schema_names import Term

_MAX_TOKENS = 200
"""Limit on the estimated tokens of the terms, because they are in every prompt of a question."""
_LARGEST_SHARE = 1 / 2
"""The share of the tokens for the terms with the most rows, whatever the question is."""


def terms_text(retriever: Retriever, schema: GraphSchema, question: str) -> str:
    """Return the schema's terms, each with its number of rows, as one line of a prompt.

    If they do not all fit, half of the tokens go to the terms with the most rows. The other half goes to the terms that
    the question names, and then to those nearest to it by embedding.
    """
    terms = retriever.labelled_terms(schema).terms
    described = {term: _describe_term(term, schema) for term in terms}
    all_terms = ", ".join(described.values())
    if estimate_tokens(all_terms) <= _MAX_TOKENS:
        return all_terms
    costs = {term: estimate_tokens(text) + 1 for term, text in described.items()}
    by_rows = sorted(terms, key=lambda term: (-term.rows, term.name))
    chosen = _first_fitting(by_rows, costs, int(_MAX_TOKENS * _LARGEST_SHARE))
    near = [term for term in _by_nearness(retriever, schema, question, terms) if term not in chosen]
    chosen |= _first_fitting(near, costs, _MAX_TOKENS - sum(costs[term] for term in chosen))
    return f"{', '.join(described[term] for term in terms if term in chosen)}, … {len(terms) - len(chosen)} more"


def _first_fitting(terms: Sequence[Term], costs: Mapping[Term, int], tokens: int) -> set[Term]:
    """Return the first terms whose costs together are within a number of tokens."""
    running_totals = accumulate(costs[term] for term in terms)
    return {term for term, total in zip(terms, running_totals, strict=True) if total <= tokens}


def _describe_term(term: Term, schema: GraphSchema) -> str:
    """Return a term with its number of rows, such as "works_at person->company 12"."""
    relation = None if term.is_attribute or schema.open else schema.relation_type(term.name)
    has_single_types = relation is not None and len(relation.domain) == len(relation.range) == 1
    types = f" {relation.domain[0]}->{relation.range[0]}" if relation and has_single_types else ""
    return f"{term.name}{types} {term.rows}"


def _by_nearness(retriever: Retriever, schema: GraphSchema, question: str, terms: Sequence[Term]) -> list[Term]:
    """Return the terms with those that the question names first, each group by falling cosine with the question."""
    named = frozenset(retriever.labelled_terms(schema).named(question))
    cosines = retriever.term_cosines(retriever.embed([question])[0])
    return sorted(terms, key=lambda term: (term.name not in named, -cosines[term.name], term))
