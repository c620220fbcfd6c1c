"""Render the graph schema for prompts in as few tokens as a model needs."""

from collections.abc import Iterator

from ..schemas.graph_schema import ANY, GraphSchema, SchemaElement
from ..text.tokens import estimate_tokens
from .rendering import Language

SCHEMA_TOKENS = 235
"""The most tokens of a schema before it is shortened: extraction pays them for every chunk."""
LETTERED_TOKENS = 300
"""The most tokens with letters for types, before signatures are shortened."""
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

    Relations read `name(Domain->Range)`, attributes `name(Owner)`, several types `A|B`, any type `*`. The fullest form
    that fits its limit is used: with descriptions, without them, or with a letter for each type in signatures
    (`name AB->C`). If even that does not fit, lists of types become `*`, the longest first: bounding checks domain and
    range in any case. No element is ever left out.

    Args:
        schema: the schema in force.
        language: elements appear under their label in this language if they have one.

    Returns:
        The lines, in the schema's order.
    """
    text = ""
    for text, most in _forms(schema, language):
        if estimate_tokens(text) <= most:
            break
    return f"{text}\n{_OPEN[language]}".strip() if schema.open else text


def _forms(schema: GraphSchema, language: Language) -> Iterator[tuple[str, int]]:
    """Yield the schema in ever fewer tokens, each form with what it may cost."""
    lists = [names for r in schema.relation_types for names in (r.domain, r.range)]
    lists += [a.owners for a in schema.attribute_types]
    longest = max((len(names) for names in lists), default=1)
    text = _text(schema, language, longest, {})
    described = [f"{e.label(language)}: {e.description}" for kind in (
        schema.entity_types, schema.relation_types, schema.attribute_types) for e in kind if e.description]
    yield "\n".join([text, *described]), SCHEMA_TOKENS
    yield text, SCHEMA_TOKENS
    if letters := type_letters(schema):
        yield _text(schema, language, longest, letters), LETTERED_TOKENS
    for shorter in range(longest - 1, 0, -1):
        yield _text(schema, language, shorter, {}), SCHEMA_TOKENS


def _text(schema: GraphSchema, language: Language, longest: int, letters: dict[str, str]) -> str:
    labels = letters or {t.name: t.label(language) for t in schema.entity_types}

    def types(names: tuple[str, ...]) -> str:
        between = "" if letters else "|"
        return between.join(labels.get(name, name) for name in names) if len(names) <= longest else ANY

    def name(element: SchemaElement) -> str:
        return element.label(language)

    def add_signature(element: SchemaElement, signature: str) -> str:
        return f"{name(element)} {signature}" if letters else f"{name(element)}({signature})"

    lines = (
        [f"{letters[t.name]} {name(t)}" if letters else name(t) for t in schema.entity_types],
        [add_signature(r, f"{types(r.domain)}->{types(r.range)}") for r in schema.relation_types],
        [add_signature(a, types(a.owners)) for a in schema.attribute_types],
    )
    headings = (_LEGEND[language] if letters else _HEADINGS[language][0], *_HEADINGS[language][1:])
    return "\n".join(f"{heading}: {', '.join(items)}" for heading, items in zip(headings, lines, strict=True) if items)
