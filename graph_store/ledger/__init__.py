"""The one source of truth: the tables of the SQLite ledger."""
