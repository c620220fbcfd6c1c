"""`banyan key`: who may use the server, and for what."""

from typing import Annotated

import typer
from rich.table import Table

from ...config import Settings
from ...server.security.keys import SCOPES, Keys, Scope
from ..console import err, out
from ..errors import CommandError

app = typer.Typer()


@app.command()
def key(
    name: Annotated[str, typer.Argument(help="The client's name; none: list the keys.")] = "",
    scope: Annotated[list[str] | None, typer.Option(help="What it may do: read, ask, write (build, delete) or review "
                                                         "(decide on the schema). May be repeated.")] = None,
    *, revoke: Annotated[bool, typer.Option("--revoke", help="Revoke the key.")] = False,
) -> None:
    """Make, list or revoke API keys of the server.

    A new key is shown once, and replaces the client's earlier key.
    """
    keys = Keys.of(Settings())
    if not name:
        table = Table("client", "scopes", "created")
        for known in keys.all():
            table.add_row(known.name, ", ".join(known.scopes), known.created_at)
        out.print(table)
    elif revoke:
        keys.revoke(name)
        err.print(f"revoked: {name}" if keys.all() else f"revoked: {name}; no key is left, so the server answers "
                  "nobody: make another one, or delete the file of keys to open it to this machine again")
    else:
        wanted: list[Scope] = [known for known in SCOPES if known in (scope or ())]
        if not scope or len(wanted) != len(set(scope)):
            raise CommandError(f"name what the key may do: --scope with one of {', '.join(SCOPES)}; may be repeated")
        secret = keys.make(name, wanted)
        err.print("send it as `Authorization: Bearer KEY`; it is not shown again:")
        out.print(secret, soft_wrap=True)
