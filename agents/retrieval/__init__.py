"""The retrieval graph: a question in, an answer with checked citations out. Read `graph` first."""
