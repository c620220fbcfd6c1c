"""The elements of a schema that could matter for a question."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from ...models.rules.decomposition import sub_query
from ...schemas.graph_schema import GraphSchema, SchemaElement
from ...tools.retriever import Retriever

_RELATIONS, _ATTRIBUTES, _TYPES = 5, 3, 3
_Element = TypeVar("_Element", bound=SchemaElement)


def relevant_schema(retriever: Retriever, schema: GraphSchema, question: str) -> GraphSchema:
    """Return a schema with the elements that a question's words name or whose names are nearest to it.

    Args:
        retriever: of the knowledge base; embeds the names once.
        schema: the schema in force; an open one stays as it is.
        question: the question.
    """
    if schema.open:
        return schema
    named = sub_query(question, schema, chained=False)
    (vector,) = retriever.embed([question])

    def best(elements: Sequence[_Element], said: Sequence[str], limit: int) -> tuple[_Element, ...]:
        if len(elements) <= limit:
            return tuple(elements)
        near = np.stack(retriever.embed([element.name.replace("_", " ") for element in elements])) @ vector
        order = sorted(range(len(elements)), key=lambda at: (elements[at].name not in said, -float(near[at]), at))
        return tuple(elements[at] for at in sorted(order[:limit]))

    return schema.model_copy(update={
        "entity_types": best(schema.entity_types, named.entity_types, _TYPES),
        "relation_types": best(schema.relation_types, named.relations, _RELATIONS),
        "attribute_types": best(schema.attribute_types, named.attributes, _ATTRIBUTES)})
