"""What the REST API answers about graph, tree and schema."""


from pydantic import BaseModel, ConfigDict, Field

from ..schemas.delta import Candidate, Decided, Decision
from ..schemas.graph_schema import GraphSchema


class Node(BaseModel):
    """An entity as it is drawn."""

    id: str
    name: str
    type: str
    degree: int
    community: str | None = Field(description="id of its finest community")


class Nodes(BaseModel):
    """Some entities."""

    items: list[Node]


class Edge(BaseModel):
    """A fact as it is drawn."""

    id: str
    source: str
    target: str
    relation: str


class Subgraph(BaseModel):
    """Entities, and the facts among them; `total` says how many entities there are to page through."""

    nodes: list[Node]
    edges: list[Edge]
    total: int


class Count(BaseModel):
    """How many there are of a name."""

    name: str
    count: int


class GraphTypes(BaseModel):
    """Entity types and relations, the most frequent first."""

    entity_types: list[Count]
    relations: list[Count]


class Evidence(BaseModel):
    """Words of a document: its characters `start` to `end`."""

    document: str
    start: int
    end: int
    quote: str


class Fact(BaseModel):
    """A fact with its evidence."""

    id: str
    subject: Node
    relation: str
    object: Node
    evidence: list[Evidence]


class EntityAnswer(Node):
    """An entity with all that is known of it; of its facts the first 50."""

    aliases: list[str]
    attributes: dict[str, list[str]]
    documents: list[str]
    facts: list[Fact]


class CommunityItem(BaseModel):
    """A community of the tree; level 0 is the finest."""

    id: str
    name: str
    summary: str
    size: int
    cohesion: float
    level: int
    keywords: list[str]
    parent: str | None


class Tree(BaseModel):
    """Some communities, of `total` that were looked for."""

    levels: int
    total: int
    items: list[CommunityItem]


class CommunityAnswer(CommunityItem):
    """A community with some of its `total` members, the best connected first."""

    members: list[Node]
    total: int


class SchemaAnswer(BaseModel):
    """The schema in force."""

    version: int
    graph_schema: GraphSchema = Field(serialization_alias="schema")


class SchemaChange(BaseModel):
    """A version of the schema, and what led to it."""

    version: int
    decisions: list[Decided]
    who: str
    decided_at: str


class SchemaHistoryAnswer(BaseModel):
    """All versions, oldest first."""

    items: list[SchemaChange]


class Candidates(BaseModel):
    """What waits for the schema, strongest first."""

    items: list[Candidate]


class Decisions(BaseModel):
    """What a person decided."""

    model_config = ConfigDict(extra="forbid")

    decisions: list[Decision] = Field(max_length=1000, description="none: all that is waiting goes on waiting")
    who: str = Field(min_length=1, max_length=100)


class DecisionsTaken(BaseModel):
    """What became of it."""

    version: int
    changed: bool
