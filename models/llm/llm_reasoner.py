"""The Reasoner over an OpenAI-compatible endpoint, and the schemas and labels that its model infers."""

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Self

from ...config import LlmStep, Settings
from ...prompts import rendering
from ...prompts.rendering import Language, Prompt, inquiry_values, number_items, render, schema_block
from ...schemas.delta import Candidate, ElementKind, SameLabel
from ...schemas.extraction import Extraction, ExtractionRequest
from ...schemas.graph_schema import ANY, AttributeType, EntityType, GraphSchema, RelationType, ValueKind
from ...schemas.inquiry import Inquiry, Judgement
from ...schemas.naming import is_readable_label, label_key
from ...schemas.resolution import EntityCard, EntityPair, PairVerdict
from ...schemas.retrieval import CommunityDigest, CommunitySummary
from ...text.scripts import estimate_tokens, script_of
from . import wire
from .extraction_reply import NumberedLines
from .model_calls import ModelCalls, prompt_language

# Few enough that the model weighs each of them, many enough that the fixed prompt hardly counts.
COMMUNITIES_PER_CALL, PAIRS_PER_CALL = 8, 10
SUMMARY_TOKENS = 4000  # that one call may read of communities; with the answer they fit a context of 8,192 tokens
_NAME_KEYWORDS, _DESCRIPTION_FACTS = 3, 5  # in the name and the description of a community that no model describes
MOST: dict[ElementKind, int] = {"entity_type": 8, "relation": 18, "attribute": 16}
"""Elements that a model may propose: with the core, what fits `LETTERED_TOKENS` in an extraction prompt."""
_CELLS: dict[ElementKind, int] = {"entity_type": 4, "relation": 5, "attribute": 5}  # of a proposed element's row
_SEPARATORS = re.compile(r"[|,/、，]")  # between the types in a cell
_KINDS: dict[str, ValueKind] = {"number": "number", "date": "date"}  # of values, as models write them; else "text"


def extraction_prompt(requests: Sequence[ExtractionRequest], schema: GraphSchema, settings: Settings) -> Prompt:
    """Return the prompt for the extraction of some chunks, which have the same instructions."""
    language = prompt_language(settings, "\n".join(request.text for request in requests))
    instructions = requests[0].instructions if requests else ""
    return render(
        "extract", language, schema=schema_block(schema, language),
        example=rendering.example("extract", language), text=NumberedLines(requests).text(),
        instructions=rendering.extraction_instructions_block(instructions, language))


def inference_prompt(excerpts: Sequence[str], known: GraphSchema, settings: Settings) -> Prompt:
    """Return the prompt that proposes a schema from excerpts."""
    text = number_items(excerpts)
    language = prompt_language(settings, text)
    return render("infer", language, excerpts=text, schema=schema_block(known, language),
                  entity_types=str(MOST["entity_type"]), relations=str(MOST["relation"]),
                  attributes=str(MOST["attribute"]))


class LlmReasoner(ModelCalls):
    """Implements `Reasoner` with one structured call for each step; the prompts have texts and names as fenced data."""

    resolves = can_reason = True
    _instructions = ""

    @property
    def fingerprint(self) -> str:
        """The implementation and the model of extraction, with the model of resolution if it is another."""
        models = dict.fromkeys((self._settings.model_of("extract"), self._settings.model_of("resolve")))
        return f"llm:{'+'.join(models)}"

    def with_instructions(self, instructions: str) -> Self:
        """Return this reasoner with wishes for the wording of its answers."""
        other = copy.copy(self)
        other._instructions = instructions  # noqa: SLF001  (of a new copy)
        return other

    async def extract(self, requests: Sequence[ExtractionRequest], schema: GraphSchema) -> list[Extraction]:
        """Return the extractions of some chunks, read by one call."""
        return await self._ask("extract", lambda: self._extraction_call(requests, schema))

    def _extraction_call(self, requests: Sequence[ExtractionRequest], schema: GraphSchema,
                         ) -> tuple[Prompt, wire.Shape[list[Extraction]]]:
        return extraction_prompt(requests, schema, self._settings), wire.extraction(schema, NumberedLines(requests))

    async def resolve(self, pairs: Sequence[EntityPair]) -> list[PairVerdict | None]:
        """Judge whether the two entities of each pair are the same thing, in order; None if a filter stops the pair.

        Only pairs of the same documents share a call, so that no other document influences a verdict.
        """
        positions_by_documents: dict[frozenset[str], list[int]] = {}
        for position, pair in enumerate(pairs):
            positions_by_documents.setdefault(pair.documents, []).append(position)
        batches = list[list[int]]()
        for positions in positions_by_documents.values():
            batches += [positions[start:start + PAIRS_PER_CALL] for start in range(0, len(positions), PAIRS_PER_CALL)]

        def make_call(batch: Sequence[int]) -> tuple[Prompt, wire.Shape[list[PairVerdict | None]]]:
            text = number_items(f"{_card_text(pairs[position].first)}\n{_card_text(pairs[position].second)}"
                                for position in batch)
            language = prompt_language(self._settings, text)
            return render("resolve", language, pairs=text), wire.verdicts(len(batch))

        verdicts = await self._ask_batches("resolve", make_call, batches, otherwise=lambda _: None)
        verdict_at = dict(zip(chain.from_iterable(batches), verdicts, strict=True))
        return [verdict_at[position] for position in range(len(pairs))]

    async def summarise(self, communities: Sequence[CommunityDigest]) -> list[CommunitySummary]:
        """Return a name and a description for each community, in order; a call has as many as it may read."""
        batches, batch_tokens = list[list[CommunityDigest]](), 0
        for community in communities:
            tokens = estimate_tokens(_digest_text(community))
            has_room = batches and len(batches[-1]) < COMMUNITIES_PER_CALL
            if not has_room or batch_tokens + tokens > SUMMARY_TOKENS:
                batches.append([])
                batch_tokens = 0
            batches[-1].append(community)
            batch_tokens += tokens

        def make_call(batch: Sequence[CommunityDigest]) -> tuple[Prompt, wire.Shape[list[CommunitySummary]]]:
            text = number_items(map(_digest_text, batch))
            return render("summarise", prompt_language(self._settings, text), communities=text), wire.summaries(batch)

        return await self._ask_batches(
            "summarise", make_call, batches,
            # A community that a filter stops is described by its keywords and first facts.
            otherwise=lambda community: CommunitySummary(
                name=", ".join(community.keywords[:_NAME_KEYWORDS]),
                summary="\n".join(community.statements[:_DESCRIPTION_FACTS]) or ", ".join(community.keywords)))

    async def judge(self, inquiry: Inquiry) -> Judgement:
        """Answer from the evidence, or say what to look up next; one form of prompt serves all rounds."""
        # The step decides which model is called, and under which name its tokens are counted.
        step: LlmStep = "reflect" if len(inquiry.rounds) > 1 else "decompose"
        if inquiry.is_last:
            step = "answer"
        language = self._question_language(inquiry.question)
        return await self._ask(step, lambda: (
            render("agent", language, **inquiry_values(inquiry, language),
                   instructions=rendering.instructions_line(self._instructions, language)),
            wire.judgement(() if inquiry.is_last else inquiry.tools)))

    async def condense(self, question: str, messages: Sequence[tuple[str, str]]) -> str:
        """Return a follow-up question rewritten to make sense without the earlier messages."""
        conversation = "\n".join(f"{role}: {text}" for role, text in messages)
        return await self._ask("condense", lambda: (
            render("condense", self._question_language(question), conversation=conversation, question=question),
            wire.QUESTION))

    def _question_language(self, question: str) -> Language:
        return rendering.question_language(question) if self._settings.language == "auto" else self._settings.language


def _card_text(card: EntityCard) -> str:
    """Return an entity for the prompt: its name and type, and below them a line for each fact."""
    return "\n".join([f"{card.name} ({card.type})", *(f"- {fact}" for fact in card.facts)])


def _digest_text(community: CommunityDigest) -> str:
    """Return a community for the prompt: its keywords, its numbered facts, and below a line its other statements."""
    lines = [f"{number}. {fact}" for number, fact in enumerate(community.statements, 1)]
    if len(lines) > len(community.facts):  # the statements begin with the facts
        lines.insert(len(community.facts), "---")
    return "\n".join([", ".join(community.keywords), *lines])


class SchemaWriter(ModelCalls):
    """Asks a model for a schema."""

    async def propose(self, excerpts: Sequence[str], known: GraphSchema) -> GraphSchema:
        """Return a schema with the known elements and those that the excerpts call for."""
        return await self._ask("infer", lambda: (
            inference_prompt(excerpts, known, self._settings),
            wire.proposed_schema(lambda proposed: merge_proposal(known, proposed))))

    async def group(self, labels: Sequence[Candidate], schema: GraphSchema) -> list[SameLabel]:
        """Return which labels mean the same as an element of the schema, or as another one."""
        def describe(label: Candidate) -> str:
            subjects = "|".join(label.subject_types) or ANY
            objects = "|".join(label.object_types) or ANY
            types = {"relation": f" ({subjects} -> {objects})", "attribute": f" ({subjects})", "entity_type": ""}
            return f"{label.kind.replace('_', ' ')}: {label.name}{types[label.kind]}"

        text = number_items(map(describe, labels))
        language = prompt_language(self._settings, text)
        return await self._ask("group", lambda: (
            render("group", language, labels=text, schema=schema_block(schema, language)), wire.SAME_LABELS))


def merge_proposal(known: GraphSchema, proposed: wire.ProposedSchema) -> GraphSchema:
    """Return the known schema with the proposed elements that can be used; raise ValueError if there are none.

    Unreadable and known names, and unknown types of domains and ranges, are left out. `label` is a name in the
    documents' language, and `single` what there is one of at a time: the "head", the "tail", or "one" value.
    """
    elements = (*known.entity_types, *known.relation_types, *known.attribute_types)
    taken_keys = {label_key(name) for element in elements for name in element.all_names()}
    types = {known_type.name: known_type for known_type in known.entity_types}
    # The name of each type by the keys of all its names; the new types join it below, so that relations find them.
    type_names = {label_key(name): element.name for element in known.entity_types for name in element.all_names()}

    def types_in(cell: str) -> tuple[str, ...]:
        """Return the schema's names of the types in a cell, or the name for any type if it has none of them."""
        names = [type_names.get(label_key(part), "") for part in _SEPARATORS.split(cell)]
        # A type whose parent is also named would only add tokens.
        needed = tuple(name for name in dict.fromkeys(names) if name and types[name].parent not in names)
        return needed or (ANY,)

    for name, parent, description, label in _new_rows("entity_type", proposed.types, taken_keys):
        types[name] = EntityType(name=name, description=description, parent=type_names.get(label_key(parent)),
                                 **_label_fields(name, label))
        type_names |= {label_key(other): name for other in types[name].all_names()}
    relations = [RelationType(
        name=label_key(words).replace(" ", "_"), domain=types_in(heads), range=types_in(tails),
        functional=single == "tail", inverse_functional=single == "head", **_label_fields(words, label))
        for words, heads, tails, label, single in _new_rows("relation", proposed.relations, taken_keys)]
    attributes = [AttributeType(
        name=label_key(words).replace(" ", "_"), owners=types_in(owners), kind=_KINDS.get(kind.lower(), "text"),
        functional=single == "one", **_label_fields(words, label))
        for words, owners, kind, label, single in _new_rows("attribute", proposed.attributes, taken_keys)]
    if not (relations or attributes or len(types) > len(known.entity_types)):
        raise ValueError('"types", "relations" and "attributes" hold no row that can be used')
    return GraphSchema(name=known.name, description=proposed.thought.strip(),  # it says what the documents are about
                       entity_types=tuple(types.values()), relation_types=(*known.relation_types, *relations),
                       attribute_types=(*known.attribute_types, *attributes))


def _new_rows(kind: ElementKind, rows: Sequence[Sequence[str]], taken_keys: set[str]) -> Iterator[list[str]]:
    """Yield at most `MOST[kind]` rows of `_CELLS[kind]` cells with readable new names, whose keys join `taken_keys`."""
    rows_left = MOST[kind]
    for row in rows:
        padded = (*row, *[""] * _CELLS[kind])  # missing cells are empty
        name, *others = [" ".join(cell.split()) for cell in padded[:_CELLS[kind]]]
        if rows_left and is_readable_label(name) and label_key(name) not in taken_keys:
            taken_keys.add(label_key(name))
            rows_left -= 1
            yield [name, *others]


def _label_fields(name: str, label: str) -> Mapping[str, object]:
    """Return the field for an element's name in the documents' language: a Chinese label, or an alias; {} for none."""
    if not is_readable_label(label) or label_key(label) == label_key(name):
        return {}
    return {"labels": {"zh": label}} if script_of(label) == "cjk" else {"aliases": (label,)}
