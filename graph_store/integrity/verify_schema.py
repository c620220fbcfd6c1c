"""Check the schema: its history leads to it, and documents still ask for grown elements."""

from collections.abc import Iterator

from ...schemas.delta import ElementKind
from ...schemas.diff import diff
from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import label_key
from ..errors import StoreError
from ..evolution.editing import KIND_NAMES, DecisionError, find_element, sort_elements
from ..evolution.growth import replay
from ..knowledge_base import KnowledgeBase
from ..ledger.schema_history import SchemaVersion
from .problems import BUILD, RESTORE, Problem


def history(kb: KnowledgeBase) -> Iterator[Problem]:
    """Check that each version of the schema follows from the previous one and its decisions, from the seed on."""
    versions = kb.schemas.versions()
    if not versions and kb.documents.count():
        yield Problem(what="there are chunks and no schema", fix=RESTORE)
    for number, version in enumerate(versions, 1):
        if version.version != number:
            yield Problem(what=f"version {number} of the schema is missing", fix=RESTORE)
            return
        if number == 1:
            same = kb.schemas.based(1) == version.graph_schema
            wrong = "" if same else "is no seed"
        else:
            wrong = _check_grown(kb, version) if version.who == "auto" else _check_decided(kb, version)
        if wrong:
            yield Problem(what=f"version {number} of the schema ({version.who}) {wrong}", fix=RESTORE)


def _check_decided(kb: KnowledgeBase, version: SchemaVersion) -> str:
    """Return what is wrong with a version made by a person's decisions, or ""."""
    seed, before = kb.schemas.seed(), version.version - 1
    try:
        outcome = replay(kb.schemas.based(before), kb.schemas.numbered(before), version.decisions)
    except DecisionError as error:
        return f"has a decision that cannot be carried out again: {error}"
    result = (sort_elements(outcome.base, seed), sort_elements(outcome.schema, seed))
    if result == (kb.schemas.based(version.version), version.graph_schema):
        return ""
    return "is not what its decisions make of the version before"


def _check_grown(kb: KnowledgeBase, version: SchemaVersion) -> str:
    """Return what is wrong with a version that grew automatically, or "": its changes must match its decisions."""
    before, after = kb.schemas.numbered(version.version - 1), version.graph_schema
    accepted = {_key_of(after, d.decision.kind, d.decision.name) for d in version.decisions
                if d.decision.verdict == "accept"}
    rejected = {_key_of(before, d.decision.kind, d.decision.name) for d in version.decisions
                if d.decision.verdict == "reject"}
    changes = diff(before, after)
    if {(c.kind, c.name) for c in changes if c.change == "added"} != accepted:
        return "has other elements than it accepted"
    if {(c.kind, c.name) for c in changes if c.change == "removed"} != rejected:
        return "lacks other elements than it rejected"
    return ""


def _key_of(schema: GraphSchema, kind: ElementKind, name: str) -> tuple[ElementKind, str]:
    element = find_element(schema, kind, name)
    return (kind, element.name if element else f"no {name}")


def growth(kb: KnowledgeBase) -> Iterator[Problem]:
    """Check that documents ask for every grown element, and that the schema has no declined one."""
    try:
        base, current = kb.schemas.base(), kb.schemas.current()
    except StoreError:
        return  # there is no schema yet, which `history` reports
    for kind, label in sorted(kb.schemas.declined()):
        if find_element(current, kind, label) is not None:
            yield Problem(what=f"the schema has the {KIND_NAMES[kind]} {label!r}, which was declined", fix=BUILD)
    if kb.schema_control.policy != "auto":
        return  # without automatic growth, elements stay when their documents are deleted
    asked = set(kb.schema_control.asks.labels())
    for kind in KIND_NAMES:
        own = {element.name for element in base.elements(kind)}
        for element in current.elements(kind):
            if element.name not in own and not asked & {(kind, label_key(name)) for name in element.all_names()}:
                yield Problem(what=f"the {KIND_NAMES[kind]} {element.name!r} grew by itself, and no document asks for "
                                   "it", fix=BUILD)
