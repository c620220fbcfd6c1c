"""Read a question about rows: what it counts, lists, groups or compares, in the knowledge base's own fields and values.

Only a question all of whose content is accounted for is read: each word names a field, a value, an entity, a date or a
number, stands in the titles or headings above the rows, or is one of the words with which tables are asked about. Any
other question is left to passages.
"""

import re
from collections.abc import Sequence

import numpy as np

from ...models.rules.recognition.name_kinds import kind_of_noun
from ...schemas.graph_schema import GraphSchema
from ...schemas.lookups import Calculation, CommunityLookup, TripleLookup
from ...schemas.naming import normalise
from ...text.content_words import content_words, stem
from ...text.lexicon import SUMMARY_CUES
from ..index import RetrievalIndex
from ..schema_names import find_term, names_of, terms_of
from ..tables import contexts, read_table
from . import table_words
from .asked_conditions import Conditions
from .mentions import Mentioned, Mentions, singular

_AROUND = 14
"""Characters around a number in which a bound of it stands, and before a noun in which "how many" does."""
_LONGEST = 500
"""Characters of a question that may be one about rows."""


def asked_table(index: RetrievalIndex, schema: GraphSchema, question: str) -> TripleLookup | None:
    """Return the lookup that answers a question about rows; None where it is not certain.

    Args:
        index: the knowledge base.
        schema: the schema in force, whose labels and cues name fields.
        question: the question.
    """
    if len(question) > _LONGEST or not terms_of(index):
        return None
    return _Asked(index, schema, table_words.ASIDE.sub(" ", question).strip()).table()


def asked_survey(index: RetrievalIndex, schema: GraphSchema, question: str) -> CommunityLookup | None:
    """Return the survey that a question asks for: by a field or period, or along a relation; None if it asks for none.

    Args:
        index: the knowledge base.
        schema: the schema in force, whose labels and cues name fields.
        question: the question.
    """
    if len(question) > _LONGEST or not (SUMMARY_CUES.search(question) or table_words.IN_TURN.search(question)):
        return None
    return _Asked(index, schema, question).survey()


class _Asked:
    """One question."""

    def __init__(self, index: RetrievalIndex, schema: GraphSchema, text: str) -> None:
        self._index, self._schema = index, schema
        self._mentions = Mentions(index, schema, text)
        self._conditions = Conditions(index, self._mentions)

    def table(self) -> TripleLookup | None:
        """Return the lookup of a table, if all of the question is accounted for."""
        mentions = self._mentions
        found = self._read_shape() if mentions.of("field", "value", "entity") else None
        if found is None or not self._is_of_noun(found) or not self._is_of_time(found):
            return None
        for name in (found.relation, *found.show):
            mentions.use_field(name)
        left = mentions.left_over()
        return found if not left or self._stands_above(left, found) else None

    def _is_of_noun(self, lookup: TripleLookup) -> bool:
        """Return False if one thing's relation leads to others than those that a noun asks for.

        "On which river does Graz lie?" is not answered by the country that Graz lies in.
        """
        nouns = self._mentions.subjects() if lookup.head and "|" not in lookup.head and not lookup.by else set()
        if not nouns:
            return True
        browsing, ends = self._index.browsing, self._index.column(lookup.relation).label_entities
        kinds = {browsing.types[int(kind)] for kind in np.unique(browsing.type_of[ends[ends >= 0]])}
        term = next(iter(find_term(self._index, self._schema, lookup.relation).terms))
        known = {part for label in (*kinds, *names_of(self._schema, term)) for part in content_words(label)}
        return all(noun in known or singular(noun) in self._mentions.prefixes for noun in nouns)

    def _is_of_time(self, lookup: TripleLookup) -> bool:
        """Return False if a question asks for a year or day, and the rows listed have names: of a child, of a place."""
        listed = lookup.do == "list" and not lookup.by
        return not (listed and table_words.TIME.search(self._mentions.text)) or any(
            map(self._conditions.is_dated, filter(None, (lookup.relation, *lookup.show))))

    def survey(self) -> CommunityLookup | None:
        """Return the lookup of a survey."""
        mentions, text = self._mentions, self._mentions.text
        if table_words.IN_TURN.search(text):
            return self._read_path()
        found = self._read_period(text, 0) or self._read_groups(mentions.of("field"), 0)
        if found is not None:
            return CommunityLookup(by=found.relation if found.by == "tail" else f"{found.relation}.{found.by}")
        dated = [term.name for term in terms_of(self._index) if self._conditions.is_dated(term.name)]
        period = table_words.PERIOD.search(text)
        return CommunityLookup(by=f"{dated[0]}.{_unit(period)}") if period and dated else None

    def _read_path(self) -> CommunityLookup | None:
        """Return what is reached from the one entity that the question names along the one relation."""
        entities = self._mentions.of("entity")
        for one in self._mentions.of("field") if len(entities) == 1 else ():
            row, column = self._index.entity_at(entities[0].name), self._index.column(one.name)
            if row in column.heads or row in column.tails():
                forward = self._conditions.leads(entities[0], one, one.name)
                return CommunityLookup(theme=entities[0].value, along=f"{'' if forward else '<'}{one.name} -> *")
        return None

    def _stands_above(self, left: Sequence[str], lookup: TripleLookup) -> bool:
        """Return True if words that are not accounted for stand in the titles or headings above all rows found."""
        term = next(iter(find_term(self._index, self._schema, lookup.relation).terms))
        table = read_table(self._index, self._schema, lookup, term)
        above = [(text, set(content_words(text))) for text in contexts(self._index, table)]
        return bool(above) and len(above) == len(table.computed.rows) and all(
            stem(normalise(word)) in stems or ((not word.isascii() or word.isdigit()) and word in text)
            for word in left for text, stems in above)

    def _read_shape(self) -> TripleLookup | None:
        mentions, limit = self._mentions, 0
        if top := table_words.TOP.search(mentions.text):
            number = (top["first"] or top["second"] or top["zh"]).lower()
            limit = int(number) if number.isdigit() else table_words.NUMERALS[number]
            mentions.use(top)
        if not self._conditions.place():
            return None
        free = mentions.free_fields()
        grouped = {one.name for one in free if table_words.GROUP.search(mentions.before(one))}
        if not grouped.isdisjoint(self._conditions.fields()):
            return None  # grouped by what has one value
        if self._is_overlooked():
            return None
        # A value such as "Last Call" asks for nothing.
        text = mentions.unread(fields=False)
        return (self._read_period(text, limit) or self._read_alternatives(text, limit)
                or self._read_groups(free, limit) or self._read_calculation(text, free, limit)
                or self._read_most(text, free, limit) or self._read_count_or_list(text, free))

    def _is_overlooked(self) -> bool:
        """Return True if a negation, a bound or "both" was not read: the rows would be others than those meant."""
        left = self._mentions.unread(fields=False)
        limited = any(table_words.BOUNDS.search(left[max(0, one.start - _AROUND):one.end + _AROUND])
                      for one in self._mentions.of("date", "number", "value") if any(map(str.isdigit, one.value)))
        return bool(limited or table_words.NEGATION.search(left) or (
            self._conditions.alternatives() and table_words.BOTH.search(self._mentions.text)))

    # Shapes of questions.

    def _read_period(self, text: str, limit: int) -> TripleLookup | None:
        """Read "in which years", "by year"."""
        period = table_words.PERIOD.search(text)
        dated = self._mentions.read_as(self._mentions.of("field"), self._conditions.is_dated)
        if not period or not dated:
            return None
        self._mentions.use(period, dated[0])
        if not limit and table_words.MOST.search(text) and not period[0].endswith("s"):
            limit = 1  # "in which year were the most"
        return self._conditions.lookup(dated[0].name, by=_unit(period), limit=limit)

    def _read_alternatives(self, text: str, limit: int) -> TripleLookup | None:
        """Read "did 2020 or 2021 have more", "are there more red or more green ones"."""
        field = self._conditions.alternatives()
        counted_twice = len(table_words.COUNT.findall(text)) > 1
        if not field or not (counted_twice or table_words.MOST.search(text) or table_words.FEWEST.search(text)):
            return None
        return self._conditions.lookup(field, by="year" if self._conditions.is_dated(field) else "tail", limit=limit)

    def _read_groups(self, free: Sequence[Mentioned], limit: int) -> TripleLookup | None:
        """Read "by status", "for each warehouse"."""
        for one in free:
            if table_words.GROUP.search(self._mentions.before(one)):
                self._mentions.use_field(one.name)
                return self._conditions.lookup(one.name, by="tail", limit=limit)
        return None

    def _read_calculation(self, text: str, free: Sequence[Mentioned], limit: int) -> TripleLookup | None:
        """Read "the oldest", "the cheapest", "which of the two is heavier", "the total cost", "the average age"."""
        for do, form in table_words.CALCULATED.items():
            if match := form.search(text):
                fits = self._conditions.is_dated if do in {"first", "last"} else self._conditions.is_sized
                if fields := self._mentions.read_as(free, fits) or self._field_of_degree(match[0]):
                    self._mentions.use(fields[0], match)
                    return self._conditions.lookup(fields[0].name, do=do, limit=limit)
        return None

    def _field_of_degree(self, degree: str) -> list[Mentioned]:
        """Return the field that a Chinese degree speaks of (贵: price), if there is one."""
        concept = next((word for signs, word in table_words.HAN_DEGREES.items()
                        if any(sign in degree for sign in signs)), "")
        names = [term.name for term in terms_of(self._index) if concept and concept in content_words(
            term.name.replace("_", " ")) and self._conditions.is_sized(term.name)]
        return [Mentioned(0, 0, "field", names[0])] if len(names) == 1 else []

    def _read_most(self, text: str, free: Sequence[Mentioned], limit: int) -> TripleLookup | None:
        """Read "which has the most prizes", "the most frequent authors"."""
        most = table_words.MOST.search(text)
        counted = [one for one in free if not self._conditions.is_sized(one.name)]
        if most is None or not counted or self._conditions.head:
            return None
        self._mentions.use_field(counted[0].name)
        return self._conditions.lookup(counted[0].name, by=self._asked_end(text, counted[0], most), limit=limit or 1)

    def _asked_end(self, text: str, one: Mentioned, most: re.Match[str]) -> str:
        """Return the end that is asked for: of "has the most authors" the head, of "is in most lists" the tail."""
        last_entity = int(self._index.column(one.name).label_entities.max(initial=-1))
        before = self._mentions.before(one)
        if table_words.WHO.match(text.strip()) and last_entity >= 0:
            kind = self._index.browsing.types[int(self._index.browsing.type_of[last_entity])]
            return "tail" if kind_of_noun(normalise(kind)) in {"person", ""} else "head"
        passive = one.end <= most.start() and re.search(r"\b(?:in|by|of)\b", text[one.end:most.start()])
        return "tail" if passive or table_words.WHICH_BEFORE.search(before) else "head"

    def _read_count_or_list(self, text: str, free: Sequence[Mentioned]) -> TripleLookup | None:
        """Read "how many", "which", "list all"; None for a question that limits nothing, or asks for something else."""
        conditions = self._conditions
        do: Calculation = "count" if table_words.COUNT.search(text) else "list"
        if do == "list" and not table_words.LISTED.search(text):
            return None
        is_comparison = conditions.head and not conditions.relation
        if conditions.is_empty() or is_comparison or self._asks_of_named(free):
            return None
        if conditions.relation and self._conditions.is_sized(conditions.relation):
            do = "list"  # 宁波有多少人口 asks for the number itself
        counted = next(filter(self._is_counted, free), None)
        if counted and self._conditions.is_sized(counted.name):
            return None  # "how many inhabitants" asks for the number itself
        if do == "count" and free:
            return conditions.lookup(counted.name, do="distinct") if counted and len(free) == 1 else None
        self._mentions.use(*free)
        show = dict.fromkeys(one.name for one in free if one.name not in conditions.fields())
        return conditions.lookup("", do=do, show=tuple(show))

    def _asks_of_named(self, free: Sequence[Mentioned]) -> bool:
        """Return True if a question asks for a field of what it names: "where was Blum born" lists nothing of his."""
        conditions = self._conditions
        if conditions.head:
            return any(one.name != conditions.relation for one in free)
        named_conditions = {one.name for one in self._mentions.of("field")}.intersection(conditions.fields())
        return not named_conditions and any(map(self._may_be_of_named, free))

    def _is_counted(self, one: Mentioned) -> bool:
        """Return True for a field after "how many"."""
        return table_words.COUNT.search(self._mentions.before(one).rstrip()[-_AROUND:]) is not None

    def _may_be_of_named(self, one: Mentioned) -> bool:
        """Return True if things of the kind of an entity that the question names have a field."""
        types = set(self._index.browsing.type_of[self._index.column(one.name).heads].tolist())
        rows = (self._index.entity_at(entity.name) for entity in self._mentions.of("entity"))
        return any(int(self._index.browsing.type_of[row]) in types for row in rows if row is not None)


def _unit(period: re.Match[str]) -> str:
    """Return the period that a question groups by: year, month or decade."""
    return table_words.HAN_PERIODS.get(period["asked"] or period["each"] or "", "") or period["period"].lower()
