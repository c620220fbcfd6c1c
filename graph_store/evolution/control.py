"""Bound extractions by the schema in force, and change that schema.

A schema change affects only chunks with an extracted label whose meaning differs. These are bounded again
from their stored extractions, without a model call.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from threading import local
from typing import Literal

from cachetools import LRUCache

from ...models.embedding.embedder import Embedder, RememberingEmbedder
from ...prompts import schema_block
from ...prompts.schema_text import LETTERED_TOKENS
from ...schemas.delta import Candidate, Decided, Decision, ElementKind, LabelKind, SameLabel
from ...schemas.documents import Chunk
from ...schemas.edits import decided_types
from ...schemas.extraction import BoundedExtraction, Extraction
from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import canonical_name, label_key
from ...text.tokens import estimate_tokens
from ..bounding.admission import bound
from ..bounding.labels import Bounds, extracted_labels
from ..bounding.similar_labels import SimilarLabels, are_opposed
from ..ledger.database import Database
from ..ledger.document_rows import Documents
from ..ledger.entity_rows import EditTable
from ..ledger.extractions import Extractions
from ..ledger.schema_history import SchemaHistory
from ..ledger.schema_requests import Asks, Label, SameAs
from .elements import KIND_NAMES, discard, find_element, known_labels, remove, sort_elements, types_of
from .forgetting import named_by_people, redact, without_unused_proposals
from .growth import Thresholds, decide, grow, still_asked, waiting
from .schema_candidates import SHOWN, Grounds, with_evidence

Policy = Literal["auto", "review", "off"]
"""How the schema grows: by thresholds, by a person's decisions, or not at all."""

_LABELS_KEPT = 20_000  # 30 MB
_BOUNDED_AT_ONCE = 256


class _PreparedBounds(local):
    """The bounds that a thread prepared last, of a base schema and of the schema in force.

    Bounds remember the labels that they find. Were they shared, threads would have to wait for each other while they
    read the ledger, where another one may wait within a transaction.
    """

    def __init__(self) -> None:
        self.bounds: LRUCache[Hashable, Bounds] = LRUCache(2)  # one for each of the two


class SchemaControl:
    """Bounds extractions by the schema in force, and changes that schema."""

    def __init__(self, database: Database, documents: Documents, extractions: Extractions, embedder: Embedder) -> None:
        """Control the schema of a ledger."""
        self._db = database
        self._embedder = RememberingEmbedder(embedder, _LABELS_KEPT)
        self._documents = documents
        self._extractions = extractions
        self._history = SchemaHistory(database)
        self.asks = Asks(database)
        self._edits = EditTable(database)
        self._prepared = _PreparedBounds()
        self._shown: tuple[int, GraphSchema] | None = None

    @property
    def policy(self) -> Policy:
        """The policy of the last build."""
        stored = self._db.notes("settings").get("schema_policy")
        return "review" if stored == "review" else "off" if stored == "off" else "auto"

    def set_policy(self, policy: Policy) -> None:
        """Store the policy."""
        self._db.note("settings", schema_policy=policy)

    def schema(self) -> GraphSchema:
        """Return the schema in force."""
        return self._history.current()

    # Bounding.

    def note(self, chunk_ids: Sequence[str]) -> None:
        """Record what the extractions of chunks ask of the base schema."""
        # Bound before the transaction begins, so model answers can be stored meanwhile.
        bounded = self._bound(self._documents.chunks(chunk_ids), self._extractions.get_many(chunk_ids),
                              self._history.base())
        self.asks.replace(bounded)

    def write(self, chunk_ids: Sequence[str]) -> None:
        """Bound the extractions of chunks and write the results to the graph.

        Chunks of revised content are left out until all of that content is extracted.
        """
        bounded = list(self.bound_again(self._documents.in_service(chunk_ids)))
        with self._db.transaction():
            self._extractions.write([(chunk, current) for chunk, current, _ in bounded])
            self.asks.replace([(chunk, base) for chunk, _, base in bounded])

    def replace(self, chunk_id: str, fingerprint: str, extraction: Extraction, call: str = "") -> None:
        """Replace the extraction of a chunk in the graph, and what is admitted of it, in one transaction.

        May run beside `write` in another thread.
        """
        bounded = list(self._bound_by_both(self._documents.chunks([chunk_id]), {chunk_id: extraction}))
        with self._db.transaction():
            self._extractions.save(chunk_id, fingerprint, extraction, call)
            self._extractions.write([(chunk, current) for chunk, current, _ in bounded])
            self.asks.replace([(chunk, base) for chunk, _, base in bounded])

    def put_revisions_in_service(self) -> None:
        """Replace documents' old content by the new where all of the new content is extracted.

        Each document's facts are replaced in one transaction.
        """
        for document_id in self._documents.revisions.find_ready():
            with self._db.transaction():
                self.write(self._documents.revisions.put_in_service(document_id))

    def write_all(self) -> None:
        """Bound again every chunk in the graph."""
        done = self._documents.done()
        for start in range(0, len(done), _BOUNDED_AT_ONCE):
            self.write(done[start:start + _BOUNDED_AT_ONCE])

    def write_named(self, names: Iterable[str], also: Iterable[str]) -> None:
        """Bound again the chunks that mention entities by some names, and further chunks."""
        wanted = {canonical_name(name) for name in names}
        mentioning = {chunk for chunk, labels in self._extracted_labels()
                      if any(kind == "name" and canonical_name(label) in wanted for kind, label in labels)}
        self.write(sorted(mentioning.union(also)))

    def _extracted_labels(self) -> Iterator[tuple[str, set[tuple[LabelKind, str]]]]:
        """Yield the ids of the chunks in the graph, with the labels of their extractions."""
        done = self._documents.done()
        for start in range(0, len(done), _BOUNDED_AT_ONCE):
            for chunk, extraction in self._extractions.get_many(done[start:start + _BOUNDED_AT_ONCE]).items():
                yield chunk, extracted_labels(extraction)

    def bound_again(self, chunk_ids: Sequence[str]) -> Iterator[tuple[Chunk, BoundedExtraction, BoundedExtraction]]:
        """Yield chunks with their extractions bounded by the schema in force and by its base, without storing them."""
        return self._bound_by_both(self._documents.chunks(chunk_ids), self._extractions.get_many(chunk_ids))

    def _bound_by_both(self, chunks: Sequence[Chunk], extractions: Mapping[str, Extraction],
                       ) -> Iterator[tuple[Chunk, BoundedExtraction, BoundedExtraction]]:
        base, current = self._history.base(), self._history.current()
        by_base = dict(self._bound(chunks, extractions, base)) if base != current else {}
        for chunk, bounded in self._bound(chunks, extractions, current):
            yield chunk, bounded, by_base.get(chunk, bounded)

    def _bound(self, chunks: Sequence[Chunk], extractions: Mapping[str, Extraction], schema: GraphSchema,
               ) -> list[tuple[Chunk, BoundedExtraction]]:
        bounds = self._bounds(schema)
        return [(chunk, bound(extractions[chunk.id], chunk, bounds)) for chunk in chunks if chunk.id in extractions]

    def _bounds(self, schema: GraphSchema) -> Bounds:
        """Return the bounds of a schema, prepared once as long as neither it nor what they depend on changes.

        They also depend on the embedding model and on the types that people gave to entities. The cache drops the
        bounds that were used longest ago.
        """
        people_types, cache = decided_types(self._edits.in_force()), self._prepared.bounds
        key = self._embedder.fingerprint, schema.model_dump_json(), tuple(people_types.items())
        if key not in cache:
            cache[key] = Bounds(schema, SimilarLabels(self._embedder, schema), people_types)
        return cache[key]

    # Change.

    def waiting(self, support: int, most: int | None = None) -> list[Candidate]:
        """Return the candidates that the schema in force does not have, strongest support first.

        Args:
            support: documents that must show a pair of types for it to count as observed.
            most: how many, with all their evidence; None returns all, without examples.
        """
        grounds = self._grounds()
        candidates = waiting(self._history.current(), grounds, support)
        return candidates if most is None else with_evidence(candidates[:most], grounds)

    def count_waiting(self) -> int:
        """Return how many labels wait for a decision, counting near-duplicates separately."""
        asked = still_asked(self._history.current(), self.asks.counts())
        return len({(count.kind, count.label) for count in asked} - self._history.declined_labels())

    def find_uncompared(self, support: int, most: int) -> list[Candidate]:
        """Return candidates that no model has compared with others yet, strongest support first.

        What grew by itself is among them where the verdicts on it were dropped.
        """
        same = self.asks.same()
        grounds = self._grounds()
        new = [c for c in waiting(self._history.current(), grounds, support)
               if any((c.kind, label) not in same for label in c.labels) and not c.widens]
        grown = [c for c in waiting(self._history.base(), grounds, support)
                 if not any((c.kind, label) in same for label in c.labels) and not c.widens and c not in new]
        return [*new, *grown][:most]

    def keep_same(self, compared: Sequence[Candidate], same: Sequence[SameLabel]) -> None:
        """Store which candidates mean the same as an element or another candidate.

        Verdicts number the candidates from 1; a name that is neither an element's nor a candidate's is ignored, and so
        is one that says something else by its own words (`are_opposed`).
        """
        current = self._history.current()
        known = known_labels(current)
        names = {(c.kind, label_key(name)): c.name for c in compared for name in c.names()}
        means = {row.number: row for row in same}
        verdicts: dict[tuple[ElementKind, str], SameAs] = {}
        for number, candidate in enumerate(compared, 1):
            row = means.get(number)
            key = (candidate.kind, label_key(row.name) if row else "")
            target = names.get(key, key[1] if key in known else "")
            target = "" if target in candidate.labels else target
            if row and any(are_opposed(label, label_key(target), backward=row.backward) for label in candidate.labels):
                target = ""
            verdicts |= {(candidate.kind, label): SameAs(target, bool(target and row and row.backward and
                                                                      candidate.kind == "relation"))
                         for label in candidate.labels}
        self.asks.keep_same({*verdicts, *(known - known_labels(self._history.base()))}, verdicts)

    def drop_outdated_verdicts(self) -> None:
        """Drop the verdicts on labels that rest on documents which are gone; the next build asks again."""
        if self.asks.same():
            self.asks.drop_outdated(self._present_labels())

    def forget_growth(self) -> None:
        """Return to the schema without what grew by itself, and drop every verdict on labels, to grow anew."""
        with self._db.transaction():
            self.asks.drop_outdated(())
            base, current = self._history.base(), self._history.current()
            gone = [Decided(decision=Decision(kind=kind, name=element.name, verdict="reject", why="to grow anew"))
                    for kind in KIND_NAMES for element in current.elements(kind)
                    if find_element(base, kind, element.name) is None]
            self._put_in_force(base, base, gone, "auto")

    def count_outdated_verdicts(self) -> int:
        """Return the number of comparisons of labels that rest on documents which are gone."""
        return self.asks.outdated(self._present_labels())

    def _present_labels(self) -> set[Label]:
        """Return the labels that the documents ask for, or a person or a seed put into the schema."""
        if not self._history.version():
            return set()
        return known_labels(self._history.base()) | {(count.kind, count.label) for count in self.asks.counts()}

    def schema_for_prompts(self) -> GraphSchema:
        """Return the schema for prompts: the one in force, without grown elements that do not fit a prompt.

        The elements accepted on the weakest evidence are left out first.
        """
        version = self._history.version()
        if self._shown is None or self._shown[0] != version:
            self._shown = version, self._fit_schema()
        return self._shown[1]

    def _fit_schema(self) -> GraphSchema:
        base, schema = self._history.base(), self._history.current()
        if base == schema:
            return base
        strength = {(e.kind, e.name): (e.documents, e.occurrences) for version in self._history.versions()
                    for d in version.decisions if (e := d.evidence)}
        kinds: tuple[ElementKind, ...] = ("attribute", "relation")
        grown = sorted(((strength.get((kind, label_key(element.name)), (0, 0)), kind, element.name)
                        for kind in kinds for element in schema.elements(kind)
                        if find_element(base, kind, element.name) is None), key=lambda item: (item[0], item[1:]))
        for _, kind, name in grown:
            if estimate_tokens(schema_block(schema, "en")) <= LETTERED_TOKENS:
                break
            schema = remove(schema, kind, name)
        return schema

    def grow(self, thresholds: Thresholds) -> bool:
        """Grow the schema from its base by thresholds; return True if it changed.

        A new version is made only if the result differs from the schema in force. Elements that grew
        earlier and are no longer asked for are removed.
        """
        base, current = self._history.base(), self._history.current()
        if base.open:
            return False
        grown, decided = grow(base, self._grounds(), thresholds)
        before = [find_element(current, d.decision.kind, d.decision.name) for d in decided]
        news = [d for d, was in zip(decided, before, strict=True) if was is None or (
            d.decision.verdict == "edit" and was != find_element(grown, d.decision.kind, d.decision.name))]
        gone = [Decided(decision=Decision(kind=kind, name=element.name, verdict="reject",
                                          why="the documents no longer ask for it strongly enough"))
                for kind in KIND_NAMES for element in current.elements(kind)
                if find_element(grown, kind, element.name) is None]
        return self._put_in_force(base, grown, [*news, *gone], "auto")

    def forget_unused_proposals(self) -> None:
        """Remove the elements that a model proposed from the first documents and that none uses now."""
        if not (versions := self._history.versions()) or versions[0].who != "auto":
            return
        base, current = self._history.base(), self._history.current()
        grown = (one for kind in KIND_NAMES for one in current.elements(kind)
                 if find_element(base, kind, one.name) is None)
        used: set[Label] = {("entity_type", label_key(name)) for one in grown for name in types_of(one)}
        smaller = without_unused_proposals(base, versions, used | self._used_labels())
        gone = [Decided(decision=Decision(kind=kind, name=element.name, verdict="reject", why="no document uses it"))
                for kind in reversed(KIND_NAMES) for element in base.elements(kind)
                if find_element(smaller, kind, element.name) is None]
        for one in gone:
            current = discard(current, one.decision.kind, one.decision.name)
        self._put_in_force(smaller, current, gone, "auto")

    def _used_labels(self) -> set[Label]:
        """Return the elements that facts have, and the labels and types of what the schema does not admit."""
        used = {(kind, label_key(name)) for kind, name in self._extractions.elements()}
        for count in self.asks.counts():
            types = (count.subject_type, count.object_type if count.kind == "relation" else "")
            used |= {(count.kind, count.label), *(("entity_type", label_key(name)) for name in types if name)}
        schema = self._history.current()
        parents = (name for kind, label in used if kind == "entity_type"
                   if (element := find_element(schema, kind, label)) for name in schema.ancestors(element.name))
        return used | {("entity_type", label_key(name)) for name in parents}

    def redact_history(self) -> None:
        """Leave nothing in earlier versions that only deleted documents brought: labels, evidence, examples."""
        if not (versions := self._history.versions()):
            return
        seeds = [one.graph_schema for one in versions if one.who == "seed"]
        present = {*self._present_labels(), *named_by_people(versions)}.union(
            *map(known_labels, (self._history.current(), *seeds)))
        documents = {entry.id for entry in self._documents.entries()}
        redacted = [(one, redact(one, self._history.base(one.version), present, documents)) for one in versions]
        self._history.rewrite([new for one, new in redacted if new != (one, self._history.base(one.version))])

    def decide(self, decisions: Sequence[Decision], who: str, support: int) -> bool:
        """Carry out a person's decisions, all or none; return True if the schema changed.

        Raises:
            DecisionError: a decision cannot be carried out.
        """
        outcome = decide(self._history.base(), self._history.current(), self._grounds(), support, decisions)
        with self._db.transaction():
            for label, is_declined in sorted(outcome.is_declined.items()):
                self._history.set_declined(*label, who if is_declined else None)
            return self._put_in_force(outcome.base, outcome.schema, outcome.decided, who)

    def _put_in_force(self, base: GraphSchema, schema: GraphSchema, decided: Sequence[Decided], who: str) -> bool:
        seed, old_base, old = self._history.first(), self._history.base(), self._history.current()
        base, schema = sort_elements(base, seed), sort_elements(schema, seed)
        if (old_base, old) == (base, schema) and (who == "auto" or not decided):
            return False
        with self._db.transaction():
            self._history.append(schema, decided, who, base)
            touched = self._find_affected_chunks(old, schema)
            self.note(sorted(self._find_affected_chunks(old_base, base) - touched))
            self.write(sorted(touched))
        return True

    def _find_affected_chunks(self, old: GraphSchema, new: GraphSchema) -> set[str]:
        """Return the ids of written chunks with a label whose meaning differs between two schemas."""
        if old == new:
            return set()
        before, after = self._bounds(old), self._bounds(new)
        is_changed: dict[tuple[LabelKind, str], bool] = {}
        touched: set[str] = set()
        for chunk, labels in self._extracted_labels():
            news = labels - is_changed.keys()
            for bounds in (before, after):
                bounds.remember(news)
            is_changed.update((label, before.meaning(*label) != after.meaning(*label)) for label in news)
            if any(is_changed[label] for label in labels):
                touched.add(chunk)
        return touched

    def _grounds(self) -> Grounds:
        return Grounds(counts=self.asks.counts(), declined=self._history.declined_labels(),
                       similar=SimilarLabels(self._embedder, self._history.base()), same=self.asks.same(),
                       examples=lambda candidate: self.asks.examples(
                           candidate.kind, (*candidate.labels, *candidate.inverse_labels), SHOWN))


