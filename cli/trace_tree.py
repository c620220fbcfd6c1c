"""Display of a question's trace on the command line: a tree for each round."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.tree import Tree

from ..schemas.trace import TracedSubQuery, TraceStep
from .console import on_a_line


def print_trace(console: Console, steps: Iterable[dict[str, Any]]) -> None:
    """Print a trace up to the answer."""
    for tree in _trees([TraceStep(**data) for data in steps]):
        console.print(tree)
    console.print("[bold]answer[/bold]")


def _trees(steps: Sequence[TraceStep]) -> list[Tree]:
    """Return a tree for the question, and one for each round."""
    rounds: dict[int, _Round] = {}
    head = Tree("")
    for step in steps:
        this = rounds.setdefault(step.round, _Round(step.round))
        if step.step == "question":
            head = Tree(f"[bold]question[/bold] {on_a_line(step.text)}")
        elif step.step == "decompose":
            this.sub_queries(step.sub_queries)
            this.notes(step.notes)
        elif step.step == "search":
            this.search(step)
        elif step.step == "survey":
            this.survey(step)
        elif step.step == "fuse":
            this.passages(step)
        elif step.step == "reflect":
            this.reflection(step)
            if step.sub_queries:
                rounds[step.round + 1] = _Round(step.round + 1)
                rounds[step.round + 1].sub_queries(step.sub_queries)
    return [head, *(shown.tree for shown in rounds.values())]


class _Round:
    """One round: its sub-queries with the results of each route, the passages, and the reflection."""

    def __init__(self, number: int) -> None:
        self.tree = Tree(f"[bold]round {number}[/bold]", guide_style="dim")
        self._branches: dict[int, Tree] = {}

    def sub_queries(self, queries: Sequence[TracedSubQuery]) -> None:
        for query in queries:
            follows = f"follows {', '.join(map(str, query.follows))}" if query.follows else ""
            elements = ", ".join((*query.entity_types, *query.relations, *query.attributes))
            said = on_a_line("; ".join(part for part in (follows, elements) if part))
            line = f"{query.number} {on_a_line(query.question)} [dim]{said}[/dim]"
            self._branches[query.number] = self.tree.add(line)

    def search(self, step: TraceStep) -> None:
        branch = self._branches[step.number or 0].add(f"[cyan]{step.route}[/cyan] [dim]{step.total} found[/dim]")
        for item in step.found:
            sources = f" [dim]\\[{on_a_line(', '.join(item.documents))}][/dim]" if item.documents else ""
            how = f" [dim]({on_a_line(item.how)})[/dim]" if item.how else ""
            branch.add(f"{item.score:.2f} {on_a_line(item.text)}{sources}{how}")

    def survey(self, step: TraceStep) -> None:
        branch = self.tree.add(f"[cyan]survey[/cyan] [dim]{step.total} reports and facts read[/dim]")
        for item in step.found:
            branch.add(f"{item.score:.2f} {on_a_line(item.text)} [dim]\\[{on_a_line(', '.join(item.documents))}][/dim]")

    def passages(self, step: TraceStep) -> None:
        said = f"; {step.text}" if step.text else ""
        branch = self.tree.add(f"[cyan]passages[/cyan] [dim]best of {step.total}{on_a_line(said)}[/dim]")
        for passage in step.passages:
            branch.add(f"{passage.score:.2f} {on_a_line(passage.title)} [dim]\\[{on_a_line(passage.document)}][/dim]")

    def reflection(self, step: TraceStep) -> None:
        missing = f"not sufficient: {step.text}" if step.text else "not sufficient"
        branch = self.tree.add(f"[cyan]reflection[/cyan] {on_a_line('sufficient' if step.sufficient else missing)}")
        for item in step.sub_answers:
            branch.add(f"{on_a_line(item.question)} [dim]->[/dim] {on_a_line(item.answer or '?')}")
        self.notes(step.notes)

    def notes(self, notes: Sequence[str]) -> None:
        for note in notes:
            self.tree.add(f"[yellow]{on_a_line(note)}[/yellow]")
