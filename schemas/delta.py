"""Proposed changes of the schema, and what was decided about them (Youtu-GraphRAG eq. 3)."""

from typing import Literal

from pydantic import Field

from .documents import Frozen

ElementKind = Literal["entity_type", "relation", "attribute"]
Verdict = Literal["accept", "reject", "rename"]


class Candidate(Frozen):
    """An element that the documents ask for and the schema does not have."""

    kind: ElementKind
    name: str
    documents: int = Field(description="how many documents support it")
    occurrences: int
    confidence: float = Field(description="mean confidence of its occurrences, 0 to 1")
    subject_types: tuple[str, ...] = Field(default=(), description="observed domain, or attribute owners")
    object_types: tuple[str, ...] = Field(default=(), description="observed range")
    examples: tuple[str, ...] = ()


class SchemaDelta(Frozen):
    """The candidates of one step, strongest first."""

    candidates: tuple[Candidate, ...] = ()


class Decision(Frozen):
    """What is to become of one candidate; `new_name` with the verdict rename."""

    kind: ElementKind
    name: str
    verdict: Verdict
    new_name: str = ""
    why: str = ""
