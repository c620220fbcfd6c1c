"""What commands share: their common options, and the resources that they open."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

import typer

from ..agents.resources import Resources
from ..config import Settings
from ..runtime.cancellation import cancelled_by_ctrl_c
from .console import err
from .logs import set_up_logs

Kb = Annotated[str, typer.Option("--kb", help="Name of the knowledge base.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
MaxTokens = Annotated[int | None, typer.Option(min=0, help="Stop cleanly when this many tokens were paid.")]
MaxCost = Annotated[float | None, typer.Option(min=0, help="Stop cleanly when this much was paid, by the prices in the "
                                                           "file that BANYAN_PRICES names.")]
AnswerMode = Annotated[Literal["reject", "open"], typer.Option(help="open: own knowledge allowed, and marked.")]
NoAgent = Annotated[bool, typer.Option("--no-agent", help="One round, no decomposition.")]


@contextmanager
def opened(*, reasons: bool = True) -> Iterator[Resources]:
    """The resources of a command. With `reasons` it needs a reasoner, and is told which one is used."""
    settings = Settings()
    set_up_logs(settings)
    with cancelled_by_ctrl_c(), Resources(settings) as resources:
        if reasons and not resources.settings.llm_base_url:
            err.print("[dim]No LLM is configured (BANYAN_LLM_BASE_URL): the rules reasoner is used.[/dim]")
        yield resources
