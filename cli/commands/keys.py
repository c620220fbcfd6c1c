"""`banyan key`: who may use the server, and for what."""

from typing import Annotated

import typer
from rich.table import Table

from ...config import Settings
from ...graph_store.layout import knowledge_bases
from ...server.security.allowances import spent_today
from ...server.security.keys import SCOPES, Keys, Scope
from ..console import err, on_a_line, out
from ..errors import CommandError

app = typer.Typer()


@app.command()
def key(
    name: Annotated[str, typer.Argument(help="The client's name; none: list the keys.")] = "",
    scope: Annotated[list[str] | None, typer.Option(help="What it may do: read, ask, write (build, delete), review "
                                                         "(decide on the schema) or metrics. May be repeated.")] = None,
    kb: Annotated[list[str] | None, typer.Option(help="A knowledge base that it is for; of others it is told nothing. "
                                                      "May be repeated; none: all.")] = None,
    per_minute: Annotated[int | None, typer.Option(min=1, help="Requests that it may send in a minute; none: "
                                                               "BANYAN_REQUESTS_PER_MINUTE.")] = None,
    tokens_per_day: Annotated[int | None, typer.Option(min=1, help="Tokens of models that it may spend in a day of "
                                                                   "UTC; none: any number.")] = None,
    *, revoke: Annotated[bool, typer.Option("--revoke", help="Revoke the key.")] = False,
) -> None:
    """Make, list or revoke API keys of the server.

    A new key is shown once, and replaces the client's earlier key. A key with --kb makes, renames and drops, with the
    scope write, knowledge bases of these names and no others; it goes by names, whatever stands under them.
    """
    settings = Settings()
    keys = Keys.of(settings)
    if not name:
        out.print(_table(settings, keys))
    elif revoke:
        keys.revoke(name)
        err.print(f"revoked: {name}" if keys.all() else f"revoked: {name}; no key is left, so the server answers "
                  "nobody: make another one, or delete the file of keys (in PostgreSQL the rows of banyan.banyan_keys) "
                  "to open it to this machine again", soft_wrap=True)
    else:
        wanted: list[Scope] = [known for known in SCOPES if known in (scope or ())]
        if not scope or len(wanted) != len(set(scope)):
            raise CommandError(f"name what the key may do: --scope with one of {', '.join(SCOPES)}; may be repeated")
        secret = keys.make(name, wanted, kb or (), per_minute, tokens_per_day)
        for missing in sorted({*(kb or ())} - {*knowledge_bases(settings)}):
            err.print(f"there is no knowledge base {on_a_line(missing)} yet; the key is for it when there is",
                      soft_wrap=True)
        err.print("send it as `Authorization: Bearer KEY`; it is not shown again:")
        out.print(secret, soft_wrap=True)


def _table(settings: Settings, keys: Keys) -> Table:
    table = Table("client", "scopes", "knowledge bases", "a minute", "tokens a day", "spent today", "created")
    spent = spent_today(settings) if any(known.tokens_per_day for known in keys.all()) else {}
    for known in keys.all():
        table.add_row(known.name, ", ".join(known.scopes),
                      "all" if known.knowledge_bases is None else ", ".join(known.knowledge_bases),
                      str(known.requests_per_minute or ""), str(known.tokens_per_day or ""),
                      str(spent.get(known.name, 0) if known.tokens_per_day else ""), known.created_at)
    return table
