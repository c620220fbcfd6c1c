"""Rendering the graph schema for prompts in as few tokens as a model needs."""

from collections.abc import Iterator

from ..schemas.graph_schema import ANY, GraphSchema, SchemaElement
from ..text.tokens import estimate_tokens
from .rendering import Language

SCHEMA_TOKENS = 235
"""The most tokens of a schema's text, because extraction pays for them with every chunk; see `schema_block`."""
LETTERED_TOKENS = 300
"""The most tokens of the form with a letter for each type."""
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_HEADINGS: dict[Language, tuple[str, str, str]] = {
    "en": ("Types", "Relations", "Attributes"),
    "zh": ("类型", "关系", "属性"),
}
_LEGEND: dict[Language, str] = {"en": "Types, by letter", "zh": "类型（前为代号）"}
_OPEN: dict[Language, str] = {
    "en": "The schema is open: choose short types, relations and attributes yourself where none fits, and "
          'leave "new" empty.',
    "zh": '模式是开放的：没有合适的类型、关系或属性时自拟简短名称，"new" 留空。',
}


def type_letters(schema: GraphSchema) -> dict[str, str]:
    """Return the letter for each type in abbreviated signatures; empty if there are more types than letters."""
    types = schema.entity_types
    return {t.name: letter for t, letter in zip(types, _LETTERS, strict=False)} if len(types) <= len(_LETTERS) else {}


def schema_block(schema: GraphSchema, language: Language) -> str:
    """Render the schema as text for a prompt, one line for each kind of element.

    Relations read `name(Domain->Range)`, attributes `name(Owner)`, several types `A|B`, any type `*`. The first of
    these forms that fits its limit is used:

    1. with the elements' descriptions,
    2. without descriptions,
    3. with a letter for each type in signatures (`name AB->C`),
    4. with `*` for lists of several types, the longest lists first.

    No element is ever left out. A signature may say `*`, because bounding checks domain and range in any case.
    """
    text = ""
    for text, max_tokens in _forms(schema, language):
        if estimate_tokens(text) <= max_tokens:
            break  # if none fits, the last and shortest one is used
    return f"{text}\n{_OPEN[language]}".strip() if schema.open else text


def _forms(schema: GraphSchema, language: Language) -> Iterator[tuple[str, int]]:
    """Yield the forms of `schema_block`, the fullest first, each with its limit of tokens."""
    type_lists = [names for relation in schema.relation_types for names in (relation.domain, relation.range)]
    type_lists += [attribute.owners for attribute in schema.attribute_types]
    longest_list = max((len(names) for names in type_lists), default=1)
    text = _text(schema, language, max_types=longest_list, letters={})
    elements = (*schema.entity_types, *schema.relation_types, *schema.attribute_types)
    descriptions = [f"{element.label(language)}: {element.description}" for element in elements if element.description]
    yield "\n".join([text, *descriptions]), SCHEMA_TOKENS
    yield text, SCHEMA_TOKENS
    if letters := type_letters(schema):
        yield _text(schema, language, max_types=longest_list, letters=letters), LETTERED_TOKENS
    for max_types in range(longest_list - 1, 0, -1):
        yield _text(schema, language, max_types=max_types, letters={}), SCHEMA_TOKENS


def _text(schema: GraphSchema, language: Language, max_types: int, letters: dict[str, str]) -> str:
    """Return a line for each kind of element of a schema."""
    labels = letters or {entity_type.name: entity_type.label(language) for entity_type in schema.entity_types}

    def write_types(names: tuple[str, ...]) -> str:
        separator = "" if letters else "|"
        return separator.join(labels.get(name, name) for name in names) if len(names) <= max_types else ANY

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
    headings = (_LEGEND[language] if letters else _HEADINGS[language][0], *_HEADINGS[language][1:])
    return "\n".join(f"{heading}: {', '.join(items)}"
                     for heading, items in zip(headings, (types, relations, attributes), strict=True) if items)
