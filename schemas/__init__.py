"""Typed models shared by all parts of Banyan: documents, schema, extraction, retrieval."""
