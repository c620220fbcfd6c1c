"""The parts of a collection of documents that a question may name: its folders, and series of titles."""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from ..graph_store.graph_index import GraphIndex
from ..graph_store.sql.logical_tables import literal
from .question_words import LEAST_LETTERS, Keys, keys_of

_FEWEST = 2  # documents of a part; a folder or a beginning of one document is rather its name
_FORMS = (("the folder is {}", "contains(lower(concat('/', document)), {})", "/{}/"),
          ("the title begins with {}", "starts_with(lower(title), {})", "{}"))
"""For folders and for series: the words of a condition, the condition, and what the name has around it there."""


class CollectionPart(NamedTuple):
    """Some documents of a collection by what they are called, with conditions in words and in SQL.

    Attributes:
        text: the condition in words.
        sql: the condition.
        otherwise: the condition in another sense of the name, "" if there is none.
        is_whole: whether the name is that of a folder as a whole, such as "recipes", and not the beginning of a name.
    """

    text: str
    sql: str
    otherwise: str
    is_whole: bool


def collection_parts(index: GraphIndex) -> Mapping[Keys, CollectionPart]:
    """Return the parts of a collection by the stems of the ways in which they may be called.

    "AlexCTF" is the folder alexctf-2017, and those titled "AlexCTF: ...", if nothing else begins so.
    """
    found = defaultdict[Keys, list[CollectionPart]](list)
    for counts, (text, sql, around) in zip((index.folder_counts, index.series_counts), _FORMS, strict=True):
        names = [name for name, count in counts.items() if _FEWEST <= count < len(index.document_ids)]
        whole, beginnings = (defaultdict[Keys, set[str]](set) for _ in range(2))
        for name in names:
            keys = keys_of(name)
            whole[keys].add(name)
            for length in range(1, len(keys)):
                beginnings[keys[:length]].add(name)
        # note/ and notes/ are called alike, so neither is meant.
        called = {keys: next(iter(named)) for keys, named in (beginnings | whole).items() if len(named) == 1}
        for keys, name in called.items():
            if len("".join(keys)) >= LEAST_LETTERS and not keys[0].isdecimal():
                found[keys].append(CollectionPart(text.format(name), sql.format(literal(around.format(name))), "",
                                                  is_whole=keys in whole and counts is index.folder_counts))
    return {keys: parts[0]._replace(otherwise=parts[-1].sql if len(parts) > 1 else "") for keys, parts in found.items()}
