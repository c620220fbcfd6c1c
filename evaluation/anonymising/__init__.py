"""Anonymised copies of texts, as in AnonyRAG: a model cannot answer from memory, because no one is named."""
