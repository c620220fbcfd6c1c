"""Proposed changes of the schema, and the decisions on them (Youtu-GraphRAG eq. 3)."""

from typing import Literal, NamedTuple, get_args

from pydantic import ConfigDict, Field, JsonValue

from .documents import Frozen
from .naming import label_key

ElementKind = Literal["entity_type", "relation", "attribute"]
ELEMENT_KINDS: tuple[ElementKind, ...] = get_args(ElementKind)
Verdict = Literal["accept", "reject", "rename", "merge", "edit", "define"]


class Example(Frozen):
    """One occurrence of a candidate: the extracted item, and the words of the document that support it."""

    document: str
    item: str
    words: str


class Candidate(Frozen):
    """An element that occurs in the documents but not in the schema, with its evidence."""

    model_config = ConfigDict(extra="ignore")  # ledgers of earlier versions have further evidence

    kind: ElementKind
    name: str = Field(description="its commonest label, as `label_key` writes it")
    labels: tuple[str, ...] = Field(default=(), description="all labels taken for the same, `name` among them")
    inverse_labels: tuple[str, ...] = Field(default=(), description="labels that say a relation from tail to head")
    widens: str = Field(default="", description="the element that takes its labels and types; empty: it is a new one")
    documents: int = Field(description="how many documents support it")
    occurrences: int
    rows: int = Field(default=0, description="how many rows of tables have it as their column")
    confidence: float = Field(description="mean confidence of its occurrences, 0 to 1")
    subject_types: tuple[str, ...] = Field(default=(), description="observed domain, or attribute owners")
    object_types: tuple[str, ...] = Field(default=(), description="observed range, or the kind of the values")
    examples: tuple[Example, ...] = ()

    def names(self) -> tuple[str, ...]:
        """Return everything it is called, but for the name of the element that it widens."""
        named = dict.fromkeys((self.name, *self.labels, *self.inverse_labels))
        return tuple(name for name in named if label_key(name) != label_key(self.widens))


class SameLabel(NamedTuple):
    """A numbered label that means the same as a name, or says it from tail to head (`backward`)."""

    number: int
    name: str
    backward: bool


class Decision(Frozen):
    """A decision on a candidate, or on an element of the schema.

    accept: add a candidate. reject: never propose a candidate again, or remove an element. rename: give it the name
    `new_name`. merge: move labels and facts to the element `into`. edit: replace the observed types by `domain` (of an
    attribute: its owners) and `range`, which accept and rename take too. define: add the element `element`, or replace
    the one of that name.
    """

    kind: ElementKind
    name: str = Field(description="any of its names")
    verdict: Verdict
    new_name: str = ""
    into: str = ""
    domain: tuple[str, ...] | None = None
    range: tuple[str, ...] | None = None
    element: dict[str, JsonValue] | None = Field(default=None, description="the fields of an element, as schema files "
                                                                          "have them")
    why: str = ""


class Decided(Frozen):
    """A decision with its evidence; a decision on an element of the schema needs none."""

    decision: Decision
    evidence: Candidate | None = None
