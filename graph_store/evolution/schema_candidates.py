"""Collect candidates for schema elements from the documents, with their evidence (Youtu-GraphRAG eq. 3)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...schemas.delta import Candidate, ElementKind, Example
from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import label_key
from ..bounding.similar_labels import SimilarLabels
from ..bounding.words import stems, without_voice
from ..ledger.schema_requests import AskCount, SameAs
from .elements import find_element

_MOSTLY = 0.8
"""The share of an attribute's values that must be numbers, or dates, to give the attribute that kind."""

_Label = tuple[ElementKind, str]
SHOWN = 3
"""Examples of a candidate."""
_OFTEN = 2
"""The number of facts between other types, or of another value kind, that widen an element without a person."""


@dataclass(frozen=True)
class Grounds:
    """The evidence that growth is decided on."""

    counts: Sequence[AskCount]
    declined: Collection[tuple[ElementKind, str]]
    """Kind and label of what a person declined."""
    similar: SimilarLabels
    examples: Callable[[Candidate], list[Example]]
    same: Mapping[tuple[ElementKind, str], SameAs] = field(default_factory=dict)
    """A model's verdicts on which labels mean the same."""


class _Group:
    """The asks for labels that count as the same."""

    def __init__(self, counts: Sequence[AskCount]) -> None:
        self.counts = counts
        self.documents = {count.document for count in counts}
        self.occurrences = sum(count.occurrences for count in counts)
        self.rows = sum(count.rows for count in counts)
        self.confidence = sum(count.confidence for count in counts) / self.occurrences

    def name(self) -> str:
        """Return the label with most documents, then most occurrences."""
        documents: defaultdict[str, set[str]] = defaultdict(set)
        occurrences: Counter[str] = Counter()
        for count in self.counts:
            documents[count.label].add(count.document)
            occurrences[count.label] += count.occurrences
        return min(documents, key=lambda label: (-len(documents[label]), -occurrences[label], label))

    def asked_labels(self, *, backward: bool) -> tuple[str, ...]:
        """Return the labels that were asked for; `backward` selects those that state a relation from tail to head."""
        return tuple(sorted({count.said or count.label for count in self.counts if count.backward == backward}))

    def between(self, pairs: Collection[tuple[str, str]]) -> "_Group":
        """Return the group of the asks between the given pairs of types."""
        return _Group([count for count in self.counts if _pair(count) in pairs])

    def pairs(self, support: int) -> list[tuple[str, str]]:
        """Return the pairs of types that enough documents show.

        A table row counts as a document: the table's author chose the column, while the label of a sentence is the
        extractor's guess, which a second document has to confirm.
        """
        documents = self._documents_of_pairs()
        return sorted(pair for pair, shown_in in documents.items() if sum(shown_in.values()) >= support)

    def signature(self, support: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the types on either side of the supported pairs, or of the commonest pair without any."""
        documents = self._documents_of_pairs()
        observed = self.pairs(support) or [min(documents, key=lambda pair: (-len(documents[pair]), pair))]
        return (tuple(sorted({subject for subject, _ in observed if subject})),
                tuple(sorted({target for _, target in observed if target})))

    def _documents_of_pairs(self) -> dict[tuple[str, str], dict[str, int]]:
        """Map each pair of types to the documents that show it, with their table rows (1 for sentences)."""
        documents: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        for count in self.counts:
            shown_in = documents[_pair(count)]
            shown_in[count.document] = max(shown_in.get(count.document, 1), count.rows)
        return documents

    def value_kind(self) -> str:
        """Return the kind of an attribute's values: number or date if most are, else text."""
        kinds: Counter[str] = Counter()
        for count in self.counts:
            kinds[count.object_type] += count.occurrences
        return next((kind for kind in ("date", "number") if kinds[kind] >= _MOSTLY * self.occurrences), "text")


def _pair(count: AskCount) -> tuple[str, str]:
    """Return an ask's subject type and object type; an attribute's object type is "" as its values have none."""
    return count.subject_type, count.object_type if count.kind == "relation" else ""


def collect(counts: Iterable[AskCount], known: GraphSchema, similar: SimilarLabels, support: int, *,
            supported: bool = False) -> list[Candidate]:
    """Collect candidates from asks, in any order, with near-duplicates merged, strongest support first.

    A candidate with the name of a known element widens that element: it adds labels that mean the same, and types
    between which the element is often stated.

    Args:
        counts: the asks.
        known: the elements that the schema has.
        similar: tells which labels are near-duplicates.
        support: documents that must show a pair of types for it to count as observed.
        supported: leave out asks between pairs of types without that support, as they would not be admitted.

    Returns:
        Candidates without examples (see `with_evidence`).
    """
    by_label: defaultdict[tuple[ElementKind, str], list[AskCount]] = defaultdict(list)
    for count in counts:
        by_label[count.kind, count.label].append(count)
    labels: defaultdict[ElementKind, list[str]] = defaultdict(list)
    for kind, label in sorted(by_label):
        labels[kind].append(label)
    candidates = []
    for kind, asked in labels.items():
        names = {label: element.name for label in asked if (element := find_element(known, kind, label))}
        for same in similar.groups(kind, asked):
            group = _Group([count for label in same for count in by_label[kind, label]])
            widens = next((names[label] for label in same if label in names), "")
            if supported and not group.pairs(support):
                continue
            group = group.between(group.pairs(support)) if supported else group
            if supported and widens and group.occurrences < _OFTEN:
                continue
            candidates.append(_candidate(kind, group, widens, support))
    return sorted(candidates, key=lambda c: (-c.documents, -c.occurrences, c.kind, c.name))


def _candidate(kind: ElementKind, group: _Group, widens: str, support: int) -> Candidate:
    subjects, objects = group.signature(support)
    name = group.name()
    if widens:
        # The name differs from the element's, so declining the candidate leaves the element unchanged.
        said = sorted(count.said for count in group.counts if count.said)
        name = said[0] if said else _widening(kind, widens, subjects, objects, group.value_kind())
    return Candidate(
        kind=kind, name=name, labels=group.asked_labels(backward=False),
        inverse_labels=group.asked_labels(backward=True), widens=widens, documents=len(group.documents),
        occurrences=group.occurrences, rows=group.rows, confidence=round(group.confidence, 6), subject_types=subjects,
        object_types=(group.value_kind(),) if kind == "attribute" else objects)


def _widening(kind: ElementKind, name: str, subjects: Sequence[str], objects: Sequence[str], value_kind: str) -> str:
    subject, target = " or ".join(subjects), " or ".join(objects)
    of = f"of {subject} ({value_kind})" if kind == "attribute" else f"between {subject} and {target}"
    return f"{label_key(name)} {of}"


def unify(counts: Iterable[AskCount], same: Mapping[tuple[ElementKind, str], SameAs], known: GraphSchema,
          ) -> list[AskCount]:
    """Return the asks with labels that mean the same under one label: a known element's name, or one of theirs.

    Without a verdict in `same`, "acquired by" means "acquired" from tail to head. An ask under another label of a known
    element counts with full confidence.
    """
    counts = list(counts)
    meanings = _meanings(counts, same, known)
    unified = []
    for count in counts:
        label, backward = meanings[count.kind, count.label]
        element = find_element(known, count.kind, label)
        if label != count.label:
            subject, target = count.subject_type, count.object_type
            subject, target = (target, subject) if backward else (subject, target)
            count = count._replace(  # noqa: PLW2901
                label=label, said=count.label, backward=backward, subject_type=subject, object_type=target,
                confidence=count.occurrences if element else count.confidence)
        unified.append(count)
    return unified


def _meanings(counts: Sequence[AskCount], same: Mapping[tuple[ElementKind, str], SameAs], known: GraphSchema,
              ) -> dict[_Label, tuple[str, bool]]:
    """Return the one label for what each label means, and whether it is said from tail to head.

    It is a known element's name, else the label with most documents: which of two labels a model called the same as
    the other makes no difference.
    """
    support: Counter[_Label] = Counter()
    own: dict[_Label, str] = {}
    for count in counts:
        support[count.kind, count.label] += 1
    for kind, label in (*support, *((kind, verdict.label) for (kind, _), verdict in same.items())):
        if element := find_element(known, kind, label):
            own[kind, label] = label_key(element.name)
    linked: defaultdict[_Label, dict[_Label, bool]] = defaultdict(dict)
    for (kind, label), (name, backward) in (*same.items(), *_passives(support)):
        if (kind, label) in support and ((kind, name) in support or (kind, name) in own):
            linked[kind, label][kind, name] = linked[kind, name][kind, label] = backward
    meanings: dict[_Label, tuple[str, bool]] = {}
    for first in sorted(support):
        if first not in meanings:
            reached, queue = {first: False}, [first]
            for node in queue:
                for other in sorted(linked[node].keys() - reached.keys()):
                    reached[other] = reached[node] != linked[node][other]
                    queue.append(other)
            best = min(reached, key=lambda node: (node not in own, -support[node], len(stems(node[1])), node))
            meanings |= {node: (own.get(best, best[1]), backward != reached[best])
                         for node, backward in reached.items()}
    return meanings


def _passives(labels: Iterable[_Label]) -> Iterator[tuple[_Label, SameAs]]:
    """Yield the relations that are the passive of another, as "acquired by" is of "acquired"."""
    relations = sorted(label for kind, label in labels if kind == "relation")
    active = {stems(label): label for label in reversed(relations)}
    for label in relations:
        other = active.get(without_voice(stems(label)), label)
        if stems(other) != stems(label):
            yield ("relation", label), SameAs(other, backward=True)


def with_evidence(candidates: Sequence[Candidate], grounds: Grounds) -> list[Candidate]:
    """Return the candidates with examples and the nearest known element."""
    return [candidate.model_copy(update={
        "examples": tuple(grounds.examples(candidate)),
        "nearest": (grounds.similar.nearest(candidate.kind, candidate.name) or ("",))[0]}) for candidate in candidates]


def with_schema_types(counts: Iterable[AskCount], named: Callable[[str], str | None]) -> list[AskCount]:
    """Return the asks with the schema's names for their types; "" for one that it does not have."""
    return [count._replace(subject_type=named(count.subject_type) or "", object_type=(
        (named(count.object_type) or "") if count.kind == "relation" else count.object_type)) for count in counts]
