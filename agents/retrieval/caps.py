"""Limits on what one question may cost."""

from dataclasses import dataclass, replace

from ...config import Settings
from ...schemas.errors import BanyanError
from .state import AskContext


class CapError(BanyanError):
    """A cap on a question's cost allows no lookup at all."""


@dataclass(frozen=True)
class Caps:
    """Limits on what one question may cost: rounds of lookups after the first look, and lookups over all rounds."""

    rounds: int
    tool_calls: int

    def __post_init__(self) -> None:
        """Check that each limit allows at least one lookup; raise a CapError if not."""
        for name, value in vars(self).items():
            if value < 1:
                raise CapError(f"max_{name} is {value}, which allows no lookup: give 1 or more")


def caps_of(context: AskContext, settings: Settings, *, served: bool) -> Caps:
    """Return the context's caps; where the context sets none (None), the settings' cap applies.

    A client of a server (`served`) may only lower the settings' caps: the operator decides what a question may cost.
    """
    configured = Caps(rounds=settings.max_rounds, tool_calls=settings.max_tool_calls)
    requested = {"rounds": context.max_rounds, "tool_calls": context.max_tool_calls}
    caps = replace(configured, **{name: cap for name, cap in requested.items() if cap is not None})
    if not served:
        return caps
    return Caps(rounds=min(caps.rounds, configured.rounds), tool_calls=min(caps.tool_calls, configured.tool_calls))


def rounds_allowed(context: AskContext, caps: Caps) -> int:
    """Return how many rounds of lookups may follow the first look.

    With the agent off, the only round is the one that `decompose` asks for; with both off, there is none.
    """
    return caps.rounds if context.agent else int(context.decompose)
