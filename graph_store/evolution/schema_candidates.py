"""Collect candidates for schema elements from the documents, with their evidence (Youtu-GraphRAG eq. 3)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...schemas.delta import Candidate, ElementKind
from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import label_key
from ...text.lexicon import read_json
from ..bounding.words import stems
from ..ledger.schema_rows import AskCount, Label, SameAs
from .elements import find_element

_WORDS = read_json("label_words.json")
"""Pairs of words that are used alike and say the opposite (`opposites`), pairs that say the same of two things from
either end (`converses`), and words that end or deny what a label would say without them (`reversals`)."""
_MOSTLY = 0.8  # the share of an attribute's values that must be numbers, or dates, to give the attribute that kind
_FEWEST_TO_WIDEN = 2  # facts that widen an element automatically to other types or another value kind: one is a slip


@dataclass(frozen=True)
class Grounds:
    """The evidence for decisions on candidates."""

    counts: Sequence[AskCount]  # the asks of all documents, counted
    declined: Collection[Label]  # kind and label of every candidate that a person declined
    same: Mapping[Label, SameAs] = field(default_factory=dict)  # a model's verdicts on which labels mean the same


def collect_candidates(counts: Iterable[AskCount], known: GraphSchema, support: int, *,
                       only_supported: bool = False) -> list[Candidate]:
    """Return the candidates that asks add up to, strongest support first, without examples.

    Labels with the same stems make one candidate; it widens a known element that has one of them. `support` documents
    must show a pair of types for it to count as observed; `only_supported` uses only asks between such pairs.
    """
    groups: defaultdict[tuple[ElementKind, tuple[str, ...]], list[AskCount]] = defaultdict(list)
    for count in sorted(counts, key=lambda count: (count.kind, count.label)):
        groups[count.kind, stems(count.label)].append(count)
    candidates = []
    for (kind, _), asks in groups.items():
        elements = (find_element(known, kind, count.label) for count in asks)
        widens = next((element.name for element in elements if element), "")
        # A table whose rows show the pair counts as one document for each row.
        supported = [pair for pair, rows in _rows_by_pair(asks).items() if sum(rows.values()) >= support]
        group = [count for count in asks if _types_of(count) in supported] if only_supported else asks
        is_slip = only_supported and widens and sum(count.occurrences for count in group) < _FEWEST_TO_WIDEN
        if group and not is_slip:
            candidates.append(_make_candidate(kind, group, supported, widens))
    return sorted(candidates, key=lambda c: (-c.documents, -c.occurrences, c.kind, c.name))


def _types_of(count: AskCount) -> tuple[str, str]:
    """Return the types of head and tail; for an attribute, whose tail is a value, the owner's type and ""."""
    return count.subject_type, count.object_type if count.kind == "relation" else ""


def _rows_by_pair(asks: Iterable[AskCount]) -> dict[tuple[str, str], dict[str, int]]:
    """Return by pair of types the documents that show it, each with the most table rows that show it, at least 1."""
    rows_by_pair: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for count in asks:
        rows = rows_by_pair[_types_of(count)]
        rows[count.document] = max(rows.get(count.document, 1), count.rows)
    return rows_by_pair


def _make_candidate(kind: ElementKind, group: Sequence[AskCount], supported: Collection[tuple[str, str]],
                    widens: str) -> Candidate:
    """Return the candidate of the asks for labels that count as the same; `widens` names a known element, or is ""."""
    rows_by_pair = _rows_by_pair(group)
    # It has the types of the pairs with enough support, or else of the strongest pair.
    strongest = min(rows_by_pair, key=lambda pair: (-len(rows_by_pair[pair]), pair))
    pairs = supported or [strongest]
    subjects = tuple(sorted({subject for subject, _ in pairs} - {""}))
    objects = tuple(sorted({target for _, target in pairs} - {""}))
    documents: defaultdict[str, set[str]] = defaultdict(set)
    occurrences, value_kinds = Counter[str](), Counter[str]()
    for count in group:
        documents[count.label].add(count.document)
        occurrences[count.label] += count.occurrences
        value_kinds[count.object_type] += count.occurrences
    total = occurrences.total()
    value_kind = next((one for one in ("date", "number") if value_kinds[one] >= _MOSTLY * total), "text")
    name = min(documents, key=lambda label: (-len(documents[label]), -occurrences[label], label))
    if widens:
        # The name differs from the element's, so declining the candidate leaves the element unchanged.
        subject, target = " or ".join(subjects), " or ".join(objects)
        types = f"of {subject} ({value_kind})" if kind == "attribute" else f"between {subject} and {target}"
        name = min((count.said for count in group if count.said), default=f"{label_key(widens)} {types}")
    labels = tuple(sorted({count.said or count.label for count in group if not count.backward}))
    inverse_labels = tuple(sorted({count.said or count.label for count in group if count.backward}))
    return Candidate(
        kind=kind, name=name, labels=labels, inverse_labels=inverse_labels, widens=widens,
        documents=len({count.document for count in group}), occurrences=total,
        rows=sum(count.rows for count in group), subject_types=subjects,
        confidence=round(sum(count.confidence for count in group) / total, 6),  # a count's is summed over occurrences
        object_types=(value_kind,) if kind == "attribute" else objects)


def unify_labels(counts: Iterable[AskCount], same: Mapping[Label, SameAs], known: GraphSchema) -> list[AskCount]:
    """Return the asks with one label for all labels that mean the same (see `_shared_label`).

    The original label stays in `said`; if it states the relation from tail to head, the types are exchanged. An ask
    whose label becomes a known element's counts with full confidence, because the only doubt was what the label means.
    One that had this label from the start asks for other types, and keeps the confidence of its facts.
    """
    counts, unified = list(counts), []
    asked = {(count.kind, count.label) for count in counts}
    shared_labels = {label: _shared_label(label, same, asked, known) for label in asked}
    for count in counts:
        label, is_backward = shared_labels[count.kind, count.label]
        if label != count.label:
            full_confidence = count.occurrences  # 1 for each, as confidences are summed
            is_known = find_element(known, count.kind, label) is not None
            types = (count.subject_type, count.object_type)
            subject, target = types[::-1] if is_backward else types
            count = count._replace(  # noqa: PLW2901
                label=label, said=count.label, backward=is_backward, subject_type=subject, object_type=target,
                confidence=full_confidence if is_known else count.confidence)
        unified.append(count)
    return unified


def _shared_label(label: Label, same: Mapping[Label, SameAs], asked: Collection[Label], known: GraphSchema,
                  ) -> tuple[str, bool]:
    """Return the label that stands for all that mean the same as one, and whether the one states it backwards.

    Verdicts are followed from label to label until a known element, or as far as documents ask for the labels. If they
    lead in a circle, its first label in order stands for all.
    """
    is_backward = {label: False}  # for each label on the way, whether it is stated in the other direction
    while label in same and find_element(known, *label) is None:
        following = (label[0], same[label].label)
        if following in is_backward:
            way = [*is_backward]
            label = min(way[way.index(following):])
            break
        if following not in asked and find_element(known, *following) is None:
            break
        is_backward[following] = is_backward[label] != same[label].backward
        label = following
    element = find_element(known, *label)
    return label_key(element.name) if element else label[1], is_backward[label]


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
    def has_reversal(text: str) -> bool:
        return (not set(text.split()).isdisjoint(_WORDS["reversals"])
                or any(word in text for word in _WORDS["reversals_in_chinese"]))

    words, other_words = set(label.split()), set(other.split())
    numbers, other_numbers = ({word for word in group if any(map(str.isdigit, word))} for group in (words, other_words))
    if numbers != other_numbers or has_reversal(label) != has_reversal(other):
        return bool(label and other)  # a blank label says nothing, so nothing is its opposite
    opposite_pairs = _WORDS["opposites"] + ([] if backward else _WORDS["converses"])
    only_first, only_second = words - other_words, other_words - words
    return any((one in only_first and opposite in only_second) or (opposite in only_first and one in only_second)
               for one, opposite in opposite_pairs)
