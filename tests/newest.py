"""What a test reads of a knowledge base: its newest snapshot."""

from banyan.agents.resources import Resources
from banyan.agents.snapshots import Snapshot
from banyan.schemas.scope import EVERYTHING, Scope


def newest(resources: Resources, name: str = "kb", scope: Scope = EVERYTHING) -> Snapshot:
    """Return the newest snapshot, which is open until another one takes its place."""
    with resources.snapshot(name, scope) as snapshot:
        return snapshot
