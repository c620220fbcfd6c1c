"""Builds on Ray: workers read, embed and extract by the rules; the process that builds does the rest."""

from ...schemas.errors import BanyanError


class ClusterError(BanyanError):
    """The cluster cannot be used: Ray is not installed, nothing answers, or its workers do not fit this process."""
