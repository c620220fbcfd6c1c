"""The graph schema in as few tokens as a model needs to keep to it."""

from ..schemas.graph_schema import ANY, GraphSchema, SchemaElement
from ..text.tokens import estimate_tokens
from .language import Language

SCHEMA_TOKENS = 250
"""What a schema may cost before its signatures are shortened: extraction pays it for every chunk."""

_HEADINGS: dict[Language, tuple[str, str, str]] = {
    "en": ("Types", "Relations", "Attributes"),
    "zh": ("类型", "关系", "属性"),
}
_OPEN: dict[Language, str] = {
    "en": "The schema is open: choose short types, relations and attributes yourself where none fits, and "
          'leave "new" empty.',
    "zh": '模式是开放的：没有合适的类型、关系或属性时自拟简短名称，"new" 留空。',
}


def schema_block(schema: GraphSchema, language: Language) -> str:
    """The schema as text for a prompt: one line for each kind of element.

    Relations read `name(Domain->Range)`, attributes `name(Owner)`, several types `A|B`, any type
    `*`. Descriptions are left out: they would cost more than the rest together. Where the text goes
    beyond `SCHEMA_TOKENS`, the longest lists of types become `*` too, and shorter ones as far as
    need be: bounding checks domain and range in any case, and no element is ever left out.

    Args:
        schema: the schema in force.
        language: elements stand under their label in this language, where they have one.

    Returns:
        At most four lines, in the schema's order.
    """
    lists = [names for r in schema.relation_types for names in (r.domain, r.range)]
    lists += [a.owners for a in schema.attribute_types]
    longest = max((len(names) for names in lists), default=1)
    text = _text(schema, language, longest)
    while longest > 1 and estimate_tokens(text) > SCHEMA_TOKENS:
        longest -= 1
        text = _text(schema, language, longest)
    return text


def _text(schema: GraphSchema, language: Language, longest: int) -> str:
    labels = {t.name: t.label(language) for t in schema.entity_types}

    def types(names: tuple[str, ...]) -> str:
        return "|".join(labels.get(name, name) for name in names) if len(names) <= longest else ANY

    def name(element: SchemaElement) -> str:
        return element.label(language)

    lines = (
        [name(t) for t in schema.entity_types],
        [f"{name(r)}({types(r.domain)}->{types(r.range)})" for r in schema.relation_types],
        [f"{name(a)}({types(a.owners)})" for a in schema.attribute_types],
    )
    text = [f"{heading}: {', '.join(items)}"
            for heading, items in zip(_HEADINGS[language], lines, strict=True) if items]
    return "\n".join([*text, _OPEN[language]] if schema.open else text)
