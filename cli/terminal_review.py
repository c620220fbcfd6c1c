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
    """Ask about each candidate of an interrupted build, and return the value to resume the build with."""
    if "error" in question:
        err.print(f"[red]{escape(question['error'])}[/red]")
    candidates = [Candidate(**data) for data in question["delta"]["candidates"]]
    decisions = [decision.model_dump() for decision in ask_decisions(candidates) if decision is not None]
    return {"decisions": decisions, "who": getpass.getuser()}


def ask_decisions(candidates: Sequence[Candidate]) -> Iterator[Decision | None]:
    """Ask on the terminal for a decision on each candidate.

    Yields:
        Each decision as soon as it is made, nothing for a candidate that stays pending, None when the user stops.
    """
    for position, candidate in enumerate(candidates):
        out.print(f"\n[bold]{escape(candidate.kind.replace('_', ' '))} {on_a_line(candidate.name)}[/bold]")
        print_evidence(candidate)
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
            yield _complete_decision(candidate, cast("Verdict", verdict))


def _complete_decision(candidate: Candidate, verdict: Verdict) -> Decision:
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


def _types(side: str, observed: Sequence[str]) -> tuple[str, ...]:
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
    lines += [f"{e.item}  «{e.words}»  ({e.document})" for e in candidate.examples]
    for line in lines:
        out.print(f"{indent}[dim]{on_a_line(line)}[/dim]", soft_wrap=True)
