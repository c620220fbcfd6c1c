"""The ledger's tables, and what a later version will change in them."""

from collections.abc import Sequence

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE documents (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL, source TEXT NOT NULL, metadata TEXT NOT NULL,
    pages TEXT NOT NULL, added_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
CREATE TABLE revisions (
    document TEXT PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    title TEXT NOT NULL, text TEXT NOT NULL, source TEXT NOT NULL, metadata TEXT NOT NULL,
    pages TEXT NOT NULL, chunks TEXT NOT NULL);
CREATE TABLE chunks (
    id TEXT PRIMARY KEY, document TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    ordinal INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, heading TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'extracted', 'done', 'failed')),
    revision INTEGER NOT NULL DEFAULT 0);
CREATE INDEX chunks_by_document ON chunks (document, ordinal);
CREATE INDEX chunks_to_do ON chunks (status, document, ordinal) WHERE status <> 'done';

CREATE TABLE extractions (
    chunk TEXT PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
    reasoner TEXT NOT NULL, extraction TEXT NOT NULL, bounded TEXT);
CREATE TABLE failures (
    chunk TEXT PRIMARY KEY REFERENCES chunks ON DELETE CASCADE, reason TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 1,
    failed_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
CREATE TABLE rejections (
    chunk TEXT NOT NULL REFERENCES chunks ON DELETE CASCADE, document TEXT NOT NULL,
    reason TEXT NOT NULL, label TEXT NOT NULL, text TEXT NOT NULL,
    subject_type TEXT NOT NULL, object_type TEXT NOT NULL, confidence REAL NOT NULL);
CREATE INDEX rejections_by_chunk ON rejections (chunk);
CREATE INDEX rejections_by_label ON rejections (reason, label);
CREATE TABLE repairs (
    chunk TEXT NOT NULL REFERENCES chunks ON DELETE CASCADE, repair TEXT NOT NULL, times INTEGER NOT NULL,
    PRIMARY KEY (chunk, repair)) WITHOUT ROWID;
CREATE TABLE changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, chunk TEXT NOT NULL);

CREATE TABLE schema_versions (
    version INTEGER PRIMARY KEY, schema TEXT NOT NULL, base TEXT NOT NULL, decisions TEXT NOT NULL, who TEXT NOT NULL,
    decided_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
CREATE TABLE declined (
    kind TEXT NOT NULL, name TEXT NOT NULL, who TEXT NOT NULL, why TEXT NOT NULL,
    decided_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    PRIMARY KEY (kind, name)) WITHOUT ROWID;
CREATE TABLE schema_requests (
    chunk TEXT NOT NULL REFERENCES chunks ON DELETE CASCADE, document TEXT NOT NULL,
    kind TEXT NOT NULL, label TEXT NOT NULL, subject_type TEXT NOT NULL, object_type TEXT NOT NULL,
    item TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, confidence REAL NOT NULL,
    declared INTEGER NOT NULL);
CREATE INDEX schema_requests_by_chunk ON schema_requests (chunk);
CREATE INDEX schema_requests_by_label ON schema_requests (kind, label);

CREATE TABLE entity_aliases (
    id TEXT PRIMARY KEY, canonical TEXT NOT NULL, type TEXT NOT NULL, partner TEXT NOT NULL, rule TEXT NOT NULL,
    score REAL NOT NULL, evidence TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entity_verdicts (
    first TEXT NOT NULL, second TEXT NOT NULL, same INTEGER NOT NULL, confidence REAL NOT NULL,
    reasoner TEXT NOT NULL, PRIMARY KEY (first, second)) WITHOUT ROWID;
CREATE TABLE entity_decisions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, verdict TEXT NOT NULL, first TEXT NOT NULL, second TEXT NOT NULL,
    who TEXT NOT NULL, why TEXT NOT NULL,
    decided_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
CREATE TABLE edits (
    number INTEGER PRIMARY KEY AUTOINCREMENT, edit TEXT NOT NULL, who TEXT NOT NULL, why TEXT NOT NULL,
    decided_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    undone_by TEXT NOT NULL DEFAULT '', undone_at TEXT NOT NULL DEFAULT '');

CREATE TABLE communities (
    view TEXT NOT NULL, id TEXT NOT NULL, level INTEGER NOT NULL, parent TEXT NOT NULL, cohesion REAL NOT NULL,
    label TEXT NOT NULL, keywords TEXT NOT NULL, members TEXT NOT NULL, marks TEXT NOT NULL, PRIMARY KEY (view, id));
CREATE TABLE summaries (id TEXT PRIMARY KEY, name TEXT NOT NULL, summary TEXT NOT NULL);

CREATE TABLE calls (
    key TEXT PRIMARY KEY, step TEXT NOT NULL, response TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE tokens (
    build TEXT NOT NULL, document TEXT NOT NULL, step TEXT NOT NULL, model TEXT NOT NULL,
    calls INTEGER NOT NULL, prompt INTEGER NOT NULL, completion INTEGER NOT NULL, cached INTEGER NOT NULL,
    wasted_calls INTEGER NOT NULL, wasted INTEGER NOT NULL,
    PRIMARY KEY (build, document, step, model)) WITHOUT ROWID;

CREATE TABLE cached_vectors (
    purpose TEXT NOT NULL, text TEXT NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (purpose, text));
"""
"""Format 1. Once a version was released, this stays as it is, and what changes is a migration."""

MIGRATIONS: Sequence[str] = ()
"""Statements, separated by semicolons, that make format 2 of format 1, format 3 of format 2, and so on. A new ledger
is made of `TABLES` and all of them, so that it equals one that was brought up."""
