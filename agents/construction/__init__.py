"""The construction graph: documents in, knowledge base out. Read `graph` first."""
