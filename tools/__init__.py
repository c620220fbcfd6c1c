"""Retrieval: the ranking of passages over the index, and the lookups, each of which is also a LangChain tool."""
