"""Display of a question's trace on the command line: a tree for each round."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.tree import Tree

from ..schemas.trace import TraceStep
from .console import on_a_line


def print_trace(console: Console, steps: Iterable[dict[str, Any]]) -> None:
    """Print a trace up to the answer."""
    for tree in _trees([TraceStep(**data) for data in steps]):
        console.print(tree)


def _trees(steps: Iterable[TraceStep]) -> list[Tree]:
    """Return a tree for the question, one for each round, and one for the answer.

    A thought is in the round whose lookups it asks for, or in the answer.
    """
    head, answer = Tree("[bold]question[/bold]"), Tree("[bold]answer[/bold]", guide_style="dim")
    rounds: dict[int, Tree] = {}

    def of(number: int) -> Tree:
        title = "first look" if number == 1 else f"round {number}"
        return rounds.setdefault(number, Tree(f"[bold]{title}[/bold]", guide_style="dim"))

    for step in steps:
        match step.step:
            case "question":
                head = Tree(f"[bold]question[/bold] {on_a_line(step.text)}")
            case "first_look" | "search":
                _add_findings(of(step.round), step)
            case "decompose" | "reflect":
                _add_thought(of(step.round + 1) if step.lookups else answer, step)
            case "answer":
                answer.label = f"[bold]answer[/bold] [dim]{step.grade or 'none'}[/dim]"
    return [head, *rounds.values(), answer]


def _add_findings(tree: Tree, step: TraceStep) -> None:
    title = f"[cyan]{on_a_line(step.text)}[/cyan] " if step.text else ""
    branch = tree.add(f"{title}[dim]{step.total} found[/dim]")
    for item in step.found:
        # Lines of the graph name their documents themselves.
        others = ", ".join(document for document in item.documents if document not in item.text)
        branch.add(on_a_line(item.text) + (f" [dim]\\[{on_a_line(others)}][/dim]" if others else ""))
    if step.total > len(step.found) > 0:
        branch.add("[dim]…[/dim]")
    _add_notes(branch, step)


def _add_thought(tree: Tree, step: TraceStep) -> None:
    if step.text:
        tree.add(on_a_line(step.text))
    _add_notes(tree, step)


def _add_notes(tree: Tree, step: TraceStep) -> None:
    for note in step.notes:
        tree.add(f"[yellow]{on_a_line(note)}[/yellow]")
