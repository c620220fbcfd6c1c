"""`banyan schema`: look at a knowledge base's schema, its history and what waits; decide; propose a seed."""

import getpass
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer
from rich.prompt import Prompt
from rich.table import Table

from ..schemas.delta import Candidate, Decision, Verdict
from ..schemas.graph_schema import GraphSchema, SchemaElement
from .console import escape, on_a_line
from .progress import track
from .shared import AsJson, CommandError, Kb, MaxTokens, err, opened, out, print_json

if TYPE_CHECKING:
    from ..agents.resources import Resources
    from ..schemas.diff import ElementChange

schema_app = typer.Typer(no_args_is_help=True, help="The schema: what it is, how it came to be, what waits for it.")

Form = Annotated[Literal["json", "yaml"] | None, typer.Option("--format", help="Print it so; none: as a table.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write it to this file (.json, .yaml).")]

_MARKS = {"added": "[green]+[/green]", "removed": "[red]-[/red]", "changed": "[yellow]~[/yellow]"}
_CHOICES = ["accept", "reject", "rename", "merge", "edit", "wait", "all", "quit"]
_ALL_CHOICES = ["accept", "reject", "wait"]
_DEFAULT_SAMPLE = 40


@schema_app.command()
def show(
    schema: Annotated[str, typer.Argument(help="A seed schema or a file, in the place of --kb.")] = "",
    kb: Annotated[str, typer.Option("--kb", help="Name of the knowledge base.")] = "",
    version: Annotated[int, typer.Option(min=0, help="Of the knowledge base's versions; 0: the one in force.")] = 0,
    diff: Annotated[tuple[int, int] | None, typer.Option(help="What changed between two versions.")] = None,
    form: Form = None, output: Output = None, *, as_json: AsJson = False,
) -> None:
    """Show a schema: in force, of a version, a seed or a file in any form that is read; or two versions' difference."""
    from ..schemas.formats.loading import load_schema  # noqa: PLC0415
    from ..schemas.formats.writing import dump_schema  # noqa: PLC0415

    if bool(schema) == bool(kb):
        raise CommandError("name either a knowledge base (--kb NAME) or a seed schema or file")
    if diff is not None:
        _show_diff(kb, *diff, as_json=as_json)
        return
    if schema:
        found = load_schema(schema)
    else:
        with opened(reasons=False) as resources:
            history = resources.knowledge_base(kb).schemas
            found = history.numbered(version or history.version())
    if output is not None:
        _write(found, output, form)
    elif as_json or form:
        out.file.write(dump_schema(found, form or "json"))
    else:
        _print_schema(found)


def _show_diff(kb: str, before: int, after: int, *, as_json: bool) -> None:
    from ..schemas.diff import diff  # noqa: PLC0415

    if not kb:
        raise CommandError("--diff compares versions of a knowledge base: name it with --kb")
    with opened(reasons=False) as resources:
        history = resources.knowledge_base(kb).schemas
        changes = diff(history.numbered(before), history.numbered(after))
    if as_json:
        print_json([change.model_dump() for change in changes])
    for change in [] if as_json else changes:
        out.print(_line(change), soft_wrap=True)
    if not changes and not as_json:
        out.print("no difference")


def _line(change: "ElementChange") -> str:
    fields = ", ".join(f"{f.field}: {_value(f.before)} -> {_value(f.after)}" if change.change == "changed" else
                       f"{f.field}: {_value(f.after)}" for f in change.fields)
    return f"{_MARKS[change.change]} {change.kind} {on_a_line(change.name)}  [dim]{on_a_line(fields)}[/dim]"


def _value(value: Any) -> str:
    return "|".join(map(str, value)) if isinstance(value, list) else str(value)


def _write(schema: GraphSchema, path: Path, form: Literal["json", "yaml"] | None) -> None:
    from ..schemas.formats.loading import YAML_SUFFIXES  # noqa: PLC0415
    from ..schemas.formats.writing import dump_schema  # noqa: PLC0415

    written = form or ("yaml" if path.suffix.lower() in YAML_SUFFIXES else "json")
    path.write_text(dump_schema(schema, written), "utf-8")
    err.print(f"written to {escape(str(path))}", soft_wrap=True)


def _print_schema(schema: GraphSchema) -> None:
    out.print(f"[bold]{escape(schema.name)}[/bold] {escape(schema.description)}"
              + (" (open: everything is admitted)" if schema.open else ""), soft_wrap=True)
    rows: list[tuple[str, str, str, SchemaElement]] = [
        ("entity type", t.name, t.parent or "", t) for t in schema.entity_types]
    rows += [("relation", r.name, f"{'|'.join(r.domain)} -> {'|'.join(r.range)}", r) for r in schema.relation_types]
    rows += [("attribute", a.name, f"{'|'.join(a.owners)}: {a.kind} {a.unit}".strip(), a)
             for a in schema.attribute_types]
    table = Table("kind", "name", "of", "also called")
    for kind, name, of, element in rows:
        table.add_row(kind, on_a_line(name), on_a_line(of), on_a_line(", ".join(element.all_names()[1:])))
    out.print(table)


@schema_app.command()
def history(kb: Kb, *, as_json: AsJson = False) -> None:
    """Tell who changed the schema, when, why, and on which evidence."""
    with opened(reasons=False) as resources:
        versions = resources.knowledge_base(kb).schemas.versions()
    if as_json:
        print_json([version.model_dump(mode="json", exclude={"graph_schema"}) for version in versions])
        return
    for version in versions:
        schema = version.graph_schema
        out.print(f"[bold]{version.version}[/bold]  {version.decided_at}  {escape(version.who)}: "
                  f"{len(schema.entity_types)} entity types, {len(schema.relation_types)} relations, "
                  f"{len(schema.attribute_types)} attributes", soft_wrap=True)
        for decided in version.decisions:
            decision = decided.decision
            to = f" -> {decision.new_name or decision.into}" if decision.new_name or decision.into else ""
            out.print(f"    {decision.verdict} {decision.kind} {on_a_line(decision.name + to)}  "
                      f"[dim]{on_a_line(decision.why)}[/dim]", soft_wrap=True)
            if decided.evidence:
                _print_evidence(decided.evidence, indent="        ")


def _print_evidence(candidate: Candidate, indent: str = "  ") -> None:
    consistency = "" if candidate.consistency is None else f", consistency {candidate.consistency:+.2f}"
    lines = [(f"{candidate.documents} documents, {candidate.occurrences} times, "
             f"confidence {candidate.confidence:.2f}{consistency}")]
    if candidate.subject_types or candidate.object_types:
        lines.append(f"observed: {'|'.join(candidate.subject_types) or '?'} -> "
                          f"{'|'.join(candidate.object_types) or '?'}")
    if len(candidate.labels) > 1:
        lines.append(f"also said: {', '.join(candidate.labels)}")
    if candidate.nearest:
        lines.append(f"nearest known: {candidate.nearest}")
    lines += [f"{e.item}  «{e.words}»  ({e.document})" for e in candidate.examples]
    for line in lines:
        out.print(f"{indent}[dim]{on_a_line(line)}[/dim]", soft_wrap=True)


@schema_app.command()
def review(
    kb: Kb,
    decisions: Annotated[Path | None, typer.Option(help="Take the decisions from this file (JSON or YAML).")] = None,
    save: Annotated[Path | None, typer.Option(help="Write all candidates with their evidence to this file.")] = None,
    everything: Annotated[Literal["accept", "reject"] | None,
                          typer.Option("--all", help="Decide so on every candidate.")] = None,
    by: Annotated[str, typer.Option(help="Who decides; none: your user name.")] = "",
) -> None:
    """Decide on what waits for the schema. What is decided stands at once: stop when you like, and go on later."""
    who = by or getpass.getuser()
    with opened() as resources:
        resources.knowledge_base(kb)
        if save is not None:
            found = [candidate.model_dump(mode="json") for candidate in _waiting(resources, kb, None)]
            save.write_text(json.dumps({"candidates": found, "decisions": []}, ensure_ascii=False, indent=2) + "\n",
                            "utf-8")
            out.print(f"{len(found)} candidates written to {escape(str(save))}; fill in 'decisions' and give the file "
                      "to --decisions", soft_wrap=True)
            return
        try:
            if decisions is not None or everything is not None:
                _review_at_once(resources, kb, decisions, everything, who)
            else:
                _review_one_by_one(resources, kb, who)
        finally:
            with err.status("bringing the tree up to date"):
                resources.update_tree(kb)


def _waiting(resources: "Resources", kb: str, most: int | None) -> list[Candidate]:
    control = resources.knowledge_base(kb).schema_control
    return control.waiting(resources.settings.schema_support, most)


def _review_at_once(resources: "Resources", kb: str, file: Path | None, everything: Verdict | None, who: str) -> None:
    from ..schemas.review import load_review, read_review  # noqa: PLC0415

    found = load_review(file) if file is not None else read_review({"all": everything})
    taken = found.on(_waiting(resources, kb, None))
    changed = resources.decide(kb, taken, found.who if found.who != "reviewer" else who)
    out.print(f"{len(taken)} decisions; the schema {'is now version' if changed else 'stays version'} "
              f"{resources.knowledge_base(kb).schemas.version()}")


def _review_one_by_one(resources: "Resources", kb: str, who: str) -> None:
    from ..agents.construction.graph import REVIEWED_AT_ONCE  # noqa: PLC0415

    passed: set[tuple[str, str]] = set()
    while True:
        page = [c for c in _waiting(resources, kb, len(passed) + REVIEWED_AT_ONCE) if (c.kind, c.name) not in passed]
        if not page:
            out.print("nothing else waits")
            return
        passed |= {(c.kind, c.name) for c in page}
        # Types first: what is observed between types counts once they are known.
        for decision in ask_decisions(sorted(page, key=lambda c: c.kind)):
            if decision is None:
                return
            resources.decide(kb, [decision], who)


def ask_decisions(candidates: Sequence[Candidate]) -> Iterator[Decision | None]:
    """Ask on the terminal what is to become of each candidate.

    Yields:
        A decision as soon as it is taken, nothing for one that waits, None when the person stops.
    """
    for position, candidate in enumerate(candidates):
        out.print(f"\n[bold]{escape(candidate.kind.replace('_', ' '))} {on_a_line(candidate.name)}[/bold]")
        _print_evidence(candidate)
        verdict = Prompt.ask("decision", choices=_CHOICES, default="wait", console=err)
        if verdict == "quit":
            yield None
            return
        if verdict == "all":
            rest = Prompt.ask("this and all others shown", choices=_ALL_CHOICES, default="wait", console=err)
            yield from (Decision(kind=c.kind, name=c.name, verdict=cast("Verdict", rest))
                        for c in candidates[position:] if rest != "wait")
            return
        if verdict != "wait":
            yield _asked(candidate, cast("Verdict", verdict))


def _asked(candidate: Candidate, verdict: Verdict) -> Decision:
    decision = Decision(kind=candidate.kind, name=candidate.name, verdict=verdict)
    if verdict == "rename":
        return decision.model_copy(update={"new_name": Prompt.ask("new name", console=err)})
    if verdict == "merge":
        return decision.model_copy(update={
            "into": Prompt.ask("into", default=candidate.nearest or None, console=err)})
    if verdict == "edit" and candidate.kind != "entity_type":
        decision = decision.model_copy(update={"domain": _types("domain", candidate.subject_types)})
        if candidate.kind == "relation":
            decision = decision.model_copy(update={"range": _types("range", candidate.object_types)})
    return decision


def _types(what: str, observed: Sequence[str]) -> tuple[str, ...]:
    said = Prompt.ask(f"{what} (types with | between, * for any)", default="|".join(observed) or "*", console=err)
    return tuple(part.strip() for part in said.split("|") if part.strip())


@schema_app.command()
def infer(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders to look into.")],
    output: Output = None, form: Form = None,
    name: Annotated[str, typer.Option(help="What the schema is to be called.")] = "inferred",
    sample: Annotated[int, typer.Option(min=1, help="How many chunks to read, spread over the documents.")]
    = _DEFAULT_SAMPLE,
    max_tokens: MaxTokens = None,
) -> None:
    """Propose a compact seed schema from a sample of documents, for you to edit; an LLM's responses are kept."""
    from ..agents.inference import infer_schema  # noqa: PLC0415
    from ..schemas.formats.writing import dump_schema  # noqa: PLC0415

    with opened() as resources, resources.standalone_reasoner(max_tokens) as (reasoner, calls):
        before = calls.total()
        with track(err, "sample") as progress:
            found = infer_schema(resources, reasoner, paths, name=name, chunks=sample, progress=progress)
        after = calls.total()
    for line in found.files_failed:
        err.print(f"[yellow]not read:[/yellow] {on_a_line(line)}", soft_wrap=True)
    schema = found.graph_schema
    tokens = after.prompt + after.completion - before.prompt - before.completion
    err.print(f"from {found.chunks} chunks of {found.documents} documents: {len(schema.entity_types)} entity types, "
              f"{len(schema.relation_types)} relations, {len(schema.attribute_types)} attributes; "
              f"{after.calls - before.calls} calls, {tokens} tokens", soft_wrap=True)
    if output is not None:
        _write(schema, output, form)
    else:
        out.file.write(dump_schema(schema, form or "yaml"))
