"""How the command line shows what was spent."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from .console import on_a_line

if TYPE_CHECKING:
    from ..graph_store.integrity.status import Status
    from ..graph_store.ledger.accounts import Spent

_SHOWN_BUILDS = 5


def money(cost: float | None) -> str:
    """A cost, or that it is not known."""
    return "unknown" if cost is None else f"{cost:.6g}"


def spending(status: "Status") -> Table:
    """What was spent by step, by the latest builds, and for the dearest documents."""
    table = Table("spent on", "calls", "prompt", "cached", "completion", "wasted", "cost", title="Spent")
    parts: list[tuple[str, Sequence[Spent]]] = [
        ("step", status.spent_by_step), ("build", status.spent_by_build[-_SHOWN_BUILDS:]),
        ("document", status.dearest_documents)]
    for what, rows in parts:
        for one in rows:
            name = f"{what} {on_a_line(one.name)}" if one.name else f"no {what}"
            table.add_row(name, str(one.calls), str(one.prompt), str(one.cached), str(one.completion),
                          str(one.wasted), money(one.cost))
        table.add_section()
    whole = status.spent
    table.add_row("all", str(whole.calls), str(whole.prompt), str(whole.cached), str(whole.completion),
                  str(whole.wasted), money(whole.cost))
    return table
