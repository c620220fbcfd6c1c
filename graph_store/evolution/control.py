"""Bound extractions by the schema in force, and change it: a base (the seed with people's changes), and what grew."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Literal, cast

from ...prompts.rendering import LETTERED_TOKENS, schema_block
from ...runtime.audit import attributed
from ...schemas.delta import ELEMENT_KINDS, Candidate, Decided, Decision, SameLabel
from ...schemas.documents import Chunk
from ...schemas.edits import decided_types
from ...schemas.extraction import BoundedExtraction, Extraction
from ...schemas.graph_schema import GraphSchema, compare_schemas
from ...schemas.naming import label_key
from ...text.scripts import estimate_tokens
from ..bounding.admission import bound
from ..bounding.labels import Bounds
from ..ledger.database import Database
from ..ledger.document_rows import Documents
from ..ledger.entity_rows import EditTable
from ..ledger.extractions import Extractions
from ..ledger.schema_rows import Asks, Label, SameAs, SchemaHistory
from . import growth
from .elements import DecisionError, find_element, known_labels, only_in, remove, remove_labels, sort_elements, types_of
from .schema_candidates import Grounds, are_opposed

Policy = Literal["auto", "review", "off"]  # how the schema grows: by thresholds, by a person's decisions, or not at all

_SHOWN = 3  # the number of examples shown for a candidate
_BOUNDED_AT_ONCE = 256  # chunks whose rows one transaction replaces


class SchemaControl:
    """Bounds extractions by the schema in force, and changes that schema."""

    def __init__(self, database: Database, documents: Documents, extractions: Extractions) -> None:
        self._db = database
        self._documents = documents
        self._extractions = extractions
        self._history = SchemaHistory(database)
        self.asks = Asks(database)
        self._edits = EditTable(database)

    @property
    def policy(self) -> Policy:
        """The policy of the last build."""
        return cast("Policy", self._db.notes("settings").get("schema_policy", "auto"))  # "auto" before the first build

    def set_policy(self, policy: Policy) -> None:
        """Store the policy."""
        self._db.note("settings", schema_policy=policy)

    def record_asks(self, chunk_ids: Sequence[str]) -> None:
        """Record the elements that the extractions of chunks ask the base schema to add (see `Ask`)."""
        self.asks.replace([(chunk, base) for chunk, _, base in self.bound_again(chunk_ids)])

    def write(self, chunk_ids: Sequence[str]) -> None:
        """Bound the extractions of chunks and write the results; content that waits as a revision is left out."""
        # Bound before the transaction begins, so that other threads can store model answers meanwhile.
        bounded = list(self.bound_again(self._documents.in_service(chunk_ids)))
        with self._db.transaction():
            self._extractions.write([(chunk, current) for chunk, current, _ in bounded])
            self.asks.replace([(chunk, base) for chunk, _, base in bounded])

    def replace(self, chunk_id: str, fingerprint: str, extraction: Extraction) -> None:
        """Replace a chunk's extraction, and the facts admitted from it, in one transaction."""
        with self._db.transaction():
            self._extractions.save(chunk_id, fingerprint, extraction)
            self.write([chunk_id])

    def put_revisions_in_service(self) -> None:
        """Replace each changed document, in one transaction, once its new content is extracted."""
        for document_id in self._documents.revisions.find_ready():
            with self._db.transaction():
                self.write(self._documents.revisions.put_in_service(document_id))

    def write_all(self) -> None:
        """Bound again every chunk in the graph."""
        done = self._documents.done()
        for start in range(0, len(done), _BOUNDED_AT_ONCE):
            self.write(done[start:start + _BOUNDED_AT_ONCE])

    def bound_again(self, chunk_ids: Sequence[str]) -> Iterator[tuple[Chunk, BoundedExtraction, BoundedExtraction]]:
        """Yield each chunk with its extraction bounded by the schema in force, and by the base."""
        extractions, types = self._extractions.get_many(chunk_ids), decided_types(self._edits.in_force())
        base, current = self._history.base(), self._history.current()
        by_base, by_current = Bounds(base, types), Bounds(current, types)
        for chunk in self._documents.chunks(chunk_ids):
            if (extraction := extractions.get(chunk.id)) is not None:
                bounded = bound(extraction, chunk, by_current)
                yield chunk, bounded, bounded if base == current else bound(extraction, chunk, by_base)

    def list_candidates(self, support: int, most: int | None = None) -> list[Candidate]:
        """Return the `most` strongest candidates with examples, or all without; `support`: see `collect_candidates`."""
        candidates = growth.find_waiting(self._history.current(), self._gather_grounds(), support)
        return candidates if most is None else [*map(self._with_examples, candidates[:most])]

    def _with_examples(self, candidate: Candidate) -> Candidate:
        labels = (*candidate.labels, *candidate.inverse_labels)
        return candidate.model_copy(update={"examples": tuple(self.asks.examples(candidate.kind, labels, _SHOWN))})

    def count_waiting(self) -> int:
        """Return the number of labels that wait for a decision; near-duplicates count separately."""
        asked = growth.find_unmet(self._history.current(), self.asks.counts())
        return len({(count.kind, count.label) for count in asked} - self._history.declined_labels())

    def _gather_grounds(self) -> Grounds:
        """Return what candidates rest on: all asks, and what people and models said of labels."""
        return Grounds(self.asks.counts(), self._history.declined_labels(), self.asks.same())

    def find_uncompared(self, support: int, most: int) -> list[Candidate]:
        """Return at most `most` candidates with labels that no model has compared with others.

        First those that wait for a decision, then those that joined the schema since its base, as two of these may
        mean the same. For `support` see `collect_candidates`.
        """
        verdicts, grounds = self.asks.same(), self._gather_grounds()
        # What has grown already is a candidate for the base. What widens an element is known to mean the same.
        waiting, grown = ([c for c in growth.find_waiting(schema, grounds, support) if not c.widens]
                          for schema in (self._history.current(), self._history.base()))
        waiting = [c for c in waiting if any((c.kind, label) not in verdicts for label in c.labels)]
        # If any label of a grown one was compared, it is not asked again.
        grown = [c for c in grown if c not in waiting and not any((c.kind, label) in verdicts for label in c.labels)]
        return [*waiting, *grown][:most]

    def store_same_labels(self, compared: Sequence[Candidate], same: Sequence[SameLabel]) -> None:
        """Store a model's verdicts on what candidates mean the same as; unknown or opposite names do not count."""
        known = known_labels(self._history.current())
        labels_by_name = {(kind, label): label for kind, label in known} | {
            (c.kind, label_key(name)): c.name for c in compared for name in c.names()}
        row_by_number = {row.number: row for row in same}
        verdicts: dict[Label, SameAs] = {}
        for number, candidate in enumerate(compared, 1):
            row = row_by_number.get(number, SameLabel(number, "", backward=False))
            label = labels_by_name.get((candidate.kind, label_key(row.name)), "")
            is_opposed = any(are_opposed(own, label_key(label), backward=row.backward) for own in candidate.labels)
            if label in candidate.labels or is_opposed:
                label = ""  # nothing means the same
            verdict = SameAs(label, backward=bool(label) and row.backward and candidate.kind == "relation")
            verdicts |= {(candidate.kind, own_label): verdict for own_label in candidate.labels}
        # The model was also shown the elements that grew from documents: the verdicts rest on their labels, too.
        grown_labels = known - known_labels(self._history.base())
        self.asks.keep_same({*verdicts, *grown_labels}, verdicts)

    def drop_outdated_verdicts(self) -> None:
        """Drop the verdicts that compared labels of deleted documents; the next build asks a model again."""
        if self.asks.same():  # otherwise there is nothing to compare all labels with
            self.asks.drop_outdated(self._present_labels())

    def count_outdated_verdicts(self) -> int:
        """Return the number of verdicts that compared labels of deleted documents."""
        return self.asks.count_outdated(self._present_labels())

    def _present_labels(self) -> set[Label]:
        """Return the labels that documents ask for, and those of the base schema; none if there is no schema yet."""
        if not self._history.version():
            return set()
        return known_labels(self._history.base()) | {(count.kind, count.label) for count in self.asks.counts()}

    def schema_for_prompts(self) -> GraphSchema:
        """Return the schema in force, without the weakest elements that grew if it does not fit into prompts."""
        schema = self._history.current()
        if estimate_tokens(schema_block(schema, "en")) <= LETTERED_TOKENS:
            return schema
        support = Counter((count.kind, count.label) for count in self.asks.counts())
        # Types stay: the others refer to them. What fewer documents ask for goes first.
        grown = [(kind, element.name) for kind, element in only_in(schema, self._history.base())
                 if kind != "entity_type"]
        for kind, name in sorted(grown, key=lambda element: (support[element[0], label_key(element[1])], element)):
            schema = remove(schema, kind, name)
            if estimate_tokens(schema_block(schema, "en")) <= LETTERED_TOKENS:
                break
        return schema

    def grow(self, thresholds: growth.Thresholds) -> bool:
        """Grow the schema from its base by thresholds, or take back what no longer meets them; True if it changed."""
        base, current = self._history.base(), self._history.current()
        if base.open:
            return False
        grown, decided = growth.grow_schema(base, self._gather_grounds(), thresholds)
        # A decision on an element that is in force as it is was recorded before.
        new_decisions = [one for one in decided if find_element(current, one.decision.kind, one.decision.name)
                         != find_element(grown, one.decision.kind, one.decision.name)]
        removals = _list_removals(current, grown, "the documents no longer ask for it strongly enough")
        return self._put_in_force(base, grown, [*new_decisions, *removals], "auto")

    def forget_growth(self) -> None:
        """Put the base schema in force, without what grew, and drop all verdicts on labels; it then grows anew."""
        with self._db.transaction():
            self.asks.drop_outdated(frozenset())
            base, current = self._history.base(), self._history.current()
            self._put_in_force(base, base, _list_removals(current, base, "to grow anew"), "auto")

    def forget_unused_proposals(self) -> None:
        """Remove the elements that a model proposed from the first documents and that no document uses any more."""
        versions = self._history.versions()
        if not versions or versions[0].who != "auto":
            return  # the first version is no model's proposal
        base, current = self._history.base(), self._history.current()
        # Labels are used by facts, by asks and by what grew; types also by types that have them as ancestors.
        used: set[Label] = {(kind, label_key(name)) for kind, name in self._extractions.elements()}
        for count in self.asks.counts():
            types = (count.subject_type, count.object_type if count.kind == "relation" else "")
            used |= {(count.kind, count.label), *(("entity_type", label_key(name)) for name in types if name)}
        used_types = [find_element(current, kind, label) for kind, label in used if kind == "entity_type"]
        referred = [current.ancestors(element.name) for element in used_types if element]
        referred += [list(types_of(element)) for _, element in only_in(current, base)]
        used |= {("entity_type", label_key(name)) for name in chain.from_iterable(referred)}
        unused = growth.find_unused_proposals(base, versions, used)
        smaller_base, smaller = (remove_labels(schema, unused) for schema in (base, current))
        self._put_in_force(smaller_base, smaller, _list_removals(base, smaller_base, "no document uses it"), "auto")

    def redact_history(self) -> None:
        """Remove from earlier schema versions the labels, evidence and examples that only deleted documents had."""
        versions = self._history.versions()
        if not versions:
            return
        seeds = [version.graph_schema for version in versions if version.who == "seed"]
        labels_to_keep = {*self._present_labels(), *growth.named_by_people(versions)}.union(
            *map(known_labels, (self._history.current(), *seeds)))
        documents = set(self._documents.titles())
        self._history.rewrite([growth.redact(version, self._history.base(version.version), labels_to_keep, documents)
                               for version in versions])

    def decide(self, decisions: Sequence[Decision], who: str, support: int) -> bool:
        """Carry out a person's decisions, all or none, or raise DecisionError; return True if the schema changed."""
        base, current, who = self._history.base(), self._history.current(), attributed(who)
        outcome = growth.carry_out_decisions(base, current, self._gather_grounds(), support, decisions)
        with self._db.transaction():
            for label, is_declined in sorted(outcome.is_declined.items()):
                self._history.set_declined(*label, who if is_declined else None)
            return self._put_in_force(outcome.base, outcome.schema, outcome.decided, who)

    def _put_in_force(self, base: GraphSchema, schema: GraphSchema, decided: Sequence[Decided], who: str) -> bool:
        """Store a new version of the schema and its base, and bound every chunk again, in one transaction."""
        seed = self._history.get(1)
        base, schema = sort_elements(base, seed), sort_elements(schema, seed)
        is_changed = (self._history.base(), self._history.current()) != (base, schema)
        if not is_changed and (who == "auto" or not decided):  # a person's decisions are stored anyway
            return False
        decided = [one.model_copy(update={"evidence": one.evidence and self._with_examples(one.evidence)})
                   for one in decided]
        with self._db.transaction():
            self._history.append(schema, decided, who, base)
            if is_changed:
                self.write_all()
        return True


def _list_removals(before: GraphSchema, after: GraphSchema, why: str) -> list[Decided]:
    """Return rejections of the elements that only the earlier schema has, to record why they went."""
    return [Decided(decision=Decision(kind=kind, name=element.name, verdict="reject", why=why))
            for kind, element in only_in(before, after)]


def decisions_to(before: GraphSchema, after: GraphSchema) -> list[Decision]:
    """Return the decisions that turn one schema into another: define what is new or changed, reject the rest."""
    if before.open or after.open:
        raise DecisionError("an open schema has no elements to put in the place of others, or to be replaced: build "
                            "another knowledge base with the schema that you want")
    new_elements = {(kind, element.name): element for kind in ELEMENT_KINDS for element in after.elements(kind)}
    decisions = []
    for change in compare_schemas(before, after):
        if change.change == "removed":
            decisions.append(Decision(kind=change.kind, name=change.name, verdict="reject"))
        else:
            fields = new_elements[change.kind, change.name].model_dump(mode="json", exclude={"name"})
            decisions.append(Decision(kind=change.kind, name=change.name, verdict="define", element=fields))
    return decisions
