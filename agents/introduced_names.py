"""The names that documents mention most, and questions about them."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from pydantic import Field

from ..graph_store.graph_index import GraphIndex
from ..schemas.documents import Frozen
from ..schemas.naming import label_key, normalise
from ..text.languages import Language, phrase_language

_SHOWN, _OF_ONE_TYPE = 8, 5
FEW = 5
"""In fewer documents most names are in all of them, so it is counted how many passages have each."""
_LEAST_SHARE, _LEAST_DOCUMENTS, _LEAST_PASSAGES = 1 / 20, 3, 3
"""The least share of documents, and the least numbers, that mention a name which stands out."""
_RARELY = 1 / 10  # names in less than this share of the passages of the first one do not stand out
_LONGEST_INITIALS, _LONGEST_NAME = 3, 40  # characters: names that are initials say nothing, long ones are no questions
_SAID: dict[Language, str] = {"en": "What is said about {}?", "zh": "关于{}有什么？"}
_MENTIONED: dict[Language, str] = {"en": "Which documents mention {}?", "zh": "哪些文档提到了{}？"}


class MainEntity(Frozen):
    """An entity with the number of documents and of passages that mention it."""

    id: str
    name: str
    type: str
    documents: int
    times: int = Field(description="the number of passages that mention it")


def main_entities(index: GraphIndex) -> list[MainEntity]:
    """Return the names that stand out in the documents, the most frequent first, not all of one type; or none."""
    total, passages = len(index.document_ids), np.diff(index.mentioning.starts)
    sizes = index.document_counts if total >= FEW else passages
    first = int(sizes.max(initial=0))
    least = max(_LEAST_DOCUMENTS, total * _LEAST_SHARE) if total >= FEW else max(_LEAST_PASSAGES, first * _RARELY)
    shown, types = list[MainEntity](), Counter[str]()
    for entity in _entities_by_size(index, np.lexsort((-passages, -sizes)).tolist()):
        size = entity.documents if total >= FEW else entity.times
        if size < least or len(shown) == _SHOWN:
            break
        if any(_abbreviates(entity.name, one.name) for one in shown):
            continue
        abbreviated = [one for one in shown if _abbreviates(one.name, entity.name)]
        if abbreviated:
            shown[shown.index(abbreviated[0])] = entity
        elif types[entity.type] < _OF_ONE_TYPE:
            types[entity.type] += 1
            shown.append(entity)
    return shown


def _entities_by_size(index: GraphIndex, rows: Sequence[int]) -> Iterator[MainEntity]:
    """Yield the entities of some rows in order, without initials and without what documents are called."""
    called = {normalise(title).removeprefix("the ") for title in index.document_titles}
    for row in rows:
        labels = index.labels_of(row)
        is_initials = labels.name.isupper() and len(labels.name) <= _LONGEST_INITIALS
        if not is_initials and normalise(labels.name).removeprefix("the ") not in called:
            name = next((other for other in labels.other_names if _abbreviates(labels.name, other)), labels.name)
            yield MainEntity(id=index.entity_row.at(row), name=name, type=labels.type,
                             documents=int(index.document_counts[row]), times=len(index.mentioning[row]))


def _abbreviates(name: str, full: str) -> bool:
    """Return True if a name has an initial for the first word of a full one: "E. Bach" for "Emanuel Bach"."""
    first, _, last = name.partition(" ")
    return first.endswith(".") and full.startswith(first[:-1]) and full.endswith(f" {last}")


def questions_on_names(entities: Sequence[MainEntity], documents: int) -> list[str]:
    """Return what is said of one name, and which documents mention another; at most half of several have each."""
    # Of a person, lists of who was there say little.
    by_use = sorted(entities, key=lambda entity: documents > 1 and label_key(entity.type) == "person")
    return _ask_about([entity.name for entity in by_use if len(entity.name) <= _LONGEST_NAME
                       and (documents == 1 or 2 * entity.documents <= documents)], documents)


def suggest_questions(index: GraphIndex, rows: Sequence[int]) -> list[str]:
    """Return up to two questions about the entities of some rows, the most important first."""
    return _ask_about([index.labels_of(row).name for row in rows], len(index.document_ids))


def _ask_about(names: Sequence[str], documents: int) -> list[str]:
    """Return what is said of the first name, and which documents mention the second one if there are several."""
    templates = (_SAID, _MENTIONED if documents > 1 else _SAID)
    return [template[phrase_language(name)].format(name) for template, name in zip(templates, names, strict=False)]
