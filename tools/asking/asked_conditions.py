"""The conditions that a question makes on rows: each value, entity, date and number on the field that it belongs to."""

from collections.abc import Sequence
from itertools import pairwise

from ...schemas.lookups import Calculation, TripleLookup
from ...text.quantities import measure, parse_number
from ..index import RetrievalIndex
from ..schema_names import terms_of
from . import table_words as said
from .mentions import Mentioned, Mentions

_MOST_LINKS = 500
"""Triples of an entity among which its only relation is looked for."""
_HALF = 1 / 2
_NEAR = 20
"""Characters before a value in which "mentions" or "contains" stands."""


class Conditions:
    """Conditions by field; several values of one field are alternatives.

    Attributes:
        head, relation: the entity that the rows begin at, and its relation, if the question asks for what it leads to.
        compared: the entities that are compared with each other.
    """

    def __init__(self) -> None:
        """Start without any."""
        self._of: dict[tuple[str, str], list[str]] = {}
        self.head = self.relation = ""
        self.compared: list[str] = []

    def add(self, field: str, value: str, sign: str) -> None:
        """Add what a field has to be; an empty value stands for none."""
        held = self._of.setdefault((field, sign), [])
        if value and value not in held:
            held.append(value)

    def is_empty(self) -> bool:
        """Return True if nothing limits the rows."""
        return not self._of and not self.head

    def fields(self) -> set[str]:
        """Return the fields that conditions are on."""
        return {field for field, _ in self._of}

    def negate_alternatives(self) -> None:
        """Negate all values of a field of which one is negated: "neither red nor green", "not red or green"."""
        for field in [field for field, sign in self._of if sign == "!=" and self._of.get((field, "="))]:
            self._of[field, "!="] += self._of.pop((field, "="))

    def alternatives(self) -> str:
        """Return the field that has several values; "" if none has."""
        return next((field for (field, sign), values in self._of.items() if len(values) > 1 and sign == "="), "")

    def lookup(self, relation: str, *, by: str = "", do: Calculation = "list", limit: int = 0,
               show: Sequence[str] = ()) -> TripleLookup | None:
        """Return the lookup over a relation, or over the field of the first condition; None if there is none."""
        if self.relation:
            where = tuple(f"tail.{text}" for text in self._texts(self._of))
            return TripleLookup(relation=self.relation, head=self.head, where=where, do=do, by=by, limit=limit) if (
                relation in {"", self.relation}) else None
        conditions = dict(self._of)
        stated = sorted((key for key, values in conditions.items() if values), key=lambda key: key[1] != "=")
        relation = relation or (stated[0][0] if stated else "")
        if not relation:
            return None
        own = next((key for key in conditions if key[0] == relation and conditions[key]), None)
        values = conditions.pop(own) if own else []
        tail = f"{'' if own is None or own[1] == '=' else own[1]}{'|'.join(values)}"
        return TripleLookup(relation=relation, head=self.head or "|".join(self.compared), tail=tail,
                            where=tuple(self._texts(conditions)), by=by, do=do, limit=limit, show=tuple(show))

    @staticmethod
    def _texts(conditions: dict[tuple[str, str], list[str]]) -> list[str]:
        return [f"{field}{sign}{'|'.join(values)}" for (field, sign), values in conditions.items()]


class Placing:
    """Places the mentions of a question on fields."""

    def __init__(self, index: RetrievalIndex, mentions: Mentions) -> None:
        """Take the mentions; those that are placed are noted as used."""
        self._index, self._mentions = index, mentions
        self._found = Conditions()

    def conditions(self) -> Conditions | None:
        """Return all conditions; None if a mention cannot be placed."""
        mentions = self._mentions
        if not all(map(self._place_value, mentions.of("value", "quoted"))) or not self._place_entities():
            return None
        # A date that no field has may be that of the documents ("the 2025 timetable").
        if not self._place_spans() or not all(self._place_amount(one) or one.kind == "date"
                                              for one in mentions.of("date", "number") if not mentions.is_used(one)):
            return None
        for one in mentions.free_fields():
            if none := said.NONE.search(mentions.before(one)):
                self._found.add(one.name, "", "=")
                mentions.use_mention(one)
                mentions.use(*none.span())
        self._found.negate_alternatives()
        return self._found

    def _sign(self, *mentions: Mentioned) -> str:
        """Return the sign of what may be negated before one of some mentions."""
        for mention in mentions:
            if negated := said.NOT.search(self._mentions.before(mention)):
                self._mentions.use(*negated.span())
                return "!="
        return "="

    def _place_spans(self) -> bool:
        """Place what lies between two dates or numbers."""
        mentions = self._mentions
        amounts = mentions.of("date", "number")
        for first, last in pairwise(amounts):
            lead = said.BETWEEN.search(mentions.before(first))
            if lead and said.AND.fullmatch(mentions.text[first.end:last.start]):
                if not self._place_amount(first._replace(end=last.end, name="", value=f"{first.value}..{last.value}")):
                    return False
                mentions.use(lead.start(), last.end)
        return True

    def _place_value(self, mention: Mentioned) -> bool:
        mentions, name = self._mentions, mention.name
        if mention.kind == "quoted" or said.CONTAINS.search(mentions.before(mention)[-_NEAR:]):
            near = min(mentions.free_fields(), key=mention.distance, default=None)
            if near is None:
                return False
            mentions.use_mention(near)
            name = near.name
        self._found.add(name, mention.value, self._sign(mention))
        mentions.use_mention(mention)
        for one in mentions.of("field"):  # "status Final" and "the Core category" name the field of the value
            if one.name == name and mentions.are_beside(one, mention) and not said.GROUP.search(mentions.before(one)):
                mentions.use_mention(one)
        return True

    def _place_entities(self) -> bool:
        entities = self._mentions.of("entity")
        if len(entities) > 1 and said.OR.search(self._mentions.text) and said.DEGREE.search(
                self._mentions.text) and not any(map(self._is_tail, entities)):
            self._found.compared = [one.value for one in entities]
            for one in entities:
                self._mentions.use_mention(one)
            return True
        return all(map(self._place_entity, entities))

    def _row(self, mention: Mentioned) -> int:
        row = self._index.entity_at(mention.name)
        return -1 if row is None else row

    def _is_tail(self, mention: Mentioned) -> bool:
        """Return True if a field that the question names leads to an entity."""
        return any(self._row(mention) in self._index.column(one.name).tails() for one in self._mentions.of("field"))

    def _place_entity(self, mention: Mentioned) -> bool:
        """Use an entity that a question names, as the lookup's head or as a condition; False if it has a head already.

        An entity without a relation that the question could mean is what the documents are about, and limits nothing.
        """
        near = self._nearest_relation(mention)
        name = near.name if near is not None else self._only_relation(self._row(mention))
        if not name:
            return True
        self._mentions.use_mention(mention)
        if near is not None:
            self._mentions.use_mention(near)
        if not self.leads(mention, near, name):
            relations = [near] if near is not None else []
            self._found.add(name, mention.value, self._sign(mention, *relations))
            return True
        if self._found.head:
            return False
        self._found.head, self._found.relation = mention.value, name
        return True

    def leads(self, mention: Mentioned, near: Mentioned | None, name: str) -> bool:
        """Return True if a question asks for what an entity leads to, as "the parts that A requires"."""
        column, row = self._index.column(name), self._row(mention)
        if row not in column.heads or row not in column.tails():
            return row in column.heads
        return near is not None and near.start >= mention.end and not said.IN_FIELD.search(
            self._mentions.text[mention.end:near.start])

    def _nearest_relation(self, mention: Mentioned) -> Mentioned | None:
        """Return the nearest field mentioned that the entity has an end of, or that is a text to search."""
        free, row = self._mentions.free_fields(), self._row(mention)
        fitting = [one for one in free
                   if row in (column := self._index.column(one.name)).heads or row in column.tails()]
        searched = [one for one in free if said.CONTAINS.search(self._mentions.text[one.end:mention.start])]
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
        name = near.name if near else "" if mention.kind == "date" else self._only_of_unit(mention.value)
        if not name:
            return False
        if near is not None:
            mentions.use_mention(near)
        self._found.add(name, mention.value, mention.name or self._sign(mention, *([near] if near else [])))
        mentions.use_mention(mention)
        if mention.name:
            *_, compared = said.COMPARED.finditer(mentions.text, 0, mention.start)
            mentions.use(*compared.span())
        return True

    def _only_of_unit(self, value: str) -> str:
        """Return the only field whose values have the unit of a number; "" if there is not exactly one."""
        size = measure(parse_number(value))
        names = [term.name for term in terms_of(self._index) if size and size[0] and any(
            amount is not None and amount.dimension == size[0] for amount in self._index.column(term.name).amounts)]
        return names[0] if len(names) == 1 else ""

    def is_dated(self, name: str) -> bool:
        """Return True if most of a field's values are dates."""
        column = self._index.column(name)
        return column.holds_dates and sum(map(bool, column.dates)) > _HALF * len(column.texts)

    def is_sized(self, name: str) -> bool:
        """Return True if most of a field's values are numbers."""
        column = self._index.column(name)
        numbers = sum(amount is not None for amount in column.amounts)
        return numbers > _HALF * len(column.texts) > 0 and not self.is_dated(name)
