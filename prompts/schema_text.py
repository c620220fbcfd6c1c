"""The graph schema in as few tokens as a model needs to keep to it."""

from ..schemas.graph_schema import GraphSchema, SchemaElement
from .language import Language

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
    `*`. Descriptions are left out: they would cost more than the rest together.

    Args:
        schema: the schema in force.
        language: elements stand under their label in this language, where they have one.

    Returns:
        At most four lines, in the schema's order.
    """
    labels = {t.name: t.label(language) for t in schema.entity_types}

    def types(names: tuple[str, ...]) -> str:
        return "|".join(labels.get(name, name) for name in names)

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
