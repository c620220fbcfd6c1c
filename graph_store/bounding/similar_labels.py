"""Find labels that mean the same by their embeddings, with a threshold derived from the schema."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...models.embedding.embedder import Embedder, Vectors, dot_products
from ...schemas.delta import ELEMENT_KINDS, ElementKind
from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import label_key
from ...text.scripts import script_of
from .words import stems

FLOOR = 0.92
"""Labels with a lower cosine similarity never count as the same.

With the default model, opposites such as "increases risk of" and "decreases risk of" are just below, and reordered
words, spellings and abbreviations above.
"""
_OPPOSITES = (("from", "to"), ("from", "by"), ("in", "out"), ("first", "last"), ("start", "end"), ("starts", "ends"),
              ("started", "ended"), ("begins", "ends"), ("minimum", "maximum"), ("min", "max"),
              ("increases", "decreases"), ("old", "new"), ("won", "lost"), ("bought", "sold"), ("acquired", "sold"),
              ("born", "died"), ("birth", "death"), ("supports", "opposes"), ("supported", "opposed"),
              ("allows", "forbids"), ("opened", "closed"), ("accepted", "rejected"), ("approved", "rejected"))
"""Words that lie near each other in meaning and say the opposite."""
_CONVERSES = (("before", "after"), ("buyer", "seller"), ("sender", "recipient"), ("parent", "child"),
              ("previous", "next"), ("successor", "predecessor"), ("employer", "employee"), ("teacher", "student"))
"""Words that say the same of two things, from either end."""
# ruff: noqa: SIM905  (lists of words read better as text)
_REVERSALS = frozenset("""not never non without former formerly ex past fired dismissed sacked terminated expelled
    left leaves quit resigned retired ended ceased stopped dissolved divorced separated denied denies refused refuses
    rejected rejects declined failed lost lacks""".split())
_CJK_REVERSALS = ("不", "未", "前任", "前夫", "前妻", "解雇", "开除", "辞职", "离职", "离开", "离婚", "退出", "终止",
                  "解散", "否认", "拒绝", "失去")
"""Words that end or deny what a label says otherwise."""
_ROWS = 512  # labels that are compared with all others at once; this limits memory and does not change the result
_DECIMALS = 4  # encoding in other batches differs by rounding errors, which must not change a decision


def are_opposed(label: str, other: str, *, backward: bool = False) -> bool:
    """Return True if two labels, as `label_key` writes them, cannot mean the same, although their vectors may be near.

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


class SimilarLabels:
    """Compares labels with those of a schema by their embeddings, with a threshold for each kind and script."""

    def __init__(self, embedder: Embedder, schema: GraphSchema) -> None:
        self._embedder = embedder
        self._known: dict[tuple[ElementKind, str], list[tuple[str, str]]] = defaultdict(list)
        """By kind and script: each label in the schema as a key, with its element's name."""
        for kind in ELEMENT_KINDS:
            for element in schema.elements(kind):
                for key in dict.fromkeys(map(label_key, element.all_names())):
                    self._known[kind, script_of(key)].append((key, element.name))
        self._vectors: dict[str, Vectors] = {}
        self._thresholds: dict[tuple[ElementKind, str], float] = {}

    def threshold(self, kind: ElementKind, script: str) -> float:
        """Return the cosine that two labels must exceed to count as the same.

        Labels of different elements are known to differ, so it is the highest cosine between these, but at least
        `FLOOR`. With fewer than two elements nothing shows how near labels that differ are, so it is infinite: no
        labels are the same. Callers compare nothing from 1 on, as no cosine exceeds 1.
        """
        group = (kind, script)
        if group not in self._thresholds:
            known = self._known.get(group, [])
            keys = [key for key, _ in known]
            cosines = self._cosines(keys, keys)
            between_elements = [cosines[i, j] for i, j in combinations(range(len(known)), 2)
                                if known[i][1] != known[j][1]]
            self._thresholds[group] = max(FLOOR, float(max(between_elements))) if between_elements else float("inf")
        return self._thresholds[group]

    def nearest(self, kind: ElementKind, label: str) -> tuple[str, float] | None:
        """Return the most similar element and its cosine, or None if the schema has none of the kind."""
        known = [pair for element_kind, script in sorted(self._known) if element_kind == kind
                 for pair in self._known[element_kind, script]]
        if not known:
            return None
        cosines = self._cosines([label_key(label)], [key for key, _ in known])[0]
        best = int(np.argmax(cosines))
        return known[best][1], float(cosines[best])

    def duplicate_of(self, kind: ElementKind, label: str) -> str | None:
        """Return the element that a label is a near-duplicate of, or None unless there is exactly one."""
        script = script_of(label)
        known = self._known.get((kind, script), [])
        threshold = self.threshold(kind, script)
        if not known or threshold >= 1:  # no cosine exceeds 1
            return None
        cosines = self._cosines([label_key(label)], [key for key, _ in known])[0]
        duplicates = {name for (key, name), cosine in zip(known, cosines, strict=True)
                      if cosine > threshold and not are_opposed(key, label_key(label))}
        return duplicates.pop() if len(duplicates) == 1 else None

    def groups(self, kind: ElementKind, labels: Sequence[str]) -> list[tuple[str, ...]]:
        """Group labels that are inflections of each other or more similar than the threshold; all is sorted."""
        from networkx.utils import UnionFind  # noqa: PLC0415  (see `KnowledgeGraph`)

        ordered = sorted(set(labels))
        groups = UnionFind(ordered)
        first_with_stems: dict[tuple[str, ...], str] = {}
        by_script: dict[str, list[str]] = defaultdict(list)
        for label in ordered:
            groups.union(first_with_stems.setdefault(stems(label), label), label)
            by_script[script_of(label)].append(label)
        for script, script_labels in by_script.items():
            threshold = self.threshold(kind, script)
            if threshold < 1:
                keys = [label_key(label) for label in script_labels]
                for start in range(0, len(keys), _ROWS):
                    cosines = self._cosines(keys[start : start + _ROWS], keys)
                    for row, column in np.argwhere(cosines > threshold).tolist():
                        if not are_opposed(keys[start + row], keys[column]):
                            groups.union(script_labels[start + row], script_labels[column])
        return sorted(tuple(sorted(group)) for group in groups.to_sets())

    def remember(self, labels: Iterable[tuple[ElementKind, str]]) -> None:
        """Encode labels that will be compared in one batch, which is faster than one by one."""
        self._encode(label_key(label) for kind, label in labels if self.threshold(kind, script_of(label)) < 1)

    def _encode(self, keys: Iterable[str]) -> None:
        new = sorted(set(keys) - self._vectors.keys())
        if new:
            self._vectors.update(zip(new, self._embedder.encode(new), strict=True))

    def _cosines(self, ones: Sequence[str], others: Sequence[str]) -> NDArray[np.float64]:
        """Return rounded cosines, shape (len(ones), len(others))."""
        self._encode([*ones, *others])
        if not ones or not others:
            return np.zeros((len(ones), len(others)))
        table = dot_products(np.stack([self._vectors[key] for key in ones]),
                             np.stack([self._vectors[key] for key in others]))
        rounded: NDArray[np.float64] = table.astype(np.float64).round(_DECIMALS)
        return rounded
