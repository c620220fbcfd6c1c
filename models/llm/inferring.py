"""A schema from what recurred in a sample: chosen, merged, named and described by a model."""

from collections.abc import Iterable, Mapping
from typing import Any

from ...config import Settings
from ...prompts import render
from ...prompts.rendering import numbered
from ...runtime.budgets import CallLedger
from ...runtime.event_loop import process_loop
from ...schemas.delta import ElementKind
from ...schemas.graph_schema import ANY, AttributeType, GraphSchema, RelationType, SchemaElement
from . import wire
from .endpoint import Endpoint
from .reasoner import limited_endpoint, prompt_language
from .structured import StructuredChat

_FIELDS: dict[ElementKind, str] = {"entity_type": "entity_types", "relation": "relation_types",
                                   "attribute": "attribute_types"}


class SchemaWriter:
    """Asks a model once for a whole schema.

    Args:
        settings: the endpoint, its model and the prompts' language.
        ledger: response cache, accounts and budget.
        endpoint: where the call goes; none: the settings' endpoint.
    """

    def __init__(self, settings: Settings, ledger: CallLedger, endpoint: Endpoint | None = None) -> None:
        model = settings.llm_model
        self._settings = settings
        self._chat = StructuredChat(model, endpoint or limited_endpoint(settings, model), ledger)

    def write(self, found: GraphSchema, most: Mapping[ElementKind, int]) -> GraphSchema:
        """The schema that the model makes of the elements found.

        Args:
            found: elements described by an example each, strongest first.
            most: how many of each kind are kept.

        Returns:
            Elements with a name and a description of the model's own, the names of all that were merged into them as
            aliases, and the domains, ranges and owners of these. What the model leaves out is left out.

        Raises:
            ReasonerError: the endpoint failed, or wrote nothing usable.
            BudgetExceeded: the call would be paid beyond the budget.
        """
        text = numbered(_shown(kind, element) for kind in _FIELDS for element in found.elements(kind))
        language = prompt_language(self._settings, text)
        limits = {field: str(most[kind]) for kind, field in _FIELDS.items()}
        prompt = render("infer", language, candidates=text, **limits)
        shape = wire.schema_elements(lambda elements: _merged(found, elements, most))
        return process_loop().run(self._chat.ask("infer", prompt, shape, language))


def _shown(kind: ElementKind, element: SchemaElement) -> str:
    signature = ""
    if isinstance(element, RelationType):
        signature = f" ({'|'.join(element.domain)} -> {'|'.join(element.range)})"
    elif isinstance(element, AttributeType):
        signature = f" ({'|'.join(element.owners)})"
    return f"{kind.replace('_', ' ')}: {element.name}{signature}, {element.description}"


def _merged(found: GraphSchema, written: Iterable[wire.SchemaElements.Element],
            most: Mapping[ElementKind, int]) -> GraphSchema:
    """The schema of the written elements.

    Raises:
        ValueError: it does not hold together, or has no type.
    """
    left = dict(enumerate(((kind, element) for kind in _FIELDS for element in found.elements(kind)), 1))
    made: dict[ElementKind, list[dict[str, Any]]] = {kind: [] for kind in _FIELDS}
    types = {ANY: ANY}
    for one in written:
        kind = next((left[number][0] for number in one.items if number in left), None)
        if kind is None or len(made[kind]) == most[kind]:
            continue
        merged = [left.pop(number)[1] for number in dict.fromkeys(one.items) if left.get(number, ("",))[0] == kind]
        names = dict.fromkeys(name for element in merged for name in element.all_names())
        if kind == "entity_type":
            types |= dict.fromkeys(names, one.name)
        made[kind].append({"name": one.name, "description": one.description,
                           "aliases": [name for name in names if name != one.name],
                           **{field: [t for element in merged for t in getattr(element, field, ())]
                              for field in ("domain", "range", "owners") if hasattr(merged[0], field)}})
    if not made["entity_type"]:
        raise ValueError('elements: no entity type among them; "items" are the numbers of candidates')
    for element in (*made["relation"], *made["attribute"]):
        for field in {"domain", "range", "owners"} & element.keys():
            element[field] = list(dict.fromkeys(types[t] for t in element[field] if t in types)) or [ANY]
    return GraphSchema.model_validate({"name": found.name, **{_FIELDS[kind]: made[kind] for kind in _FIELDS}})
