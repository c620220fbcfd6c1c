"""Ask only some documents of a knowledge base: find those that a scope names, and make a knowledge base of them.

Everything derived is a function of the ledger's rows. So it is enough to copy the rows of these documents to a ledger
of their own: the passages, facts, communities and statistics that are derived from it are those of a knowledge base
with only these documents. This takes no model, because extractions, decisions and verdicts are copied with the rows,
and vectors are taken from the index of the original. Such copies are stored in folders below that of the original, each
for one state of it and one set of documents.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock
from rapidfuzz import fuzz, process, utils

from ..models.rules.rules_reasoner import RulesReasoner
from ..runtime.safe_files import own_folder
from ..schemas.documents import Scope
from ..schemas.errors import BanyanError
from ..schemas.naming import content_id, normalise
from .derive import derive
from .evolution.growth import Thresholds
from .index.columns import vectors_of
from .knowledge_base import KnowledgeBase
from .layout import Layout
from .ledger.copying import copy_documents
from .ledger.database import Database
from .ledger.document_rows import Documents
from .ledger.version import published_state

_MOST = 16
"""The most scopes on disk; the least recently used ones are removed."""
_LOCK, _MAKING, _MADE = ".lock", ".making-", "made"
_NEAREST = 3  # similar names in a message
_LEAST_LIKE = 50.0  # percent
_LISTED = 12  # names in a message


def make_scope(base: KnowledgeBase, documents: Sequence[str], layout: Layout,
               thresholds: Callable[[KnowledgeBase], Thresholds]) -> None:
    """Create the knowledge base of some documents of another one.

    Args:
        base: the knowledge base that has the documents; it has to be frozen.
        documents: the ids of the documents.
        layout: where to create the new one; nothing may exist there.
        thresholds: returns when to add elements to the schema, for the number of documents of the new one.
    """
    layout.make("")
    with closing(Database(layout.ledger)) as ledger:
        copy_documents(base.database, ledger, documents)
    index = base.index()
    with KnowledgeBase(layout, base.embedder) as scope, scope.writing():
        scope.vector_synchroniser.recall = lambda kind, ids: vectors_of(index, kind, ids)
        derive(scope, RulesReasoner(), thresholds(scope), of_all=False)


def state_of(kb: KnowledgeBase, *settings: object) -> str:
    """Return an id that changes with everything that the scopes of a knowledge base depend on, besides the documents.

    `settings` are further values on which they depend.
    """
    values = (*kb.version(), *published_state(kb.database), kb.embedder.fingerprint, *settings)
    return content_id("state", *map(str, values))


class ScopeFolder:
    """Finds, makes and removes the scopes of one knowledge base."""

    def __init__(self, layout: Layout) -> None:
        """Look below the folder of a knowledge base; nothing is created yet."""
        self._root = layout.root / "scopes"

    def find_or_make(self, state: str, documents: Sequence[str], fill: Callable[[Layout], None]) -> Layout:
        """Return the layout of a scope, and create the scope if it does not exist yet.

        When one is created, scopes of other states are removed.

        Args:
            state: the id of the knowledge base's state (see `state_of`).
            documents: the ids of the documents.
            fill: creates the scope in an empty layout.

        Raises:
            OSError: the scope cannot be written.
        """
        self._root.mkdir(exist_ok=True)
        scope = self._root / f"{state}-{content_id('documents', *documents)}"
        with FileLock(self._root / _LOCK):  # several processes may ask for the same scope
            if not scope.is_dir():
                self._prune(state)
                with own_folder(self._root, _MAKING) as folder:
                    layout = Layout(folder / _MADE)
                    fill(layout)
                    # Questions read only the ledger and the index.
                    shutil.rmtree(layout.vectors, ignore_errors=True)
                    layout.graph.unlink(missing_ok=True)
                    layout.root.rename(scope)
            os.utime(scope)  # the time of the last use
        return Layout(scope)

    def _prune(self, state: str) -> None:
        """Remove the scopes of other states, and the least recently used ones, to make room for a new one."""
        folders = sorted(self._folders(), key=lambda folder: folder.stat().st_mtime, reverse=True)
        current = [folder for folder in folders if folder.name.startswith(f"{state}-")]
        for folder in {*folders} - {*current[:_MOST - 1]}:
            shutil.rmtree(folder, ignore_errors=True)

    def clear(self) -> None:
        """Remove all scopes, as they may contain documents that were deleted; readers of a scope can continue."""
        for folder in self._folders():
            shutil.rmtree(folder, ignore_errors=True)

    def _folders(self) -> list[Path]:
        return [entry for entry in self._root.glob("[!.]*") if entry.is_dir()]


class ScopeError(BanyanError):
    """A scope names no documents, or asks for metadata that no document has."""


class _Candidate(NamedTuple):
    """A document with everything by which a scope can name it: its id, title and path, and its metadata."""

    id: str
    names: frozenset[str]
    metadata: Mapping[str, str]


def documents_in(documents: Documents, scope: Scope) -> list[str]:
    """Return the ids of the documents of a scope, sorted.

    Raises:
        ScopeError: a name fits no document, no document has a metadata key, or no document has all metadata that the
            scope asks for; the message lists similar names or values.
    """
    candidates = [_Candidate(key, frozenset(map(normalise, (key, title, source))) - {""},
                             {normalise(name): value for name, value in metadata.items()})
                  for key, title, source, metadata in documents.about()]
    chosen = candidates
    if scope.documents:
        by_name: dict[str, set[str]] = {}
        for candidate in candidates:
            for name in candidate.names:
                by_name.setdefault(name, set()).add(candidate.id)
        named = {key for name in scope.documents for key in _match_name(by_name, name)}
        chosen = [candidate for candidate in candidates if candidate.id in named]
    for key, value in scope.where:
        chosen = _filter_by_metadata(candidates, chosen, key, value)
    return sorted(candidate.id for candidate in chosen)


def _match_name(by_name: Mapping[str, set[str]], name: str) -> set[str]:
    """Return the ids of the documents that a name in a scope means."""
    wanted = normalise(name)
    tests = (wanted.__eq__, lambda known: known.endswith(f"/{wanted}"), lambda known: fnmatchcase(known, wanted),
             lambda known: fnmatchcase(known, f"*/{wanted}"))
    for test in tests:
        if matches := {key for known, keys in by_name.items() if test(known) for key in keys}:
            return matches
    near = _nearest(name, {key for keys in by_name.values() for key in keys})
    raise ScopeError(f"no document is called {name!r}; " + (
        f"the nearest: {', '.join(near)}" if near else "`banyan documents` lists them"))


def _filter_by_metadata(everything: Sequence[_Candidate], chosen: Sequence[_Candidate], key: str, value: str,
                        ) -> list[_Candidate]:
    """Return those of the chosen documents that have a value, or one that fits a pattern, under a metadata key."""
    name, wanted = normalise(key), normalise(value)
    if not any(name in candidate.metadata for candidate in everything):
        keys = sorted({known for candidate in everything for known in candidate.metadata})
        raise ScopeError(f"no document has the metadata {key!r}; " + (
            f"there are: {_list_names(keys)}" if keys else "none of them has any"))
    found = [candidate for candidate in chosen if name in candidate.metadata
             and _fits(normalise(candidate.metadata[name]), wanted)]
    if not found:
        values = {candidate.metadata[name] for candidate in chosen if name in candidate.metadata}
        near = _nearest(value, values) or sorted(values)
        raise ScopeError(f"none of the {len(chosen)} documents has {key} = {value!r}; " + (
            f"there are: {_list_names(near)}" if near else f"none of them has a {key}"))
    return found


def _fits(value: str, wanted: str) -> bool:
    return value == wanted or fnmatchcase(value, wanted)


def _nearest(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that are most similar to a name, most similar first."""
    found = process.extract(name, sorted(set(known)), scorer=fuzz.WRatio, processor=utils.default_process,
                            limit=_NEAREST, score_cutoff=_LEAST_LIKE)
    return [match for match, _, _ in found]


def _list_names(names: Sequence[str]) -> str:
    return ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
