"""Tries of a few names."""

from collections.abc import Iterable

from banyan.graph_store.bounding.words import words
from banyan.graph_store.index.lexical import NameTrie, build_trie


def trie_of(names: Iterable[tuple[str, str]]) -> NameTrie:
    pairs = list(names)
    ids = sorted({entity for _, entity in pairs})
    return NameTrie(build_trie("names", ((words(name), ids.index(entity)) for name, entity in pairs)), "names",
                    ids.__getitem__)
