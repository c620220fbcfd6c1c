"""Banyan: schema-bounded knowledge graphs from documents, and answers with checked citations."""
