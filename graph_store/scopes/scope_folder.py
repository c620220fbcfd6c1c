"""The knowledge bases that some documents of another one would be alone: how one is made, and where those made are.

Everything derived is a function of the ledger's rows. So the rows of these documents, in a ledger of their own, give
the passages, facts, communities and statistics that a knowledge base of these documents alone has, without a model:
extractions, decisions and verdicts come with the rows, vectors from the other one's index. Those that were made are in
folders below the other one's, each of one state and some documents.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from filelock import FileLock

from ...models.rules.rules_reasoner import RulesReasoner
from ...runtime.safe_files import own_folder
from ...schemas.naming import content_id
from ..derive import derive
from ..evolution.growth import Thresholds
from ..index.vector_rows import COMPARED, vectors_of
from ..knowledge_base import KnowledgeBase
from ..layout import Layout
from ..ledger.copying import copy_documents
from ..ledger.database import Database
from ..ledger.version import published_state

_MOST = 16
"""Scopes that stay on disk; those not used for longest go first."""
_LOCK, _MAKING, _MADE = ".lock", ".making-", "made"


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
        scope.vector_synchroniser.recall = lambda kind, ids: vectors_of(index, kind, ids) if kind in COMPARED else ()
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
