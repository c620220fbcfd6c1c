"""The mentions of a question in one table, of which those that became a part of the query are accounted for."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from ..schemas.records import ColumnInfo
from .question_words import is_kind_of, keys_of, label_variants, lexicon
from .table_mentions import Mention, Reading

SKIPPED = frozenset({"neutral", "head", "title", "reading", "documents", "row_nouns", "people", "overall", "made",
                     "together", "contains"})
"""Kinds of words that may stand between two things that belong together."""
DEGREES = {"max": "DESC", "most": "DESC", "commonest": "DESC", "latest": "DESC", "min": "ASC", "fewest": "ASC",
           "earliest": "ASC"}
"""Kinds of words that rank, with the order."""
_LONGEST_GAP = 4
_INSIDE_NOUNS = frozenset({"all", "listed", "s", "的", "个"})
_LEADS = _INSIDE_NOUNS | {"of", "the", "our", "these", "those", "der", "die", "das"}
"""Words within a noun of several words, and before a noun, behind "how many"."""
_NOUNS = frozenset({"head", "row_nouns", "people", "documents", "value", "column", "title", "day", "month"})
_ASKING = frozenset({"which", "what", "list", "show", "name", "welch", "welcher", "welches", "welche", "find", "give"})
_ASKING_BEFORE, _ASKING_BEHIND = re.compile(r"哪[一几]?.?$"), frozenset({"是哪", "有哪"})
_AUXILIARIES, _ARTICLES = frozenset({"do", "does", "did", "has", "have", "had"}), frozenset({"the", "our", "this"})
_NO_GROUPS = frozenset({"value", "over", "under", "least_bound", "most_bound"})
"""What nothing is grouped by: "owned by Ada", "written by more than two people"."""
_SUPERLATIVES = frozenset({"max", "min", "latest", "earliest"})
_OFTEN = frozenset({"how often", "wie oft", "几次", "多少次"})
_NEWEST = frozenset({"newest", "neueste", "neuesten", "最新"})
"""Words for the last one made, unlike "the last one", which may be the last one changed."""
_LEAST_DISTINCT, _NEARLY_ALL = 0.5, 0.9
"""The shares of different values from which a column of texts names rows, and tells nearly all of them apart."""
_NAMING = frozenset({("name",), ("titl",)})
"""The last stems of labels of columns that name rows."""


class UnclearError(Exception):
    """A question does not say one thing in a table: any step of reading it may raise this, and there is no query."""


def quoted(name: str) -> str:
    """Return a name as SQL quotes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL quotes it."""
    return "'" + text.replace("'", "''") + "'"


class AskedParts:
    """The mentions of a reading, of which the used ones are accounted for."""

    def __init__(self, reading: Reading) -> None:
        """Start with words that say nothing used."""
        self.reading, self.table = reading, reading.table
        self.are_documents = self.table.kind == "documents"
        self.columns = {column.name: column for column in reading.table.columns}
        # A period has its own edges: "between the start of July and the end of 2018".
        is_range = any(mention.kind in {"between", "since", "until", "through"} or self.words(mention) == "to"
                       for mention in reading.mentions)
        self.mentions = [mention for mention in reading.mentions if mention.kind != "edge" or not is_range]
        if self.numbering_columns():  # "KEP 2019" is no KEP of the year 2019
            named = {one.last for one in self.mentions if self.is_rows(one) and not self.words(one).endswith("s")}
            self.mentions = [replace(one, kind="number") if one.kind == "date" and one.name.isdigit()
                             and one.first in named else one for one in self.mentions]
        # In a table of records, "the latest post" is none of its rows.
        skipped = SKIPPED if self.are_documents else SKIPPED - {"documents"}
        dates = [mention for mention in self.mentions if mention.kind == "date"]
        self._used = {mention.first for mention in self.mentions if mention.kind in skipped
                      or any(mention.last == date.first and mention.kind == "year" for date in dates)
                      or (mention.first and self.words(mention) == "whose")}
        for by, after in pairwise(self.mentions):
            if self.words(by) == "by" and after.kind in _NO_GROUPS:
                self.mentions[self.mentions.index(by)] = replace(by, kind="neutral")
                self.use(by)
        for place, by in enumerate(self.mentions):
            behind = self.reading.words[by.last:by.last + 1]
            if self.words(by) == "by" and behind and behind[0].folded in _ASKING:
                self.mentions[place] = replace(by, kind="neutral")  # "By which method was the largest found?"
                self.use(by)
        for by in [one for one in self.unused("group") if self.words(one) == "by" and self.has(*DEGREES)]:
            measure = self.following(by, "count", "sum", "mean", "median", "column", gap=1)
            is_top = any(self.words(one) == "top" for one in self.mentions)
            if measure is not None and (measure.kind != "column" or (is_top and self.columns_for(measure, is_number))):
                self.mentions[self.mentions.index(by)] = replace(by, kind="neutral")  # "the top three by mass"
                self.use(by)

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

    def link_after(self, mention: Mention) -> Mention | None:
        """Return the word directly behind a mention that joins it with another: "to", "and", "or"; None without one."""
        following = next((other for other in self.mentions if other.first == mention.last), mention)
        links = following.kind in {"through", "or", "than"} or self.words(following) in {"to", "and", "und", "和"}
        return following if links else None

    def text(self, mention: Mention) -> str:
        """Return the words of a mention."""
        return " ".join(word.text for word in self.reading.words[mention.first:mention.last])

    def words(self, mention: Mention) -> str:
        """Return the words of a mention in lower case."""
        return self.text(mention).casefold()

    def column_of(self, mention: Mention, fits: Callable[[ColumnInfo], bool] = lambda _: True) -> ColumnInfo:
        """Return the one column that a mention means; of several, the one that another mention means as well."""
        fitting = [self.columns[name] for name in mention.columns if fits(self.columns[name])]
        if len(fitting) > 1:
            supported = [column for column in fitting if any(
                other is not mention and other.kind == "column" and other.columns == (column.name,)
                for other in self.mentions)]
            fitting = supported or fitting
        return only(fitting, mention)

    def columns_for(self, mention: Mention, fits: Callable[[ColumnInfo], bool]) -> bool:
        """Return True if a mention may mean a column that fits."""
        return any(fits(self.columns[name]) for name in mention.columns)

    def is_genitive(self, mention: Mention) -> bool:
        """Return True for a genitive: "proposals of Ada Blum", "Ada Blum's draft proposals"."""
        before, after = self.before(mention), self.after(mention)
        if after and self.words(after[0]) in {"s", "的"}:
            return next((self.is_rows(other) for other in after[1:] if other.kind not in {"value", "neutral"}), False)
        return len(before) > 1 and self.is_rows(before[-2]) and self.words(before[-1]) in {
            "of", "by", "der", "des", "von"}

    def by_after(self, column: Mention) -> Mention | None:
        """Return "by" behind a list's name in a passive: "required by RFC 7", "is required by the most"."""
        by = next((other for other in self.mentions if other.first == column.last and self.words(other) == "by"), None)
        return by if self.words(column).endswith("ed") and self.columns_for(column, is_list) else None

    def is_rows(self, mention: Mention) -> bool:
        """Return True for words that are what the table's rows are called."""
        return mention.is_head or mention.kind == "head" or (mention.kind == "documents" and self.are_documents)

    def counted_rows(self) -> Mention | None:
        """Return the number of rows that a group must have: of "authors of more than five books", five."""
        rows = ((number, self.following(number, "column", "head", "documents", gap=0))
                for number in self.unused("number") if not self.has(*DEGREES))
        return next((number for number, one in rows if one is not None and self.is_rows(one) and not any(
            other.last == number.first and self.words(other) in _LEADS for other in self.mentions)), None)

    def does_other(self, mention: Mention) -> bool:
        """Return True if a value does what no value does: "rejected by Ada Blum", "did she reject", "did the blog"."""
        before = self.before(mention)[-2:]
        auxiliary, word = ["", "", *map(self.words, before)][-2:]
        verb = before[0].kind if len(before) > 1 else ""
        if word == "by" and verb == "made":
            return not any(keys_of(self.columns[name].title) in lexicon().labels["author"] for name in mention.columns)
        following = next((other for other in self.mentions if other.first == mention.last), mention)
        is_doing = word in _AUXILIARIES and following.kind == "value" and following is not mention
        is_doer = word in _ARTICLES and auxiliary in _AUXILIARIES and following.kind != "value" and not (
            self.is_rows(following))
        return is_doing or is_doer or (word == "by" and verb == "value")

    def dates(self) -> list[ColumnInfo]:
        """Return the columns of dates that a question may mean that names none: of when something was made, those."""
        dates = [column for column in self.table.columns if is_date(column)]
        if self.are_documents:  # a field of few documents says nothing of the others
            dates = [column for column in dates if 2 * column.empty <= self.table.rows]
        labels = {key for label in lexicon().labels["made"] for key in label}
        made = [column for column in dates if labels.issuperset(keys_of(column.title))]
        is_age = self.are_documents and any(one.name == "age" or self.words(one) in _NEWEST for one in self.mentions)
        return made if self.has("made") or is_age else dates

    def years(self) -> list[ColumnInfo]:
        """Return the columns of numbers that are years by their labels."""
        return [column for column in self.table.columns
                if is_number(column) and keys_of(column.title)[-1:] in {*label_variants("year")}]

    def numbering_columns(self) -> list[str]:
        """Return the columns of numbers that the rows are called by: "KEP number", or "KEP" in a table of KEPs."""
        heads = self.reading.heads
        # Sales are called by no number in a table of sales, unlike what the first column of records numbers.
        columns = self.table.columns if self.are_documents else self.table.columns[:1]
        return [column.name for column in columns if is_number(column) and (
            is_kind_of("number_word", column.name) or keys_of(column.title) in heads
            or (keys_of(column.title)[:-1] in heads and is_kind_of("number_word", column.name.rpartition("_")[2])))]

    def measured(self, name: str) -> list[ColumnInfo]:
        """Return the columns of numbers that hold a measure such as mass, by their labels or else by their units."""
        measure = lexicon().measures[name]
        labels = {keys_of(label) for label in measure["labels"].split(", ")}
        numbers = [column for column in self.table.columns if column.kind == "number"]
        named = [column for column in numbers if any(
            keys[at:at + len(label)] == label for keys in (keys_of(column.title),) for label in labels
            for at in range(len(keys)))]
        return named or [column for column in numbers if column.unit and column.unit in measure["units"]]

    def measured_in(self, unit: str) -> list[ColumnInfo]:
        """Return the columns of numbers that hold what a unit measures."""
        found = [column for name, measure in lexicon().measures.items() if unit in measure["units"]
                 for column in self.measured(name)]
        return list({column.name: column for column in found}.values())

    # What the rows are to a question: whether it counts them, asks for them, and what names each of them.

    def are_asked(self) -> bool:
        """Return True if a question asks which rows: "which lakes", "the deepest lake", "which one"."""
        words = [word.text.casefold() for word in self.reading.words]
        heads = [mention for mention in self.mentions if self.is_rows(mention) or mention.kind == "row_nouns"]
        return any(self.asks(mention) or self._is_superlative(mention) for mention in heads) or any(
            words[at:at + 2] in (["which", "one"], ["which", "ones"], ["which", "of"]) for at in range(len(words)))

    def asks(self, mention: Mention) -> bool:
        """Return True if "which" or "what" stands before a mention, with no more than a number or a degree between."""
        before = self.reading.words[max(mention.first - 3, 0):mention.first]
        after = "".join(word.text for word in self.reading.words[mention.last:mention.last + 2])
        return any(word.text.casefold() in _ASKING for word in before) or after in _ASKING_BEHIND or (
            _ASKING_BEFORE.search("".join(word.text for word in before)) is not None)

    def _is_superlative(self, mention: Mention) -> bool:
        """Return True if a degree stands right before what the rows are called: the deepest lake, not lake area."""
        degree = next((one for one in reversed(self.before(mention)) if one.kind in _SUPERLATIVES), mention)
        between = [one for one in self.mentions if degree.last <= one.first < mention.first]
        by_column = [one for one in between if one.kind == "column" and self.columns_for(one, is_number)]
        # "the last proposal created in May" is a proposal, and "the deepest lake area" no lake.
        after = any(other.first == mention.last and other.kind == "column" and not (
            self.columns_for(other, is_date) and self.words(other).endswith("ed")) for other in self.mentions)
        return degree is not mention and (bool(by_column) or not after) and all(
            one in by_column or one.kind in {"value", "number"} for one in between)

    def are_counted(self) -> bool:
        """Return True if the noun that is counted is what the table's rows are, or a value of theirs, or none."""
        counts = [mention for mention in self.mentions if mention.kind in {"count", "difference", "ratio"}]
        noun = self.noun_after(counts[0]) if counts else None
        # "Of the proposals by Ada, how many are final?"
        if noun is None and (not counts or self.words(counts[0]) in _OFTEN or any(
                self.is_rows(other) for other in self.before(counts[0])) or all(
                other.kind in SKIPPED for other in self.after(counts[0]))):
            noun = next((mention for mention in self.mentions if self.is_rows(mention)), None)
        if noun is not None and noun.kind == "row_nouns":
            return True
        # Nobody counts a table's rows if a column such as "cases" counts, or all is by date.
        texts = [column for column in self.table.columns if column.kind != "number" and column.name != "document"]
        are_numbers = not self.are_documents and ([*map(is_date, texts)] == [True] or any(
            is_number(column) and not column.unit and keys_of(column.title) in lexicon().labels["quantity"]
            for column in self.table.columns))
        if are_numbers and not (noun is not None and noun.is_head):
            return False
        if noun is None:
            return not counts or any(other.kind in {"value", "quoted"} for other in self.before(counts[0]))
        if noun.kind == "people":
            return any(keys_of(column.title) in lexicon().labels["person"] for column in self.table.columns)
        # Of documents under "Events", none need be an event; and "flights" as a title is one document, no flight.
        is_kind = noun.kind == "value" and not self.are_documents and all(
            self.columns[name].distinct < _NEARLY_ALL * self.table.rows for name in noun.columns)
        return is_kind or self.is_rows(noun)

    def noun_after(self, mention: Mention) -> Mention | None:
        """Return the last noun of the words behind "how many", up to a word between phrases; None if there is none."""
        noun = None
        for other in self.after(mention):
            text = self.words(other)
            is_after_plural = noun is not None and self.is_rows(noun) and self.words(noun).endswith("s")
            is_of_rows = noun is not None and self.is_rows(noun) and self.following(other, "value", gap=1) is not None
            is_deed = text.endswith("ed") and (noun.kind in {"value", "people", "row_nouns"} if noun is not None else (
                self.columns_for(other, is_date)))
            if other.kind == "column" and (is_after_plural or is_of_rows or is_deed):
                break  # "proposals owned", "women died" and 提案的状态是, unlike "proposal authors"
            if other.kind in _NOUNS:
                noun = other
            elif other.kind == "neutral" and text in (_INSIDE_NOUNS if noun is not None else _LEADS):
                continue
            elif noun is not None and noun.kind == "value" and self.following(other, "value", gap=0) and (
                    other.kind == "or" or text == "and"):
                continue  # "draft or final proposals"
            elif other.kind not in {"distinct", "date"} or (noun is not None and other.kind == "date"):
                break
        return noun

    def naming_columns(self) -> list[ColumnInfo]:
        """Return the columns whose texts tell rows apart."""
        heads = [self.column_of(mention) for mention in self.mentions if mention.is_head][:1]
        if self.are_documents:
            titles = [self.columns[name] for name in ("document", "title") if name in self.columns]
            return [*heads, titles[-1]] if heads else titles
        texts = [column for column in self.table.columns if column.kind == "text" and column.name != "document"]
        named = [column for column in texts if keys_of(column.title)[-1:] in _NAMING]
        telling = [column for column in texts if column.distinct >= _LEAST_DISTINCT * self.table.rows]
        if not (heads or named or telling):
            raise UnclearError(self.table.name)
        return heads or (named or telling)[:1]


def only(columns: Sequence[ColumnInfo], what: object) -> ColumnInfo:
    """Return the only one of some columns."""
    if len(columns) != 1:
        raise UnclearError(what)
    return columns[0]


def is_number(column: ColumnInfo) -> bool:
    """Return True for a column of numbers."""
    return column.kind == "number"


def is_date(column: ColumnInfo) -> bool:
    """Return True for a column of dates."""
    return column.kind == "date"


def is_list(column: ColumnInfo) -> bool:
    """Return True for a column of lists."""
    return column.kind == "list"


def is_text(column: ColumnInfo) -> bool:
    """Return True for a column of texts."""
    return column.kind == "text"
