"""What goes over the wire: the JSON each step asks for, and its way into our typed models.

Extraction, where the completion tokens are, uses rows: `["head", "relation", "tail", "words", "time"]`. They
are what the papers' prompts ask for and models write well; every cell is a string, so strict
JSON-schema decoding (which knows no tuples) can still enforce them; and ten triples with their
entities cost about a third fewer tokens than as objects. How many cells a row has is checked here as well. The other
steps' answers are short and their parts differ in kind: named fields keep those from being confused.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field

from ...prompts.schema_text import type_letters
from ...schemas.delta import SameLabel
from ...schemas.extraction import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction
from ...schemas.graph_schema import GraphSchema, SchemaElement
from ...schemas.naming import normalise
from ...schemas.resolution import PairVerdict
from ...schemas.retrieval import (
    ROUTES,
    Claim,
    CommunityDigest,
    CommunitySummary,
    DraftAnswer,
    Reflection,
    Route,
    SubAnswer,
    SubQuery,
)

T = TypeVar("T")
_M = TypeVar("_M", bound=BaseModel)

UNPROPOSED = 0.5
"""Confidence of a label that is not in the schema and was not proposed either: as likely a slip as a
need. It stays below the default acceptance threshold mu = 0.8."""


_ENTITY_CELLS = (1, 2)
_FACT_CELLS = (3, 5)
_MOST_FINDINGS = 3
_TOKENS_OF_A_FACT = 5
"""Fewer words state no fact: a dense list has one in five or six tokens."""
_FEWEST_ROWS = 6
_MOST_LABELS = 5
"""Of a kind in a sub-query, where more narrow nothing down, and of new ones in a text."""


@dataclass(frozen=True)
class Shape(Generic[T]):
    """The form of an answer: a JSON schema for the endpoint, and `read`, which checks and converts.

    `read` takes the decoded JSON object and raises ValueError (pydantic's included) where it does
    not fit; the message goes back to the model.
    """

    json_schema: dict[str, Any]
    read: Callable[[dict[str, Any]], T]


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)


def _object(**properties: Any) -> dict[str, Any]:
    # Strict mode wants every property required and no other; optional ones come back empty.
    return {"type": "object", "properties": properties, "required": list(properties),
            "additionalProperties": False}


def _answer(name: str, **properties: Any) -> dict[str, Any]:
    return {"title": name, **_object(**properties)}


def _list(item: dict[str, Any], least: int = 0, most: int | None = None) -> dict[str, Any]:
    """Return the schema of an array; constrained decoding keeps its bounds, so a model that repeats itself ends."""
    bounds = {"minItems": least or None, "maxItems": most}
    return {"type": "array", "items": item, **{bound: count for bound, count in bounds.items() if count is not None}}


_TEXT = {"type": "string"}
_NUMBER = {"type": "number"}
_INTEGER = {"type": "integer"}
_FLAG = {"type": "boolean"}
_LABELS = _list(_TEXT, most=_MOST_LABELS)
_SUB_QUERY = _object(question=_TEXT, types=_LABELS, relations=_LABELS, attributes=_LABELS,
                     routes=_list({"type": "string", "enum": list(ROUTES)}, most=len(ROUTES)))

_SUMMARIES = _answer("summaries", communities=_list(_object(
    id=_INTEGER, name=_TEXT, summary=_TEXT,
    findings=_list(_object(text=_TEXT, facts=_list(_INTEGER)), most=_MOST_FINDINGS))))
_VERDICTS = _answer("verdicts", pairs=_list(_object(id=_INTEGER, thought=_TEXT, same=_FLAG, confidence=_NUMBER)))
# In this order they are written: reasons before verdicts, and these before claims, which are shown as they arrive.
_CLAIMS = _list(_object(text=_TEXT, quotes=_list(_object(passage=_INTEGER, words=_TEXT))))
_REFLECTION = _answer("reflection", thought=_TEXT, answers=_list(_object(id=_INTEGER, answer=_TEXT)),
                      sufficient=_FLAG, claims=_CLAIMS, short=_TEXT, confidence=_NUMBER, missing=_TEXT,
                      sub_queries=_list(_TEXT), keep=_list(_INTEGER))
_DRAFT = _answer("answer", thought=_TEXT, answerable=_FLAG, claims=_CLAIMS, short=_TEXT, confidence=_NUMBER)
_QUESTION = _answer("question", question=_TEXT)
_RETELLING = _answer("retelling", thought=_TEXT, text=_TEXT)
_PROPOSAL = _answer("schema", thought=_TEXT, types=_list(_list(_TEXT, 1, 4)), relations=_list(_list(_TEXT, 3, 5)),
                    attributes=_list(_list(_TEXT, 2, 5)))
_SAME = _answer("same", same=_list(_list(_TEXT, 2, 3)))
_JUDGEMENT = _answer("judgement", reason=_TEXT, correct=_FLAG, statements=_INTEGER, stated=_INTEGER)


class _Terms:
    """The schema's elements by all they are called: prompts show labels, the graph speaks names."""

    def __init__(self, schema: GraphSchema) -> None:
        # Some models write the letter that the prompt has for a type.
        letters = {normalise(letter): name for name, letter in type_letters(schema).items()}
        self.types = letters | self._names(schema.entity_types)
        self.relations = self._names(schema.relation_types)
        self.attributes = self._names(schema.attribute_types)

    @staticmethod
    def _names(elements: Sequence[SchemaElement]) -> dict[str, str]:
        called = {normalise(name): e.name for e in elements for name in e.all_names()}
        return called | {normalise(e.name): e.name for e in elements}  # a name beats another's label


def _schema_name(label: str, terms: dict[str, str]) -> str:
    return terms.get(normalise(label), label.strip())


def _drop_blank(rows: Iterable[list[str]], needed: int) -> list[list[str]]:
    """Return the rows whose needed cells are filled; blank rows are dropped."""
    return [row for row in rows if all(cell.strip() for cell in row[:needed])]


def _pad(rows: Iterable[list[str]]) -> list[list[str]]:
    """Return the rows of facts with all cells; those that may be left out are empty."""
    least, most = _FACT_CELLS
    return [[*row, *[""] * (most - len(row))] for row in _drop_blank(rows, least)]


class _NewLabel(_Wire):
    label: str
    kind: str = ""
    confidence: float = Field(ge=0, le=1)


_EntityRow = Annotated[list[str], Field(min_length=_ENTITY_CELLS[0], max_length=_ENTITY_CELLS[1])]
_FactRow = Annotated[list[str], Field(min_length=_FACT_CELLS[0], max_length=_FACT_CELLS[1])]


class _Extraction(_Wire):
    entities: list[_EntityRow]
    triples: list[_FactRow]
    attributes: list[_FactRow]
    new: list[_NewLabel] = []

    def typed(self, schema: GraphSchema) -> Extraction:
        terms = _Terms(schema)
        proposed = {(new.kind, normalise(new.label)): new.confidence for new in self.new}

        def confidence(label: str, known: dict[str, str], kind: str) -> float:
            key = normalise(label)
            if schema.open or key in known or not key:
                return 1.0
            # A kind that was left out, or is another word for it, is no reason to lose the proposal.
            return proposed.get((kind, key), max((said for (_, new), said in proposed.items() if new == key),
                                                 default=UNPROPOSED))

        return Extraction(
            entities=tuple(
                ExtractedEntity(name=name, type=_schema_name(kind, terms.types),
                                confidence=confidence(kind, terms.types, "type"))
                for name, kind in ((name, rest[0] if rest else "") for name, *rest in _drop_blank(self.entities, 1))),
            triples=tuple(
                ExtractedTriple(head=head, relation=_schema_name(relation, terms.relations), tail=tail,
                                evidence=words, time=time, confidence=confidence(relation, terms.relations, "relation"))
                for head, relation, tail, words, time in _pad(self.triples)),
            attributes=tuple(
                ExtractedAttribute(entity=owner, attribute=_schema_name(attribute, terms.attributes), value=value,
                                   evidence=words, time=time,
                                   confidence=confidence(attribute, terms.attributes, "attribute"))
                for owner, attribute, value, words, time in _pad(self.attributes)))


class _Finding(_Wire):
    text: str
    facts: list[int] = []


class _Summary(_Wire):
    id: int
    name: str = Field(min_length=1)
    summary: str = Field(min_length=1)
    findings: list[_Finding] = []

    def typed(self, facts: Sequence[str]) -> CommunitySummary:
        """Return the summary with its findings; one that rests on none of the facts is left out."""
        lines = [self.summary]
        for finding in self.findings[:_MOST_FINDINGS]:
            rests_on = [facts[number - 1] for number in dict.fromkeys(finding.facts) if 0 < number <= len(facts)]
            if rests_on and finding.text.strip():
                lines.append(f"- {finding.text.strip()} ({'; '.join(rests_on)})")
        return CommunitySummary(name=self.name, summary="\n".join(lines))


class _Summaries(_Wire):
    communities: list[_Summary]

    def in_order(self, communities: Sequence[CommunityDigest]) -> list[CommunitySummary]:
        by_number = {summary.id: summary for summary in self.communities}
        missing = [str(number) for number in range(1, len(communities) + 1) if number not in by_number]
        if missing:
            raise ValueError(f"communities: no item with id {', '.join(missing)}")
        return [by_number[number].typed(digest.statements) for number, digest in enumerate(communities, 1)]


class _Verdict(_Wire):
    id: int
    same: bool
    confidence: float = Field(ge=0, le=1)


class _Verdicts(_Wire):
    pairs: list[_Verdict]

    def in_order(self, count: int) -> list[PairVerdict]:
        by_number = {verdict.id: verdict for verdict in self.pairs}
        missing = [str(number) for number in range(1, count + 1) if number not in by_number]
        if missing:
            raise ValueError(f"pairs: no item with id {', '.join(missing)}")
        return [PairVerdict(same=by_number[number].same, confidence=by_number[number].confidence)
                for number in range(1, count + 1)]


class _SubQuery(_Wire):
    question: str = Field(min_length=1)
    types: list[str] = []
    relations: list[str] = []
    attributes: list[str] = []
    routes: list[str] = []

    def typed(self, terms: _Terms) -> SubQuery:
        routes: tuple[Route, ...] = tuple(route for route in get_args(Route) if route in self.routes)
        return SubQuery(question=self.question,
                        entity_types=tuple(_schema_name(label, terms.types) for label in self.types),
                        relations=tuple(_schema_name(label, terms.relations) for label in self.relations),
                        attributes=tuple(_schema_name(label, terms.attributes) for label in self.attributes),
                        routes=routes or ROUTES)


class _Decomposition(_Wire):
    thought: str = ""
    sub_queries: list[_SubQuery] = Field(min_length=1)


class _NumberedAnswer(_Wire):
    id: int
    answer: str


class _Reflection(_Wire):
    thought: str = ""
    sufficient: bool
    claims: list[Claim] = []
    short: str = ""
    confidence: float = Field(default=1.0, ge=0, le=1)
    missing: str = ""
    answers: list[_NumberedAnswer] = []
    sub_queries: list[str] = []
    keep: list[int] = []

    def typed(self, history: Sequence[SubAnswer]) -> Reflection:
        if self.sufficient and not self.claims:
            raise ValueError("claims: empty although sufficient is true")
        answers = {item.id: item.answer.strip() for item in self.answers}
        draft = DraftAnswer(thought=self.thought, answerable=True, claims=self.claims, short=self.short,
                            confidence=self.confidence)
        return Reflection(
            sufficient=self.sufficient,
            missing=self.missing,
            # An answer of an earlier round stays where this reflection leaves it out.
            sub_answers=[SubAnswer(question=asked.question, answer=answers.get(number) or asked.answer)
                         for number, asked in enumerate(history, 1)],
            sub_queries=[] if self.sufficient else [
                SubQuery(question=text) for text in self.sub_queries if text.strip()],
            draft=draft if self.sufficient else None, keep=self.keep)


class _Question(_Wire):
    question: str = Field(min_length=1)


class _Retelling(_Wire):
    text: str = Field(min_length=1)


def extraction(schema: GraphSchema, tokens: int | None = None) -> Shape[Extraction]:
    """Return the answer to an extraction, its labels turned into the schema's names.

    Args:
        schema: the schema in force.
        tokens: of the text, which bound how many facts it can state; None: no bound.
    """
    most = None if tokens is None else max(_FEWEST_ROWS, tokens // _TOKENS_OF_A_FACT)
    facts = _list(_list(_TEXT, *_FACT_CELLS), most=most)
    asked = _answer("extraction", entities=_list(_list(_TEXT, *_ENTITY_CELLS), most=most), triples=facts,
                    attributes=facts,
                    new=_list(_object(label=_TEXT, kind=_TEXT, confidence=_NUMBER), most=_MOST_LABELS))
    return Shape(asked, lambda data: _Extraction.model_validate(data).typed(schema))


def summaries(communities: Sequence[CommunityDigest]) -> Shape[list[CommunitySummary]]:
    """Return the names, summaries and findings of communities, in order; each must be there."""
    return Shape(_SUMMARIES, lambda data: _Summaries.model_validate(data).in_order(communities))


def verdicts(count: int) -> Shape[list[PairVerdict]]:
    """Return the verdicts on `count` pairs, in order; each must be there."""
    return Shape(_VERDICTS, lambda data: _Verdicts.model_validate(data).in_order(count))


def decomposition(schema: GraphSchema, limit: int) -> Shape[list[SubQuery]]:
    """At least one and at most `limit` sub-queries; what goes beyond is cut off."""
    terms = _Terms(schema)
    schema_of_answer = _answer("decomposition", thought=_TEXT, sub_queries=_list(_SUB_QUERY, 1, limit))
    return Shape(schema_of_answer, lambda data: [
        query.typed(terms) for query in _Decomposition.model_validate(data).sub_queries[:limit]])


def reflection(history: Sequence[SubAnswer]) -> Shape[Reflection]:
    """Return the shape of a reflection with one sub-answer for each sub-query of `history`."""
    return Shape(_REFLECTION, lambda data: _Reflection.model_validate(data).typed(history))


def draft_answer() -> Shape[DraftAnswer]:
    """Return an answer in claims; one that says it is answerable has at least one claim."""
    def read(data: dict[str, Any]) -> DraftAnswer:
        draft = DraftAnswer.model_validate(data)
        if draft.answerable and not draft.claims:
            raise ValueError("claims: empty although answerable is true")
        return draft
    return Shape(_DRAFT, read)


def standalone_question() -> Shape[str]:
    """Return a rewritten question."""
    return Shape(_QUESTION, lambda data: _Question.model_validate(data).question)


def retelling() -> Shape[str]:
    """Return a passage of the model's own."""
    return Shape(_RETELLING, lambda data: _Retelling.model_validate(data).text)


class ProposedSchema(_Wire):
    """The rows of a schema that a model proposes; missing cells are empty."""

    thought: str = ""
    types: list[list[str]] = []
    relations: list[list[str]] = []
    attributes: list[list[str]] = []


def proposed_schema(read: Callable[[ProposedSchema], T]) -> Shape[T]:
    """Return a proposed schema as `read` takes it, which raises ValueError where it cannot be used."""
    return Shape(_PROPOSAL, lambda data: read(ProposedSchema.model_validate(data)))


class _Same(_Wire):
    same: list[list[str]] = []


def same_labels() -> Shape[list[SameLabel]]:
    """Return the labels that mean the same as another name; rows that cannot be read are left out."""
    def read(data: dict[str, Any]) -> list[SameLabel]:
        rows = [[*row, "", ""][:3] for row in _Same.model_validate(data).same]
        return [SameLabel(int(number), name.strip(), way.strip().lower() == "backward")
                for number, name, way in rows if number.strip().isdecimal() and name.strip()]
    return Shape(_SAME, read)


def verdict(model: type[_M]) -> Shape[_M]:
    """Return the shape of a judgement on a prediction, with the reason first."""
    return Shape(_JUDGEMENT, model.model_validate)
