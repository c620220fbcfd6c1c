"""The mentions of a question in one table, of which those that became a part of the query are accounted for."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..schemas.records import ColumnInfo
from .question_words import keys_of, lexicon
from .table_mentions import Mention, Reading

SKIPPED = frozenset({"neutral", "head", "title", "reading", "documents", "row_nouns", "people", "overall", "made",
                     "together"})
"""Kinds of words that may stand between two things that belong together."""
_LONGEST_GAP = 4


class UnclearError(Exception):
    """A question does not say one thing in a table."""


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
        self.columns = {column.name: column for column in reading.table.columns}
        # A period has its own edges: "between the start of July and the end of 2018".
        is_range = any(mention.kind in {"between", "since", "until", "through"} or self.words(mention) == "to"
                       for mention in reading.mentions)
        self.mentions = [mention for mention in reading.mentions if mention.kind != "edge" or not is_range]
        # In a table of records, "the latest post" is none of its rows.
        skipped = SKIPPED if self.table.kind == "documents" else SKIPPED - {"documents"}
        dates = [mention for mention in self.mentions if mention.kind == "date"]
        self._used = {mention.first for mention in self.mentions if mention.kind in skipped
                      or any(mention.last == date.first and mention.kind == "year" for date in dates)
                      or (mention.first and self.words(mention) == "whose")}
        for before, by, after in zip(self.mentions, self.mentions[1:], self.mentions[2:], strict=False):
            if self.words(by) == "by" and (before.kind, after.kind) == ("column", "value"):
                self.mentions[self.mentions.index(by)] = replace(by, kind="neutral")  # "owned by" groups nothing
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

    def following(self, mention: Mention, *kinds: str, gap: int = _LONGEST_GAP) -> Mention | None:
        """Return the next mention that is not skipped, if it is of some kinds and near."""
        following = next((other for other in self.mentions
                          if other.first >= mention.last and self._counts(other, kinds)), None)
        near = following is not None and following.first - mention.last <= gap
        return following if following is not None and near and following.kind in kinds else None

    def preceding(self, mention: Mention, *kinds: str, gap: int = _LONGEST_GAP) -> Mention | None:
        """Return the last mention before one that is not skipped, if it is of some kinds and near."""
        preceding = next((other for other in reversed(self.mentions)
                          if other.last <= mention.first and self._counts(other, kinds)), None)
        near = preceding is not None and mention.first - preceding.last <= gap
        return preceding if preceding is not None and near and preceding.kind in kinds else None

    def link_after(self, mention: Mention) -> Mention | None:
        """Return the word directly behind a mention that joins it with another: "to", "and", "or"; None without one."""
        following = next((other for other in self.mentions if other.first == mention.last), None)
        if following is None or following.kind in {"through", "or"}:
            return following
        return following if self.words(following) in {"to", "and", "und", "和"} else None

    def joins_column(self, mention: Mention) -> bool:
        """Return True if a word stands between two names of one column: "write or co-write"."""
        before, after = self.preceding(mention, "column"), self.following(mention, "column")
        return before is not None and after is not None and bool(set(before.columns) & set(after.columns))

    def heads_with(self, mention: Mention) -> bool:
        """Return True if a word makes a compound with what the rows are called, which stands before it."""
        return any(other.last == mention.first and other.kind == "head" for other in self.mentions)

    def text(self, mention: Mention) -> str:
        """Return the words of a mention."""
        return " ".join(word.text for word in self.reading.words[mention.first:mention.last])

    def words(self, mention: Mention) -> str:
        """Return the words of a mention in lower case."""
        return self.text(mention).casefold()

    @staticmethod
    def _counts(mention: Mention, kinds: Sequence[str]) -> bool:
        return mention.kind not in SKIPPED or mention.kind in kinds

    def column_of(self, mention: Mention, fits: Callable[[ColumnInfo], bool] = lambda _: True) -> ColumnInfo:
        """Return the one column that a mention means; of several, the one that another mention means as well.

        Raises:
            UnclearError: if none or several fit.
        """
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
        before = [other for other in self.mentions if other.last <= mention.first]
        after = [other for other in self.mentions if other.first >= mention.last]
        if after and self.words(after[0]) in {"s", "的"}:
            return next((self.is_rows(other) for other in after[1:] if other.kind not in {"value", "neutral"}), False)
        says_of = bool(before) and self.words(before[-1]) in {"of", "by", "der", "des", "von"}
        return says_of and len(before) > 1 and self.is_rows(before[-2])

    def is_rows(self, mention: Mention) -> bool:
        """Return True for words that are what the table's rows are called."""
        return mention.is_head or mention.kind == "head" or (
            mention.kind == "documents" and self.table.kind == "documents")

    def counted_rows(self) -> Mention | None:
        """Return the number of rows that a group must have: of "authors of more than five books", five."""
        if self.has("most", "fewest", "max", "min", "latest", "earliest"):
            return None
        return next((number for number in self.unused("number")
                     if (rows := self.following(number, "column", "head", "documents", gap=0)) is not None
                     and self.is_rows(rows)), None)

    def does_other(self, mention: Mention) -> bool:
        """Return True if a value of another column says what a value does: "rejected by Ada Blum", "did she reject"."""
        before = [other for other in self.mentions if other.last <= mention.first][-2:]
        after = next((other for other in self.mentions if other.first == mention.last), mention)
        is_agent = len(before) > 1 and self.words(before[1]) == "by" and before[0].kind in {"value", "made"} and not (
            before[0].kind == "made" and self._says_author(mention))
        is_subject = bool(before) and self.words(before[-1]) in {"do", "does", "did"} and after.kind == "value"
        return is_agent or (is_subject and after is not mention)

    def _says_author(self, mention: Mention) -> bool:
        return any(keys_of(self.columns[name].title) in lexicon().labels["author"] for name in mention.columns)

    def dates(self) -> list[ColumnInfo]:
        """Return the columns of dates that a question may mean that names none: of when something was made, those."""
        dates = [column for column in self.table.columns if is_date(column)]
        if self.table.kind == "documents":  # a field of few documents says nothing of the others
            dates = [column for column in dates if 2 * column.empty <= self.table.rows]
        labels = {key for label in lexicon().labels["made"] for key in label}
        made = [column for column in dates if labels.issuperset(keys_of(column.title))]
        is_age = self.table.kind == "documents" and any(
            mention.name == "age" or self.words(mention) == "newest" for mention in self.mentions)
        return made if self.has("made") or is_age else dates

    def measured(self, name: str) -> list[ColumnInfo]:
        """Return the columns of numbers that hold a measure such as mass, by their labels or else by their units."""
        measure = lexicon().measures[name]
        labels = {keys_of(label) for label in measure["labels"].split(", ")}
        numbers = [column for column in self.table.columns if column.kind == "number"]
        named = [column for column in numbers if labels.intersection((key,) for key in keys_of(column.title))]
        return named or [column for column in numbers if column.unit and column.unit in measure["units"]]


def only(columns: Sequence[ColumnInfo], what: object) -> ColumnInfo:
    """Return the only one of some columns.

    Raises:
        UnclearError: if there are none or several.
    """
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
