"""Have a model say which labels of documents mean the same, before they are judged."""

from ..graph_store.knowledge_base import KnowledgeBase
from ..models.llm.inferring import SchemaWriter
from ..runtime.event_loop import run

_COMPARED_AT_ONCE = 60
"""New labels that one call groups: the strongest, as only they can join the schema."""


def group_labels(kb: KnowledgeBase, writer: SchemaWriter, support: int) -> None:
    """Ask once which new labels mean the same, and store the verdicts.

    Raises:
        ReasonerError: the call failed for good.
        BudgetExceeded: the call would exceed the budget.
    """
    schema = kb.schema_control.schema()
    labels = [] if schema.open else kb.schema_control.find_uncompared(support, _COMPARED_AT_ONCE)
    if labels:
        kb.schema_control.keep_same(labels, run(writer.group, labels, schema))
