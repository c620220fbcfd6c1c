"""A report as tables of texts: a title, a head and rows, for Markdown and for the terminal."""

from typing import NamedTuple

from .bench_report import BenchReport, Figure, Row
from .published import published_figures


class Table(NamedTuple):
    """A table; the first cell of each row is its name."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def tables(report: BenchReport) -> list[Table]:
    """Return the tables of a report, except empty ones."""
    drawn = [_answers(report), _retrieval(report), _facts(report), _evidence(report), _types(report), _grades(report),
            _pairs(report), _agreement(report), _costs(report), _bases(report), _published_table(report)]
    return [table for table in drawn if table.rows]


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
    rows = [row for row in report.rows if row.recall]
    cuts = list(rows[0].recall) if rows else []
    return Table("Recall of gold documents, in %", ("arm", *(f"@{cut}" for cut in cuts), "@5 against the first"),
                 tuple((row.arm, *(figure(row.recall[cut]) for cut in cuts), figure(row.recall_change, signed=True))
                       for row in rows))


def _facts(report: BenchReport) -> Table:
    return Table("Ranking of passages by their facts, in %", ("arm", "Hits@4", "Hits@10", "MAP@10", "MRR@10"),
                 tuple((row.arm, *map(figure, row.facts.values())) for row in report.rows if row.facts))


def _evidence(report: BenchReport) -> Table:
    return Table("Evidence by type, in %", ("arm", "type", "questions", "relevancy", "recall", "F1"),
                 tuple((row.arm, kind, f"{values['questions']:.0f}", f"{values['relevancy']:.1f}",
                        f"{values['recall']:.1f}", f"{values['f1']:.1f}")
                       for row in report.rows for kind, values in row.evidence.items()))


def _types(report: BenchReport) -> Table:
    return Table("By type of question, in %", ("arm", "type", "questions", "accuracy", "F1", "coverage", "recall@5"),
                 tuple((row.arm, kind, f"{values['questions']:.0f}",
                        *(f"{values[name]:.1f}" if name in values else "–"
                          for name in ("accuracy", "f1", "coverage", "recall@5")))
                       for row in report.rows for kind, values in row.by_type.items()))


def _grades(report: BenchReport) -> Table:
    return Table("By how the evidence supports the answer", ("arm", "support", "answers", "right %"),
                 tuple((row.arm, grade, f"{values['answers']:.0f}", f"{values['right']:.1f}")
                       for row in report.rows for grade, values in row.grades.items()),
                 "Inferred: one link of the answer is not stated. None: the model's own knowledge.")


def _pairs(report: BenchReport) -> Table:
    return Table("Anonymity Reversion, by pair, in %", ("arm", "ids", "precision", "recall", "F1"),
                 tuple((row.arm, f"{row.pairs['ids']:.0f}", f"{row.pairs['precision']:.1f}",
                        f"{row.pairs['recall']:.1f}", f"{row.pairs['f1']:.1f}") for row in report.rows if row.pairs))


def _agreement(report: BenchReport) -> Table:
    return Table("Agreement with the judge, in % of the judged answers", ("arm", "EM", "F1 from 0.5 on", "contained"),
                 tuple((row.arm, *(f"{value:.1f}" for value in row.agreement.values()))
                       for row in report.rows if row.agreement))


def _costs(report: BenchReport) -> Table:
    def cost(row: Row) -> tuple[str, ...]:
        return (row.arm, f"{row.calls:.2f}", f"{row.prompt_tokens:.0f}", f"{row.completion_tokens:.0f}",
                str(row.judge_tokens), f"{row.seconds['p50']:.2f}", f"{row.seconds['p95']:.2f}")

    return Table("A question", ("arm", "calls", "prompt tokens", "completion tokens", "judge's tokens in all", "p50 s",
                                "p95 s"), tuple(map(cost, report.rows)))


def _bases(report: BenchReport) -> Table:
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
