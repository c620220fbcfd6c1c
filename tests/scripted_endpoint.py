"""An LLM's endpoint that gives its answers in order, and a reasoner that asks it, without a network."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from banyan.config import Settings
from banyan.models.llm.endpoint import Messages, Reply
from banyan.models.llm.llm_reasoner import LlmReasoner
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.graph_schema import AttributeType, EntityType, GraphSchema, RelationType

from .in_memory_calls import InMemoryCalls
from .waiting import Waited

SCHEMA = GraphSchema(
    name="small",
    entity_types=(EntityType(name="Person", labels={"zh": "人物"}), EntityType(name="Place")),
    relation_types=(RelationType(name="born_in", labels={"zh": "出生于"}),),
    attribute_types=(AttributeType(name="population", aliases=("inhabitants",)),))
REQUEST = ExtractionRequest(text="Marie Curie was born in Warsaw.", title="Marie Curie")
FOUND = {"entities": [["Person", "Marie Curie"], ["Place", "Warsaw"]],
         "triples": [["1", "Marie Curie", "born_in", "Warsaw"]], "attributes": [], "new": []}


class ScriptedEndpoint:
    """Gives its answers in order, each worth 10 prompt and 5 completion tokens, and keeps what it was sent."""

    def __init__(self, answers: Iterable[Any]) -> None:
        self.answers = list(answers)
        self.sent: list[Messages] = []
        self.schemas: list[dict[str, Any]] = []

    async def send(self, messages: Messages, json_schema: dict[str, Any], permit: Callable[[], None]) -> Reply:
        permit()
        self.sent.append(list(messages))
        self.schemas.append(json_schema)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer if isinstance(answer, str) else json.dumps(answer), 10, 5)


def reasoner(endpoint: ScriptedEndpoint, ledger: InMemoryCalls | None = None, **changes: Any) -> Any:
    return Waited(LlmReasoner(Settings(_env_file=None, **changes), ledger or InMemoryCalls(), lambda _: endpoint))
