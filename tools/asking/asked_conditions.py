"""The conditions that a question makes on rows: each value, entity, date and number on the field that it belongs to."""

from collections.abc import Sequence
from itertools import pairwise

from ...schemas.lookups import Calculation, TripleLookup
from ..index import RetrievalIndex
from . import table_words
from .mentions import Mentioned, Mentions

_MOST_LINKS = 500
"""Triples of an entity among which its only relation is looked for."""
_HALF = 1 / 2
_NEAR = 20
"""Characters before a value in which "mentions" or "contains" stands."""


class Conditions:
    """The mentions of a question as conditions on fields; several values of one field are alternatives.

    Attributes:
        head: the entity that the rows begin at, or several that are compared, with | between.
        relation: the relation of the one entity whose rows the question asks for.
    """

    def __init__(self, index: RetrievalIndex, mentions: Mentions) -> None:
        """Start without any; mentions that are placed are noted as used."""
        self._index, self._mentions = index, mentions
        self._values: dict[tuple[str, str], list[str]] = {}
        self.head = self.relation = ""

    def is_empty(self) -> bool:
        """Return True if nothing limits the rows."""
        return not self._values and not self.head

    def fields(self) -> set[str]:
        """Return the fields that conditions are on."""
        return {field for field, _ in self._values}

    def alternatives(self) -> str:
        """Return the field that has several values; "" if none has."""
        return next((field for (field, sign), values in self._values.items() if len(values) > 1 and sign == "="), "")

    def lookup(self, relation: str, *, by: str = "", do: Calculation = "list", limit: int = 0,
               show: Sequence[str] = ()) -> TripleLookup | None:
        """Return the lookup over a relation, or over the field of the first condition; None if there is none."""
        conditions, tail, side = dict(self._values), "", ""
        if self.relation:
            if relation not in {"", self.relation}:
                return None
            relation, side, show = self.relation, "tail.", ()
        else:
            stated = sorted((key for key, values in conditions.items() if values), key=lambda key: key[1] != "=")
            relation = relation or (stated[0][0] if stated else "")
            if own := next((key for key in conditions if key[0] == relation and conditions[key]), None):
                tail = f"{own[1].removeprefix('=')}{'|'.join(conditions.pop(own))}"
        where = [f"{side}{field}{sign}{'|'.join(values)}" for (field, sign), values in conditions.items()]
        return TripleLookup(relation=relation, head=self.head, tail=tail, where=tuple(where), by=by, do=do,
                            limit=limit, show=tuple(show)) if relation else None

    # Placing.

    def place(self) -> bool:
        """Place all mentions on fields; return False if one cannot be."""
        mentions = self._mentions
        if not all(map(self._place_value, mentions.of("value", "quoted"))) or not self._place_entities():
            return False
        # A date that no field has may be that of the documents ("the 2025 timetable").
        if not self._place_spans() or not all(self._place_amount(one) or one.kind == "date"
                                              for one in mentions.of("date", "number") if not mentions.is_used(one)):
            return False
        for one in mentions.free_fields():
            if none := table_words.NONE.search(mentions.before(one)):
                self._values.setdefault((one.name, "="), [])
                mentions.use(one, none)
        # Negate all values of a field of which one is negated: "neither red nor green", "not red or green".
        for field in [field for field, sign in self._values if sign == "!=" and self._values.get((field, "="))]:
            self._values[field, "!="] += self._values.pop((field, "="))
        return True

    def _add(self, mention: Mentioned, field: str, *before: Mentioned) -> None:
        """Use a mention as what a field has to be, or is not to be if that is negated before it or another mention."""
        sign = mention.name if mention.kind in {"date", "number"} else ""
        for one in () if sign else (mention, *before):
            if negated := table_words.NOT.search(self._mentions.before(one)):
                self._mentions.use(negated)
                sign = "!="
                break
        held = self._values.setdefault((field, sign or "="), [])
        if mention.value and mention.value not in held:
            held.append(mention.value)
        self._mentions.use(mention, *before)

    def _place_spans(self) -> bool:
        """Place what lies between two dates or numbers."""
        mentions = self._mentions
        for first, last in pairwise(mentions.of("date", "number")):
            lead = table_words.BETWEEN.search(mentions.before(first))
            if lead and table_words.AND.fullmatch(mentions.text[first.end:last.start]):
                if not self._place_amount(first._replace(end=last.end, name="", value=f"{first.value}..{last.value}")):
                    return False
                mentions.use(lead)
        return True

    def _place_value(self, mention: Mentioned) -> bool:
        mentions, name = self._mentions, mention.name
        if mention.kind == "quoted" or table_words.CONTAINS.search(mentions.before(mention)[-_NEAR:]):
            near = min(mentions.free_fields(), key=mention.distance, default=None)
            if near is None:
                return False
            mentions.use(near)
            name = near.name
        self._add(mention, name)
        # "status Final" and "the Core category" name the field of the value.
        mentions.use(*(one for one in mentions.of("field") if one.name == name and mentions.are_beside(one, mention)
                       and not table_words.GROUP.search(mentions.before(one))))
        return True

    def _place_entities(self) -> bool:
        mentions, entities = self._mentions, self._mentions.of("entity")
        text = mentions.text
        is_comparison = len(entities) > 1 and table_words.OR.search(text) and table_words.DEGREE.search(text)
        # In "an author of more, A or B" the entities are what fields lead to.
        if is_comparison and not any(self._row(entity) in self._index.column(one.name).tails()
                                     for entity in entities for one in mentions.of("field")):
            self.head = "|".join(one.value for one in entities)
            mentions.use(*entities)
            return True
        return all(map(self._place_entity, entities))

    def _row(self, mention: Mentioned) -> int:
        row = self._index.entity_at(mention.name)
        return -1 if row is None else row

    def _place_entity(self, mention: Mentioned) -> bool:
        """Use an entity that a question names, as the lookup's head or as a condition; False if it has a head already.

        An entity without a relation that the question could mean is what the documents are about, and limits nothing.
        """
        near = self._nearest_relation(mention)
        name = near.name if near is not None else self._only_relation(self._row(mention))
        beside = [near] if near is not None else []
        if not name:
            return True
        if not self.leads(mention, near, name):
            self._add(mention, name, *beside)
            return True
        if self.head:
            return False
        self._mentions.use(mention, *beside)
        self.head, self.relation = mention.value, name
        return True

    def leads(self, mention: Mentioned, near: Mentioned | None, name: str) -> bool:
        """Return True if a question asks for what an entity leads to, as "the parts that A requires"."""
        column, row = self._index.column(name), self._row(mention)
        if row not in column.heads or row not in column.tails():
            return row in column.heads
        return near is not None and near.start >= mention.end and not table_words.IN_FIELD.search(
            self._mentions.text[mention.end:near.start])

    def _nearest_relation(self, mention: Mentioned) -> Mentioned | None:
        """Return the nearest field mentioned that the entity has an end of, or that is a text to search."""
        free, row = self._mentions.free_fields(), self._row(mention)
        fitting = [one for one in free
                   if row in (column := self._index.column(one.name)).heads or row in column.tails()]
        searched = [one for one in free if table_words.CONTAINS.search(self._mentions.text[one.end:mention.start])]
        return min(fitting or searched, key=mention.distance, default=None)

    def _only_relation(self, row: int) -> str:
        """Return the relation of all triples of an entity, if they have but one."""
        triples = self._index.incident_at(row).tolist()[:_MOST_LINKS] if row >= 0 else []
        relations = {self._index.edges[triple][1] for triple in triples}
        return relations.pop() if len(relations) == 1 else ""

    def _place_amount(self, mention: Mentioned) -> bool:
        mentions = self._mentions
        fits = self.is_dated if mention.kind == "date" else self.is_sized
        near = min(mentions.read_as(mentions.of("field"), fits), key=mention.distance, default=None)
        if near is None:
            return False
        self._add(mention, near.name, near)
        if mention.name:
            *_, compared = table_words.COMPARED.finditer(mentions.text, 0, mention.start)
            mentions.use(compared)
        return True

    def is_dated(self, name: str) -> bool:
        """Return True if most of a field's values are dates."""
        column = self._index.column(name)
        return column.holds_dates and sum(map(bool, column.dates)) > _HALF * len(column.texts)

    def is_flag(self, name: str) -> bool:
        """Return True if a field says yes or no."""
        return table_words.FLAGS.issuperset(map(str.casefold, self._index.column(name).texts))

    def is_sized(self, name: str) -> bool:
        """Return True if most of a field's values are numbers."""
        column = self._index.column(name)
        numbers = sum(amount is not None for amount in column.amounts)
        return numbers > _HALF * len(column.texts) > 0 and not self.is_dated(name)
