"""Scores of extracted triples against gold triples, in the formats of Text2KGBench.

The triples come from a reasoner, or from a file of recorded answers. The scores are those of Text2KGBench
(Mihindukulasooriya et al., 2023, section 5), macro averages over gold sentences; one without an answer has 0 in all:

- Precision, recall, F1: triples agree if their concatenated texts do, regardless of case, spaces and underscores.
  Only triples whose relation is among the sentence's gold relations count.
- Conformance: the share of the triples whose relation is in the ontology; 1 without triples. Relation hallucination is
  the rest.
- Subject and object hallucination: the share of the triples whose subject (object) is not in the sentence with the
  ontology's concepts appended, both stemmed word by word.

The benchmark's script takes words and stems from NLTK, whose sentence splitter needs a download. A regular expression
and Snowball's English (Porter 2) stemmer replace them here; every score is the same to two digits. Spaces at the ends
of an ontology's relation labels are errors in the ontology, and are ignored.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from ..graph_store.bounding.admission import Bounds, bound
from ..models.reasoner import Reasoner, ReasonerError
from ..runtime.threads import in_parallel, run
from ..schemas.documents import Chunk, Frozen
from ..schemas.extraction import ExtractedTriple, Extraction, ExtractionRequest
from ..schemas.formats.small_files import json_lines, validate_record
from ..schemas.graph_schema import ROOT_TYPE, GraphSchema
from ..schemas.naming import content_id
from ..text.content_words import stem_word
from .recall import DatasetError

_Record = TypeVar("_Record", "_RecordedAnswer", "_GoldLine")
Triple = tuple[str, str, str]  # head, relation, tail
Answers = Mapping[str, tuple[Triple, ...]]  # a model's triples for each sentence, by the sentence's id
_WORD = re.compile(r"\w+(?:[.\-/]\w+)*|[^\w\s]")  # or a mark
_GAPS = re.compile(r"[_\s]+")
_UNKNOWN_DAY = "01januari"  # the stemmed beginning of Wikidata's dates that are years: the benchmark removes it


class GoldCase(Frozen):
    """A sentence and the triples that it states."""

    id: str
    text: str
    triples: tuple[Triple, ...]


class _GoldTriple(BaseModel):
    sub: str
    rel: str
    obj: str


class _GoldLine(BaseModel):
    id: str
    sent: str
    triples: tuple[_GoldTriple, ...]


class _RecordedAnswer(BaseModel):
    id: str
    triples: tuple[Triple, ...]


def load_gold(path: Path) -> list[GoldCase]:
    """Read sentences with their gold triples from JSON lines `{id, sent, triples: [{sub, rel, obj}]}`."""
    cases = [GoldCase(id=record.id, text=record.sent,
                      triples=tuple((triple.sub, triple.rel, triple.obj) for triple in record.triples))
             for record in _read_records(path, _GoldLine).values()]
    if not cases:
        raise DatasetError(f"{path} has no sentence: a gold file has lines {{id, sent, triples: [{{sub, rel, obj}}]}}")
    return cases


def load_recorded(path: Path) -> dict[str, tuple[Triple, ...]]:
    """Read a model's triples by sentence id from JSON lines `{id, triples: [[head, relation, tail]]}`."""
    return {key: record.triples for key, record in _read_records(path, _RecordedAnswer).items()}


def _read_records(path: Path, model: type[_Record]) -> dict[str, _Record]:
    """Return the records of a file by their ids."""
    records: dict[str, _Record] = {}
    for place, value in json_lines(path, DatasetError):
        record = validate_record(place, value, model, DatasetError)
        if record.id in records:
            raise DatasetError(f"{place}, id: {record.id!r} occurs already: keep one of them")
        records[record.id] = record
    return records


def bounded_answers(bounds: Bounds, cases: Sequence[GoldCase],
                    recorded: Mapping[str, Sequence[Triple]]) -> dict[str, tuple[Triple, ...]]:
    """Return, by the sentence's id, the recorded triples that fit the schema and whose names are in the sentence."""
    admitted = dict[str, tuple[Triple, ...]]()
    for case in cases:
        if case.id in recorded:
            # `ExtractedTriple` takes no empty texts and none that are longer.
            triples = [ExtractedTriple(head=head[:500], relation=relation[:200], tail=tail[:500])
                       for head, relation, tail in recorded[case.id] if all(map(str.strip, (head, relation, tail)))]
            admitted[case.id] = _admit_extraction(Extraction(triples=tuple(triples)), case, bounds)
    return admitted


def reasoner_answers(reasoner: Reasoner, bounds: Bounds, cases: Sequence[GoldCase], *, concurrency: int = 1,
                     on_failure: Callable[[str], None] = lambda _: None,
                     progress: Callable[[int, int], None] = lambda *_: None) -> dict[str, tuple[Triple, ...]]:
    """Let a reasoner extract triples and values from sentences; return those that a build would admit, by their id."""
    extractions: dict[str, Extraction] = {}
    done = 0

    async def read(case: GoldCase) -> None:
        """Read a sentence, and count it, also if the reasoner failed."""
        nonlocal done
        try:
            (extractions[case.id],) = await reasoner.extract([ExtractionRequest(text=case.text)], bounds.schema)
        except ReasonerError as error:
            on_failure(f"{case.id}: {error}")
        done += 1
        progress(done, len(cases))

    run(in_parallel, read, cases, concurrency)
    return {case.id: _admit_extraction(extractions[case.id], case, bounds) for case in cases if case.id in extractions}


def _admit_extraction(extraction: Extraction, case: GoldCase, bounds: Bounds) -> tuple[Triple, ...]:
    """Check an extraction against the schema and the sentence; return the admitted facts and values, sorted."""
    sentence = Chunk(id=content_id(case.id, case.text), document_id=case.id, ordinal=0, start=0, end=len(case.text),
                     text=case.text, title="")
    admitted = bound(extraction, sentence, bounds)
    facts = [(fact.head, fact.relation, fact.tail) for fact in admitted.facts]
    values = [(value.entity, value.attribute, value.value) for value in admitted.attributes]
    return tuple(sorted({*facts, *values}))


class Hallucination(Frozen):
    """Shares of the triples with a hallucinated part, 0 to 1; 0 without triples."""

    subject: float
    relation: float
    object: float


class ExtractionScores(Frozen):
    """Means over the gold sentences, 0 to 1."""

    precision: float
    recall: float
    f1: float
    conformance: float
    hallucination: Hallucination


def score_answers(ontology: GraphSchema, gold: Sequence[GoldCase],
                  answers: Mapping[str, Sequence[Triple]]) -> ExtractionScores:
    """Score a model's triples (`answers`, by sentence id) against the gold sentences, at least one."""
    if not gold:
        raise ValueError("there is no gold sentence to score against")
    relations = frozenset(_relation_label(relation.name) for relation in ontology.relation_types)
    concepts = " ".join(concept.name for concept in ontology.entity_types if concept.name != ROOT_TYPE)
    answered = [case for case in gold if case.id in answers]
    agreements = [_score_agreement(case.triples, answers[case.id]) for case in answered]
    # A name may be one of the ontology's concepts, so these are appended to the sentence, as the benchmark does.
    faults = [_score_hallucination(case.text + concepts, relations, answers[case.id]) for case in answered]

    def mean(values: Iterable[float]) -> float:
        """Divide by the number of all gold sentences: those without an answer count as 0."""
        return round(sum(values) / len(gold), 4)

    return ExtractionScores(
        precision=mean(precision for precision, _ in agreements), recall=mean(recall for _, recall in agreements),
        f1=mean(2 * precision * recall / (precision + recall) for precision, recall in agreements if precision),
        conformance=mean(1 - fault.relation for fault in faults), hallucination=Hallucination(**{
            part: mean(getattr(fault, part) for fault in faults) for part in Hallucination.model_fields}))


def _score_agreement(gold: Iterable[Triple], answered: Iterable[Triple]) -> tuple[float, float]:
    """Return precision and recall of one sentence; only triples with a relation of the gold triples count."""
    gold_relations = {_relation_label(relation) for _, relation, _ in gold}
    gold_texts = {_squeeze("".join(triple)) for triple in gold}
    answer_texts = {_squeeze(f"{head}{relation}{tail}") for head, relation, tail in answered
                    if _relation_label(relation) in gold_relations}
    common = len(gold_texts & answer_texts)
    return (common / len(answer_texts), common / len(gold_texts)) if common else (0.0, 0.0)


def _score_hallucination(sentence: str, relations: frozenset[str], answered: Sequence[Triple]) -> Hallucination:
    """Return the shares of one sentence's triples that have a hallucinated part."""
    source, share = _stem_text(sentence), 1 / max(1, len(answered))
    return Hallucination(
        subject=share * sum(_stem_text(head).replace(_UNKNOWN_DAY, "") not in source for head, _, _ in answered),
        relation=share * sum(_relation_label(relation) not in relations for _, relation, _ in answered),
        object=share * sum(_stem_text(tail).replace(_UNKNOWN_DAY, "") not in source for _, _, tail in answered))


def _relation_label(relation: str) -> str:
    """Return a relation in the form in which labels are compared: with underscores, and none at the ends."""
    return relation.replace(" ", "_").strip("_")


def _squeeze(text: str) -> str:
    """Return a text in lower case, without spaces and underscores."""
    return _GAPS.sub("", text).lower()


def _stem_text(text: str) -> str:
    """Return the stems of a text's words as one word, so that a name in another form is found in a sentence."""
    return _squeeze("".join(stem_word(word.lower()) for word in _WORD.findall(text)))
