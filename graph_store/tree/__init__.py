"""The knowledge tree: communities, levels, keywords, views."""
