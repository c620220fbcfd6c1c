"""The JSON that each step asks for, and how it becomes our typed models.

Extraction, where the completion tokens are, uses rows: `["head", "relation", "tail", "words", "time"]`. They
are what the papers' prompts ask for and models write well; every cell is a string, so strict
JSON-schema decoding (which knows no tuples) can still enforce them; and ten triples with their
entities cost about a third fewer tokens than as objects. How many cells a row has is checked here as well. The other
steps' answers are short and their parts differ in kind: named fields keep those from being confused.

The models below are in the order in which an answer is written: reasons before verdicts, and these before claims, which
are shown as they arrive.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from ...prompts.schema_text import type_letters
from ...schemas.delta import SameLabel
from ...schemas.extraction import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction
from ...schemas.graph_schema import GraphSchema, SchemaElement
from ...schemas.inquiry import Judgement
from ...schemas.lookups import LOOKUPS, TOOLS, Lookup
from ...schemas.naming import normalise
from ...schemas.resolution import PairVerdict
from ...schemas.retrieval import Claim, CommunityDigest, CommunitySummary, DraftAnswer

T = TypeVar("T")
_M = TypeVar("_M", bound=BaseModel)

UNPROPOSED = 0.5
"""Confidence of a label that is not in the schema and was not proposed either: as likely a slip as a
need. It stays below the default acceptance threshold mu = 0.8."""

_MOST_FINDINGS = 3
_TOKENS_OF_A_FACT = 5
"""Fewer words state no fact: a dense list has one in five or six tokens."""
_FEWEST_ROWS = 6
_MOST_LABELS = 5
"""New ones in a text."""
MOST_LOOKUPS = 6
"""Lookups of one reply."""
_STRICT = ("type", "enum", "items", "minItems", "maxItems")
"""What strict decoding takes of a JSON schema. It keeps the bounds of arrays, so a model that repeats itself ends."""


@dataclass(frozen=True)
class Shape(Generic[T]):
    """The form of an answer: a JSON schema for the endpoint, and `read`, which checks and converts.

    `read` takes the decoded JSON object and raises ValueError (pydantic's included) where it does
    not fit; the message goes back to the model.
    """

    json_schema: dict[str, Any]
    read: Callable[[dict[str, Any]], T]


def _shape(name: str, model: type[_M], read: Callable[[_M], T], **most: int) -> Shape[T]:
    """Return the shape of a model's answer.

    Args:
        name: what the answer is called.
        model: the form of its JSON.
        read: converts an answer of that form, or raises ValueError.
        **most: the most items of some fields, where they depend on the call.
    """
    schema = _strict_schema(model)
    bounded = {field: {**schema["properties"][field], "maxItems": count} for field, count in most.items()}
    return Shape({"title": name, **schema, "properties": schema["properties"] | bounded},
                 lambda data: read(model.model_validate(data)))


@cache
def _strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model's JSON schema for strict decoding, which wants every property required and no other."""
    whole = model.model_json_schema()

    def strict(part: dict[str, Any]) -> dict[str, Any]:
        if "$ref" in part:
            return strict(whole["$defs"][part["$ref"].rpartition("/")[2]])
        if "properties" in part:
            properties = {name: strict(value) for name, value in part["properties"].items()}
            return {"type": "object", "properties": properties, "required": list(properties),
                    "additionalProperties": False}
        if "const" in part:
            return {"type": "string", "enum": [part["const"]]}
        return {word: strict(part[word]) if word == "items" else part[word] for word in _STRICT if word in part}

    return strict(whole)


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)


def _ask_for(**words: Any) -> Any:
    """Put words into the JSON schema of a field that are not checked in the answer."""
    return Field(json_schema_extra=words)


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
    """Return the rows of facts with all five cells; those that may be left out are empty."""
    return [[*row, "", ""][:5] for row in _drop_blank(rows, 3)]


class _NewLabel(_Wire):
    label: str
    kind: str = ""
    confidence: float = Field(ge=0, le=1)


_EntityRow = Annotated[list[str], Field(min_length=1, max_length=2)]
_FactRow = Annotated[list[str], Field(min_length=3, max_length=5)]


class _Extraction(_Wire):
    entities: list[_EntityRow]
    triples: list[_FactRow]
    attributes: list[_FactRow]
    new: Annotated[list[_NewLabel], _ask_for(maxItems=_MOST_LABELS)] = []

    def convert(self, schema: GraphSchema) -> Extraction:
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


class _Numbered(_Wire):
    id: int


_N = TypeVar("_N", bound=_Numbered)


class _Finding(_Wire):
    text: str
    facts: list[int] = []


class _Summary(_Numbered):
    name: str = Field(min_length=1)
    summary: str = Field(min_length=1)
    findings: Annotated[list[_Finding], _ask_for(maxItems=_MOST_FINDINGS)] = []

    def convert(self, facts: Sequence[str]) -> CommunitySummary:
        """Return the summary with its findings; one that rests on none of the facts is left out."""
        lines = [self.summary]
        for finding in self.findings[:_MOST_FINDINGS]:
            rests_on = [facts[number - 1] for number in dict.fromkeys(finding.facts) if 0 < number <= len(facts)]
            if rests_on and finding.text.strip():
                lines.append(f"- {finding.text.strip()} ({'; '.join(rests_on)})")
        return CommunitySummary(name=self.name, summary="\n".join(lines))


class _Summaries(_Wire):
    communities: list[_Summary]


class _Verdict(_Numbered):
    thought: str = ""
    same: bool
    confidence: float = Field(ge=0, le=1)


class _Verdicts(_Wire):
    pairs: list[_Verdict]


def _in_order(field: str, items: Iterable[_N], count: int) -> list[_N]:
    """Return items in the order of their numbers, from 1.

    Raises:
        ValueError: one is missing.
    """
    by_number = {item.id: item for item in items}
    missing = [str(number) for number in range(1, count + 1) if number not in by_number]
    if missing:
        raise ValueError(f"{field}: no item with id {', '.join(missing)}")
    return [by_number[number] for number in range(1, count + 1)]


class _Judgement(_Wire):
    thought: str = ""
    lookups: list[dict[str, Any]] = []
    keep: list[int] = []
    answerable: bool = False
    claims: list[Claim] = []
    short: str = ""
    confidence: float = Field(default=1.0, ge=0, le=1)

    @model_validator(mode="before")
    @classmethod
    def _refuse_parts(cls, given: Any) -> Any:
        """Refuse a claim or lookup that is read alone because the reply around it is broken."""
        if isinstance(given, dict) and not given.keys() & {"answerable", "lookups"}:
            raise ValueError("answerable: missing")
        return given

    def convert(self, *, looks_up: bool) -> Judgement:
        """Return the answer if there is one, else the lookups.

        Raises:
            ValueError: it says that it answers and does not, asks for a lookup that there is not, or does neither.
        """
        if self.model_fields_set.isdisjoint({"answerable", "claims", "lookups"}):
            raise ValueError("answerable: missing")
        if self.answerable and self.claims:
            return Judgement(thought=self.thought, keep=self.keep, draft=DraftAnswer(
                thought=self.thought, answerable=True, claims=self.claims, short=self.short,
                confidence=self.confidence))
        if looks_up and self.lookups:
            lookups = _read_lookups(self.lookups)
            return Judgement(thought=self.thought, lookups=lookups, keep=self.keep)
        if self.answerable:
            raise ValueError("claims: empty although answerable is true")
        return Judgement(thought=self.thought, draft=DraftAnswer(thought=self.thought, answerable=False,
                                                                 confidence=0.0))


_LOOKUP: TypeAdapter[Lookup] = TypeAdapter(Lookup)


def _read_lookups(given: Sequence[dict[str, Any]]) -> list[Lookup]:
    """Return the lookups that can be run.

    Raises:
        ValueError: none of them can.
    """
    found, wrong = list[Lookup](), list[ValueError]()
    for one in given[:MOST_LOOKUPS]:
        try:
            found.append(_LOOKUP.validate_python({name: value for name, value in one.items() if value is not None}))
        except ValueError as error:
            wrong.append(error)
    if wrong and not found:
        raise wrong[0]
    return list(dict.fromkeys(found))


class _Question(_Wire):
    question: str = Field(min_length=1)


class _Retelling(_Wire):
    thought: str = ""
    text: str = Field(min_length=1)


class ProposedSchema(_Wire):
    """The rows of a schema that a model proposes; missing cells are empty."""

    thought: str = ""
    types: list[Annotated[list[str], _ask_for(minItems=1, maxItems=4)]] = []
    relations: list[Annotated[list[str], _ask_for(minItems=3, maxItems=5)]] = []
    attributes: list[Annotated[list[str], _ask_for(minItems=2, maxItems=5)]] = []


class _Same(_Wire):
    same: list[Annotated[list[str], _ask_for(minItems=2, maxItems=3)]] = []

    def convert(self) -> list[SameLabel]:
        rows = [[*row, "", ""][:3] for row in self.same]
        return [SameLabel(int(number), name.strip(), way.strip().lower() == "backward")
                for number, name, way in rows if number.strip().isdecimal() and name.strip()]


QUESTION: Shape[str] = _shape("question", _Question, lambda answer: answer.question)
RETELLING: Shape[str] = _shape("retelling", _Retelling, lambda answer: answer.text)
SAME_LABELS: Shape[list[SameLabel]] = _shape("same", _Same, _Same.convert)
"""Malformed rows of it are dropped."""


def extraction(schema: GraphSchema, tokens: int | None = None) -> Shape[Extraction]:
    """Return the shape of an extraction, with labels replaced by the schema's names.

    Args:
        schema: the schema in force.
        tokens: the tokens of the text, which limit how many facts it can state; None means no limit.
    """
    most = {} if tokens is None else dict.fromkeys(("entities", "triples", "attributes"),
                                                   max(_FEWEST_ROWS, tokens // _TOKENS_OF_A_FACT))
    return _shape("extraction", _Extraction, lambda answer: answer.convert(schema), **most)


def summaries(communities: Sequence[CommunityDigest]) -> Shape[list[CommunitySummary]]:
    """Return the shape of the names, summaries and findings of all communities, in order."""
    return _shape("summaries", _Summaries, lambda answer: [
        summary.convert(community.statements) for community, summary in zip(
            communities, _in_order("communities", answer.communities, len(communities)), strict=True)])


def verdicts(count: int) -> Shape[list[PairVerdict | None]]:
    """Return the shape of the verdicts on `count` pairs, in order."""
    return _shape("verdicts", _Verdicts, lambda answer: [
        PairVerdict(same=one.same, confidence=one.confidence) for one in _in_order("pairs", answer.pairs, count)])


def judgement(tools: Sequence[str]) -> Shape[Judgement]:
    """Return the shape of an answer or of lookups by some tools; without tools it can only be an answer."""
    shape = _shape("judgement", _Judgement, lambda answer: answer.convert(looks_up=bool(tools)))
    kinds = [_strict_schema(LOOKUPS[tool]) for tool in TOOLS if tool in tools]
    lookups = {"type": "array", "items": {"anyOf": kinds}, "maxItems": MOST_LOOKUPS} if kinds else {
        "type": "array", "items": {"type": "string"}, "maxItems": 0}
    return Shape({**shape.json_schema, "properties": {**shape.json_schema["properties"], "lookups": lookups}},
                 shape.read)


def proposed_schema(read: Callable[[ProposedSchema], T]) -> Shape[T]:
    """Return the shape of a proposed schema, converted by `read`, which raises ValueError if it cannot be used."""
    return _shape("schema", ProposedSchema, read)


def verdict(model: type[_M]) -> Shape[_M]:
    """Return the shape of a judgement on a prediction, with the reason first."""
    return _shape("judgement", model, lambda answer: answer)
