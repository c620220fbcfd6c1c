"""A report as Markdown."""

from .report import BenchReport
from .tables import Table, headline, tables


def to_markdown(report: BenchReport) -> str:
    """The report's text."""
    lines = [f"# {report.run.dataset}", "", headline(report), ""]
    if report.stopped:
        lines += [f"**Stopped:** {_cell(report.stopped)}", ""]
    if report.failures:
        lines += [f"**{len(report.failures)} failed**, the first: {_cell(report.failures[0])}", ""]
    return "\n".join([*lines, *(_table(table) for table in tables(report))])


def _table(table: Table) -> str:
    lines = [f"## {table.title}", "", _line(table.head), "|" + "---|" * len(table.head), *map(_line, table.rows), ""]
    return "\n".join([*lines, *([table.note, ""] if table.note else [])])


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
