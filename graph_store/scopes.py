"""Some documents of a knowledge base: which ones a scope names, and the knowledge base that they would be alone.

Everything derived is a function of the ledger's rows. So the rows of these documents, in a ledger of their own, give
the passages, facts, communities and statistics that a knowledge base of these documents alone has, without a model:
extractions, decisions and verdicts come with the rows, vectors from the other one's index. Those that were made are in
folders below the other one's, each of one state and some documents.
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
from .index.vector_rows import vectors_of
from .knowledge_base import KnowledgeBase
from .layout import Layout
from .ledger.copying import copy_documents
from .ledger.database import Database
from .ledger.document_rows import Documents
from .ledger.version import published_state

_MOST = 16
"""Scopes that stay on disk; those not used for longest go first."""
_LOCK, _MAKING, _MADE = ".lock", ".making-", "made"
_NEAREST = 3
_LEAST_LIKE = 50.0
_LISTED = 12


def make_scope(base: KnowledgeBase, documents: Sequence[str], layout: Layout,
               thresholds: Callable[[KnowledgeBase], Thresholds]) -> None:
    """Make the knowledge base of some documents of a frozen one, in a place where nothing is yet.

    `thresholds` gives what the schema grows by, for the number of its documents.
    """
    layout.make("")
    with closing(Database(layout.ledger)) as ledger:
        copy_documents(base.database, ledger, documents)
    index = base.index()
    with KnowledgeBase(layout, base.embedder) as scope, scope.writing():
        scope.vector_synchroniser.recall = lambda kind, ids: vectors_of(index, kind, ids)
        derive(scope, RulesReasoner(), thresholds(scope), of_all=False)


def state_of(kb: KnowledgeBase, *settings: object) -> str:
    """Return an id of all that scopes of a knowledge base follow from, besides the documents."""
    values = (*kb.version(), *published_state(kb.database), kb.embedder.fingerprint, *settings)
    return content_id("state", *map(str, values))


class ScopeFolder:
    """Finds, makes and removes the scopes of one knowledge base."""

    def __init__(self, layout: Layout) -> None:
        """Look below the folder of a knowledge base; nothing is created yet."""
        self._root = layout.root / "scopes"

    def find_or_make(self, state: str, documents: Sequence[str], fill: Callable[[Layout], None]) -> Layout:
        """Return the layout of a scope, made once for a state by whichever process asks first.

        It is filled in an empty layout; scopes of other states are removed.

        Raises:
            OSError: it cannot be written.
        """
        self._root.mkdir(exist_ok=True)
        made = self._root / f"{state}-{content_id('documents', *documents)}"
        with FileLock(self._root / _LOCK):
            if not made.is_dir():
                self._prune(state)
                with own_folder(self._root, _MAKING) as folder:
                    layout = Layout(folder / _MADE)
                    fill(layout)
                    # What a question reads is in the ledger and the index.
                    shutil.rmtree(layout.vectors, ignore_errors=True)
                    layout.graph.unlink(missing_ok=True)
                    layout.root.rename(made)
            os.utime(made)
        return Layout(made)

    def _prune(self, state: str) -> None:
        there = sorted(self._folders(), key=lambda folder: folder.stat().st_mtime, reverse=True)
        current = [folder for folder in there if folder.name.startswith(f"{state}-")]
        for folder in {*there} - {*current[:_MOST - 1]}:
            shutil.rmtree(folder, ignore_errors=True)

    def clear(self) -> None:
        """Remove all scopes: what they hold may have been deleted. Who reads one goes on until it lets go."""
        for folder in self._folders():
            shutil.rmtree(folder, ignore_errors=True)

    def _folders(self) -> list[Path]:
        return [entry for entry in self._root.glob("[!.]*") if entry.is_dir()]


class ScopeError(BanyanError):
    """A scope that names no documents, or says of them what nobody knows."""


class _Candidate(NamedTuple):
    """A document as a scope names it: by its id, its title and its path, and by its metadata."""

    id: str
    names: frozenset[str]
    metadata: Mapping[str, str]


def documents_in(documents: Documents, scope: Scope) -> list[str]:
    """Return the ids of the documents of a scope, sorted.

    Raises:
        ScopeError: a name fits no document, no document has a metadata key, or none has all that is asked for; the
            message names what comes nearest.
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
        chosen = _having(candidates, chosen, key, value)
    return sorted(candidate.id for candidate in chosen)


def _match_name(by_name: Mapping[str, set[str]], name: str) -> set[str]:
    """Return the documents that a name, a pattern or the end of a path fits, the first of these that fits any."""
    wanted = normalise(name)
    fits = (wanted.__eq__, lambda known: known.endswith(f"/{wanted}"), lambda known: fnmatchcase(known, wanted),
            lambda known: fnmatchcase(known, f"*/{wanted}"))
    found = next(filter(None, ({key for known, keys in by_name.items() if fit(known) for key in keys} for fit in fits)),
                 set())
    if not found:
        near = _nearest(name, {key for keys in by_name.values() for key in keys})
        raise ScopeError(f"no document is called {name!r}; " + (
            f"the nearest: {', '.join(near)}" if near else "`banyan documents` lists them"))
    return found


def _having(everything: Sequence[_Candidate], chosen: Sequence[_Candidate], key: str, value: str) -> list[_Candidate]:
    """Return those of the chosen documents whose metadata has a value."""
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
    found = process.extract(name, sorted(set(known)), scorer=fuzz.WRatio, processor=utils.default_process,
                            limit=_NEAREST, score_cutoff=_LEAST_LIKE)
    return [match for match, _, _ in found]


def _list_names(names: Sequence[str]) -> str:
    return ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
