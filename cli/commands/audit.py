"""`banyan audit`: who changed what."""

from typing import Annotated

import typer
from rich.table import Table

from ...config import Settings
from ...runtime.audit import entries
from ..console import on_a_line, out, print_json
from ..session import AsJson

app = typer.Typer()


@app.command()
def audit(kb: Annotated[str, typer.Option("--kb", help="Only changes of this knowledge base.")] = "", *,
          as_json: AsJson = False) -> None:
    """List who changed which knowledge base, and who created and revoked keys."""
    home = Settings().home
    found = [entry for entry in (entries(home) if home.is_dir() else ()) if kb in {"", entry.knowledge_base}]
    if as_json:
        print_json([entry.model_dump() for entry in found])
        return
    table = Table("time", "who", "action", "knowledge base", "what")
    for entry in found:
        table.add_row(*(on_a_line(value) for value in (entry.time, entry.who, entry.action, entry.knowledge_base,
                                                       entry.what)))
    out.print(table)
