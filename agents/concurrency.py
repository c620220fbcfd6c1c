"""How many nodes of a build run at once."""

from ..config import Settings

_RULES_AT_ONCE = 2


def build_concurrency(settings: Settings) -> int:
    """The `max_concurrency` of a run of the construction graph.

    The rules keep a core busy; an endpoint keeps us waiting. LangGraph's stream takes up one worker of this many, and
    with a single one it waits for itself for ever.
    """
    return 1 + (settings.llm_concurrency if settings.llm_base_url else _RULES_AT_ONCE)
