"""Triples to score: a model's recorded ones after bounding, and those that a reasoner extracts."""

from collections.abc import Callable, Mapping, Sequence

from ..graph_store.bounding.admission import Bounds, bound
from ..models.reasoner import Reasoner
from ..schemas.documents import Chunk
from ..schemas.extraction import ExtractedTriple, Extraction, ExtractionRequest
from ..schemas.naming import content_id
from .extraction_files import GoldCase, Triple
from .in_parallel import for_each

Progress = Callable[[int, int], None]


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

    def read(case: GoldCase) -> None:
        extractions[case.id] = reasoner.extract(ExtractionRequest(text=case.text), bounds.schema)

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
