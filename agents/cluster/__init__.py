"""Builds on Ray: workers read, cut, embed and extract by the rules; the process that builds does the rest."""
