"""The mentions of a question in one table, of which those that became a part of the query are accounted for."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import pairwise

from ..schemas.records import ColumnInfo
from .question_columns import AskedKind, UnclearError, fits, has_own_counts, only
from .question_words import Mention, is_kind_of, keys_of, lexicon, listed_words
from .table_mentions import Reading

SKIPPED = frozenset({"neutral", "head", "title", "reading", "documents", "row_nouns", "people", "overall", "made",
                     "together"})
"""Kinds of words that may stand between two things that belong together."""
DEGREES = {"max": "DESC", "most": "DESC", "commonest": "DESC", "latest": "DESC", "min": "ASC", "fewest": "ASC",
           "earliest": "ASC"}
"""Kinds of words that rank, with the order."""
PERIODS = {"year": "year({})", "month": "strftime({}, '%Y-%m')", "decade": "year({}) // 10 * 10", "day": "{}"}
"""The period of a date in SQL, by the word for it."""
_LONGEST_GAP = 6  # the most words between two things that belong together
_NOUNS = frozenset({"head", "row_nouns", "people", "documents", "value", "column", "title", "day", "month"})
_NEAR = 3  # how many words before a noun "which" may stand
_LEAST_DISTINCT, _FEW_EMPTY = 0.5, 0.1  # shares: different values in a column of names; empty cells in a full one


class AskedParts:
    """The mentions of a question in a table, and which of them became a part of the query ("used").

    A question is a query only if all of its mentions are used in the end: then none of its words was passed over.
    """

    def __init__(self, reading: Reading) -> None:
        """Take the mentions of a reading; those that say nothing of their own are used from the start."""
        self.reading, self.table = reading, reading.table
        self.are_documents = self.table.kind == "documents"
        last_days = {column.last for column in self.table.columns}  # columns that only complete dates such as "May"
        self.columns = {column.name: column for column in self.table.columns if column.name not in last_days}
        # Columns of numbers that the rows are called by: "number", or "KEP" in a table of KEPs. Only the first column
        # of records numbers them: a later one, "sales" in a table of sales, is a figure.
        numbering = self.table.columns if self.are_documents else self.table.columns[:1]
        self.numbering = [column for column in numbering if column.kind == "number" and (
            keys_of(column.title) in reading.heads or is_kind_of("number_word", column.name))]
        self.rivals: dict[str, list[ColumnInfo]] = {}  # by the name of a column of dates, others that may be meant
        self.mentions = list(reading.mentions)
        # "by Ada" and "the top three by mass" group nothing.
        self.mentions = [replace(one, kind="neutral") if one.words == "by" and not self._says_group(one) else one
                         for one in self.mentions]
        self._used = {mention.first for mention in self.mentions if self._says_nothing(mention)}

    def _says_group(self, by: Mention) -> bool:
        """Return True if "by" says what is grouped: "by region", unlike "by Ada" and "the top three by mass"."""
        group = self.following(by, "column", "head", *PERIODS, gap=2)
        return group is not None and not (self.has(*DEGREES) and self.may_be(group, "number", "date"))

    def _says_nothing(self, mention: Mention) -> bool:
        """Return True for words that say nothing of their own: "the", or "whose" unless it asks."""
        if mention.kind == "documents":  # in a table of records "the latest post", and of artworks "paper", is no row
            others = [one for one in self.mentions if self.is_rows(one) and keys_of(one.text) != keys_of(mention.text)]
            is_counted = any(one.kind == "count" and one.last == mention.first for one in self.mentions)
            # "Job adverts" is one noun.
            return self.are_documents and (is_counted or all(mention.first <= one.last for one in others))
        return mention.kind in SKIPPED or (mention.words == "whose" and mention.first > 0)

    def use(self, *mentions: Mention | None) -> None:
        """Record that some mentions became a part of the query."""
        self._used.update(mention.first for mention in mentions if mention is not None)

    def unused(self, *kinds: str) -> list[Mention]:
        """Return the mentions of some kinds, or of all, that are no part of the query yet."""
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
        """Return all mentions before one, the nearest first."""
        return [other for other in reversed(self.mentions) if other.last <= mention.first]

    def after(self, mention: Mention) -> list[Mention]:
        """Return all mentions behind one, the nearest first."""
        return [other for other in self.mentions if other.first >= mention.last]

    def between(self, first: Mention, last: Mention) -> list[Mention]:
        """Return the mentions between two."""
        return [other for other in self.after(first) if other.first < last.first]

    def following(self, mention: Mention, *kinds: str, gap: int = _LONGEST_GAP) -> Mention | None:
        """Return the next mention if it is of some kinds, `SKIPPED` ones aside, and at most `gap` words behind."""
        other = _first_telling(self.after(mention), kinds)
        return other if other is not None and other.kind in kinds and other.first - mention.last <= gap else None

    def preceding(self, mention: Mention, *kinds: str, gap: int = _LONGEST_GAP) -> Mention | None:
        """Return the last mention before one if it is of some kinds, `SKIPPED` ones aside, and at most `gap` before."""
        other = _first_telling(self.before(mention), kinds)
        return other if other is not None and other.kind in kinds and mention.first - other.last <= gap else None

    def directly_behind(self, mention: Mention) -> Mention | None:
        """Return the mention that begins where another one ends; None if there is none."""
        return next((other for other in self.mentions if other.first == mention.last), None)

    def words_between(self, first: Mention, last: Mention) -> set[str]:
        """Return the words between two mentions in lower case."""
        return {word.folded for word in self.reading.words[first.last:last.first]}

    # Columns.

    def may_be(self, mention: Mention, *kinds: AskedKind) -> bool:
        """Return True if a mention may mean a column of one of some kinds."""
        return any(fits(self.columns[name], kind) for name in mention.columns for kind in kinds)

    def column_of(self, mention: Mention, kind: AskedKind | None = None) -> ColumnInfo:
        """Return the one column that a mention means, of a kind if one is given."""
        columns = [self.columns[name] for name in mention.columns]
        return only([column for column in columns if kind is None or fits(column, kind)], mention)

    def columns_of(self, kind: AskedKind) -> list[ColumnInfo]:
        """Return the columns of the table of a kind."""
        return [column for column in self.columns.values() if fits(column, kind)]

    def dates(self) -> list[ColumnInfo]:
        """Return the columns of dates that a question without one may mean, and note the `rivals` of an only one."""
        dates = self.columns_of("date")
        if not self.are_documents:
            return dates
        dates = [column for column in dates if 2 * column.empty <= self.table.rows]  # those of most documents
        if self.has("made", "fresh") or any(one.name == "age" for one in self.mentions):
            labels = frozenset().union(*lexicon().labels["made"])
            dates = [column for column in dates if labels.issuperset(keys_of(column.title))]
        nearly_full = [*filter(self.is_nearly_full, dates)]
        if len(dates) > len(nearly_full) == 1:  # the only one that nearly all documents have is meant first
            self.rivals[nearly_full[0].name] = [column for column in dates if column != nearly_full[0]]
            return nearly_full
        return dates

    def naming_columns(self) -> list[ColumnInfo]:
        """Return the columns that name a row: what rows are called, titles, or the first of mostly unique texts."""
        heads = [self.column_of(mention) for mention in self.mentions if mention.is_head][:1]
        if self.are_documents:
            titles = [self.columns[name] for name in ("document", "title") if name in self.columns]
            return [*heads, titles[-1]] if heads else titles  # with a number or such, the title is enough
        named = [column for column in self.table.columns if column.kind == "text" and column.name != "document"
                 and column.distinct >= _LEAST_DISTINCT * self.table.rows]
        if not (heads or named):
            raise UnclearError(self.table.name)
        return heads or named[:1]

    # What the rows are to a question: whether it counts them, asks for them, and what others do with them.

    def is_rows(self, mention: Mention) -> bool:
        """Return True for words that are what the table's rows are called."""
        return mention.is_head or mention.kind == "head" or (mention.kind == "documents" and self.are_documents)

    def are_asked(self) -> bool:
        """Return True if a question asks which rows: "which lakes", "the deepest lake", "which one"."""
        rows = [mention for mention in self.mentions if self.is_rows(mention) or _is_plural_value(mention)]
        asks_one = any(first.folded == "which" and second.folded in {"one", "ones", "of"}
                       for first, second in pairwise(self.reading.words))
        last = [one for one in self.mentions[-1:] if one.kind == "value"]  # "the longest audiobook", which is a format
        return asks_one or any(map(self.asks, rows)) or any(map(self._is_superlative, [*rows, *last]))

    def asks(self, mention: Mention) -> bool:
        """Return True if "which" or "what" stands before a mention, with at most two words between."""
        if (numbers := self.preceding(mention, "number_word", gap=2)) is not None:
            return self.asks(numbers)  # "give me the numbers of the drafts"
        # Values and their genitive may stand between, too: "list Ada Blum's drafts".
        in_values = {at for one in self.mentions if one.kind == "value" for at in range(one.first, one.last)}
        before = [word.folded for at, word in enumerate(self.reading.words[:mention.first])
                  if at not in in_values and word.folded != "s"][-_NEAR:]
        behind = [word.folded for word in self.reading.words[mention.last:mention.last + 2]]  # Chinese asks behind
        return not listed_words("asking").isdisjoint(before) or behind in (["是", "哪"], ["有", "哪"])

    def _is_superlative(self, mention: Mention) -> bool:
        """Return True if a degree stands right before a mention: the deepest lake, the highest budget film."""
        degree = next((one for one in self.before(mention) if one.kind in DEGREES), None)
        return degree is not None and all(one.kind in {"value", "number", "made"} or self.may_be(one, "number", "date")
                                          for one in self.between(degree, mention))

    def are_counted(self) -> bool:
        """Return True if the noun that is counted is what the table's rows are, or a value of theirs, or none."""
        counts = [mention for mention in self.mentions if mention.kind == "count"]
        noun = self.noun_after(counts[0]) if counts else None
        # "Of the proposals by Ada, how many are final?"
        noun = noun or next(filter(self.is_rows, self.mentions), None)
        if has_own_counts(self.table) and not (noun is not None and noun.is_head):
            return False  # a table of cases by day is asked for the cases
        if noun is None:
            behind = {word.folded for count in counts for word in self.reading.words[count.last:count.last + 1]}
            # "How many did Ada Blum write?" is asked of documents.
            counts_deeds = self.are_documents and not listed_words("auxiliaries").isdisjoint(behind)
            return not counts or counts_deeds or any(  # "Of those by Ada, how many?"
                other.kind in {"value", "quoted"} for other in self.before(counts[0]))
        if noun.kind == "people":  # "how many people" counts rows that are people
            return any(keys_of(column.title) in lexicon().labels["person"] for column in self.table.columns)
        return self.counts_rows(noun)

    def counts_rows(self, noun: Mention) -> bool:
        """Return True for what rows are called, or a value that they are: sculptures, not documents under "Events"."""
        if noun.kind == "row_nouns" and not self.are_documents:  # the entries of a document may be parts of it
            return True
        return self.is_rows(noun) or (noun.kind == "value" and (
            not self.are_documents or any(map(self.says_kind, noun.columns))))

    def says_kind(self, name: str) -> bool:
        """Return True for a column that says of nearly all rows what they are, such as a type or status."""
        return fits(self.columns[name], "kind") and self.is_nearly_full(self.columns[name])

    def is_nearly_full(self, column: ColumnInfo) -> bool:
        """Return True for a column that all rows should have, as few lack it."""
        return column.empty <= _FEW_EMPTY * self.table.rows

    def noun_after(self, mention: Mention) -> Mention | None:
        """Return the last noun of the words behind "how many", up to a word between phrases; None if there is none."""
        noun = None
        for other in self.after(mention):
            if other.kind == "column" and noun is not None:
                # "proposals owned", "women died" and 提案的状态是 say something, "proposal authors" is one noun.
                is_noun_complete = noun.words.endswith("s") or self.following(other, "value", gap=1) is not None
                if other.words.endswith("ed") or (self.is_rows(noun) and is_noun_complete):
                    break
            if noun is not None and noun.kind == "people":
                break  # "how many people wrote"
            leads_to_noun = other.words in listed_words("before nouns" if noun is None else "inside nouns")
            if other.kind in _NOUNS:
                noun = other
            elif not (leads_to_noun or other.kind == "distinct"):
                break
        return noun

    def is_deed(self, mention: Mention) -> bool:
        """Return True for a verb that says what an author does: "wrote", which may mean a column of authors."""
        is_noun = keys_of(mention.text) in lexicon().labels["author"]
        return mention.kind == "column" and not is_noun and self.may_be(mention, "author")

    def asks_for_rows(self) -> bool:
        """Return True for "which book", which asks for rows of the table."""
        return any(self.is_rows(mention) and self.asks(mention) for mention in self.mentions)

    def asks_for_deeds(self) -> bool:
        """Return True for "What did Ada Blum write?", which asks for rows."""
        return self.are_documents and self.reading.words[0].folded == "what" and any(map(self.is_deed, self.mentions))

    def check_comparable(self, column: ColumnInfo) -> None:
        """Raise UnclearError if cells of a field are texts that may be above or below a value: "around 400 BC"."""
        if column.untyped and self.are_documents:
            raise UnclearError(column.name)

    def check_common(self, column: ColumnInfo) -> None:
        """Raise UnclearError for a field that most documents lack: "collections" are none of its "collecting"."""
        if self.are_documents and 2 * column.empty > self.table.rows:
            raise UnclearError(column.name)


def _first_telling(mentions: Iterable[Mention], kinds: Collection[str]) -> Mention | None:
    """Return the first mention that is of some kinds or not skipped."""
    return next((one for one in mentions if one.kind in kinds or one.kind not in {*SKIPPED, "more"}), None)


def _is_plural_value(mention: Mention) -> bool:
    """Return True for a value that stands for its rows: "the hardcovers" where the format is hardcover."""
    values = {value.casefold() for fitting in mention.values.values() for value in fitting}
    return mention.kind == "value" and {f"{value}s" for value in values} == {mention.words}
