"""Decisions on schema candidates at the terminal."""

import getpass
from collections.abc import Iterator, Sequence
from typing import Any, cast

from rich.prompt import Prompt

from ..schemas.delta import Candidate, Decision, Verdict
from .console import err, escape, on_a_line, out

_CHOICES = ["accept", "reject", "rename", "merge", "edit", "wait", "all", "quit"]
_ALL_CHOICES = ["accept", "reject", "wait"]


def resume_value(question: dict[str, Any]) -> dict[str, Any]:
    """Ask for a decision on each candidate of an interrupted build, and return the value to resume the build with."""
    if "error" in question:
        err.print(f"[red]{escape(question['error'])}[/red]")
    candidates = [Candidate(**data) for data in question["delta"]["candidates"]]
    decisions = [decision.model_dump() for decision in ask_decisions(candidates) if decision is not None]
    return {"decisions": decisions, "who": getpass.getuser()}


def ask_decisions(candidates: Sequence[Candidate]) -> Iterator[Decision | None]:
    """Yield each decision as soon as it is made; nothing for a candidate that waits, None when the user stops."""
    for position, candidate in enumerate(candidates):
        out.print(f"\n[bold]{escape(candidate.kind.replace('_', ' '))} {on_a_line(candidate.name)}[/bold]")
        print_evidence(candidate)
        verdict = Prompt.ask("decision", choices=_CHOICES, default="wait", console=err)
        if verdict == "quit":
            yield None
            return
        if verdict == "all":
            verdict = Prompt.ask("this and all others shown", choices=_ALL_CHOICES, default="wait", console=err)
            undecided = candidates[position:] if verdict != "wait" else ()
            yield from (Decision(kind=other.kind, name=other.name, verdict=cast("Verdict", verdict))
                        for other in undecided)
            return
        if verdict != "wait":
            yield _complete_decision(candidate, cast("Verdict", verdict))


def _complete_decision(candidate: Candidate, verdict: Verdict) -> Decision:
    """Return a decision, after asking for what the verdict needs: a new name, another element, or types at the ends."""
    decision = Decision(kind=candidate.kind, name=candidate.name, verdict=verdict)
    if verdict == "rename":
        return decision.model_copy(update={"new_name": Prompt.ask("new name", console=err)})
    if verdict == "merge":
        return decision.model_copy(update={
            "into": Prompt.ask("into", default=candidate.nearest or None, console=err)})
    if verdict == "edit" and candidate.kind != "entity_type":
        decision = decision.model_copy(update={"domain": _ask_types("domain", candidate.subject_types)})
        if candidate.kind == "relation":
            decision = decision.model_copy(update={"range": _ask_types("range", candidate.object_types)})
    return decision


def _ask_types(side: str, observed: Sequence[str]) -> tuple[str, ...]:
    reply = Prompt.ask(f"{side} (types with | between, * for any)", default="|".join(observed) or "*", console=err)
    return tuple(part.strip() for part in reply.split("|") if part.strip())


def print_evidence(candidate: Candidate, indent: str = "  ") -> None:
    """Print what supports a candidate."""
    counts = f"{candidate.documents} documents, {candidate.occurrences} times"
    lines = [f"{counts}, confidence {candidate.confidence:.2f}"]
    if candidate.subject_types or candidate.object_types:
        lines.append(f"observed: {'|'.join(candidate.subject_types) or '?'} -> "
                     f"{'|'.join(candidate.object_types) or '?'}")
    if len(candidate.labels) > 1:
        lines.append(f"also called: {', '.join(candidate.labels)}")
    if candidate.nearest:
        lines.append(f"nearest known: {candidate.nearest}")
    lines += [f"{example.item}  «{example.words}»  ({example.document})" for example in candidate.examples]
    for line in lines:
        out.print(f"{indent}[dim]{on_a_line(line)}[/dim]", soft_wrap=True)
