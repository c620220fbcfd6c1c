"""What a knowledge base is about, in a few lines of the terminal."""

from functools import partial

from rich.table import Table

from ..agents.example_questions import TriedQuestions, note_examples
from ..agents.introduction import Introduction, introduce
from ..agents.resources import Resources
from .console import on_a_line


def introduce_in_terminal(resources: Resources, kb: str) -> Introduction:
    """Return the introduction to a knowledge base, whose example questions are tried unless they were before."""
    return introduce(resources, kb, partial(TriedQuestions(resources).answer, kb))


def note_introduction(resources: Resources, kb: str) -> Introduction:
    """Return the introduction to a knowledge base that was built just now, and store its examples."""
    introduction = introduce_in_terminal(resources, kb)
    with resources.writers.single_step(kb) as written:
        note_examples(written, introduction.examples)
    return introduction


def introduction_table(introduction: Introduction) -> Table:
    """Return an introduction as lines with their names."""
    table = Table.grid(padding=(0, 2))
    for name, said in introduction.lines():
        for number, line in enumerate(said.split("\n")):
            table.add_row(f"  [dim]{'' if number else name}[/dim]", on_a_line(line))
    return table
