"""`banyan schema`: show a schema, its history and pending candidates, decide on them, or infer a seed schema."""

import getpass
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ...agents.resources import Resources
from ...agents.schema_proposal import REVIEWED_AT_ONCE, infer_schema
from ...graph_store.derive import support_in
from ...graph_store.layout import Layout
from ...models.llm.llm_reasoner import SchemaWriter
from ...schemas.delta import Candidate, Decision, Review, load_review
from ...schemas.formats.schema_loading import dump_schema, load_schema
from ...schemas.graph_schema import GraphSchema, SchemaElement, compare_schemas
from ...schemas.naming import label_key
from ..console import CommandError, err, out, print_json, print_table
from ..session import AsJson, Kb, MaxTokens, open_resources

app = typer.Typer()
schema_app = typer.Typer(no_args_is_help=True,
                         help="Show the schema and its history, decide on candidates, or infer a seed schema.")
app.add_typer(schema_app, name="schema")
Output = Annotated[Path | None, typer.Option("--output", "-o")]
_MARKS = {"added": "[green]+[/green]", "removed": "[red]-[/red]", "changed": "[yellow]~[/yellow]"}  # of changes


@schema_app.command()
def show(schema: Annotated[str, typer.Argument()] = "", kb: str = "",
         version: Annotated[int, typer.Option(min=0)] = 0, output: Output = None, *, as_json: AsJson = False) -> None:
    """Show the schema in force, an earlier version, a seed, or a file."""
    if bool(schema) == bool(kb):
        raise CommandError("which schema? Name a knowledge base (--kb NAME), or else a seed schema or file")
    if schema:
        shown = load_schema(schema)
    else:
        with open_resources(uses_model=False) as resources, resources.snapshot(kb) as snapshot:
            history = snapshot.kb.schemas
            shown = history.get(version or history.version())
    if output is not None or as_json:
        _write_schema(shown, output)
        return
    note = " (open: allows everything)" if shown.open else ""
    out.say("[bold]{}[/bold] {}{}", shown.name, shown.description, note)
    rows: list[tuple[str, SchemaElement, str]] = [
        ("entity type", entity_type, entity_type.parent or "") for entity_type in shown.entity_types]
    for relation in shown.relation_types:
        limits = {"one tail at a time": relation.functional, "one head at a time": relation.inverse_functional}
        of = f"{'|'.join(relation.domain)} -> {'|'.join(relation.range)}"
        rows.append(("relation", relation, ", ".join([of, *(limit for limit, holds in limits.items() if holds)])))
    for attribute in shown.attribute_types:
        limit = ", one at a time" if attribute.functional else ""
        of = f"{'|'.join(attribute.owners)}: {attribute.kind} {attribute.unit}".strip()
        rows.append(("attribute", attribute, of + limit))
    print_table(("kind", "name", "of", "also called"), [
        (kind, element.name, of, ", ".join(element.all_names()[1:])) for kind, element, of in rows])


def _count(schema: GraphSchema) -> str:
    """Return how many elements of each kind a schema has, as text."""
    return (f"{len(schema.entity_types)} entity types, {len(schema.relation_types)} relations, "
            f"{len(schema.attribute_types)} attributes")


def _write_schema(schema: GraphSchema, path: Path | None) -> None:
    """Write a schema as JSON to a file, or else to standard output."""
    if path is None:
        out.file.write(dump_schema(schema))
    else:
        path.write_text(dump_schema(schema), "utf-8")
        err.say("written to {}", path)


@schema_app.command()
def history(kb: Kb, *, as_json: AsJson = False) -> None:
    """Show who changed the schema, when, why, and on which evidence."""
    with open_resources(uses_model=False) as resources, resources.snapshot(kb) as snapshot:
        versions = snapshot.kb.schemas.versions()
    if as_json:
        print_json([version.model_dump(mode="json", exclude={"graph_schema"}) for version in versions])
        return
    for version in versions:
        schema = version.graph_schema
        out.say("[bold]{}[/bold]  {}  {}: {}", version.version, version.decided_at, version.who, _count(schema))
        for decided in version.decisions:
            decision = decided.decision
            # A decision may give a candidate another name, or make it a synonym of an element that exists.
            target = decision.new_name or decision.into
            name = f"{decision.name} -> {target}" if target else decision.name
            out.say("    {} {} {}  [dim]{}[/dim]", decision.verdict, decision.kind, name, decision.why)
            if decided.evidence:
                _print_evidence(decided.evidence, indent="        ")


@schema_app.command("set")
def set_schema(schema: str, kb: Kb, by: str = "", *, dry_run: bool = False) -> None:
    """Replace the schema in force, and bound the facts by it again without calling an LLM."""
    wanted = load_schema(schema)
    with open_resources(uses_model=not dry_run) as resources:
        with resources.snapshot(kb) as snapshot:
            current = snapshot.kb.schemas.current()
        for change in compare_schemas(current, wanted):
            fields = ", ".join(f"{field.field}: {field.after}" for field in change.fields)
            out.say(f"{_MARKS[change.change]} {{}} {{}}  [dim]{{}}[/dim]", change.kind, change.name, fields)
        if dry_run:
            return
        with err.status("bounding the facts again"):
            changed = resources.set_schema(kb, wanted, by or getpass.getuser())
            resources.update_tree(kb)
        _print_version(resources, kb, changed=changed)


@schema_app.command()
def review(kb: Kb, decisions: Path | None = None, save: Path | None = None, accept: list[str] | None = None,
           reject: list[str] | None = None,
           everything: Annotated[Literal["accept", "reject"] | None, typer.Option("--all")] = None,
           by: str = "") -> None:
    """List the schema candidates, or decide on them by name, all at once, or in a file (rename, merge, edit)."""
    with open_resources() as resources:
        Layout.by(resources.settings, kb).require()
        is_listing = decisions is None and everything is None and not accept and not reject
        with resources.snapshot(kb) as snapshot:
            candidates = snapshot.kb.schema_control.list_candidates(
                support_in(snapshot.kb, resources.settings), REVIEWED_AT_ONCE if is_listing and not save else None)
        if save is not None:
            data = {"candidates": [candidate.model_dump(mode="json") for candidate in candidates], "decisions": []}
            save.write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", "utf-8")
            out.say("{} candidates written to {}; fill in 'decisions' and pass it with --decisions", len(candidates),
                    save)
        elif is_listing:
            for candidate in candidates:
                out.say("\n[bold]{} {}[/bold]", candidate.kind.replace("_", " "), candidate.name)
                _print_evidence(candidate)
            out.print("\ndecide with --accept NAME, --reject NAME, --all, or in a file with --save and --decisions"
                      if candidates else "nothing is pending")
        else:
            review = load_review(decisions) if decisions is not None else Review()
            named = [*_decide_named(candidates, accept or (), "accept"),
                     *_decide_named(candidates, reject or (), "reject")]
            # Options on the command line add to the file's decisions.
            decided = review.model_copy(update={
                "decisions": (*review.decisions, *named), "all": everything or review.all}).on(candidates)
            # The person whom the file names comes first.
            decider = review.who if "who" in review.model_fields_set else by or getpass.getuser()
            try:
                changed = resources.decide(kb, decided, decider)
            finally:  # also if one is refused: an earlier command may have been killed before it updated the tree
                with err.status("updating the tree"):
                    resources.update_tree(kb)
            out.print(f"{len(decided)} decisions; ", end="")
            _print_version(resources, kb, changed=changed)


def _decide_named(candidates: Sequence[Candidate], names: Sequence[str], verdict: Any) -> list[Decision]:
    """Return a decision for each candidate that has one of these names, of any kind; raise CommandError without one."""
    decisions = []
    for name in names:
        called = [candidate for candidate in candidates if label_key(name) in map(label_key, candidate.names())]
        if not called:
            raise CommandError(f"there is no candidate {name!r}: `banyan schema review` without a decision lists them")
        decisions += [Decision(kind=candidate.kind, name=candidate.name, verdict=verdict) for candidate in called]
    return decisions


def _print_evidence(candidate: Candidate, indent: str = "  ") -> None:
    """Print how often a candidate was found, between which types, under which labels, and examples."""
    lines = [f"{candidate.documents} documents, {candidate.occurrences} times, confidence {candidate.confidence:.2f}"]
    if candidate.subject_types or candidate.object_types:
        lines.append(f"observed: {'|'.join(candidate.subject_types) or '?'} -> "
                     f"{'|'.join(candidate.object_types) or '?'}")
    if len(candidate.labels) > 1:
        lines.append(f"also called: {', '.join(candidate.labels)}")
    lines += [f"{example.item}  «{example.words}»  ({example.document})" for example in candidate.examples]
    for line in lines:
        out.say(f"{indent}[dim]{{}}[/dim]", line)


def _print_version(resources: Resources, kb: str, *, changed: bool) -> None:
    """Print the number of the schema's version in force, and whether it is a new one."""
    with resources.snapshot(kb) as snapshot:
        out.print(f"the schema {'is now version' if changed else 'stays version'} {snapshot.kb.schemas.version()}")


@schema_app.command()
def infer(paths: list[Path], output: Output = None, name: str = "inferred", max_tokens: MaxTokens = None) -> None:
    """Let a model propose a compact seed schema from a sample of documents, for you to edit; responses are cached."""
    with open_resources() as resources, resources.standalone_calls(max_tokens) as calls:
        settings = resources.settings
        if not settings.uses_llm:
            raise CommandError("only a model proposes a schema, and none is set: set BANYAN_LLM_BASE_URL and "
                               "BANYAN_LLM_MODEL, or edit a seed schema: banyan schema show general -o schema.json")
        spent_before = calls.total()
        inferred, documents, excerpts = infer_schema(
            SchemaWriter(settings, calls), paths, resources.limits, settings.chunk_tokens,
            lambda failed: err.say("[yellow]not read:[/yellow] {}: {}", failed.path, failed.reason))
        spent = calls.total()
    schema = inferred.model_copy(update={"name": name})
    err.say("from {} excerpts of {} documents: {}; {} calls, {} tokens", excerpts, documents, _count(schema),
            spent.calls - spent_before.calls,
            spent.prompt + spent.completion - spent_before.prompt - spent_before.completion)
    _write_schema(schema, output)
