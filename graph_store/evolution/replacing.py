"""One schema in the place of another, as decisions on its elements: the history says what changed, and who did it."""

from ...schemas.delta import Decision
from ...schemas.diff import diff
from ...schemas.graph_schema import GraphSchema
from .editing import DecisionError


def decisions_to(before: GraphSchema, after: GraphSchema) -> list[Decision]:
    """The decisions that lead from one schema to another.

    What is of a type that goes becomes of its parent, if it has one, and takes its name along as an alias.

    Raises:
        DecisionError: one of the two is open: elements do not lead there.
    """
    if before.open or after.open:
        raise DecisionError("an open schema has no elements to put in the place of others, or to be replaced: build "
                            "another knowledge base with the schema that you want")
    elements = {(kind, element.name): element for kind in ("entity_type", "relation", "attribute")
                for element in after.elements(kind)}
    return [Decision(kind=change.kind, name=change.name, verdict="reject") if change.change == "removed" else
            Decision(kind=change.kind, name=change.name, verdict="define",
                     element=elements[change.kind, change.name].model_dump(mode="json", exclude={"name"}))
            for change in diff(before, after)]
