"""The names that documents mention most, counted in their texts, and questions about them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import numpy as np
from pydantic import Field

from ..graph_store.graph_index import GraphIndex
from ..graph_store.resolution.name_comparison import fold, match_names
from ..ingest.loaders import LICENCE
from ..schemas.documents import Frozen
from ..schemas.naming import has_name, label_key, normalise
from ..text.languages import Language, phrase_language
from ..text.lexicon import ENGLISH_STOP
from ..text.scripts import has_han
from ..text.section_lines import headings
from ..text.table_rows import DOCUMENT, find_rows

_SHOWN = 8
_MOST_CONSIDERED = 100
"""How many entities are counted: those of most passages."""
_MOST_PASSAGES = 10_000
"""In more passages nothing is counted: reading them takes longer than the first screen may."""
FEW = 5
"""In fewer documents most names are in all of them, so it is counted how often each is said."""
_LEAST_SHARE, _LEAST_DOCUMENTS = 1 / 20, 3
"""The least share of documents, and their least number, that mention a name which stands out."""
_LEAST_TIMES, _PER_WORDS = 10, 1 / 1000
"""How often, in a few documents, the first of names that stand out is said at least: in all, and for each word."""
_RARELY = 1 / 10  # names that are said less than this share of the first one do not stand out
_OFTEN_MEANT, _MOSTLY_MEANT = 1 / 4, 1 / 2
"""The share of a name's occurrences in a longer name from which that is shown instead, for persons and for others."""
_SHORTEST = 3  # letters of a name, unless they are capitals as in "EU"
_LONGEST_NAME = 40
"""Characters of a name in an example question."""
_AROUND = 40  # characters around a name in which the next word is looked for
_SAID: dict[Language, str] = {"en": "What is said about {}?", "zh": "关于{}有什么？"}
_MENTIONED: dict[Language, str] = {"en": "Which documents mention {}?", "zh": "哪些文档提到了{}？"}


class MainEntity(Frozen):
    """An entity with the number of documents that mention it, and how often they do."""

    id: str
    name: str
    type: str
    documents: int
    times: int
    phrase: str = Field(description="its name as a sentence has it, with its article: the Steering Committee")


@dataclass
class _Counted:
    """An entity's row, its name, the forms that are counted, and what was counted."""

    row: int
    name: str
    forms: list[str]
    is_person: bool
    documents: int = 0
    times: int = 0
    before: Counter[str] = field(default_factory=Counter)  # the words in front of it
    behind: Counter[str] = field(default_factory=Counter)

    def is_cut(self) -> bool:
        """Return True if the name is a part of a longer one: mostly, the same word with a capital stands beside it."""
        beside = [word for words in (self.before, self.behind) for word, count in words.most_common(1)
                  if 2 * count > self.times]
        return any(word[:1].isupper() and word[-1].isalpha() and word.lower() not in ENGLISH_STOP for word in beside)

    def phrase(self) -> str:
        """Return the name with "the" if it mostly stands there."""
        return f"the {self.name}" if 2 * (self.before["the"] + self.before["The"]) > self.times else self.name


def main_entities(index: GraphIndex) -> list[MainEntity]:
    """Return the names that stand out in the documents, the most frequent first; empty if none does.

    In a few documents it counts how often a name is said, in others how many documents mention it.
    """
    if len(index.chunks) > _MOST_PASSAGES:
        return []
    counted = _candidates(index)
    words, total = _count_in_texts(index, counted), len(index.document_ids)
    sizes = [one.documents if total >= FEW else one.times for one in counted]
    first = max(sizes, default=0)
    if total < FEW and first < max(_LEAST_TIMES, words * _PER_WORDS):
        return []
    least = max(_LEAST_DOCUMENTS, total * _LEAST_SHARE) if total >= FEW else first * _RARELY
    by_size = sorted(zip(sizes, counted, strict=True), key=lambda pair: (-pair[0], -pair[1].times, pair[1].name))
    shown = [one for size, one in by_size if size >= least and not one.is_cut() and not _is_repeated(one, counted)]
    return [MainEntity(id=index.entity_row.at(one.row), name=one.name, type=index.labels_of(one.row).type,
                       documents=one.documents, times=one.times, phrase=one.phrase()) for one in shown[:_SHOWN]]


def _is_repeated(one: _Counted, counted: Sequence[_Counted]) -> bool:
    """Return True if a longer name is shown instead, or a shorter one that counts all who have it.

    A longer name is shown if it is often what is meant: "Lydia Bennet" for "Lydia".
    """
    longer = [other for other in counted if other is not one and has_name(other.name, one.name)
              and other.times > one.times * (_OFTEN_MEANT if other.is_person else _MOSTLY_MEANT)]
    shorter = [other for other in counted if one.is_person and " " not in other.name
               and one.name.endswith(f" {other.name}")]
    return bool(longer) or any(not _is_repeated(other, counted) for other in shorter)


def _candidates(index: GraphIndex) -> list[_Counted]:
    """Return the entities of most passages, one of each name, without those that a document or most are called by."""
    called = {normalise(name).removeprefix("the ")
              for key, title in zip(index.document_ids, index.document_titles, strict=True)
              for name in (title, PurePosixPath(key).stem)}
    titles = Counter(word for title in index.document_titles for word in set(normalise(title).split()))
    called.update(word for word, count in titles.items() if 2 * count > len(index.document_ids))
    found: dict[str, _Counted] = {}
    by_passages = np.argsort(-np.diff(index.mentioning.starts), kind="stable")
    considered = [(row, index.labels_of(row)) for row in by_passages[:_MOST_CONSIDERED].tolist()]
    firsts = Counter(labels.name.partition(" ")[0] for _, labels in considered)
    lasts = Counter(labels.name.rpartition(" ")[2] for _, labels in considered)
    for row, labels in considered:
        first, _, last = labels.name.partition(" ")
        is_called_by_first = firsts[first] == 1 and first in labels.other_names
        # A first name that several have is of none of them, nor is the last name of one who is called by the first.
        unclear = "" if is_called_by_first and lasts[last] == 1 else last if is_called_by_first else first
        names = [name for name in (labels.name, *labels.other_names) if name == labels.name or name != unclear]
        # "Ludwig van Beethoven" is counted with "Beethoven", and is called so: what is shown is what is counted.
        forms = [name for name in names if not any(len(other) < len(name) and has_name(name, other) for other in names)]
        name = max(forms, key=len)
        key = normalise(name).removeprefix("the ")
        is_short = len(name) < _SHORTEST and not name.isupper() and not has_han(name)
        if not is_short and key not in called and key not in found:
            found[key] = _Counted(row, name, forms, label_key(labels.type) == "person")
    return _join_initials([*found.values()])


def _join_initials(counted: Sequence[_Counted]) -> list[_Counted]:
    """Return entities without those whose name abbreviates that of one other, as "E. Bach" does "Emanuel Bach"."""
    folded = [fold(one.name) for one in counted]
    kept: list[_Counted] = []
    for one, own in zip(counted, folded, strict=True):
        full = [other for other, name in zip(counted, folded, strict=True)
                if len(other.name) > len(one.name) and (match := match_names(own, name)) and match.rule == "person"]
        if len(full) == 1:
            full[0].forms += one.forms
        else:
            kept.append(one)
    return kept


def _count_in_texts(index: GraphIndex, counted: Sequence[_Counted]) -> int:
    """Count the names in the texts of all documents, without licences, and return the number of words."""
    total = 0
    for _, text in index.store.documents.whole_texts():
        words = " ".join(_own_words(text.partition(f"## {LICENCE}")[0]).split())
        total += words.count(" ")
        folded = words.lower() if len(words.lower()) == len(words) else words  # "İ" becomes two letters
        for one in counted:
            # A single word is a name with its capital only: "Reading" is a town.
            places = {(start, start + len(form)) for form in one.forms
                      for start in (_places(folded, form.lower()) if " " in form else _places(words, form))}
            one.documents += bool(places)
            one.times += len(places)
            for start, end in places:
                before, behind = words[max(0, start - _AROUND):start], words[end:end + _AROUND]
                one.before.update(before.split(" ")[-2:-1] if before.endswith(" ") else [])
                one.behind.update(behind.split(" ")[1:2] if behind.startswith(" ") else [])
    return total


def _own_words(text: str) -> str:
    """Return a text without headings, a document's fields, and the headers and first cells of rows, which name them.

    Minutes have the same headings and the same rows each time; nobody says them.
    """
    spans = [(heading.start, heading.end, "") for heading in headings(text)]
    spans += [(row.start, row.end, " ".join([] if row.cells[0].header == DOCUMENT else
                                            [cell.value for cell in row.cells[1:]])) for row in find_rows(text)]
    parts, end = list[str](), 0
    for start, end_of_span, said in sorted(spans):
        parts += [text[end:start], said]
        end = max(end, end_of_span)
    return " ".join([*parts, text[end:]])


def _places(text: str, name: str) -> Iterator[int]:
    """Yield where a text has a name as whole words, and not in an address; Chinese has no word boundaries."""
    is_spaced = not has_han(name)
    start = text.find(name)
    while start >= 0:
        before, behind = text[max(0, start - 1):start], text[start + len(name):start + len(name) + 2]
        is_part = before.isalnum() or before in {"_", "/", "@"} or behind[:1].isalnum() or behind[:1] in {"_", "/", "@"}
        if not (is_spaced and (is_part or (behind[:1] in {".", "-"} and behind[1:].isalnum()))):
            yield start
        start = text.find(name, start + 1)


def questions_on_names(entities: Sequence[MainEntity], documents: int) -> list[str]:
    """Return what is said of one name, and which documents mention another; at most half of several have each."""
    # Of a person, lists of who was there say little.
    by_use = sorted(entities, key=lambda entity: documents > 1 and label_key(entity.type) == "person")
    return _ask_about([entity.phrase for entity in by_use if len(entity.name) <= _LONGEST_NAME
                       and (documents == 1 or 2 * entity.documents <= documents)], documents)


def suggest_questions(index: GraphIndex, rows: Sequence[int]) -> list[str]:
    """Return up to two questions about the entities of some rows, the most important first."""
    return _ask_about([index.labels_of(row).name for row in rows], len(index.document_ids))


def _ask_about(names: Sequence[str], documents: int) -> list[str]:
    """Return what is said of the first name, and which documents mention the second one if there are several."""
    templates = (_SAID, _MENTIONED if documents > 1 else _SAID)
    return [template[phrase_language(name)].format(name) for template, name in zip(templates, names, strict=False)]
