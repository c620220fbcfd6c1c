"""Making the steps of a trace: short, bounded, without whole passages.

A trace holds `FINDINGS` findings of each search and `PASSAGES` passages of each ranking, and searches
and rounds are capped (agents/retrieval/planning.py), so that it stays small compared with the evidence in the state.
"""

from collections.abc import Sequence
from typing import Any

from langgraph.config import get_stream_writer

from ...schemas.retrieval import Answer, Evidence, Passage, Route, SubAnswer
from ...schemas.trace import TracedFinding, TracedPassage, TracedSubQuery, TraceStep
from ...tools.retriever import Retriever
from .planning import Plan

FINDINGS = 3
PASSAGES = 5
TEXT = 160
"""Characters of a text in a trace: two lines of a terminal."""
_DOCUMENTS = 3
_DIGITS = 4


def short(text: str, limit: int = TEXT) -> str:
    """Put a text on one line and cut it to `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[:limit - 1]}…"


def trace_decomposition(plan: Plan, notes: Sequence[str]) -> TraceStep:
    """Trace the sub-queries that are searched first, and what was left out."""
    return TraceStep(step="decompose", notes=_notes([*notes, *plan.notes]), sub_queries=_trace_parts(plan))


def trace_search(retriever: Retriever, search: tuple[int, int, Route], evidence: Sequence[Evidence]) -> TraceStep:
    """Trace the best findings of a search, given as (round, number of the sub-query, route)."""
    number, sub_query, route = search
    best = tuple(TracedFinding(text=short(item.text), score=round(item.score, _DIGITS), documents=_documents(
        retriever, item.chunk_ids), how=_describe_path(item)) for item in evidence[:FINDINGS])
    return TraceStep(step="search", round=number, number=sub_query, route=route, found=best, total=len(evidence))


def trace_survey(total: int, found: Sequence[Passage]) -> TraceStep:
    """Trace what a batch of reports says on a question about the whole corpus."""
    return TraceStep(step="survey", total=total, found=tuple(
        TracedFinding(text=short(item.statement), score=round(item.score, _DIGITS), documents=(short(item.document),))
        for item in found[:FINDINGS]))


def trace_ranking(retriever: Retriever, number: int, ranking: Sequence[tuple[str, float]], text: str) -> TraceStep:
    """Trace the best passages of a round's ranking."""
    index = retriever.index
    chunks = [(index.chunks[index.chunk_row[chunk_id]], score) for chunk_id, score in ranking[:PASSAGES]]
    return TraceStep(step="fuse", round=number, text=text, total=len(ranking), passages=tuple(
        TracedPassage(chunk_id=chunk.id, document=short(chunk.document_id), title=short(chunk.title),
                      score=round(score, _DIGITS)) for chunk, score in chunks))


def trace_reflection(number: int, missing: str, known: Sequence[SubAnswer], plan: Plan | None, *, sufficient: bool,
              notes: Sequence[str] = ()) -> TraceStep:
    """Trace what a reflection found sufficient or missing, and what is asked next."""
    return TraceStep(step="reflect", round=number, sufficient=sufficient, text=short(missing),
                     sub_answers=tuple(SubAnswer(question=short(item.question), answer=short(item.answer))
                                       for item in known),
                     notes=_notes([*notes, *(plan.notes if plan else ())]),
                     sub_queries=_trace_parts(plan) if plan else ())


def trace_answer(number: int, answer: Answer) -> TraceStep:
    """Trace the checked answer and the documents that it cites."""
    return TraceStep(step="answer", round=number, text=short(answer.answer), abstained=answer.abstained,
                     confidence=round(answer.confidence, _DIGITS),
                     documents=tuple(dict.fromkeys(short(citation.document) for citation in answer.citations)))


def data(step: TraceStep) -> dict[str, Any]:
    """Return a step's non-default fields for the state, and write them to the stream."""
    fields = step.model_dump(mode="json", exclude_defaults=True) | {"step": step.step, "round": step.round}
    get_stream_writer()({"step": step.step, "found": _headlines(step), "trace": fields})
    return fields


def _headlines(step: TraceStep) -> list[str]:
    """Describe a step in a few words, for a line of progress."""
    lists = (
        [query.question for query in step.sub_queries],
        [passage.title or passage.document for passage in step.passages],
        [item.text for item in step.found],
    )
    return next((found for found in lists if found), [step.text] if step.text else [])


def _trace_parts(plan: Plan) -> tuple[TracedSubQuery, ...]:
    return tuple(TracedSubQuery(number=number, **part.model_dump() | {"question": short(part.question)})
                 for number, part in plan.new)


def _describe_path(item: Evidence) -> str:
    """Describe the path to a finding, without its end if the finding's text begins with it."""
    steps = item.path[:-1] if len(item.path) > 1 and item.text.startswith(item.path[-1]) else item.path
    return short(" → ".join(steps))


def _notes(notes: Sequence[str]) -> tuple[str, ...]:
    return tuple(short(note) for note in dict.fromkeys(notes))


def _documents(retriever: Retriever, chunk_ids: Sequence[str]) -> tuple[str, ...]:
    index = retriever.index
    rows = (index.chunk_row[chunk_id] for chunk_id in chunk_ids if chunk_id in index.chunk_row)
    documents = dict.fromkeys(index.chunks[row].document_id for row in rows)
    return tuple(short(document) for document in list(documents)[:_DOCUMENTS])
