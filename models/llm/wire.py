"""The JSON that each step asks for, found in a reply, checked but never completed, and converted to our typed models.

Fields are in the order in which an answer is written: verdicts come before claims, which are shown as they arrive.
"""

import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from ...schemas.delta import SameLabel
from ...schemas.extraction import Extraction
from ...schemas.graph_schema import GraphSchema
from ...schemas.inquiry import Judgement
from ...schemas.lookups import LOOKUPS, TOOLS, Lookup
from ...schemas.resolution import PairVerdict
from ...schemas.retrieval import Claim, CommunityDigest, CommunitySummary, DraftAnswer
from ...text.cleaning import clean_json
from .endpoint import Reply
from .extraction_reply import ExtractionReply, NumberedLines, ReplyConversion, bounds_of

T = TypeVar("T")
_M = TypeVar("_M", bound=BaseModel)

LONGEST_THOUGHT = 4000  # characters that a question's next prompts repeat: a model that goes on and on pays once
MOST_LOOKUPS = 6  # of one reply
_MOST_FINDINGS = 3  # of a community's summary
_LONGEST_REASON = 200  # characters of why a lookup is not made; the reason may repeat what the model wrote
# The keywords of a JSON schema for strict decoding. The bounds of arrays end an answer that repeats itself.
_STRICT_KEYWORDS = ("type", "enum", "items", "minItems", "maxItems")
_DECODER = json.JSONDecoder(strict=False)  # line breaks within strings are a common and harmless slip
# Some servers' chat templates open the block in the prompt, so the answer has only its end.
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_MOST_OBJECTS = 100  # that are checked, the last ones: a useless reply may have a hundred thousand
_MOST_READ_AGAIN = 100_000  # characters read a second time, after braces that open no readable object
_LEAST_READ_AGAIN = 100  # characters that such a brace counts for, so that reading takes linear time
MAX_ANSWER = 1_000_000  # characters of an answer: ten times the longest reply of today's models
_CHARACTERS_SHOWN, _REFUSAL_SHOWN, _ERRORS_SHOWN = 80, 200, 3  # of an answer, of a refusal, of pydantic's errors


@dataclass(frozen=True)
class Shape(Generic[T]):
    """The form of an answer: a JSON schema for the endpoint, and `read`, which converts the decoded JSON object.

    `read` raises ValueError (pydantic's included) if the object does not fit; the message goes back to the model.
    """

    json_schema: dict[str, Any]
    read: Callable[[dict[str, Any]], T]


def _shape(name: str, model: type[_M], read: Callable[[_M], T], field_schemas: Mapping[str, Any] | None = None,
           ) -> Shape[T]:
    """Return the shape of answers that a model validates and `read` converts; `field_schemas` override the model's."""
    schema = _strict_schema(model)
    properties = {**schema["properties"], **(field_schemas or {})}
    return Shape({"title": name, **schema, "properties": properties}, lambda data: read(model.model_validate(data)))


@cache
def _strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model's JSON schema for strict decoding, which wants every property required and no other."""
    whole = model.model_json_schema()

    def strict(part: dict[str, Any]) -> dict[str, Any]:
        """Return a part of the schema with its references resolved and only the keywords for strict decoding."""
        if "$ref" in part:
            return strict(whole["$defs"][part["$ref"].rpartition("/")[2]])
        if "properties" in part:
            properties = {name: strict(value) for name, value in part["properties"].items()}
            return {"type": "object", "properties": properties, "required": list(properties),
                    "additionalProperties": False}
        if "const" in part:
            return {"type": "string", "enum": [part["const"]]}
        return {keyword: strict(part[keyword]) if keyword == "items" else part[keyword]
                for keyword in _STRICT_KEYWORDS if keyword in part}

    return strict(whole)


def _schema_hint(**words: Any) -> Any:
    """Return a field whose JSON schema has keywords for the endpoint; an answer that goes against them is read, too."""
    return Field(json_schema_extra=words)


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)


class _Numbered(_Wire):
    id: int


class _Finding(_Wire):
    text: str
    facts: list[int] = []


class _Summary(_Numbered):
    name: str = Field(min_length=1)
    summary: str = Field(min_length=1)
    findings: Annotated[list[_Finding], _schema_hint(maxItems=_MOST_FINDINGS)] = []

    def convert(self, community: CommunityDigest, shown: tuple[str, ...]) -> CommunitySummary:
        """Return the summary with its findings and the facts that support them; a finding without any is left out."""
        facts, lines = community.statements, [self.summary]
        for finding in self.findings[:_MOST_FINDINGS]:
            numbers = [number for number in dict.fromkeys(finding.facts) if 0 < number <= len(facts)]
            supporting = [facts[number - 1] for number in numbers]
            if supporting and finding.text.strip():
                lines.append(f"- {finding.text.strip()} ({'; '.join(supporting)})")
        return CommunitySummary(name=self.name, summary="\n".join(lines), shown=shown)


class _Summaries(_Wire):
    communities: list[_Summary]


class _Verdict(_Numbered):
    thought: str = ""
    same: bool
    confidence: float = Field(ge=0, le=1)


class _Verdicts(_Wire):
    pairs: list[_Verdict]


class _Question(_Wire):
    question: str = Field(min_length=1)


class ProposedSchema(_Wire):
    """The rows of a schema that a model proposes; missing cells are empty."""

    thought: str = ""
    types: list[Annotated[list[str], _schema_hint(minItems=1, maxItems=4)]] = []
    relations: list[Annotated[list[str], _schema_hint(minItems=3, maxItems=5)]] = []
    attributes: list[Annotated[list[str], _schema_hint(minItems=2, maxItems=5)]] = []


class _Same(_Wire):
    same: list[Annotated[list[str], _schema_hint(minItems=2, maxItems=3)]] = []

    def convert(self) -> list[SameLabel]:
        """Read the rows [number, name, direction]; the direction may be missing, and malformed rows are left out."""
        rows = [[*row, "", ""][:3] for row in self.same]  # missing cells are empty
        return [SameLabel(int(number), name.strip(), direction.strip().lower() == "backward")
                for number, name, direction in rows if number.strip().isdecimal() and name.strip()]


class _Judgement(_Wire):
    thought: Annotated[str, AfterValidator(lambda thought: thought[:LONGEST_THOUGHT])] = ""
    lookups: list[dict[str, Any]] = []
    answerable: bool = False
    claims: list[Claim] = []
    short: str = ""
    confidence: float = Field(default=1.0, ge=0, le=1)

    @model_validator(mode="before")
    @classmethod
    def _refuse_parts(cls, reply: Any) -> Any:
        """Raise ValueError for a claim or lookup found within a broken reply: with our defaults it would be valid."""
        if isinstance(reply, dict) and not reply.keys() & {"answerable", "lookups"}:
            raise ValueError("answerable: missing")
        return reply

    def convert(self, *, looks_up: bool) -> Judgement:
        """Return the answer, else the lookups if `looks_up`, else that there is none; ValueError: it has no claims."""
        is_answer = self.answerable and bool(self.claims)
        if not is_answer and looks_up and self.lookups:
            lookups, refused = _read_lookups(self.lookups)
            return Judgement(thought=self.thought, lookups=lookups, refused=refused)
        if self.answerable and not self.claims:
            raise ValueError("claims: empty although answerable is true")
        return Judgement(thought=self.thought, draft=DraftAnswer(
            thought=self.thought, answerable=is_answer, claims=self.claims, short=self.short if is_answer else "",
            confidence=self.confidence if is_answer else 0.0))


_LOOKUP: TypeAdapter[Lookup] = TypeAdapter(Lookup)


def _read_lookups(wanted: Sequence[dict[str, Any]]) -> tuple[list[Lookup], list[tuple[str, str]]]:
    """Return the valid lookups, each once, with tool and reason of the others; a ValidationError if none is valid."""
    lookups, refused = list[Lookup](), list[tuple[str, str]]()
    for number, fields in enumerate(wanted, 1):
        tool = fields["tool"] if fields.get("tool") in TOOLS else "lookup"
        if number > MOST_LOOKUPS:
            refused.append((tool, f"not looked up: a reply may make {MOST_LOOKUPS} lookups"))
            continue
        try:
            stated = {name: value for name, value in fields.items() if value is not None}  # null: left out
            lookups.append(_LOOKUP.validate_python(stated))
        except ValidationError as error:
            is_last = number == min(len(wanted), MOST_LOOKUPS)
            if is_last and not lookups:  # the model is asked again
                raise
            first_error = error.errors()[0]
            place = ".".join(map(str, first_error["loc"][1:]))  # the first part is the tool
            parts = ["not looked up", place, first_error["msg"][:_LONGEST_REASON]]
            refused.append((tool, ": ".join(filter(None, parts))))
    return list(dict.fromkeys(lookups)), refused


_N = TypeVar("_N", bound=_Numbered)


def _in_order(field: str, items: Iterable[_N], count: int) -> list[_N]:
    """Return the items with the numbers 1 to `count` in that order; raise ValueError if one is missing."""
    by_number = {item.id: item for item in items}
    missing = [str(number) for number in range(1, count + 1) if number not in by_number]
    if missing:
        raise ValueError(f"{field}: no item with id {', '.join(missing)}")
    return [by_number[number] for number in range(1, count + 1)]


QUESTION: Shape[str] = _shape("question", _Question, lambda answer: answer.question)
SAME_LABELS: Shape[list[SameLabel]] = _shape("same", _Same, _Same.convert)


def extraction(schema: GraphSchema, lines: NumberedLines) -> Shape[list[Extraction]]:
    """Return the shape of the extractions of the requests that the lines belong to, in order."""
    return _shape("extraction", ExtractionReply,
                  lambda reply: ReplyConversion(reply, schema, lines).extractions(), bounds_of(lines))


def summaries(communities: Sequence[CommunityDigest]) -> Shape[list[CommunitySummary]]:
    """Return the shape of the names, summaries and findings of all communities, in order."""
    # A summary can be influenced by the other communities of its call, so it records what was shown of all.
    shown = tuple(chain.from_iterable(community.texts for community in communities)) if len(communities) > 1 else ()
    return _shape("summaries", _Summaries, lambda answer: [
        summary.convert(community, shown) for community, summary in zip(
            communities, _in_order("communities", answer.communities, len(communities)), strict=True)])


def verdicts(count: int) -> Shape[list[PairVerdict | None]]:
    """Return the shape of the verdicts on `count` pairs, in order."""
    return _shape("verdicts", _Verdicts, lambda answer: [
        PairVerdict(same=verdict.same, confidence=verdict.confidence)
        for verdict in _in_order("pairs", answer.pairs, count)])


def judgement(tools: Sequence[str]) -> Shape[Judgement]:
    """Return the shape of an answer or of lookups by some tools; without tools it can only be an answer."""
    kinds = [_strict_schema(LOOKUPS[tool]) for tool in TOOLS if tool in tools]
    lookups = {"type": "array", "items": {"anyOf": kinds}, "maxItems": MOST_LOOKUPS}
    if not kinds:  # the list must be empty; an `anyOf` without any schema is not valid
        lookups = {"type": "array", "items": {"type": "string"}, "maxItems": 0}
    return _shape("judgement", _Judgement, lambda answer: answer.convert(looks_up=bool(tools)), {"lookups": lookups})


def proposed_schema(read: Callable[[ProposedSchema], T]) -> Shape[T]:
    """Return the shape of a proposed schema, converted by `read`, which raises ValueError if it cannot be used."""
    return _shape("schema", ProposedSchema, read)


class UnusableAnswer(ValueError):
    """An answer is no JSON object or has the wrong shape; the text says what is wrong."""


def read_reply(reply: Reply, shape: Shape[T]) -> T:
    """Return the typed answer in a reply; raise UnusableAnswer, with what is wrong, if there is none."""
    if reply.refusal:
        raise UnusableAnswer(f"the model refused to answer: {' '.join(reply.refusal.split())[:_REFUSAL_SHOWN]}")
    try:
        return read_text(reply.text, shape)
    except ValueError as error:
        problem = str(error)
        if isinstance(error, ValidationError):
            details = error.errors(include_url=False, include_context=False, include_input=False)[:_ERRORS_SHOWN]
            problem = "; ".join(f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in details)
        if reply.finish == "length":
            problem = f"the answer was cut off at the length limit; {problem}"
        raise UnusableAnswer(problem) from error


def read_text(text: str, shape: Shape[T]) -> T:
    """Return the typed answer in a text: its last complete JSON object that fits."""
    errors = list[ValueError]()
    for data in json_objects(text, shape.json_schema.get("properties", ())):
        try:
            return shape.read(_fill_nulls(data, shape.json_schema))
        except ValueError as error:
            errors.append(error)
    raise errors[0]


def _fill_nulls(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return an answer with an empty list or text in place of null, but for fields of other types, and of enums."""
    if value is None and "enum" not in schema:
        return {"array": (), "string": ""}.get(schema.get("type", ""))
    if isinstance(value, list) and "items" in schema:
        return [_fill_nulls(item, schema["items"]) for item in value]
    if isinstance(value, dict) and "properties" in schema:
        return {name: _fill_nulls(part, schema["properties"].get(name, {})) for name, part in value.items()}
    return value


def json_objects(text: str, names: Collection[str]) -> list[dict[str, Any]]:
    """Return the JSON objects in an answer that have one of some fields; the last first, as drafts come before it.

    Thoughts, code fences and words around them are ignored. UnusableAnswer: none is complete, or the text is too long.
    """
    if len(text) > MAX_ANSWER:
        raise UnusableAnswer(f"it has {len(text):,} characters, at most {MAX_ANSWER:,} are read")
    whole, end, _ = _decode_object(text.strip(), 0)
    if whole is not None and end == len(text.strip()):
        answer, objects, problem = text, [whole], ""
    else:
        end_of_thoughts = max((thought.end() for thought in _THOUGHT_END.finditer(text)), default=0)
        answer = text[end_of_thoughts:]
        objects, problem = _find_objects(answer, names)
    if not objects:
        shown = answer.strip()[:_CHARACTERS_SHOWN] or "nothing"
        raise UnusableAnswer(f"there is no complete JSON object in it{problem}; it begins: {shown}")
    try:
        return [clean_json(value) for value in objects]
    except RecursionError:
        raise UnusableAnswer("it is nested too deeply") from None


def _find_objects(text: str, names: Collection[str]) -> tuple[list[dict[str, Any]], str]:
    """Return the JSON objects with one of these fields, the last first, and why the first unread brace opens none."""
    objects, problem, characters_left = list[dict[str, Any]](), "", _MOST_READ_AGAIN
    start = text.find("{")
    while start >= 0 and characters_left > 0:
        value, end, reason = _decode_object(text, start)
        if value is None:
            problem = problem or f" ({reason})"
            characters_left -= max(end - start, _LEAST_READ_AGAIN)
            end = start + 1  # there may be readable objects within it
        elif value.keys().isdisjoint(names):
            problem = problem or " that has a field which was asked for"
        else:
            objects.append(value)
        start = text.find("{", end)
    return list(reversed(objects))[:_MOST_OBJECTS], problem


def _decode_object(text: str, start: int) -> tuple[dict[str, Any] | None, int, str]:
    """Return the object that starts at a position, or None, then how far the text was read, and what is wrong."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return None, max(error.pos, start + 1), str(error)  # beyond the start, so that a search goes on
    except RecursionError:  # at least a character was read for each level
        return None, min(len(text), start + sys.getrecursionlimit()), "it is nested too deeply"
    return (value if isinstance(value, dict) else None), end, "no object"
