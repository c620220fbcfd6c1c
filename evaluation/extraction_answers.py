"""Triples to score: gold ones and a model's recorded ones, in Text2KGBench's formats, and those of a reasoner."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from ..graph_store.bounding.admission import Bounds, bound
from ..models.reasoner import Reasoner
from ..schemas.documents import Chunk, Frozen
from ..schemas.extraction import ExtractedTriple, Extraction, ExtractionRequest
from ..schemas.formats.small_files import json_lines, validate_record
from ..schemas.naming import content_id
from .datasets import DatasetError
from .in_parallel import for_each

Progress = Callable[[int, int], None]
Triple = tuple[str, str, str]
"""Head, relation, tail."""

Answers = Mapping[str, tuple[Triple, ...]]
"""A model's triples for each sentence, by the sentence's id."""


class GoldCase(Frozen):
    """A sentence and the triples that it states."""

    id: str
    text: str
    triples: tuple[Triple, ...]


class _GoldTriple(BaseModel):
    sub: str
    rel: str
    obj: str


class _Answer(BaseModel):
    id: str
    triples: tuple[Triple, ...]


class _Gold(BaseModel):
    id: str
    sent: str
    triples: tuple[_GoldTriple, ...]


_Record = TypeVar("_Record", _Answer, _Gold)


def load_gold(path: Path) -> list[GoldCase]:
    """Read sentences with their gold triples from JSON lines `{id, sent, triples: [{sub, rel, obj}]}`.

    Raises:
        DatasetError: the file is missing, empty or in another form; the message names line and field.
    """
    cases = [GoldCase(id=record.id, text=record.sent, triples=tuple((t.sub, t.rel, t.obj) for t in record.triples))
             for record in _records(path, _Gold)]
    if not cases:
        raise DatasetError(f"{path} has no sentence: a gold file has lines {{id, sent, triples: [{{sub, rel, obj}}]}}")
    return cases


def load_recorded(path: Path) -> dict[str, tuple[Triple, ...]]:
    """Read a model's triples by sentence id from JSON lines `{id, triples: [[head, relation, tail]]}`.

    Raises:
        DatasetError: the file is missing or in another form; the message names line and field.
    """
    return {record.id: record.triples for record in _records(path, _Answer)}


def _records(path: Path, model: type[_Record]) -> Iterator[_Record]:
    """Yield the records of a file, in which each id must occur once."""
    first: dict[str, str] = {}
    for where, value in json_lines(path, DatasetError):
        record = validate_record(where, value, model, DatasetError)
        if record.id in first:
            raise DatasetError(f"{where}, id: {record.id!r} occurs already in {first[record.id]}: keep one of them")
        first[record.id] = where
        yield record


def bounded_answers(bounds: Bounds, cases: Sequence[GoldCase],
                    recorded: Mapping[str, Sequence[Triple]]) -> dict[str, tuple[Triple, ...]]:
    """Return the recorded triples that bounding and grounding admit."""
    return {case.id: _admit(_extraction(recorded[case.id]), case, bounds) for case in cases if case.id in recorded}


def reasoner_answers(reasoner: Reasoner, bounds: Bounds, cases: Sequence[GoldCase], *, concurrency: int = 1,
                     on_failure: Callable[[str], None] = lambda _: None,
                     progress: Progress = lambda *_: None) -> dict[str, tuple[Triple, ...]]:
    """Extract triples from the sentences with a reasoner, and bound them as in a build.

    Args:
        reasoner: reads each sentence separately.
        bounds: the schema that the reasoner sees and that bounds its answers.
        cases: the sentences; their gold triples are ignored.
        concurrency: the number of sentences read at once.
        on_failure: called for each sentence on which the reasoner failed; that sentence has no answer.
        progress: called with (done, all) after each sentence.

    Returns:
        The admitted triples and attributes of each sentence, in a canonical order.
    """
    extractions: dict[str, Extraction] = {}

    async def read(case: GoldCase) -> None:
        (extractions[case.id],) = await reasoner.extract([ExtractionRequest(text=case.text)], bounds.schema)

    for_each(read, cases, concurrency, on_failure=lambda case, error: on_failure(f"{case.id}: {error}"),
             progress=progress)
    return {case.id: _admit(extractions[case.id], case, bounds) for case in cases if case.id in extractions}


def _extraction(triples: Sequence[Triple]) -> Extraction:
    whole = [triple for triple in triples if all(part.strip() for part in triple)]
    return Extraction(
        triples=tuple(ExtractedTriple(head=head[:500], relation=relation[:200], tail=tail[:500])
                      for head, relation, tail in whole),
        malformed=tuple(str(triple) for triple in triples if triple not in whole))


def _admit(extraction: Extraction, case: GoldCase, bounds: Bounds) -> tuple[Triple, ...]:
    chunk = Chunk(id=content_id(case.id, case.text), document_id=case.id, ordinal=0, start=0, end=len(case.text),
                  text=case.text, title="")
    admitted = bound(extraction, chunk, bounds)
    facts = [(fact.head, fact.relation, fact.tail) for fact in admitted.facts]
    values = [(value.entity, value.attribute, value.value) for value in admitted.attributes]
    return tuple(sorted({*facts, *values}))
