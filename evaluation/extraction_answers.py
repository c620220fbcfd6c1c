"""Triples to be scored: a model's recorded ones after bounding, and those that a reasoner finds."""

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
    """What bounding and grounding admit of recorded triples."""
    return {case.id: _admitted(_extraction(recorded[case.id]), case, bounds) for case in cases if case.id in recorded}


def reasoner_answers(reasoner: Reasoner, bounds: Bounds, cases: Sequence[GoldCase], *, concurrency: int = 1,
                     on_failure: Callable[[str], None] = lambda _: None,
                     progress: Progress = lambda *_: None) -> dict[str, tuple[Triple, ...]]:
    """What a reasoner finds in the sentences, bounded as in a build.

    Args:
        reasoner: reads each sentence by itself.
        bounds: the schema that is shown to the reasoner and bounds its answers.
        cases: the sentences; their gold triples are not looked at.
        concurrency: how many sentences are read at once.
        on_failure: told, by sentence, when the reasoner failed for good; the sentence has no answer then.
        progress: told (done, all) after each sentence.

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
                answers[case.id] = _admitted(future.result(), case, bounds)
            except ReasonerError as error:
                on_failure(f"{case.id}: {error}")
            progress(number, len(cases))
    finally:  # Ctrl-C, or an endpoint that refuses for good, must not wait for all that is queued.
        pool.shutdown(cancel_futures=True)
    return answers


def _extraction(triples: Sequence[Triple]) -> Extraction:
    whole = [triple for triple in triples if all(part.strip() for part in triple)]
    return Extraction(
        triples=tuple(ExtractedTriple(head=head[:500], relation=relation[:200], tail=tail[:500])
                      for head, relation, tail in whole),
        malformed=tuple(str(triple) for triple in triples if triple not in whole))


def _admitted(extraction: Extraction, case: GoldCase, bounds: Bounds) -> tuple[Triple, ...]:
    chunk = Chunk(id=content_id(case.id, case.text), document_id=case.id, ordinal=0, start=0, end=len(case.text),
                  text=case.text, title="")
    admitted = bound(extraction, chunk, bounds)
    facts = [(fact.head, fact.relation, fact.tail) for fact in admitted.facts]
    values = [(value.entity, value.attribute, value.value) for value in admitted.attributes]
    return tuple(sorted({*facts, *values}))
