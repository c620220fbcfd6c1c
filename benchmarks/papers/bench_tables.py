"""A report as tables of texts, for Markdown and the terminal, with published figures beside it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .bench_report import ArmRow, BenchReport, Figure
from .results import Run

_COLUMNS = (("hotpotqa", "open"), ("hotpotqa", "reject"), ("2wiki", "open"), ("2wiki", "reject"), ("musique", "open"),
            ("musique", "reject"), ("gbench", "open"))
_PASSAGES = (20, 10)
YOUTU = "Youtu-GraphRAG (arXiv 2508.19855), accuracy judged by DeepSeek-V3-0324, which also answers"
# From its tables 1 and 2: for each method, the figures with 20 and with 10 passages. A dash is not in the paper.
_ACCURACY = """
Zero-shot LLM|53.70 - 41.6 - 25.7 - 70.92|- - - - - - -
Naive RAG|79.90 72.40 70.3 38.9 47.49 30.63 71.81|79.40 68.00 67.60 33.70 45.58 26.73 71.22
RAPTOR|80.90 73.60 70.10 38.40 48.50 31.10 73.08|78.20 67.10 67.40 36.40 45.88 30.03 72.79
LightRAG|71.90 56.00 58.00 29.20 38.98 24.57 70.83|71.98 58.10 65.70 38.10 39.40 22.90 69.74
GraphRAG|56.10 26.40 41.80 10.00 32.20 16.50 75.54|54.30 23.70 40.00 9.80 30.20 16.00 61.39
HippoRAG|81.70 73.10 77.90 64.00 48.30 36.20 72.89|78.20 69.40 77.10 61.10 45.20 30.90 70.14
HippoRAG2|81.80 74.90 77.30 48.30 50.80 37.80 79.37|79.40 70.40 74.60 45.80 49.10 34.00 77.21
Youtu-GraphRAG w/o agent|83.70 75.30 72.80 57.80 51.40 40.00 81.53|80.50 72.10 72.10 54.40 49.80 38.30 80.55
Youtu-GraphRAG|86.50 81.20 85.50 77.60 53.60 47.50 86.54|83.40 78.90 82.30 72.60 52.10 46.90 83.50
"""
UNIAI = "UniAI-GraphRAG (its Table 2, average over types), relevancy / recall / F1 of the evidence"
_EVIDENCE = {"Dify naive RAG": "46.00 / 54.82 / 50.03", "Wanwu naive RAG": "62.94 / 76.73 / 69.15",
             "LightRAG": "61.19 / 80.98 / 69.71", "UniAI-GraphRAG": "64.47 / 81.16 / 72.48"}


class Table(NamedTuple):
    """A table; the first cell of each row is its name."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def tables(report: BenchReport) -> list[Table]:
    """Return the tables of a report, except empty ones."""
    rows = report.rows
    pairs = ((row.arm, {"pairs": row.pairs} if row.pairs else {}) for row in rows)
    all_tables = [
        _answers(report), _retrieval(report), _facts(report),
        _group_table("Evidence by type, in %", ((row.arm, row.evidence) for row in rows), "type", "questions",
                     ("relevancy", "recall", "f1")),
        _group_table("By type of question, in %", ((row.arm, row.by_type) for row in rows), "type", "questions",
                     ("accuracy", "f1", "coverage", "recall@5")),
        _group_table("By how the evidence supports the answer", ((row.arm, row.grades) for row in rows), "support",
                     "answers", ("right",), "Right in %. Inferred: one link of the answer is not stated. None: the "
                                            "model's own knowledge."),
        _group_table("Anonymity Reversion, in %", pairs, "of", "ids", ("precision", "recall", "f1")),
        _costs(report), _bases(report), _published_table(report)]
    return [table for table in all_tables if table.rows]


def headline(report: BenchReport) -> str:
    """Describe the run in one line."""
    run = report.run
    judge = f"judged by {report.judge}" if report.judge else "without a judge"
    return (f"{report.questions} questions over {report.documents} documents; mode {run.mode}, top {run.top_k}; "
            f"{run.model}, embeddings {run.embedding}, schema {run.schema_name}"
            f"{f', triples of {run.recorded}' if run.recorded else ''}; {judge}")


def figure(value: Figure | None, *, signed: bool = False) -> str:
    """Format a value with its interval, as in "62.0 [57.1, 66.9]"; a dash for None."""
    if value is None:
        return "–"
    sign = "+" if signed else ""
    return f"{value.value:{sign}.1f} [{value.low:{sign}.1f}, {value.high:{sign}.1f}]"


def _answers(report: BenchReport) -> Table:
    """Return the table of the answers' scores by arm."""
    return Table(
        "Answers", ("arm", "what it is", "questions", "accuracy %", "against the first", "coverage %",
                    "EM", "F1", "contained", "declined %", "null questions declined %"),
        tuple((row.arm, row.about, str(row.questions), figure(row.accuracy), figure(row.change, signed=True),
               f"{row.coverage.value:.1f}" if row.coverage else "–", f"{row.exact_match.value:.1f}",
               f"{row.f1.value:.1f}", f"{row.contained.value:.1f}", f"{row.declined:.1f}",
               f"{row.null_declined:.1f} of {row.null_questions}" if row.null_questions else "–")
              for row in report.rows if row.questions and report.run.answers),
        "Brackets hold 95 % bootstrap intervals over the questions. A declined question counts as wrong.")


def _retrieval(report: BenchReport) -> Table:
    """Return the table of recall at each cut-off by arm."""
    rows = [row for row in report.rows if row.recall]
    cuts = list(rows[0].recall) if rows else []
    return Table("Recall of gold documents, in %", ("arm", *(f"@{cut}" for cut in cuts), "@5 against the first"),
                 tuple((row.arm, *(figure(row.recall[cut]) for cut in cuts), figure(row.recall_change, signed=True))
                       for row in rows))


def _facts(report: BenchReport) -> Table:
    return Table("Ranking of passages by their facts, in %", ("arm", "Hits@4", "Hits@10", "MAP@10", "MRR@10"),
                 tuple((row.arm, *map(figure, row.facts.values())) for row in report.rows if row.facts))


def _group_table(title: str, groups: Iterable[tuple[str, Mapping[Any, Mapping[str, float]]]], kind: str, count: str,
                 shares: Sequence[str], note: str = "") -> Table:
    """Return a table with a row for each arm and group, such as a type of question."""
    rows = tuple((arm, group, f"{values[count]:.0f}", *(f"{values[name]:.1f}" if name in values else "–"
                                                        for name in shares))
                 for arm, by_group in groups for group, values in by_group.items())
    return Table(title, ("arm", kind, count, *("F1" if name == "f1" else name for name in shares)), rows, note)


def _costs(report: BenchReport) -> Table:
    """Return the table of calls, tokens and seconds of a question by arm."""
    def cost(row: ArmRow) -> tuple[str, ...]:
        return (row.arm, f"{row.calls:.2f}", f"{row.prompt_tokens:.0f}", f"{row.completion_tokens:.0f}",
                str(row.judge_tokens), f"{row.seconds['p50']:.2f}", f"{row.seconds['p95']:.2f}")

    return Table("A question", ("arm", "calls", "prompt tokens", "completion tokens", "judge's tokens in all", "p50 s",
                                "p95 s"), tuple(map(cost, report.rows)))


def _bases(report: BenchReport) -> Table:
    """Return the table of the knowledge bases that were built, with the cost of building them."""
    return Table(
        "Construction", ("schema", "knowledge base", "documents", "entities", "triples", "communities", "seconds",
                         "tokens by step"),
        tuple((schema, base.name, *map(str, (base.documents, base.entities, base.triples, base.communities)),
               f"{base.seconds:.1f}", ", ".join(f"{step} {count}" for step, count in base.tokens.items()) or "none")
              for schema, base in report.bases.items()))


def _published_table(report: BenchReport) -> Table:
    source, figures = published_figures(report.run)
    return Table(f"Published: {source}", ("method", "figure"), tuple(figures.items()),
                 "Other models, prompts and samples: for orientation.")


def to_markdown(report: BenchReport) -> str:
    """Write the report as Markdown."""
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


def published_figures(run: Run) -> tuple[str, dict[str, str]]:
    """Return the figures that a paper published for a run's dataset, mode and number of passages.

    Returns:
        The source, and the figures by method; empty if no paper has any.
    """
    if run.dataset == "multihop-rag":
        return UNIAI, dict(_EVIDENCE)
    if run.top_k not in _PASSAGES or (run.dataset, run.mode) not in _COLUMNS:
        return "", {}
    rows = [line.split("|") for line in _ACCURACY.strip().splitlines()]
    # A row has the method's name, then the figures of the tables; those of a table are separated by spaces.
    table, column = _PASSAGES.index(run.top_k) + 1, _COLUMNS.index((run.dataset, run.mode))
    figures = {row[0]: row[table].split()[column] for row in rows}
    return f"{YOUTU}, top {run.top_k}", {method: figure for method, figure in figures.items() if figure != "-"}
