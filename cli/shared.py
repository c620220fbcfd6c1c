"""What the files of the command line share: options, output, and the resources that a command opens."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from ..config import Settings
from ..schemas.errors import BanyanError
from .console import SafeConsole, print_json
from .logs import set_up_logs

if TYPE_CHECKING:
    from ..agents.resources import Resources

__all__ = ["AsJson", "CommandError", "Kb", "MaxCost", "MaxTokens", "err", "opened", "out", "print_json"]

Kb = Annotated[str, typer.Option("--kb", help="Name of the knowledge base.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
MaxTokens = Annotated[int | None, typer.Option(min=0, help="Stop cleanly when this many tokens were paid.")]
MaxCost = Annotated[float | None, typer.Option(min=0, help="Stop cleanly when this much was paid, by the prices in the "
                                                           "file that BANYAN_PRICES names.")]

out = SafeConsole()
err = SafeConsole(stderr=True)


class CommandError(BanyanError):
    """A command that cannot do what was asked, in words for the user."""


@contextmanager
def opened(*, reasons: bool = True) -> Iterator["Resources"]:
    """What a command works with; `reasons` says whether it needs a reasoner, which is then named."""
    from ..agents.resources import Resources  # noqa: PLC0415  (a second of imports that --help need not wait for)
    from ..runtime.cancellation import cancelled_by_ctrl_c  # noqa: PLC0415

    settings = Settings()
    set_up_logs(settings)
    with cancelled_by_ctrl_c(), Resources(settings) as resources:
        if reasons and not resources.settings.llm_base_url:
            err.print("[dim]No LLM is configured (BANYAN_LLM_BASE_URL): the rules reasoner is used.[/dim]")
        yield resources
