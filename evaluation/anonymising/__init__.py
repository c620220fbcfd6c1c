"""Anonymised copies of texts, as AnonyRAG has them: a model cannot answer from memory what nobody is named in."""
