"""Triples to score: a model's recorded ones after bounding, and those that a reasoner extracts."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import as_completed

from langchain_core.runnables.config import ContextThreadPoolExecutor

from ..graph_store.bounding.admission import Bounds, bound
from ..models.reasoner import Reasoner, ReasonerError
from ..schemas.documents import Chunk
from ..schemas.extraction import ExtractedTriple, Extraction, ExtractionRequest
from ..schemas.naming import content_id
from .extraction_files import GoldCase, Triple

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
    answers: dict[str, tuple[Triple, ...]] = {}
    pool = ContextThreadPoolExecutor(concurrency)
    try:
        running = {pool.submit(reasoner.extract, ExtractionRequest(text=case.text), bounds.schema): case
                   for case in cases}
        for number, future in enumerate(as_completed(running), 1):
            case = running[future]
            try:
                answers[case.id] = _admit(future.result(), case, bounds)
            except ReasonerError as error:
                on_failure(f"{case.id}: {error}")
            progress(number, len(cases))
    finally:  # On Ctrl-C or a permanent failure do not wait for queued calls.
        pool.shutdown(cancel_futures=True)
    return answers


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
