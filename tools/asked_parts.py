"""The mentions of a question in one table, of which those that became a part of the query are accounted for."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import pairwise

from ..models.rules.likeness import may_be
from ..schemas.records import ColumnInfo, ColumnKind, TableInfo
from .question_words import Mention, bare_name, is_kind_of, keys_of, label_variants, lexicon
from .table_mentions import Reading

SKIPPED = frozenset({"neutral", "head", "title", "reading", "documents", "row_nouns", "people", "overall", "made",
                     "together"})
"""Kinds of words that may stand between two things that belong together."""
DEGREES = {"max": "DESC", "most": "DESC", "commonest": "DESC", "latest": "DESC", "min": "ASC", "fewest": "ASC",
           "earliest": "ASC"}
"""Kinds of words that rank, with the order."""
PERIODS = {"year": "year({})", "month": "strftime({}, '%Y-%m')", "decade": "year({}) // 10 * 10", "day": "{}"}
"""The period of a date in SQL, by the word for it."""
_LONGEST_GAP = 4
"""The most words between two things that belong together."""
_INSIDE_NOUNS = frozenset({"all", "listed", "s", "的", "个"})
_LEADS = _INSIDE_NOUNS | {"of", "the", "our", "these", "those", "der", "die", "das"}
"""Words within a noun of several words, and before a noun, behind "how many"."""
_NOUNS = frozenset({"head", "row_nouns", "people", "documents", "value", "column", "title", "day", "month"})
_ASKING = frozenset({"which", "what", "list", "show", "name", "welch", "welcher", "welches", "welche", "find", "give",
                     "哪", "些"})
_AUXILIARIES = frozenset({"do", "does", "did", "has", "have", "had", "was", "were"})
_NAMING = frozenset({("name",), ("titl",)})
"""The last stems of labels of columns that name rows."""
_LEAST_DISTINCT, _FEW_EMPTY = 0.5, 0.1
"""The share of different values from which texts name rows, and that of gaps up to which a column speaks of all."""


class UnclearError(Exception):
    """A question does not say one thing in a table: any step of reading it may raise this, and there is no query."""


class AskedParts:
    """The mentions of a question in a table, and which of them became a part of the query ("used").

    A question is a query only if all of its mentions are used in the end: then none of its words was passed over.
    """

    def __init__(self, reading: Reading) -> None:
        """Take the mentions of a reading; those that say nothing of their own are used from the start."""
        self.reading, self.table = reading, reading.table
        self.are_documents = self.table.kind == "documents"
        last_days = {column.last for column in self.table.columns}
        self.columns = {column.name: column for column in self.table.columns if column.name not in last_days}
        self.mentions = list(reading.mentions)
        singular = {mention.last for mention in self.mentions
                    if self.is_rows(mention) and not self.words(mention).endswith("s")}
        ends = singular if self.numbering_columns() else set()
        self.mentions = [replace(one, kind="number") if self._is_figure(one, ends) else one for one in self.mentions]
        # "by Ada" and "the top three by mass" group nothing.
        self.mentions = [replace(one, kind="neutral") if self.words(one) == "by" and not self._says_group(one) else one
                         for one in self.mentions]
        self.rivals: dict[str, list[ColumnInfo]] = {}  # by a column of dates, others that may be meant
        self._used = {mention.first for mention in self.mentions if self._says_nothing(mention)}

    def _is_figure(self, year: Mention, ends: Collection[int]) -> bool:
        """Return True for a year that is a number: of what one row is called ("KEP 2019"), or "1000 pages"."""
        behind = self.directly_behind(year)
        is_number_of = behind is not None and not behind.is_head and self.columns_for(
            behind, lambda column: is_number(column) and not is_year(column))
        return year.kind == "date" and year.name.isdigit() and (is_number_of or year.first in ends)

    def _says_nothing(self, mention: Mention) -> bool:
        """Return True for words that say nothing of their own: "the", "whose", "year" before 2019."""
        if mention.kind in SKIPPED:  # in a table of records, "the latest post" is none of its rows
            return self.are_documents or mention.kind != "documents"
        behind = self.directly_behind(mention)
        is_before_date = mention.kind == "year" and behind is not None and behind.kind == "date"
        return is_before_date or (mention.first > 0 and self.words(mention) == "whose")

    def _says_group(self, by: Mention) -> bool:
        """Return True if "by" says what is grouped: "by region", unlike "by Ada" and "the top three by mass"."""
        group = self.following(by, "column", "head", *PERIODS, gap=2)
        behind = {word.folded for word in self.reading.words[by.last:by.last + 1]}
        is_rank = group is not None and self.has(*DEGREES) and self.columns_for(group, is_number)
        return group is not None and behind.isdisjoint(_ASKING) and not is_rank

    def use(self, *mentions: Mention | None) -> None:
        """Account for mentions."""
        self._used.update(mention.first for mention in mentions if mention is not None)

    def unused(self, *kinds: str) -> list[Mention]:
        """Return the mentions of some kinds, or of all, that are not accounted for."""
        return [mention for mention in self.mentions
                if mention.first not in self._used and (not kinds or mention.kind in kinds)]

    def has(self, *kinds: str) -> bool:
        """Return True if the question has a word of some kinds."""
        return any(mention.kind in kinds for mention in self.mentions)

    def take(self, *kinds: str) -> Mention | None:
        """Return the first unused mention of some kinds, and use all of the same kind."""
        found = self.unused(*kinds)
        self.use(*(mention for mention in found if mention.kind == found[0].kind))
        return found[0] if found else None

    def before(self, mention: Mention) -> list[Mention]:
        """Return all mentions before one."""
        return [other for other in self.mentions if other.last <= mention.first]

    def after(self, mention: Mention) -> list[Mention]:
        """Return all mentions behind one."""
        return [other for other in self.mentions if other.first >= mention.last]

    def following(self, mention: Mention, *kinds: str, gap: int = _LONGEST_GAP) -> Mention | None:
        """Return the next mention that is not skipped, if it is of some kinds and near."""
        following = next((other for other in self.after(mention)
                          if other.kind not in SKIPPED or other.kind in kinds), mention)
        return following if following.kind in kinds and 0 <= following.first - mention.last <= gap else None

    def preceding(self, mention: Mention, *kinds: str, gap: int = _LONGEST_GAP) -> Mention | None:
        """Return the last mention before one that is not skipped, if it is of some kinds and near."""
        preceding = next((other for other in reversed(self.before(mention))
                          if other.kind not in SKIPPED or other.kind in kinds), mention)
        return preceding if preceding.kind in kinds and 0 <= mention.first - preceding.last <= gap else None

    def directly_behind(self, mention: Mention) -> Mention | None:
        """Return the mention that begins where another one ends; None if there is none."""
        return next((other for other in self.mentions if other.first == mention.last), None)

    def text(self, mention: Mention) -> str:
        """Return the words of a mention."""
        return " ".join(word.text for word in self.reading.words[mention.first:mention.last])

    def words(self, mention: Mention) -> str:
        """Return the words of a mention in lower case."""
        return self.text(mention).casefold()

    def words_between(self, first: Mention, last: Mention) -> set[str]:
        """Return the words between two mentions in lower case."""
        return {word.folded for word in self.reading.words[first.last:last.first]}

    # Columns.

    def column_of(self, mention: Mention, fits: Callable[[ColumnInfo], bool] = lambda _: True) -> ColumnInfo:
        """Return the one column that a mention means; of several, the one that another mention means as well."""
        fitting = [self.columns[name] for name in mention.columns if fits(self.columns[name])]
        others = {other.columns for other in self.mentions if other is not mention and other.kind == "column"}
        return only([column for column in fitting if (column.name,) in others] or fitting, mention)

    def columns_for(self, mention: Mention, fits: Callable[[ColumnInfo], bool]) -> bool:
        """Return True if a mention may mean a column that fits."""
        return any(fits(self.columns[name]) for name in mention.columns)

    def is_labelled(self, mention: Mention, kind: str) -> bool:
        """Return True if a mention may mean a column of which the label says a kind of thing, such as an author."""
        return self.columns_for(mention, lambda column: keys_of(column.title) in lexicon().labels[kind])

    def labelled(self, kind: str) -> ColumnInfo:
        """Return the only column that says where or who something is, by its label."""
        return only([column for column in self.table.columns if keys_of(column.title) in lexicon().labels[kind]], kind)

    def dates(self) -> list[ColumnInfo]:
        """Return the columns of dates that a question may mean that names none: of when something was made, those."""
        dates = list(filter(is_date, self.columns.values()))
        if not self.are_documents:
            return dates
        dates = [column for column in dates if 2 * column.empty <= self.table.rows]
        if self.has("made") or any(one.name == "age" for one in self.mentions):
            labels = frozenset().union(*lexicon().labels["made"])
            dates = [column for column in dates if labels.issuperset(keys_of(column.title))]
        full = [column for column in dates if column.empty <= _FEW_EMPTY * self.table.rows]
        if len(dates) > len(full) == 1 and not any(column.last for column in dates):
            self.rivals[full[0].name] = [column for column in dates if column != full[0]]
            return full
        return dates

    def numbering_columns(self) -> list[str]:
        """Return the columns of numbers that the rows are called by: "KEP number", or "KEP" in a table of KEPs."""
        # Sales are called by no number in a table of sales, unlike what the first column of records numbers.
        numbers = filter(is_number, self.table.columns if self.are_documents else self.table.columns[:1])
        return [column.name for column in numbers if self._numbers_rows(column)]

    def _numbers_rows(self, column: ColumnInfo) -> bool:
        keys, heads = keys_of(column.title), self.reading.heads
        return is_kind_of("number_word", column.name) or keys in heads or (
            keys[:-1] in heads and is_kind_of("number_word", column.name.rpartition("_")[2]))

    def naming_columns(self) -> list[ColumnInfo]:
        """Return the columns whose texts tell rows apart."""
        heads = [self.column_of(mention) for mention in self.mentions if mention.is_head][:1]
        if self.are_documents:
            titles = [self.columns[name] for name in ("document", "title") if name in self.columns]
            return [*heads, titles[-1]] if heads else titles
        texts = [column for column in self.table.columns if is_text(column) and column.name != "document"]
        named = [column for column in texts if keys_of(column.title)[-1:] in _NAMING]
        named = named or [column for column in texts if column.distinct >= _LEAST_DISTINCT * self.table.rows]
        if not (heads or named):
            raise UnclearError(self.table.name)
        return heads or named[:1]

    # What the rows are to a question: whether it counts them, asks for them, and what others do with them.

    def is_rows(self, mention: Mention) -> bool:
        """Return True for words that are what the table's rows are called."""
        return mention.is_head or mention.kind == "head" or (mention.kind == "documents" and self.are_documents)

    def are_asked(self) -> bool:
        """Return True if a question asks which rows: "which lakes", "the deepest lake", "which one"."""
        heads = [mention for mention in self.mentions
                 if self.is_rows(mention) or mention.kind == "row_nouns" or self._is_plural_value(mention)]
        kinds = [one for one in self.mentions[-1:] if one.kind == "value" and self.are_documents]
        asks_one = any(first.folded == "which" and second.folded in {"one", "ones", "of"}
                       for first, second in pairwise(self.reading.words))
        # "the longest audiobook", where audiobook is a format
        return asks_one or any(map(self.asks, heads)) or any(map(self._is_superlative, [*heads, *kinds]))

    def _is_plural_value(self, mention: Mention) -> bool:
        """Return True for a value that stands for its rows: "the hardcovers" where the format is hardcover."""
        values = {value.casefold() for fitting in mention.values.values() for value in fitting}
        return mention.kind == "value" and {f"{value}s" for value in values} == {self.words(mention)}

    def asks(self, mention: Mention) -> bool:
        """Return True if "which" or "what" stands before a mention, with no more than a number or a degree between."""
        # Values and their genitive may stand between: "list Ada Blum's drafts".
        inside = {at for one in self.mentions if one.kind == "value" for at in range(one.first, one.last)}
        before = [word.folded for at, word in enumerate(self.reading.words[:mention.first])
                  if at not in inside and word.folded != "s"][-3:]
        behind = [word.folded for word in self.reading.words[mention.last:mention.last + 2]]
        return not _ASKING.isdisjoint(before) or behind in (["是", "哪"], ["有", "哪"])

    def _is_superlative(self, mention: Mention) -> bool:
        """Return True if a degree stands right before what the rows are called: the deepest lake, not lake area."""
        degree = next((one for one in reversed(self.before(mention)) if one.kind in DEGREES), None)
        if degree is None or degree.kind in {"most", "fewest", "commonest"}:
            return False
        between = [one for one in self.mentions if degree.last <= one.first < mention.first]
        behind = self.directly_behind(mention)
        # "the last proposal created in May" is a proposal, and "the deepest lake area" no lake.
        is_whole = behind is None or behind.kind != "column" or self.words(behind).endswith("ed")
        return is_whole and all(one.kind in {"value", "number", "made"} or self.columns_for(
            one, lambda column: is_number(column) or is_date(column)) for one in between)

    def are_counted(self) -> bool:
        """Return True if the noun that is counted is what the table's rows are, or a value of theirs, or none."""
        counts = [mention for mention in self.mentions if mention.kind == "count"]
        noun = self.noun_after(counts[0]) if counts else None
        rows = [mention for mention in self.mentions if self.is_rows(mention)]
        if noun is None and rows and (not counts or rows[0].last <= counts[0].first or all(
                other.kind in SKIPPED for other in self.after(counts[0]))):
            noun = rows[0]  # "Of the proposals by Ada, how many are final?"
        if noun is not None and noun.kind == "row_nouns":
            return True
        if has_own_counts(self.table) and not (noun is not None and noun.is_head):
            return False
        if noun is None:
            return not counts or self._counts_deeds(counts[0]) or any(
                other.kind in {"value", "quoted"} for other in self.before(counts[0]))
        if noun.kind == "people":
            return any(keys_of(column.title) in lexicon().labels["person"] for column in self.table.columns)
        # Of documents under "Events", none need be an event.
        is_kind = noun.kind == "value" and not self.are_documents and all(
            keys_of(value)[-1:] == keys_of(self.text(noun))[-1:] or not value[-1:].isdigit()
            for values in noun.values.values() for value in values)
        return is_kind or self.is_rows(noun)

    def _counts_deeds(self, count: Mention) -> bool:
        """Return True for "How many did Ada Blum write?" and "How many were completed in 2019?", which count rows."""
        behind = {word.folded for word in self.reading.words[count.last:count.last + 1]}
        return self.are_documents and bool(behind & _AUXILIARIES) and any(
            self.is_deed(one) or self.columns_for(one, is_date) for one in self.mentions if one.kind == "column")

    def noun_after(self, mention: Mention) -> Mention | None:
        """Return the last noun of the words behind "how many", up to a word between phrases; None if there is none."""
        noun = None
        for other in self.after(mention):
            if other.kind == "column" and self._is_predicate(other, noun):
                break
            is_lead = self.words(other) in (_LEADS if noun is None else _INSIDE_NOUNS)
            if other.kind in _NOUNS:
                noun = other
            elif not (is_lead or other.kind == "distinct" or (other.kind in {"date", "number"} and noun is None) or (
                    noun is not None and noun.kind == "value" and self.following(other, "value", gap=0)
                    and (other.kind == "or" or self.words(other) == "and"))):
                break
        return noun

    def _is_predicate(self, column: Mention, noun: Mention | None) -> bool:
        """Return True if a column's words say something of the noun before them instead of belonging to it."""
        # So do "proposals owned", "women died" and 提案的状态是, unlike "proposal authors".
        is_verb = self.words(column).endswith("ed")
        if noun is None:
            return is_verb and self.columns_for(column, is_date)
        has_value = self.following(column, "value", gap=1) is not None
        if self.is_rows(noun) and (self.words(noun).endswith("s") or has_value):
            return True
        return is_verb and noun.kind in {"value", "people", "row_nouns"}

    def is_deed(self, mention: Mention) -> bool:
        """Return True for a verb that says what an author does: "wrote", "contributed"."""
        is_label = keys_of(self.text(mention)) in lexicon().labels["author"]
        return mention.kind == "column" and not is_label and self.is_labelled(mention, "author")

    def asks_for_deeds(self) -> bool:
        """Return True for "What did Ada Blum write?", which asks for rows."""
        start = [word.folded for word in self.reading.words[:2]]
        return self.are_documents and start[0] == "what" and start[-1] in _AUXILIARIES and any(
            map(self.is_deed, self.mentions))

    def is_event(self, value: Mention) -> bool:
        """Return True if a value is said as a deed or by a doer: "rejected by Ada", "did she reject", "about Maps"."""
        before = self.before(value)
        word = self.words(before[-1]) if before else ""
        behind = self.directly_behind(value)
        earlier = before[-2] if len(before) > 1 else None
        if word == "into" or (is_kind_of("about", word) and not self.columns_for(
                value, lambda one: is_list(one) or one.name == "title")):
            return True  # "made into films", "about Maps", which a version has
        if word == "by" and earlier is not None:
            return earlier.kind == "value" or (earlier.kind == "made" and not self.is_labelled(value, "author"))
        names_rows = behind is not None and self.is_rows(behind)
        doers = before[-2:] if word in _AUXILIARIES else before[-1:]
        if any(one.kind == "who" for one in doers) and not names_rows:
            return True  # "Who adopted the most?"
        if word in _AUXILIARIES and behind is not None:
            # "did Ada Blum finish in 2018" says what authors do not do with their documents.
            is_of_reader = self.are_documents and self.is_labelled(value, "author") and self.columns_for(
                behind, is_date) and not self.is_labelled(behind, "made")
            return behind.kind == "value" or is_of_reader
        if word in {"the", "our", "this"} and earlier is not None and self.words(earlier) in _AUXILIARIES:
            return not self._is_plural_value(value) and (behind is None or not (
                behind.kind == "value" or self.is_rows(behind)))  # "did the blog"
        return False


def only(columns: Sequence[ColumnInfo], what: object) -> ColumnInfo:
    """Return the only one of some columns; raise UnclearError about `what` if there are several or none."""
    if len(columns) != 1:
        raise UnclearError(what)
    return columns[0]


def is_year(column: ColumnInfo) -> bool:
    """Return True for a column of numbers that are years by its label."""
    return is_number(column) and keys_of(column.title)[-1:] in {*label_variants("year")}


def says_owner(column: ColumnInfo) -> bool:
    """Return True for a column of which the label has a word for makers or owners, such as publishers."""
    return not lexicon().labels["owner"].isdisjoint((key,) for key in keys_of(column.title))


def is_of_persons(column: ColumnInfo) -> bool:
    """Return True for a column of persons, by its label or its values."""
    labels, values = lexicon().labels, [bare_name(value) for value, _ in column.frequent]
    is_labelled = keys_of(column.title) in labels["owner"] | labels["person"]
    return is_labelled or (bool(values) and all(
        value[:1] == "@" or ("://" not in value and may_be("person", value)) for value in values))


def has_own_counts(table: TableInfo) -> bool:
    """Return True for records that count themselves: by a column such as "cases", or if all is by date."""
    if table.kind == "documents":
        return False
    texts = [column for column in table.columns if column.kind != "number" and column.name != "document"]
    return (len(texts) == 1 and is_date(texts[0])) or any(
        is_number(column) and not column.unit and keys_of(column.title) in lexicon().labels["quantity"]
        for column in table.columns)


def columns_of_measure(table: TableInfo, name: str) -> list[ColumnInfo]:
    """Return the columns of numbers that hold a measure such as mass, by their labels or else by their units."""
    measure = lexicon().measures[name]
    labels = [keys_of(label) for label in measure["labels"].split(", ")]
    numbers = [column for column in table.columns if is_number(column)]
    named = [column for column in numbers if (keys := keys_of(column.title)) and any(
        keys[at:at + len(label)] == label for label in labels for at in range(len(keys)))]
    return named or [column for column in numbers if column.unit and column.unit in measure["units"]]


def columns_in_unit(table: TableInfo, unit: str) -> list[ColumnInfo]:
    """Return the columns of numbers that hold what a unit measures."""
    found = [column for name, measure in lexicon().measures.items() if unit in measure["units"]
             for column in columns_of_measure(table, name)]
    return list({column.name: column for column in found}.values())


def tells_when(column: ColumnInfo) -> bool:
    """Return True for a column of dates or years."""
    return is_date(column) or is_year(column)


def _of_kind(kind: ColumnKind) -> Callable[[ColumnInfo], bool]:
    return lambda column: column.kind == kind


is_number, is_date, is_list = _of_kind("number"), _of_kind("date"), _of_kind("list")
is_text, is_truth = _of_kind("text"), _of_kind("boolean")
