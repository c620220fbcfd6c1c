"""Records and the graph as tables that SQL can read, in a DuckDB file that is derived from the ledger."""
