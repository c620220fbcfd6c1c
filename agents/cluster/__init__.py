"""Builds on Ray: workers read, embed and extract by the rules; the process that builds does the rest."""
