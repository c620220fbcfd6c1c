"""`banyan instructions`: how a model is to word the answers of a knowledge base."""

from typing import Annotated

import typer

from ..console import escape, out
from ..session import Kb, opened

app = typer.Typer()


@app.command()
def instructions(
    kb: Kb,
    text: Annotated[str | None, typer.Argument(help="The new instructions; omit to show the current ones.")] = None,
    *,
    clear: Annotated[bool, typer.Option("--clear", help="Remove the instructions.")] = False,
) -> None:
    """Show or set how a model is to word the answers of a knowledge base.

    Citations are checked all the same.
    """
    with opened(reasons=False) as resources:
        if text is not None or clear:
            resources.instruct(kb, text or "")
        current = resources.knowledge_base(kb).instructions.get()
    out.print(escape(current) if current else "[dim]no instructions[/dim]", soft_wrap=True)
