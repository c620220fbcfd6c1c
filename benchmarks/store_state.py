"""A knowledge base as plain data, equal for stores that no user can tell apart."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.vectors.vector_store import KINDS
from banyan.models.embedding.embedder import Embedder
from banyan.tests.newest import dump_graph
from pydantic import SecretStr

# The columns of each table that depend neither on when something was done nor on running numbers.
_TABLES = {
    "documents": "id, title, text, source, tables",
    "chunks": 'id, document, ordinal, start, "end", heading, status',
    "extractions": "chunk, reasoner, extraction",
    "mentions": "*", "facts": "*", "attribute_values": "*",
    "rejections": "*", "repairs": "*", "schema_requests": "*", "communities": "*", "summaries": "*", "calls": "*",
    "failures": "chunk, reason, attempts",
    "schema_versions": "version, schema, base, decisions, who",
    "declined": "kind, name, who, why",
    "entity_aliases": "*", "entity_verdicts": "*", "entity_decisions": "verdict, first, second, who, why",
    "revisions": "*", "edits": "number, edit, who, why, undone_by",
}


def store_state(home: Path, name: str, embedder: Embedder, database: SecretStr | None = None) -> dict[str, Any]:
    """Read a knowledge base as plain data: ledger, graph, vectors, and the problems that `verify` finds.

    Args:
        home: the folder of knowledge bases.
        name: the knowledge base.
        embedder: the model that it was built with.
        database: has its ledger; None means a file in its folder.

    Returns:
        JSON data by part; the vectors' values by id, as digests of their bytes.
    """
    with KnowledgeBase.open(home, name, embedder, database=database) as kb:
        state: dict[str, Any] = {
            # Sources are whole paths: those below the working folder differ between equal runs.
            table: sorted(json.dumps([*row]).replace(f"{Path.cwd()}/", "")
                          for row in kb.database.rows(f"SELECT {columns} FROM {table}"))
            for table, columns in _TABLES.items()}
        # Which of several builds paid for something depends on when they ran.
        state["tokens"] = sorted(json.dumps([*row]) for row in kb.database.rows(
            "SELECT document, step, model, sum(calls), sum(prompt), sum(completion), sum(cached), sum(wasted_calls), "
            "sum(wasted) FROM tokens GROUP BY document, step, model"))
        state["graph"] = dump_graph(kb.graph)
        state["vectors"] = {kind: _vectors(kb, kind) for kind in KINDS}
        state["behind"] = [kb.tree.is_behind(), kb.vector_synchroniser.is_behind(),
                           len(kb.communities.find_undescribed())]
        state["verify"] = [problem.what for problem in verify(kb)]
    return state


def _vectors(kb: KnowledgeBase, kind: Any) -> dict[str, str]:
    ids = sorted(kb.vectors.ids(kind))
    values = kb.vectors.get(kind, ids)
    # Chroma normalises for cosine: equal vectors differ in their last bits.
    return {one: hashlib.sha256(np.round(row.astype(np.float64), 5).tobytes()).hexdigest()[:12]
            for one, row in zip(ids, values, strict=True)}


def differences(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Describe briefly in which parts two states differ, and how; empty if they are equal."""
    said = []
    for part in sorted(expected.keys() | found.keys()):
        before, after = expected.get(part), found.get(part)
        if before != after:
            said.append(f"{part}: {_how(before, after)}")
    return said


def _how(before: Any, after: Any) -> str:
    if isinstance(before, dict) and isinstance(after, dict):
        parts = [key for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)]
        return "; ".join(f"{key}: {_how(before.get(key), after.get(key))}" for key in parts[:3]) + f" ({len(parts)})"
    if isinstance(before, list) and isinstance(after, list):
        missing, extra = [x for x in before if x not in after], [x for x in after if x not in before]
        return f"{len(missing)} missing {str(missing[:1])[:160]}, {len(extra)} left over {str(extra[:1])[:160]}"
    return f"{str(before)[:120]} became {str(after)[:120]}"
