"""Scores of schema-bounded extraction, as Text2KGBench defines them (Mihindukulasooriya et al., 2023, section 5).

All scores are macro averages over the gold sentences; a sentence without an answer scores 0 throughout:

- Precision, recall, F1: triples agree if their concatenated texts do, regardless of case, spaces and underscores.
  Only triples whose relation is among the sentence's gold relations count.
- Conformance: the share of the triples whose relation is in the ontology; 1 without triples.
  Relation hallucination: the share of those whose relation is not; 0 without triples.
- Subject and object hallucination: the share of the triples whose subject (object) is not in the sentence with the
  ontology's concepts appended, both stemmed word by word.

The benchmark's script takes words and stems from NLTK, whose sentence splitter needs a download. A regular expression
and Snowball's English (Porter 2) stemmer replace them here; every score is the same to two digits. Spaces at the ends
of an ontology's relation labels are errors in the ontology, and are ignored.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import snowballstemmer

from ..schemas.documents import Frozen
from ..schemas.graph_schema import ROOT_TYPE, GraphSchema
from .extraction_answers import GoldCase, Triple

_WORD = re.compile(r"\w+(?:[.\-/]\w+)*|[^\w\s]")
_GAPS = re.compile(r"[_\s]+")
_UNKNOWN_DAY = "01januari"
"""The stemmed beginning of Wikidata dates with only a year: the benchmark removes it from names."""

_STEMMER = snowballstemmer.stemmer("english")


class Hallucination(Frozen):
    """Shares of the triples with a hallucinated part, 0 to 1."""

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


def score(ontology: GraphSchema, gold: Sequence[GoldCase],
          answers: Mapping[str, Sequence[Triple]]) -> ExtractionScores:
    """Score a model's triples.

    Args:
        ontology: the schema that the model was given.
        gold: the sentences with the triples that they state; at least one.
        answers: the model's triples by the sentence's id; other ids are ignored.

    Raises:
        ValueError: there is no gold sentence.
    """
    if not gold:
        raise ValueError("there is no gold sentence to score against")
    relations = _relations(ontology)
    concepts = " ".join(concept.name for concept in ontology.entity_types if concept.name != ROOT_TYPE)
    rows = [(*_agreement(case.triples, answers[case.id]), *_faults(case.text + concepts, relations, answers[case.id]))
            for case in gold if case.id in answers]
    precision, recall, f1, conformance, subject, relation, object_ = (
        round(sum(column) / len(gold), 4) for column in (zip(*rows, strict=True) if rows else [()] * 7))
    return ExtractionScores(precision=precision, recall=recall, f1=f1, conformance=conformance,
                            hallucination=Hallucination(subject=subject, relation=relation, object=object_))


def unknown_relations(ontology: GraphSchema, gold: Iterable[GoldCase]) -> list[str]:
    """Return the gold triples' relations that the ontology lacks, sorted; no bounded answer can have them."""
    known = _relations(ontology)
    return sorted({relation for case in gold for _, relation, _ in case.triples if _label(relation) not in known})


def _relations(ontology: GraphSchema) -> frozenset[str]:
    return frozenset(_label(relation.name) for relation in ontology.relation_types)


def _agreement(gold: Iterable[Triple], answered: Iterable[Triple]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of one sentence."""
    asked = {_label(relation) for _, relation, _ in gold}
    right = {_concatenate(triple) for triple in gold}
    given = {_concatenate(triple) for triple in answered if _label(triple[1]) in asked}
    common = len(right & given)
    if not common:
        return 0.0, 0.0, 0.0
    precision, recall = common / len(given), common / len(right)
    return precision, recall, 2 * precision * recall / (precision + recall)


def _faults(sentence: str, relations: frozenset[str], answered: Sequence[Triple]) -> tuple[float, float, float, float]:
    """Return conformance, and subject, relation and object hallucination, of one sentence's triples."""
    if not answered:
        return 1.0, 0.0, 0.0, 0.0
    source = _stem_text(sentence)
    share = 1 / len(answered)
    conformance = share * sum(_label(relation) in relations for _, relation, _ in answered)
    subject = share * sum(_name(head) not in source for head, _, _ in answered)
    object_ = share * sum(_name(tail) not in source for _, _, tail in answered)
    return conformance, subject, 1 - conformance, object_


def _label(relation: str) -> str:
    return relation.replace(" ", "_").strip("_")


def _concatenate(triple: Triple) -> str:
    return _GAPS.sub("", "".join(triple)).lower()


def _name(name: str) -> str:
    return _stem_text(name).replace(_UNKNOWN_DAY, "")


def _stem_text(text: str) -> str:
    return _GAPS.sub("", "".join(_stem(word) for word in _WORD.findall(text))).lower()


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word.lower()))
