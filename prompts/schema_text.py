"""Rendering the graph schema, lookups and evidence for prompts in as few tokens as a model needs."""

from collections.abc import Iterator

from ..schemas.graph_schema import ANY, GraphSchema, SchemaElement
from ..schemas.inquiry import Block, Inquiry
from ..schemas.naming import canonical_name
from ..schemas.retrieval import Passage
from ..text.relative_dates import relative_dates, with_meant_dates
from ..text.scripts import estimate_tokens
from ..text.table_rows import DOCUMENT
from .rendering import Fenced, Language, close_item, fence, load_parts

SCHEMA_TOKENS = 235
"""The most tokens of a schema's text, because extraction pays for them with every chunk; see `schema_block`."""
LETTERED_TOKENS = 300  # the most tokens of the form with a letter for each type
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def type_letters(schema: GraphSchema) -> dict[str, str]:
    """Return the letter for each type in abbreviated signatures; empty if there are more types than letters."""
    types = schema.entity_types
    if len(types) > len(_LETTERS):
        return {}
    return {entity_type.name: letter for entity_type, letter in zip(types, _LETTERS, strict=False)}


def schema_block(schema: GraphSchema, language: Language) -> str:
    """Render the schema as text for a prompt, one line for each kind of element.

    Relations read `name(Domain->Range)`, attributes `name(Owner)`, several types `A|B`, any type `*`. The first form
    that fits its limit is used: with descriptions, without, with a letter for each type (`name AB->C`), with `*` for
    lists of several types, the longest first. No element is ever left out, and bounding checks domain and range in any
    case.
    """
    text = ""
    for text, max_tokens in _schema_forms(schema, language):
        if estimate_tokens(text) <= max_tokens:
            break  # if none fits, the last and shortest one is used
    return f"{text}\n{load_parts(language)['open']}".strip() if schema.open else text


def _schema_forms(schema: GraphSchema, language: Language) -> Iterator[tuple[str, int]]:
    """Yield the forms of `schema_block`, the fullest first, each with its limit of tokens."""
    type_lists = [names for relation in schema.relation_types for names in (relation.domain, relation.range)]
    type_lists += [attribute.owners for attribute in schema.attribute_types]
    longest_list = max((len(names) for names in type_lists), default=1)
    text = _schema_lines(schema, language, max_types=longest_list, letters={})
    elements = (*schema.entity_types, *schema.relation_types, *schema.attribute_types)
    descriptions = [f"{element.label(language)}: {element.description}" for element in elements if element.description]
    yield "\n".join([text, *descriptions]), SCHEMA_TOKENS
    yield text, SCHEMA_TOKENS
    if letters := type_letters(schema):
        yield _schema_lines(schema, language, max_types=longest_list, letters=letters), LETTERED_TOKENS
    for max_types in range(longest_list - 1, 0, -1):
        yield _schema_lines(schema, language, max_types=max_types, letters={}), SCHEMA_TOKENS


def _schema_lines(schema: GraphSchema, language: Language, max_types: int, letters: dict[str, str]) -> str:
    """Write a line for each kind of element; lists of over `max_types` types are `*`, and `letters` stand for types."""
    labels = letters or {entity_type.name: entity_type.label(language) for entity_type in schema.entity_types}

    def write_types(names: tuple[str, ...]) -> str:
        """Return the types of one end of a signature, such as "Person|Company", or "AB" with letters."""
        if len(names) > max_types:
            return ANY
        separator = "" if letters else "|"
        return separator.join(labels.get(name, name) for name in names)

    def add_signature(element: SchemaElement, signature: str) -> str:
        label = element.label(language)
        return f"{label} {signature}" if letters else f"{label}({signature})"

    types = [entity_type.label(language) for entity_type in schema.entity_types]
    if letters:
        types = [f"{letters[entity_type.name]} {label}"
                 for entity_type, label in zip(schema.entity_types, types, strict=True)]
    relations = [add_signature(relation, f"{write_types(relation.domain)}->{write_types(relation.range)}")
                 for relation in schema.relation_types]
    attributes = [add_signature(attribute, write_types(attribute.owners)) for attribute in schema.attribute_types]
    listed = {"types_by_letter" if letters else "types": types, "relations": relations, "attributes": attributes}
    return "\n".join(f"{load_parts(language)[name]}: {', '.join(items)}" for name, items in listed.items() if items)


def inquiry_values(inquiry: Inquiry, language: Language) -> dict[str, str]:
    """Return the values of the placeholders in an inquiry's prompt."""
    parts = load_parts(language)
    # The prompt explains tables, and kinds of columns, only if a table in the evidence has them.
    table_descriptions = " ".join(item.statement for item in inquiry.items() if item.kind == "table")
    columns = "".join(text for words, text in parts["columns"].items() if words in table_descriptions)
    tables = parts["tables"].format(columns) if table_descriptions else ""
    lookups = "\n".join(f"- {text}{tables if tool == 'table_query' else ''}"
                        for tool, text in parts["lookups"].items() if tool in inquiry.tools)
    superseded = parts["superseded"] if any(item.status for item in inquiry.items()) else ""
    return {"lookups": lookups or "-", "mode": parts["modes"][inquiry.mode], "superseded": superseded,
            "terms": f"{parts['terms']}: {inquiry.terms}" if inquiry.terms else "", "question": inquiry.question,
            "rounds": _rounds_text(inquiry, language), "last": parts["last"] if inquiry.is_last else ""}


_HEADING_MARKS = "#= \t*_"  # signs around the text of a heading in Markdown


def _rounds_text(inquiry: Inquiry, language: Language) -> Fenced:
    """Return all rounds of a question with their items, numbered from 1, their thoughts and items fenced as data."""
    # Rounds are only appended, so the text begins with that of the question's earlier prompts, which endpoints cache.
    # Lookups need no lines: they are the titles of the blocks that they found.
    words, next_number, parts = load_parts(language), 1, list[str]()
    titled_documents = set[str]()  # those whose title was shown; `_numbered_block` adds to it
    for round_number, lookup_round in enumerate(inquiry.rounds):
        lines = []
        for block in lookup_round.blocks:
            lines.append(_numbered_block(block, next_number, inquiry.dropped, titled_documents, language))
            next_number += len(block.items)
        thought = [words["thought"].format(" ".join(lookup_round.thought.split()))] if lookup_round.thought else []
        title = words["round"].format(round_number) if lookup_round.lookups else words["first_look"]
        content = "\n".join([*thought, *(lines or [words["nothing"]])])
        parts.append(f"{title}\n{fence(content)}")
    return Fenced("\n".join(parts))


def block_text(block: Block) -> str:
    """Return what a lookup found as lines without numbers; each item names its document."""
    return "\n".join([block.title, *(_item_text(item) for item in block.items), *_note(block)])


def _numbered_block(block: Block, first_number: int, dropped: frozenset[int], titled_documents: set[str],
                    language: Language) -> str:
    """Write a block with items from `first_number` on, without `dropped` ones and titles in `titled_documents`."""
    shown, source = list[str](), _shared_source(block)
    for number, item in enumerate(block.items, first_number):
        if number not in dropped:
            text = _item_text(item).removesuffix(source)
            if item.document in titled_documents and item.title:
                text = text.replace(f"{item.document}: {item.title}", item.document, 1)
            shown.append(f"[{number}] {close_item(text)}")
            if not item.statement:  # it is a passage
                titled_documents.add(item.document)
    dropped_count = len(block.items) - len(shown)
    dropped_line = [load_parts(language)["dropped"].format(dropped_count)] if dropped_count else []
    return "\n".join([f"## {close_item(block.title)}{source}", *shown, *dropped_line, *_note(block)])


def _shared_source(block: Block) -> str:
    """Return the document in brackets with which all of a block's several lines end, to show it once; "" for none."""
    source = f" ({block.items[0].document})" if len(block.items) > 1 else ""
    return source if all(item.statement.endswith(source) for item in block.items) else ""


def _note(block: Block) -> Iterator[str]:
    """Yield the line of a block's note and of what was left out, if there is any."""
    if note := block_note(block):
        yield f"({note})"


def block_note(block: Block) -> str:
    """Return a block's note, and how many items were left out; "" for neither."""
    left = f"{block.left} more {block.left_hint or 'lines: narrow it'}" if block.left else ""
    return "; ".join(filter(None, [block.note, left]))


def _item_text(item: Passage) -> str:
    """Return an item without its number: a passage with the header above it, any other item as its statement."""
    return item.statement or f"{item.header}\n{passage_text(item)}"


def _without_title_cells(text: str, title: str) -> str:
    """Return a text without the document's name and title in a first line of its metadata."""
    line, _, rest = text.partition("\n")
    if not line.startswith(f"| {DOCUMENT}: ") or not title:
        return text
    cells = line.strip("| ").split(" | ")[1:]  # the first one is the document's name
    remaining_cells = [cell for cell in cells if canonical_name(cell.partition(": ")[2]) != canonical_name(title)]
    return f"| {' | '.join(remaining_cells)} |\n{rest}" if remaining_cells else rest


def passage_text(item: Passage) -> str:
    """Return a passage's text without what repeats its title, and with meant dates: "yesterday [2024-03-04]"."""
    dated_text = with_meant_dates(item.text, relative_dates(item.text, item.said_on))
    text = _without_title_cells(dated_text, item.title)
    if item.is_excerpt:
        return f"… {text} …"
    first_line, _, rest = text.partition("\n")
    repeats_title = canonical_name(first_line.strip(_HEADING_MARKS)) == canonical_name(item.title)
    return rest.strip("\n") if rest.strip() and repeats_title else text
