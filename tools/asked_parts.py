"""The mentions of a question in one table, of which those that became a part of the query are accounted for."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from ..schemas.records import ColumnInfo
from .asked_columns import (
    has_own_counts,
    is_date,
    is_list,
    is_number,
    is_ordered,
    is_year,
    naming_texts,
    only,
    only_full,
)
from .question_words import Mention, is_kind_of, keys_of, lexicon
from .table_mentions import Reading

SKIPPED = frozenset({"neutral", "head", "title", "reading", "documents", "row_nouns", "people", "overall", "made",
                     "together", "contains"})
"""Kinds of words that may stand between two things that belong together."""
DEGREES = {"max": "DESC", "most": "DESC", "commonest": "DESC", "latest": "DESC", "min": "ASC", "fewest": "ASC",
           "earliest": "ASC"}
"""Kinds of words that rank, with the order."""
_LONGEST_GAP = 4
"""The most words between two things that belong together."""
_INSIDE_NOUNS = frozenset({"all", "listed", "s", "的", "个"})
_LEADS = _INSIDE_NOUNS | {"of", "the", "our", "these", "those", "der", "die", "das"}
"""Words within a noun of several words, and before a noun, behind "how many"."""
_NOUNS = frozenset({"head", "row_nouns", "people", "documents", "value", "column", "title", "day", "month"})
_ASKING = frozenset({"which", "what", "list", "show", "name", "welch", "welcher", "welches", "welche", "find", "give"})
_WHICH_ONES = frozenset({("which", "one"), ("which", "ones"), ("which", "of")})
_ASKING_BEFORE, _ASKING_BEHIND = re.compile(r"哪[一几]?.?$"), frozenset({"是哪", "有哪"})
_AUXILIARIES = frozenset({"do", "does", "did", "has", "have", "had", "was", "were"})
_NO_GROUPS = frozenset({"value", "over", "under", "least_bound", "most_bound"})
"""What nothing is grouped by: "owned by Ada", "written by more than two people"."""
_JOINED_RANGES = frozenset({"between", "since", "until", "through"})
_SUPERLATIVES = frozenset({"max", "min", "latest", "earliest"})
_OFTEN = frozenset({"how often", "wie oft", "几次", "多少次"})
_NEWEST = frozenset({"newest", "neueste", "neuesten", "最新"})
"""Words for the last one made, unlike "the last one", which may be the last one changed."""
_NEARLY_ALL = 0.9
"""The share of different values from which a column of texts tells nearly all rows apart."""


class AskedParts:
    """The mentions of a question in a table, and which of them became a part of the query ("used").

    A question is a query only if all of its mentions are used in the end: then none of its words was passed over.
    """

    def __init__(self, reading: Reading) -> None:
        """Take the mentions of a reading; those that say nothing of their own are used from the start."""
        self.reading, self.table = reading, reading.table
        self.are_documents = self.table.kind == "documents"
        last_days = {column.last for column in reading.table.columns}
        self.columns = {column.name: column for column in reading.table.columns if column.name not in last_days}
        # A range has its own edges: "between the start of July and the end of 2018".
        is_range = any(mention.kind in _JOINED_RANGES or self.words(mention) == "to" for mention in reading.mentions)
        self.mentions = [mention for mention in reading.mentions if mention.kind != "edge" or not is_range]
        # "more than 1000 pages" is no year.
        self.mentions = [replace(one, kind="number") if self._is_figure(one) else one for one in self.mentions]
        if self.numbering_columns():  # a year behind what one row is called is its number: "KEP 2019"
            ends = {mention.last for mention in self.mentions
                    if self.is_rows(mention) and not self.words(mention).endswith("s")}
            self.mentions = [replace(one, kind="number") if one.kind == "date" and one.name.isdigit()
                             and one.first in ends else one for one in self.mentions]
        self.rivals: dict[str, list[ColumnInfo]] = {}  # by a column of dates, others that may be meant
        self._used = {mention.first for mention in self.mentions if self._says_nothing(mention)}
        for place, mention in enumerate(self.mentions):
            asks = any(word.folded in _ASKING for word in reading.words[mention.last:mention.last + 1])
            has_value = any(other.kind in _NO_GROUPS for other in self.mentions[place + 1:place + 2])
            if self.words(mention) == "by" and (asks or has_value):  # "by Ada", "By which method was it found?"
                self._pass_over(place)
        for place, mention in enumerate(self.mentions):
            if mention in self.unused("group") and self.words(mention) == "by" and self._ranks(mention):
                self._pass_over(place)

    def _is_figure(self, year: Mention) -> bool:
        """Return True for a year that is a number of what stands behind it."""
        behind = self.directly_behind(year)
        return (year.kind == "date" and year.name.isdigit() and behind is not None
                and behind.kind == "column" and not behind.is_head and self.columns_for(behind, is_number)
                and not self.columns_for(behind, is_year))

    def _says_nothing(self, mention: Mention) -> bool:
        """Return True for words that say nothing of their own: articles, "whose", and "year" before a year."""
        # In a table of records, "the latest post" is none of its rows.
        skipped = SKIPPED if self.are_documents else SKIPPED - {"documents"}
        behind = self.directly_behind(mention)
        is_before_date = mention.kind == "year" and behind is not None and behind.kind == "date"
        return mention.kind in skipped or is_before_date or (mention.first > 0 and self.words(mention) == "whose")

    def _ranks(self, by: Mention) -> bool:
        """Return True if "by" says what rows are ranked by: "the top three by mass"."""
        measure = self.following(by, "count", "sum", "mean", "median", "column", gap=1)
        if measure is None or not self.has(*DEGREES):
            return False
        says_top = any(self.words(mention) == "top" for mention in self.mentions)
        return measure.kind != "column" or (says_top and self.columns_for(measure, is_number))

    def _pass_over(self, place: int) -> None:
        self.mentions[place] = replace(self.mentions[place], kind="neutral")
        self.use(self.mentions[place])

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
        if (behind := self.directly_behind(mention)) is None:
            return None
        is_link = behind.kind in {"through", "or", "than"} or self.words(behind) in {"to", "and", "und", "和"}
        return behind if is_link else None

    def directly_behind(self, mention: Mention) -> Mention | None:
        """Return the mention that begins where another one ends; None if there is none."""
        return next((other for other in self.mentions if other.first == mention.last), None)

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
            owned = next((other for other in after[1:] if other.kind not in {"value", "neutral"}), None)
            return owned is not None and self.is_rows(owned)
        return len(before) > 1 and self.is_rows(before[-2]) and self.words(before[-1]) in {
            "of", "by", "der", "des", "von"}

    def by_after(self, column: Mention) -> Mention | None:
        """Return "by" behind a list's name in a passive: "required by RFC 7", "is required by the most"."""
        behind = self.directly_behind(column)
        is_passive = self.words(column).endswith("ed") and self.columns_for(column, is_list)
        return behind if is_passive and behind is not None and self.words(behind) == "by" else None

    def is_rows(self, mention: Mention) -> bool:
        """Return True for words that are what the table's rows are called."""
        return mention.is_head or mention.kind == "head" or (mention.kind == "documents" and self.are_documents)

    def counted_rows(self) -> Mention | None:
        """Return the number of rows that a group must have: of "authors of more than five books", five."""
        if self.has(*DEGREES):  # "the five longest books"
            return None
        for number in self.unused("number"):
            rows = self.following(number, "column", "head", "documents", gap=0)
            # "how many of the 20 books" says how many there are.
            is_total = any(other.last == number.first and self.words(other) in _LEADS for other in self.mentions)
            if rows is not None and self.is_rows(rows) and not is_total:
                return number
        return None

    def does_other(self, mention: Mention) -> bool:
        """Return True if a value does what no value does: "rejected by Ada Blum", "did she reject", "did the blog"."""
        before = self.before(mention)
        word = self.words(before[-1]) if before else ""
        earlier = before[-2] if len(before) > 1 else None
        behind = self.directly_behind(mention)
        is_subject = self.columns_for(mention, lambda one: is_list(one) or one.name == "title")
        if word == "into" or (is_kind_of("about", word) and not is_subject):
            return True  # "made into films", "about Maps", which a version has
        if word == "by":
            is_author = any(keys_of(self.columns[name].title) in lexicon().labels["author"] for name in mention.columns)
            return earlier is not None and (earlier.kind == "value" or (earlier.kind == "made" and not is_author))
        of_who = before[-2:] if word in _AUXILIARIES else before[-1:]  # "Who adopted the most?"
        if any(one.kind == "who" for one in of_who) and not (behind is not None and self.is_rows(behind)):
            return True
        if word in _AUXILIARIES:
            return behind is not None and (behind.kind == "value" or self._is_of_reader(mention, behind))
        if word in {"the", "our", "this"} and earlier is not None and self.words(earlier) in _AUXILIARIES:
            done = behind or mention
            return done.kind != "value" and not self.is_rows(done) and not self._is_plural_value(mention)
        return False

    def _is_of_reader(self, author: Mention, deed: Mention) -> bool:
        """Return True for what authors do not do with their documents: "did Ada Blum finish in 2018"."""
        titles, said = ([keys_of(self.columns[name].title) for name in one.columns] for one in (author, deed))
        return (self.are_documents and self.columns_for(deed, is_date) and not lexicon().labels["author"].isdisjoint(
            titles) and lexicon().labels["made"].isdisjoint(said))

    def dates(self) -> list[ColumnInfo]:
        """Return the columns of dates that a question may mean that names none: of when something was made, those."""
        dates = list(filter(is_date, self.columns.values()))
        if self.are_documents:  # a field of few documents says nothing of the others
            dates = [column for column in dates if 2 * column.empty <= self.table.rows]
        is_age = self.are_documents and any(one.name == "age" or self.words(one) in _NEWEST for one in self.mentions)
        if self.has("made") or is_age:
            labels = frozenset().union(*lexicon().labels["made"])
            dates = [column for column in dates if labels.issuperset(keys_of(column.title))]
        full = only_full(dates, self.table.rows) if self.are_documents else None
        if full is not None:
            self.rivals[full.name] = [column for column in dates if column != full]
        return dates if full is None else [full]

    def numbering_columns(self) -> list[str]:
        """Return the columns of numbers that the rows are called by: "KEP number", or "KEP" in a table of KEPs."""
        # Sales are called by no number in a table of sales, unlike what the first column of records numbers.
        columns = self.table.columns if self.are_documents else self.table.columns[:1]
        named = list[str]()
        for column in filter(is_number, columns):
            heads, keys = self.reading.heads, keys_of(column.title)  # "number", "KEP" or "KEP number"
            if is_kind_of("number_word", column.name) or keys in heads or (
                    keys[:-1] in heads and is_kind_of("number_word", column.name.rpartition("_")[2])):
                named.append(column.name)
        return named

    def texts_of(self, column: ColumnInfo) -> str:
        """Return the column with the cells of one as written, where it lacks some or has only their days."""
        name = f"{column.name}_text"
        return name if (column.untyped or column.last) and name in self.columns else column.name

    # What the rows are to a question: whether it counts them, asks for them, and what names each of them.

    def are_asked(self) -> bool:
        """Return True if a question asks which rows: "which lakes", "the deepest lake", "which one"."""
        words = [word.text.casefold() for word in self.reading.words]
        heads = [mention for mention in self.mentions
                 if self.is_rows(mention) or mention.kind == "row_nouns" or self._is_plural_value(mention)]
        # "the longest audiobook", where audiobook is a format
        kinds = [one for one in self.mentions[-1:] if one.kind == "value" and self.are_documents]
        return not _WHICH_ONES.isdisjoint(pairwise(words)) or any(
            self.asks(mention) or self._is_superlative(mention) for mention in heads) or any(
            map(self._is_superlative, kinds))

    def _is_plural_value(self, mention: Mention) -> bool:
        """Return True for a value that stands for its rows: "the hardcovers" where the format is hardcover."""
        values = {value.casefold() for fitting in mention.values.values() for value in fitting}
        return mention.kind == "value" and {f"{value}s" for value in values} == {self.words(mention)}

    def asks_for_deeds(self) -> bool:
        """Return True for "What did Ada Blum write?", which asks for rows."""
        start = [word.folded for word in self.reading.words[:2]]
        return self.are_documents and start[0] == "what" and start[-1] in _AUXILIARIES and any(
            self.is_deed(mention) for mention in self.mentions if mention.kind == "column")

    def is_deed(self, mention: Mention) -> bool:
        """Return True for a verb that says what an author does: "wrote", "contributed"."""
        said, labels = keys_of(self.text(mention)), lexicon().labels["author"]
        return said not in labels and any(keys_of(self.columns[name].title) in labels for name in mention.columns)

    def asks(self, mention: Mention) -> bool:
        """Return True if "which" or "what" stands before a mention, with no more than a number or a degree between."""
        # Values and their genitive may stand between: "list Ada Blum's drafts".
        inside = {at for one in self.mentions if one.kind == "value" for at in range(one.first, one.last)}
        before = [word for at, word in enumerate(self.reading.words[:mention.first])
                  if at not in inside and word.folded != "s"][-3:]
        after = "".join(word.text for word in self.reading.words[mention.last:mention.last + 2])
        return any(word.text.casefold() in _ASKING for word in before) or after in _ASKING_BEHIND or (
            _ASKING_BEFORE.search("".join(word.text for word in before)) is not None)

    def _is_superlative(self, mention: Mention) -> bool:
        """Return True if a degree stands right before what the rows are called: the deepest lake, not lake area."""
        degree = next((one for one in reversed(self.before(mention)) if one.kind in _SUPERLATIVES), None)
        if degree is None:
            return False
        between = [one for one in self.mentions if degree.last <= one.first < mention.first]
        numbers = [one for one in between if one.kind == "made" or self.columns_for(one, is_ordered)]
        # "the last proposal created in May" is a proposal, and "the deepest lake area" no lake.
        behind = self.directly_behind(mention)
        is_deed = behind is not None and self.columns_for(behind, is_date) and self.words(behind).endswith("ed")
        if behind is not None and behind.kind == "column" and not is_deed and not numbers:
            return False
        return all(one in numbers or one.kind in {"value", "number"} for one in between)

    def are_counted(self) -> bool:
        """Return True if the noun that is counted is what the table's rows are, or a value of theirs, or none."""
        counts = [mention for mention in self.mentions if mention.kind in {"count", "difference", "ratio"}]
        noun = self._counted_noun(counts)
        if noun is not None and noun.kind == "row_nouns":
            return True
        if has_own_counts(self.table) and not (noun is not None and noun.is_head):
            return False
        if noun is None:
            return not counts or self._counts_deeds(counts[0]) or any(
                other.kind in {"value", "quoted"} for other in self.before(counts[0]))
        if noun.kind == "people":
            return any(keys_of(column.title) in lexicon().labels["person"] for column in self.table.columns)
        # Of documents under "Events", none need be an event; and "flights" as a title is one document, no flight.
        is_kind = noun.kind == "value" and not self.are_documents and all(
            self.columns[name].distinct < _NEARLY_ALL * self.table.rows and not any(
                keys_of(value)[-1:] != keys_of(self.text(noun))[-1:] and value[-1:].isdigit() for value in values)
            for name, values in noun.values.items())  # "ERCs" are no rows with "ERC-20"
        return is_kind or self.is_rows(noun)

    def _counts_deeds(self, count: Mention) -> bool:
        """Return True for "How many did Ada Blum write?" and "How many were completed in 2019?", which count rows."""
        behind = {word.folded for word in self.reading.words[count.last:count.last + 1]}
        return self.are_documents and bool(behind & _AUXILIARIES) and any(
            self.is_deed(one) or self.columns_for(one, is_date) for one in self.mentions if one.kind == "column")

    def _counted_noun(self, counts: Sequence[Mention]) -> Mention | None:
        """Return the noun that is counted: behind "how many", or what the rows are called if none can stand there."""
        noun = self.noun_after(counts[0]) if counts else None
        if noun is not None:
            return noun
        rows = [mention for mention in self.mentions if self.is_rows(mention)]
        # "Of the proposals by Ada, how many are final?"; "How often ..." and a mere "How many?" have no noun.
        may_be_rows = not counts or self.words(counts[0]) in _OFTEN or any(
            mention.last <= counts[0].first for mention in rows) or all(
            other.kind in SKIPPED for other in self.after(counts[0]))
        return rows[0] if rows and may_be_rows else None

    def noun_after(self, mention: Mention) -> Mention | None:
        """Return the last noun of the words behind "how many", up to a word between phrases; None if there is none."""
        noun = None
        for other in self.after(mention):
            text = self.words(other)
            if other.kind == "column" and self._is_predicate(other, noun):
                break
            if other.kind in _NOUNS:
                noun = other
            elif other.kind == "neutral" and text in (_INSIDE_NOUNS if noun is not None else _LEADS):
                continue
            elif other.kind == "number" and noun is None and self.following(other, "column", gap=0) is not None:
                continue  # "five-star books"
            elif noun is not None and noun.kind == "value" and self.following(other, "value", gap=0) and (
                    other.kind == "or" or text == "and"):
                continue  # "draft or final proposals"
            elif other.kind != "distinct" and not (other.kind == "date" and noun is None):  # "2019 proposals"
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

    def naming_columns(self) -> list[ColumnInfo]:
        """Return the columns whose texts tell rows apart."""
        heads = [self.column_of(mention) for mention in self.mentions if mention.is_head][:1]
        if self.are_documents:
            titles = [self.columns[name] for name in ("document", "title") if name in self.columns]
            return [*heads, titles[-1]] if heads else titles
        return heads or naming_texts(self.table)
