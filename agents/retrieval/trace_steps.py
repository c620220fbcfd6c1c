"""Making the steps of a trace: short, bounded, without whole passages."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from langgraph.config import get_stream_writer

from ...prompts.schema_text import block_note, passage_text
from ...schemas.inquiry import Block, Judgement, StepName, TracedFinding, TraceStep
from ...schemas.lookups import Lookup, lookup_arguments, lookup_text
from ...schemas.retrieval import Answer

_FINDINGS, _DOCUMENTS = 3, 3  # of a lookup and of a finding: a trace shows what was found, the answer cites the rest
_TEXT = 160  # characters of a text in a trace: two lines of a terminal
_LONGEST_ARGUMENTS = 6000  # characters of a table's arguments as JSON: a link to the page has room for these


def short(text: str) -> str:
    """Return a text on one line, cut to the length of a trace's texts."""
    line = " ".join(text.split())
    return line if len(line) <= _TEXT else f"{line[:_TEXT - 1]}…"


def trace_found(number: int, lookup: Lookup | None, blocks: Sequence[Block]) -> TraceStep:
    """Trace what a lookup of round `number` found, or the first look if `lookup` is None."""
    items = [item for block in blocks for item in block.items]
    found = list[TracedFinding]()
    for item in items[:_FINDINGS]:
        # A fact has a place in each document that states it; an item may have no document of its own.
        documents = dict.fromkeys(filter(None, [item.document, *(place.document for place in item.places)]))
        found.append(TracedFinding(
            text=short(item.statement or f"{item.title or item.document}: {passage_text(item)}"),
            documents=tuple(map(short, [*documents][:_DOCUMENTS]))))
    # A page can link to the lookup that gave a table: a relation, or the query that was run, so a repaired one.
    table = lookup_arguments(blocks[0].table) if blocks and blocks[0].table else {}
    if len(json.dumps(table)) > _LONGEST_ARGUMENTS:
        table = {}
    return TraceStep(step="search" if lookup else "first_look", round=number, tool=lookup.tool if lookup else None,
                     text=short(lookup_text(lookup)) if lookup else "", total=len(items),
                     found=tuple(found), table=table, notes=_short_notes(map(block_note, blocks)))


def found_text(step: TraceStep) -> str:
    """Return what a lookup found in a few lines, for the people who read a conversation."""
    lines = [finding.text for finding in step.found]
    more = [f"and {step.total - len(lines)} more"] if step.total > len(lines) else []
    return "\n".join([*lines, *more, *step.notes]) or "nothing was found"


def trace_judgement(step: StepName, number: int, judgement: Judgement, notes: Iterable[str] = ()) -> TraceStep:
    """Trace what a reasoner made of the evidence of round `number`: an answer, or the next lookups."""
    return TraceStep(step=step, round=number, sufficient=bool(judgement.draft and judgement.draft.answerable),
                     text=short(judgement.thought), notes=_short_notes(notes),
                     lookups=tuple(short(lookup_text(lookup)) for lookup in judgement.lookups))


def trace_answer(number: int, answer: Answer) -> TraceStep:
    """Trace the checked answer and the documents that it cites."""
    return TraceStep(step="answer", round=number, text=short(answer.answer), abstained=answer.abstained,
                     confidence=round(answer.confidence, 4), grade=answer.grade,
                     documents=tuple(dict.fromkeys(short(citation.document) for citation in answer.citations)))


def _short_notes(notes: Iterable[str]) -> tuple[str, ...]:
    return tuple(short(note) for note in dict.fromkeys(filter(None, notes)))


def stream_step(step: TraceStep) -> dict[str, Any]:
    """Write a step to the stream, and return its fields that differ from their defaults, for the state."""
    fields = step.model_dump(mode="json", exclude_defaults=True) | {"step": step.step, "round": step.round}
    # In one line: the lookups that are chosen, or else what was found, or else the text.
    headlines = [*step.lookups] or [item.text for item in step.found] or [*filter(None, [step.text])]
    get_stream_writer()({"step": step.step, "found": headlines, "trace": fields})
    return fields
