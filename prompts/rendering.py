"""Filling in prompts, so that text of documents stays data, and writing schema and evidence for them in few tokens.

A prompt file has the system message, a line `=== user ===`, and the user message. What changes from call to call is at
the end of the user message, so that endpoints can reuse the common prefix. Every value that may come from a document is
put between `<data>` and `</data>`: it can neither close that fence nor end its message with a chat template's signs,
which servers turn into control tokens wherever they are.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from string import Template
from typing import Any, Literal, NamedTuple

from ..schemas.graph_schema import ANY, GraphSchema, SchemaElement
from ..schemas.inquiry import Block, Inquiry
from ..schemas.naming import UNSEEN, canonical_name
from ..schemas.retrieval import Passage
from ..text.relative_dates import relative_dates, with_meant_dates
from ..text.scripts import estimate_tokens, language_of
from ..text.table_rows import DOCUMENT

Language = Literal["en", "zh"]

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LETTER = re.compile(r"[^\W\d_]")
_CHINESE_SHARE = 0.3
"""One Han letter carries about as much meaning as three Latin ones, so at 0.3 most of a text's content is Chinese."""
_CAPITALISED = re.compile(r"\b[A-Z][^\W\d_]*")
_CHINESE_WORDS = re.compile("[谁什么哪几多少何吗呢的是在了为与和怎]")
_ENGLISH_WORDS = re.compile(
    r"\b(?:who|whom|whose|what|which|where|when|why|how|is|are|was|were|do|does|did|the|of|in|on|and|to|has|have)\b",
    re.IGNORECASE)
_LEAST_ENGLISH = 2


def text_language(text: str) -> Language:
    """Return the language of the prompts for a text: Chinese if enough of its letters are, else English."""
    is_mostly_han = len(_HAN.findall(text)) > _CHINESE_SHARE * len(_LETTER.findall(text))
    # Japanese has Han letters, too, and there are no prompts in it.
    return "zh" if is_mostly_han and language_of(text) != "ja" else "en"


def question_language(question: str) -> Language:
    """Return the language of the prompts for a question."""
    # Function words decide, so that names in another script do not count; else what it has beside capitalised words.
    english_count, chinese_count = len(_ENGLISH_WORDS.findall(question)), len(_CHINESE_WORDS.findall(question))
    if english_count and not chinese_count:
        return "en"
    # One English word may be a part of a name, such as "Shakespeare and Company".
    if chinese_count and english_count < _LEAST_ENGLISH and language_of(question) != "ja":
        return "zh"
    return text_language(_CAPITALISED.sub("", question))


Step = Literal["extract", "resolve", "summarise", "agent", "condense", "infer", "group", "repair"]

_DIVIDER = "=== user ===\n"
# Wide and small forms, look-alike letters and invisible characters too: a model may read them as the same sign.
_GAP = rf"(?:\s|{UNSEEN.pattern}|[\u200c\u200d])*"
_FENCE = re.compile(rf"[<＜﹤](?={_GAP}(?:[/／\u2044\u2215]{_GAP})?[dｄ]{_GAP}[aａ\u0430]{_GAP}[tｔ\u0442]{_GAP}"
                    rf"[aａ\u0430](?![^\W_]))", re.IGNORECASE)
# What the usual models' templates write: ChatML, Llama, DeepSeek, Gemma, Mistral, and blocks of thought and tools.
_TURN = re.compile(r"<(?=[|｜]|<SYS>>|/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|think|thinking|tool_\w+|"
                   r"function\w*|tools?|image)(?:\s[^<>]{0,80})?[>=|])|"
                   r"\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|IMG)\])",
                   re.IGNORECASE)
# A text in a numbered list cannot begin another item of it.
_NUMBER = re.compile(r"^([^\S\n]*+)\[(?=\s*+\d++\s*+\])", re.MULTILINE)


class Prompt(NamedTuple):
    """The two messages of a call and their language; `system` is empty where the file has no divider (repair)."""

    system: str
    user: str
    language: Language = "en"

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Both messages, as (role, text)."""
        return [("system", self.system), ("user", self.user)]

    @property
    def tokens(self) -> int:
        """The estimated tokens of both messages."""
        return estimate_tokens(self.system) + estimate_tokens(self.user)


def instructions_line(instructions: str, language: Language) -> str:
    """Return the line of a prompt that says how an answer is to be worded; empty without instructions."""
    if not instructions.strip():
        return ""
    return f"{load_parts(language)['instructions']}{' '.join(instructions.split())}\n"


def extraction_instructions_block(instructions: str, language: Language) -> str:
    """Return the lines of a prompt with a person's instructions for extraction; empty without instructions."""
    lines = [f"  {' '.join(line.split())}" for line in instructions.splitlines() if line.strip()]
    if not lines:
        return ""
    return "\n".join([load_parts(language)["extraction_instructions"], *lines, ""])


class Fenced(str):
    """A text that is safe to put into a prompt as it is: every value in it went through `fence`."""


def fence(text: str) -> Fenced:
    """Return a text between `<data>` and `</data>`, which nothing in it can close."""
    return Fenced(f"<data>\n{_as_data(text)}\n</data>")


def close_item(text: str) -> str:
    """Return a text for a numbered list, changed so that none of its lines looks like another item ("[2] ...")."""
    return _NUMBER.sub("\\1⟦", text)


def _as_data(text: str) -> str:
    """Return a text in which fences and chat templates' signs begin with another bracket, and lose their meaning."""
    without_fences = _FENCE.sub("‹", text)
    return _TURN.sub(lambda sign: "‹" if sign[0] == "<" else "⟦", without_fences)


def render(step: Step, language: Language, **values: str) -> Prompt:
    """Return the messages of a step in a language: the names of its file and of that file's folder.

    `values` are the texts of the `$placeholders`; `$` and braces in them stay as they are. Unless a value is `Fenced`,
    a fence or a sign of a chat template in it gets another opening bracket.
    """
    fenced = {name: value if isinstance(value, Fenced) else _as_data(value) for name, value in values.items()}
    system, user = _load_templates(step, language)
    return Prompt(system.substitute(fenced).strip(), user.substitute(fenced).strip(), language)


def example(step: Step, language: Language) -> str:
    """Return a worked example of a step, shown below the form of its answer."""
    return (resources.files(__package__) / language / f"{step}_example.txt").read_text("utf-8").strip()


def number_items(items: Iterable[str]) -> str:
    """Return texts as a numbered list, "[1] ..." and so on, whose items no text can imitate; "-" if there are none."""
    return "\n\n".join(f"[{number}] {item}" for number, item in enumerate(map(close_item, items), 1)) or "-"


@cache
def _load_templates(step: Step, language: Language) -> tuple[Template, Template]:
    """Return the templates of a step's system and user message; without a divider, the file is the user message."""
    text = (resources.files(__package__) / language / f"{step}.txt").read_text("utf-8")
    system, divider, user = text.partition(_DIVIDER)
    return (Template(system), Template(user)) if divider else (Template(""), Template(system))


@cache
def load_parts(language: Language) -> dict[str, Any]:
    """Return the texts of which prompts are put together, by their names in `parts.toml`."""
    return tomllib.loads((resources.files(__package__) / language / "parts.toml").read_text("utf-8"))


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
    lists of several types, the longest first. No element is ever left out; bounding checks domain and range anyway.
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
    shown = list[str]()
    # The document in brackets with which all of several lines end is shown once, in the title.
    source = f" ({block.items[0].document})" if len(block.items) > 1 else ""
    if not all(item.statement.endswith(source) for item in block.items):
        source = ""
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
