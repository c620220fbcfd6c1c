"""Collect candidates for schema elements from the documents, with their evidence (Youtu-GraphRAG eq. 3)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...schemas.delta import Candidate, ElementKind, Example
from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import label_key
from ...text.lexicon import word_set
from ..bounding.words import stems
from ..ledger.schema_rows import AskCount, SameAs
from .elements import find_element

_OPPOSITES = (("from", "to"), ("from", "by"), ("in", "out"), ("first", "last"), ("start", "end"), ("starts", "ends"),
              ("started", "ended"), ("begins", "ends"), ("minimum", "maximum"), ("min", "max"),
              ("increases", "decreases"), ("old", "new"), ("won", "lost"), ("bought", "sold"), ("acquired", "sold"),
              ("born", "died"), ("birth", "death"), ("supports", "opposes"), ("supported", "opposed"),
              ("allows", "forbids"), ("opened", "closed"), ("accepted", "rejected"), ("approved", "rejected"))
"""Words that are used alike and say the opposite."""
_CONVERSES = (("before", "after"), ("buyer", "seller"), ("sender", "recipient"), ("parent", "child"),
              ("previous", "next"), ("successor", "predecessor"), ("employer", "employee"), ("teacher", "student"))
"""Words that say the same of two things, from either end."""
_REVERSALS = word_set("""not never non without former formerly ex past fired dismissed sacked terminated expelled
    left leaves quit resigned retired ended ceased stopped dissolved divorced separated denied denies refused refuses
    rejected rejects declined failed lost lacks""")
_CJK_REVERSALS = ("不", "未", "前任", "前夫", "前妻", "解雇", "开除", "辞职", "离职", "离开", "离婚", "退出", "终止",
                  "解散", "否认", "拒绝", "失去")
"""Words that end or deny what a label says otherwise."""
_MOSTLY = 0.8
"""The share of an attribute's values that must be numbers, or dates, to give the attribute that kind."""

_Label = tuple[ElementKind, str]
SHOWN = 3  # the number of examples shown for a candidate
_FEWEST_TO_WIDEN = 2
"""The minimum number of facts that widen an element automatically to other types or another value kind."""


@dataclass(frozen=True)
class Grounds:
    """The evidence for decisions on candidates."""

    counts: Sequence[AskCount]  # the asks of all documents, counted
    declined: Collection[tuple[ElementKind, str]]
    """Kind and label of every candidate that a person declined."""
    examples: Callable[[Candidate], list[Example]]
    same: Mapping[tuple[ElementKind, str], SameAs] = field(default_factory=dict)
    """A model's verdicts on which labels mean the same."""


class _Group:
    """The asks for one candidate: for labels that count as the same."""

    def __init__(self, counts: Sequence[AskCount]) -> None:
        self.counts = counts
        self.documents = {count.document for count in counts}
        self.occurrences = sum(count.occurrences for count in counts)
        # Each pair of types with the documents that show it, each with the most rows of one of its counts, or 1.
        self.rows_by_pair: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        for count in counts:
            weights = self.rows_by_pair[_types_of(count)]
            weights[count.document] = max(weights.get(count.document, 1), count.rows)

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

    def supported_pairs(self, support: int) -> list[tuple[str, str]]:
        """Return the pairs of subject and object type that at least `support` documents show."""
        return sorted(pair for pair, weights in self.rows_by_pair.items() if sum(weights.values()) >= support)

    def value_kind(self) -> str:
        """Return the kind of an attribute's values: date or number if at least 80% are, else text."""
        kinds: Counter[str] = Counter()
        for count in self.counts:
            kinds[count.object_type] += count.occurrences
        return next((kind for kind in ("date", "number") if kinds[kind] >= _MOSTLY * self.occurrences), "text")


def _types_of(count: AskCount) -> tuple[str, str]:
    return count.subject_type, count.object_type if count.kind == "relation" else ""


def collect_candidates(counts: Iterable[AskCount], known: GraphSchema, support: int, *,
                       only_supported: bool = False) -> list[Candidate]:
    """Return the candidates that asks add up to, strongest support first, without examples (see `with_evidence`).

    Labels with the same stems make one candidate; it widens a known element that has one of them. `support` documents
    must show a pair of types for it to count as observed; `only_supported` uses only asks between such pairs.
    """
    by_label: defaultdict[tuple[ElementKind, str], list[AskCount]] = defaultdict(list)
    for count in counts:
        by_label[count.kind, count.label].append(count)
    duplicates: defaultdict[tuple[ElementKind, tuple[str, ...]], list[str]] = defaultdict(list)
    for kind, label in sorted(by_label):
        duplicates[kind, stems(label)].append(label)
    candidates = []
    for (kind, _), labels in duplicates.items():
        group = _Group([count for label in labels for count in by_label[kind, label]])
        elements = (find_element(known, kind, label) for label in labels)
        widens = next((element.name for element in elements if element), "")
        if only_supported:
            observed_pairs = group.supported_pairs(support)
            if not observed_pairs:
                continue
            group = _Group([count for count in group.counts if _types_of(count) in observed_pairs])
            if widens and group.occurrences < _FEWEST_TO_WIDEN:
                continue
        candidates.append(_make_candidate(kind, group, widens, support))
    return sorted(candidates, key=lambda c: (-c.documents, -c.occurrences, c.kind, c.name))


def _make_candidate(kind: ElementKind, group: _Group, widens: str, support: int) -> Candidate:
    """Return the candidate of a group of asks; `widens` is the name of the element that it widens, or ""."""
    # The types of the pairs with enough support, else of the strongest pair.
    strongest = min(group.rows_by_pair, key=lambda pair: (-len(group.rows_by_pair[pair]), pair))
    observed = group.supported_pairs(support) or [strongest]
    subjects, objects = (tuple(sorted({*ends} - {""})) for ends in zip(*observed, strict=True))
    name = group.name()
    if widens:
        # The name differs from the element's, so declining the candidate leaves the element unchanged.
        subject, target = " or ".join(subjects), " or ".join(objects)
        types = f"of {subject} ({group.value_kind()})" if kind == "attribute" else f"between {subject} and {target}"
        name = min((count.said for count in group.counts if count.said), default=f"{label_key(widens)} {types}")
    return Candidate(
        kind=kind, name=name, labels=group.asked_labels(backward=False),
        inverse_labels=group.asked_labels(backward=True), widens=widens, documents=len(group.documents),
        occurrences=group.occurrences, rows=sum(count.rows for count in group.counts), subject_types=subjects,
        confidence=round(sum(count.confidence for count in group.counts) / group.occurrences, 6),  # a mean of sums
        object_types=(group.value_kind(),) if kind == "attribute" else objects)


def unify_labels(counts: Iterable[AskCount], same: Mapping[tuple[ElementKind, str], SameAs], known: GraphSchema,
                 ) -> list[AskCount]:
    """Return the asks with one label for all labels that mean the same (see `_shared_labels`).

    The original label stays in `said`; if it states the relation from tail to head, the types are exchanged. An ask
    whose label becomes a known element's counts with full confidence, because the only doubt was what the label means.
    One that had this label from the start asks for other types, and keeps the confidence of its facts.
    """
    counts = list(counts)
    shared_labels = _shared_labels(counts, same, known)
    unified = []
    for count in counts:
        label, is_backward = shared_labels[count.kind, count.label]
        if label != count.label:
            full_confidence = count.occurrences  # it is summed over them
            is_known = find_element(known, count.kind, label) is not None
            types = (count.subject_type, count.object_type)
            subject, target = types[::-1] if is_backward else types
            count = count._replace(  # noqa: PLW2901
                label=label, said=count.label, backward=is_backward, subject_type=subject, object_type=target,
                confidence=full_confidence if is_known else count.confidence)
        unified.append(count)
    return unified


def _shared_labels(counts: Sequence[AskCount], same: Mapping[tuple[ElementKind, str], SameAs], known: GraphSchema,
                   ) -> dict[_Label, tuple[str, bool]]:
    """Return, for each label, the shared one of all that mean the same, and whether it reads from tail to head."""
    support: Counter[_Label] = Counter((count.kind, count.label) for count in counts)
    element_key: dict[_Label, str] = {}  # the key of the element's name, for each label of a known element
    for kind, label in (*support, *((kind, verdict.label) for (kind, _), verdict in same.items())):
        if element := find_element(known, kind, label):
            element_key[kind, label] = label_key(element.name)
    # For each pair of linked labels: whether they state the relation in opposite directions.
    linked: defaultdict[_Label, dict[_Label, bool]] = defaultdict(dict)
    for (kind, label), (name, is_backward) in same.items():
        if (kind, label) in support and ((kind, name) in support or (kind, name) in element_key):
            linked[kind, label][kind, name] = linked[kind, name][kind, label] = is_backward
    shared: dict[_Label, tuple[str, bool]] = {}
    for first in sorted(support):
        if first in shared:
            continue
        is_opposite, queue = {first: False}, [first]  # whether a label's direction differs from that of the first
        for node in queue:  # grows while it is read
            for other in sorted(linked[node].keys() - is_opposite.keys()):
                is_opposite[other] = is_opposite[node] != linked[node][other]
                queue.append(other)
        best = min(is_opposite, key=lambda node: (node not in element_key, -support[node], len(stems(node[1])), node))
        shared |= {node: (element_key.get(best, best[1]), opposite != is_opposite[best])
                   for node, opposite in is_opposite.items()}
    return shared


def with_evidence(candidates: Sequence[Candidate], grounds: Grounds) -> list[Candidate]:
    """Return the candidates with examples."""
    return [candidate.model_copy(update={"examples": tuple(grounds.examples(candidate))}) for candidate in candidates]


def with_schema_types(counts: Iterable[AskCount], find_type: Callable[[str], str | None]) -> list[AskCount]:
    """Return the asks with the schema's names for their types; "" for types that `find_type` does not know."""
    renamed = []
    for count in counts:
        # The object type of an attribute is a kind of value, which needs no name.
        target = (find_type(count.object_type) or "") if count.kind == "relation" else count.object_type
        renamed.append(count._replace(subject_type=find_type(count.subject_type) or "", object_type=target))
    return renamed


def are_opposed(label: str, other: str, *, backward: bool = False) -> bool:
    """Return True if two labels, as `label_key` writes them, cannot mean the same, whatever a model says.

    They have opposite words or other numbers, or just one denies something. With `backward`, the first is compared as
    the inverse of the second: converse words such as "parent" and "child" then agree.
    """
    if not label or not other:
        return False
    words, other_words = set(label.split()), set(other.split())
    numbers, other_numbers = ({word for word in group if any(map(str.isdigit, word))} for group in (words, other_words))
    if numbers != other_numbers or _has_reversal(label) != _has_reversal(other):
        return True
    opposite_pairs = _OPPOSITES if backward else (*_OPPOSITES, *_CONVERSES)
    only_first, only_second = words - other_words, other_words - words
    return any((one in only_first and opposite in only_second) or (opposite in only_first and one in only_second)
               for one, opposite in opposite_pairs)


def _has_reversal(label: str) -> bool:
    return not _REVERSALS.isdisjoint(label.split()) or any(word in label for word in _CJK_REVERSALS)
