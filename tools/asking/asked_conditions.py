"""Reading the conditions in a question about rows: which field each value, entity, date or number limits."""

from collections.abc import Sequence
from itertools import pairwise

from ...graph_store.graph_index import GraphIndex
from ...schemas.lookups import Calculation, TripleLookup
from . import table_words
from .mentions import Mentioned, Mentions

_MAX_TRIPLES = 500
"""How many triples of an entity are read to see whether they all have the same relation."""
_HALF = 1 / 2
_CONTAINS_REACH = 20
"""How many characters before a value are searched for a word such as "mentions" or "contains"."""


class Conditions:
    """The mentions of a question as conditions on fields; several values of one field are alternatives.

    Attributes:
        head: the entity that the rows begin at, or several that the question compares, separated by |; "" if none.
        relation: if `head` is a single entity, the relation of it that the question asks for; else "".
    """

    def __init__(self, index: GraphIndex, mentions: Mentions) -> None:
        """Start without conditions; `place` adds them, and marks mentions as used when they become one."""
        self._index, self._mentions = index, mentions
        # (field, sign) -> values; no values means that the field has none.
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
        """Return a lookup of the rows that meet the conditions; without `relation`, of the first condition's.

        It is None if neither `relation` nor a condition names a relation, or if `relation` is not the one that the
        question asks of `head`. For the other arguments see `TripleLookup`.
        """
        conditions, tail, side = dict(self._values), "", ""
        if self.relation:
            if relation not in {"", self.relation}:
                return None
            # The rows are what `head` leads to, so the conditions are on their tails.
            relation, side, show = self.relation, "tail.", ()
        else:
            with_values = [(field, sign) for (field, sign), values in conditions.items() if values]
            if not relation and with_values:  # the field of a condition with "=" before that of another
                relation, _ = min(with_values, key=lambda condition: condition[1] != "=")
            # The condition on the relation itself limits the tail of its rows; the others are conditions on the head.
            sign = next((sign for field, sign in with_values if field == relation), "")
            if sign:
                tail = f"{sign.removeprefix('=')}{'|'.join(conditions.pop((relation, sign)))}"
        where = [f"{side}{field}{sign}{'|'.join(values)}" for (field, sign), values in conditions.items()]
        return TripleLookup(relation=relation, head=self.head, tail=tail, where=tuple(where), by=by, do=do,
                            limit=limit, show=tuple(show)) if relation else None

    # Turning mentions into conditions.

    def place(self) -> bool:
        """Turn all mentions of the question into conditions; return False if a mention fits no field."""
        mentions = self._mentions
        if not all(map(self._place_value, mentions.of_kinds("value", "quoted"))) or not self._place_entities():
            return False
        if not self._place_ranges():
            return False
        for amount in mentions.of_kinds("date", "number"):
            # A date that fits no field may be that of the documents ("the 2025 timetable").
            if not mentions.is_used(amount) and not self._place_amount(amount) and amount.kind != "date":
                return False
        for field in mentions.free_fields():
            if without := table_words.NONE.search(mentions.text_before(field)):  # "without a status"
                self._values.setdefault((field.name, "="), [])
                mentions.use(field, without)
        # If one value of a field is negated, all are: "neither red nor green", "not red or green".
        for name in [name for name, sign in self._values if sign == "!=" and self._values.get((name, "="))]:
            self._values[name, "!="] += self._values.pop((name, "="))
        return True

    def _add(self, mention: Mentioned, field: str, *field_mentions: Mentioned) -> None:
        """Add a value, entity, date or number as a condition on a field; a negated one excludes."""
        sign = mention.name if mention.kind in {"date", "number"} else ""
        if not sign:
            for part in (mention, *field_mentions):
                if negation := table_words.NOT.search(self._mentions.text_before(part)):
                    self._mentions.use(negation)
                    sign = "!="
                    break
        values = self._values.setdefault((field, sign or "="), [])
        if mention.value and mention.value not in values:
            values.append(mention.value)
        self._mentions.use(mention, *field_mentions)

    def _place_ranges(self) -> bool:
        """Add ranges such as "between 2010 and 2020" as conditions; return False if a range fits no field."""
        mentions = self._mentions
        for first, last in pairwise(mentions.of_kinds("date", "number")):
            lead = table_words.BETWEEN.search(mentions.text_before(first))
            if lead and table_words.AND.fullmatch(mentions.text[first.end:last.start]):
                if not self._place_amount(first._replace(end=last.end, name="", value=f"{first.value}..{last.value}")):
                    return False
                mentions.use(lead)
        return True

    def _place_value(self, mention: Mentioned) -> bool:
        """Add a value as a condition on its field; return False if it belongs to a field that is not named."""
        mentions, name = self._mentions, mention.name
        text_before = mentions.text_before(mention)[-_CONTAINS_REACH:]
        if mention.kind == "quoted" or table_words.CONTAINS.search(text_before):
            nearest = min(mentions.free_fields(), key=mention.distance, default=None)
            if nearest is None:
                return False
            mentions.use(nearest)
            name = nearest.name
        self._add(mention, name)
        # "status Final" and "the Core category" name the field of the value.
        mentions.use(*(field for field in mentions.of_kinds("field")
                       if field.name == name and mentions.are_beside(field, mention)
                       and not table_words.GROUP.search(mentions.text_before(field))))
        return True

    def _place_entities(self) -> bool:
        """Use the entities that the question names as heads or conditions; return False if there are two heads."""
        mentions, entities = self._mentions, self._mentions.of_kinds("entity")
        text = mentions.text
        is_comparison = len(entities) > 1 and table_words.OR.search(text) and table_words.DEGREE.search(text)
        # In "who is an author of more, A or B" the entities are tails of the field "author", so they are conditions.
        are_tails = any(self._row(entity) in self._index.column(field.name).tails()
                        for entity in entities for field in mentions.of_kinds("field"))
        if is_comparison and not are_tails:
            self.head = "|".join(entity.value for entity in entities)
            mentions.use(*entities)
            return True
        return all(map(self._place_entity, entities))

    def _row(self, mention: Mentioned) -> int:
        """Return the row of the entity of a mention in the index, -1 if it has none."""
        row = self._index.entity_at(mention.name)
        return -1 if row is None else row

    def _place_entity(self, mention: Mentioned) -> bool:
        """Use an entity of the question as the head of the rows, or as a condition; return False for a second head."""
        nearest = self._nearest_relation(mention)
        name = nearest.name if nearest is not None else self._only_relation(self._row(mention))
        relation_mentions = [nearest] if nearest is not None else []
        if not name:
            return True
        if not self.asks_for_tails(mention, nearest, name):
            self._add(mention, name, *relation_mentions)
            return True
        if self.head:
            return False
        self._mentions.use(mention, *relation_mentions)
        self.head, self.relation = mention.value, name
        return True

    def asks_for_tails(self, mention: Mentioned, field: Mentioned | None, name: str) -> bool:
        """Return True if the question asks for the tails of an entity's relation: "the parts that A requires".

        An entity that can be both head and tail is the head if the relation follows it, where `field` is, as in "A
        requires", but not in "which parts, in A, require".
        """
        column, row = self._index.column(name), self._row(mention)
        is_head, is_tail = row in column.heads, row in column.tails()
        if not (is_head and is_tail):
            return is_head
        return field is not None and field.start >= mention.end and not table_words.IN_FIELD.search(
            self._mentions.text[mention.end:field.start])

    def _nearest_relation(self, mention: Mentioned) -> Mentioned | None:
        """Return the nearest free field of which the entity is a head or a tail; None if there is none."""
        fields, row = self._mentions.free_fields(), self._row(mention)
        fitting = [field for field in fields
                   if row in (column := self._index.column(field.name)).heads or row in column.tails()]
        searched = [field for field in fields
                    if table_words.CONTAINS.search(self._mentions.text[field.end:mention.start])]
        return min(fitting or searched, key=mention.distance, default=None)

    def _only_relation(self, row: int) -> str:
        """Return the relation that all triples of an entity have; "" if they have several or there are none."""
        triples = self._index.columns.incident[row].tolist()[:_MAX_TRIPLES] if row >= 0 else []
        relations = {self._index.edge(triple)[1] for triple in triples}
        return relations.pop() if len(relations) == 1 else ""

    def _place_amount(self, mention: Mentioned) -> bool:
        """Add a date or number as a condition on the nearest field of such values; return False if none is named."""
        mentions = self._mentions
        has_such_values = self.is_dated if mention.kind == "date" else self.is_numeric
        fields = mentions.read_as(mentions.of_kinds("field"), has_such_values)
        nearest = min(fields, key=mention.distance, default=None)
        if nearest is None:
            return False
        self._add(mention, nearest.name, nearest)
        if mention.name:  # a comparison such as "more than" is before it
            *_, compared = table_words.COMPARED.finditer(mentions.text, 0, mention.start)
            mentions.use(compared)
        return True

    def is_dated(self, name: str) -> bool:
        """Return True if most of a field's values are dates."""
        column = self._index.column(name)
        return column.holds_dates and sum(map(bool, column.dates)) > _HALF * len(column.texts)

    def is_flag(self, name: str) -> bool:
        """Return True if all values of a field say yes or no."""
        return table_words.FLAGS.issuperset(map(str.casefold, self._index.column(name).texts))

    def is_numeric(self, name: str) -> bool:
        """Return True if most of a field's values are numbers."""
        column = self._index.column(name)
        number_count = sum(amount is not None for amount in column.amounts)
        return number_count > _HALF * len(column.texts) and not self.is_dated(name)
