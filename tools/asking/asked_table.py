"""Reading a question about rows, without a model: what it counts, lists, groups or compares.

A question is only read as a lookup if each of its words is accounted for. A word is if it names a field, a value, an
entity, a date or a number of the knowledge base, if it is in the titles or headings above all rows that were found, or
if it is one of the words with which people ask about tables (`table_words`). Passages answer all other questions.
"""

import re
from collections.abc import Sequence
from itertools import takewhile

import numpy as np

from ...graph_store.graph_index import GraphIndex
from ...models.rules.recognition.name_kinds import kind_of_noun
from ...schemas.graph_schema import GraphSchema
from ...schemas.lookups import Calculation, CommunityLookup, TripleLookup
from ...schemas.naming import normalise
from ...text.content_words import content_words, stem
from ...text.lexicon import SUMMARY_CUES
from ..schema_names import find_term, names_of, terms_of
from ..tables import contexts, read_table
from . import table_words
from .asked_conditions import Conditions
from .mentions import Mentioned, Mentions, singular

_CONTEXT = 14
"""How many characters around a number are searched for a bound such as "at least", and before a noun for "how many"."""
_LONGEST = 500
"""Characters of the longest question that is read as one about rows."""


def asked_table(index: GraphIndex, schema: GraphSchema, question: str) -> TripleLookup | None:
    """Return the lookup that answers a question about rows; None if it cannot be read as one with certainty."""
    if len(question) > _LONGEST or not terms_of(index):
        return None
    return _Asked(index, schema, table_words.ASIDE.sub(" ", question).strip()).table()


def asked_survey(index: GraphIndex, schema: GraphSchema, question: str) -> CommunityLookup | None:
    """Return the survey that a question asks for; None if it asks for none.

    A survey groups things by a field or a period, or lists what a relation reaches from an entity.
    """
    if len(question) > _LONGEST or not (SUMMARY_CUES.search(question) or table_words.IN_TURN.search(question)):
        return None
    return _Asked(index, schema, question).survey()


class _Asked:
    """One question, with its mentions and the conditions that they make."""

    def __init__(self, index: GraphIndex, schema: GraphSchema, text: str) -> None:
        self._index, self._schema = index, schema
        self._mentions = Mentions(index, schema, text)
        self._conditions = Conditions(index, self._mentions)

    def table(self) -> TripleLookup | None:
        """Return the lookup of a table; None unless every word of the question is accounted for."""
        mentions = self._mentions
        lookup = self._read_shape() if mentions.of_kinds("field", "value", "entity") else None
        if lookup is None or not self._fits_asked_noun(lookup) or not self._fits_asked_time(lookup):
            return None
        for name in (lookup.relation, *lookup.show):
            mentions.use_field(name)
        unaccounted = mentions.unaccounted_words()
        return lookup if not unaccounted or self._are_in_headings(unaccounted, lookup) else None

    def _fits_asked_noun(self, lookup: TripleLookup) -> bool:
        """Return False if the question asks for one kind of thing and the head's relation leads to another."""
        has_single_head = bool(lookup.head) and "|" not in lookup.head
        nouns = self._mentions.subjects() if has_single_head and not lookup.by else set()
        if not nouns:
            return True
        index, tails = self._index, self._index.column(lookup.relation).label_entities
        types = {index.types[int(number)] for number in np.unique(index.type_of[tails[tails >= 0]])}
        term = next(iter(find_term(self._index, self._schema, lookup.relation).terms))
        fitting_words = {word for label in (*types, *names_of(self._schema, term)) for word in content_words(label)}
        return all(noun in fitting_words or singular(noun) in self._mentions.prefixes for noun in nouns)

    def _fits_asked_time(self, lookup: TripleLookup) -> bool:
        """Return False if the question asks for a year or day, but no field of the listed rows has dates."""
        is_list = lookup.do == "list" and not lookup.by
        if not is_list or not table_words.TIME.search(self._mentions.text):
            return True
        return any(map(self._conditions.is_dated, filter(None, (lookup.relation, *lookup.show))))

    def survey(self) -> CommunityLookup | None:
        """Return the lookup of a survey: along a relation, by a field or by a period; None if none is named."""
        mentions, text = self._mentions, self._mentions.text
        if table_words.IN_TURN.search(text):
            return self._read_path()
        groups = self._read_period(text, 0) or self._read_groups(mentions.of_kinds("field"), 0)
        if groups is not None:
            return CommunityLookup(by=groups.relation if groups.by == "tail" else f"{groups.relation}.{groups.by}")
        # "by year" without a field is by the first field that has dates.
        dated = [term.name for term in terms_of(self._index) if self._conditions.is_dated(term.name)]
        period = table_words.PERIOD.search(text)
        return CommunityLookup(by=f"{dated[0]}.{_unit(period)}") if period and dated else None

    def _read_path(self) -> CommunityLookup | None:
        """Return the survey of all that is reached from the question's only entity along a relation that it names."""
        entities = self._mentions.of_kinds("entity")
        if len(entities) != 1:
            return None
        for field in self._mentions.of_kinds("field"):
            row, column = self._index.entity_at(entities[0].name), self._index.column(field.name)
            if row in column.heads or row in column.tails():
                is_forward = self._conditions.asks_for_tails(entities[0], field, field.name)
                return CommunityLookup(theme=entities[0].value, along=f"{'' if is_forward else '<'}{field.name} -> *")
        return None

    def _are_in_headings(self, words: Sequence[str], lookup: TripleLookup) -> bool:
        """Return True if each of some words occurs in the titles or headings above every row of a lookup."""
        term = next(iter(find_term(self._index, self._schema, lookup.relation).terms))
        table = read_table(self._index, self._schema, lookup, term, most=0)

        def has_words(heading: str) -> bool:
            """Return True if all the words occur in a heading."""
            stems = set(content_words(heading))
            return all(stem(normalise(word)) in stems or ((not word.isascii() or word.isdigit()) and word in heading)
                       for word in words)

        fitting = list(takewhile(has_words, contexts(self._index, table)))  # those of the first rows at most
        return 0 < len(fitting) == len(table.computed.rows)

    def _read_shape(self) -> TripleLookup | None:
        """Return the lookup of the first form of question that fits; None if none does, or a condition is unclear."""
        mentions, limit = self._mentions, 0
        if top := table_words.TOP.search(mentions.text):
            number = (top["first"] or top["second"] or top["zh"]).lower()
            limit = int(number) if number.isdigit() else table_words.NUMERALS[number]
            mentions.use(top)
        if not self._conditions.place():
            return None
        free_fields = mentions.free_fields()
        grouping = {field.name for field in free_fields if table_words.GROUP.search(mentions.text_before(field))}
        if not grouping.isdisjoint(self._conditions.fields()):
            return None  # a condition limits the field to one value, so there is nothing to group by
        if self._has_unread_limit():
            return None
        # Conditions are blanked out, because words in a value such as "Last Call" ask for nothing.
        text = mentions.unread(fields=False)
        return (self._read_period(text, limit) or self._read_alternatives(text, limit)
                or self._read_groups(free_fields, limit) or self._read_calculation(text, free_fields, limit)
                or self._read_most(text, free_fields, limit) or self._read_count_or_list(text, free_fields))

    def _has_unread_limit(self) -> bool:
        """Return True if a negation, a bound or "both" did not become a condition; the rows would be the wrong ones."""
        # Blanks take the place of what became a condition, so offsets stay those of the question.
        unread = self._mentions.unread(fields=False)
        with_figures = [mention for mention in self._mentions.of_kinds("date", "number", "value")
                        if any(map(str.isdigit, mention.value))]
        has_bound = any(table_words.BOUNDS.search(unread[max(0, mention.start - _CONTEXT):mention.end + _CONTEXT])
                        for mention in with_figures)
        if has_bound or table_words.NEGATION.search(unread):
            return True
        # Several values of a field are alternatives, and "both" asks for all of them.
        return bool(self._conditions.alternatives() and table_words.BOTH.search(self._mentions.text))

    # Forms of questions. Each method returns the lookup, or None if the question does not have this form.

    def _read_period(self, text: str, limit: int) -> TripleLookup | None:
        """Read a question that groups rows by a period: "in which years", "by year"."""
        period = table_words.PERIOD.search(text)
        dated = self._mentions.read_as(self._mentions.of_kinds("field"), self._conditions.is_dated)
        if not period or not dated:
            return None
        self._mentions.use(period, dated[0])
        is_singular = not period[0].endswith("s")
        if not limit and is_singular and table_words.MOST.search(text):
            limit = 1  # "in which year were the most"
        return self._conditions.lookup(dated[0].name, by=_unit(period), limit=limit)

    def _read_alternatives(self, text: str, limit: int) -> TripleLookup | None:
        """Read a question that counts or compares the rows of several values."""
        field = self._conditions.alternatives()
        counts_twice = len(table_words.COUNT.findall(text)) > 1
        if not field or not (counts_twice or table_words.MOST.search(text) or table_words.FEWEST.search(text)):
            return None
        return self._conditions.lookup(field, by="year" if self._conditions.is_dated(field) else "tail", limit=limit)

    def _read_groups(self, fields: Sequence[Mentioned], limit: int) -> TripleLookup | None:
        """Read a question that groups rows by a field: "by status", "for each warehouse"."""
        for field in fields:
            if table_words.GROUP.search(self._mentions.text_before(field)):
                self._mentions.use_field(field.name)
                return self._conditions.lookup(field.name, by="tail", limit=limit)
        return None

    def _read_calculation(self, text: str, free_fields: Sequence[Mentioned], limit: int) -> TripleLookup | None:
        """Read a question for an extreme, a sum or a mean: "the oldest", "which is heavier", "the average age"."""
        for do, form in table_words.CALCULATED.items():
            if match := form.search(text):
                is_fitting = self._conditions.is_dated if do in {"first", "last"} else self._conditions.is_numeric
                fields = self._mentions.read_as(free_fields, is_fitting) or self._field_of_degree(match[0])
                if fields:
                    self._mentions.use(fields[0], match)
                    return self._conditions.lookup(fields[0].name, do=do, limit=limit)
        return None

    def _field_of_degree(self, degree: str) -> list[Mentioned]:
        """Return the field that a Chinese degree implies (贵, "dear", implies the price), if exactly one fits."""
        concept = next((word for signs, word in table_words.HAN_DEGREES.items()
                        if any(sign in degree for sign in signs)), "")
        if not concept:
            return []
        names = [term.name for term in terms_of(self._index)
                 if concept in content_words(term.name.replace("_", " ")) and self._conditions.is_numeric(term.name)]
        return [Mentioned(0, 0, "field", names[0])] if len(names) == 1 else []

    def _read_most(self, text: str, free_fields: Sequence[Mentioned], limit: int) -> TripleLookup | None:
        """Read a question for the names with most rows: "which has the most prizes", "the most frequent authors"."""
        most = table_words.MOST.search(text)
        countable = [field for field in free_fields if not self._conditions.is_numeric(field.name)]
        if most is None or not countable or self._conditions.head:
            return None
        field = countable[0]
        self._mentions.use_field(field.name)
        return self._conditions.lookup(field.name, by=self._asked_end(text, field, most), limit=limit or 1)

    def _asked_end(self, text: str, field: Mentioned, most: re.Match[str]) -> str:
        """Return which end of a field's rows the question asks for: "head" or "tail"."""
        last_entity = int(self._index.column(field.name).label_entities.max(initial=-1))  # -1: no tail is an entity
        if table_words.WHO.match(text.strip()) and last_entity >= 0:
            entity_type = self._index.types[int(self._index.type_of[last_entity])]
            return "tail" if kind_of_noun(normalise(entity_type)) in {"person", ""} else "head"
        is_passive = field.end <= most.start() and re.search(r"\b(?:in|by|of)\b", text[field.end:most.start()])
        is_after_which = table_words.WHICH_BEFORE.search(self._mentions.text_before(field))
        return "tail" if is_passive or is_after_which else "head"

    def _read_count_or_list(self, text: str, free_fields: Sequence[Mentioned]) -> TripleLookup | None:
        """Read a question that counts or lists the rows that meet its conditions: "how many", "which", "list all"."""
        conditions = self._conditions
        do: Calculation = "count" if table_words.COUNT.search(text) else "list"
        if do == "list" and not table_words.LISTED.search(text):
            return None
        is_comparison = conditions.head and not conditions.relation
        if conditions.is_empty() or is_comparison or self._asks_for_field_of_named(free_fields):
            return None
        if conditions.relation and conditions.is_numeric(conditions.relation):
            do = "list"  # 宁波有多少人口, "how many inhabitants has Ningbo", asks for the number itself
        counted = next(filter(self._is_counted, free_fields), None)
        if counted and conditions.is_numeric(counted.name):
            return None  # "how many inhabitants" asks for the number itself
        if do == "count" and counted and conditions.is_flag(counted.name):
            return conditions.lookup("", do=do)  # "how many fight songs": things of that name, not yes and no
        if do == "count" and free_fields:
            return conditions.lookup(counted.name, do="distinct") if counted and len(free_fields) == 1 else None
        self._mentions.use(*free_fields)
        show = dict.fromkeys(field.name for field in free_fields if field.name not in conditions.fields())
        return conditions.lookup("", do=do, show=tuple(show))

    def _asks_for_field_of_named(self, free_fields: Sequence[Mentioned]) -> bool:
        """Return True if the question asks for a field of a thing that it names: "where was Blum born"."""
        conditions = self._conditions
        if conditions.head:
            return any(field.name != conditions.relation for field in free_fields)
        named_fields = {field.name for field in self._mentions.of_kinds("field")}
        names_a_condition = not named_fields.isdisjoint(conditions.fields())
        return not names_a_condition and any(map(self._may_be_of_named, free_fields))

    def _is_counted(self, field: Mentioned) -> bool:
        """Return True for a field after "how many"."""
        return table_words.COUNT.search(self._mentions.text_before(field).rstrip()[-_CONTEXT:]) is not None

    def _may_be_of_named(self, field: Mentioned) -> bool:
        """Return True if a named entity may have a field, because entities of the same type have it."""
        types_with_field = set(self._index.type_of[self._index.column(field.name).heads].tolist())
        rows = (self._index.entity_at(entity.name) for entity in self._mentions.of_kinds("entity"))
        return any(int(self._index.type_of[row]) in types_with_field for row in rows if row is not None)


def _unit(period: re.Match[str]) -> str:
    """Return the period that a question groups by: "year", "month" or "decade"."""
    return table_words.HAN_PERIODS.get(period["asked"] or period["each"] or "", "") or period["period"].lower()
