"""What the rows of a table are to a question: whether it counts them, asks for them, and what names each of them."""

from ..schemas.records import ColumnInfo
from ..text.scripts import is_han
from .asked_parts import SKIPPED, AskedParts, UnclearError, is_number
from .question_words import keys_of, lexicon
from .table_mentions import Mention

_INSIDE_NOUNS = frozenset({"all", "listed", "s", "的", "个"})
_LEADS = _INSIDE_NOUNS | {"of", "the", "our", "these", "those", "der", "die", "das"}
_NOUNS = frozenset({"head", "row_nouns", "people", "documents", "value", "column", "title", "day", "month"})
_ASKING = frozenset({"which", "what", "list", "show", "name", "welch", "welcher", "welches", "welche", "find", "give"})
_OFTEN = frozenset({"how often", "wie oft", "几次", "多少次"})
_LEAST_DISTINCT, _NEARLY_ALL = 0.5, 0.9
"""The shares of different values from which a column of texts names rows, and tells nearly all of them apart."""
_NAMING = frozenset({("name",), ("titl",)})


class AskedRows:
    """The rows of the table that a question is read in."""

    def __init__(self, parts: AskedParts) -> None:
        """Read from the parts of a question."""
        self._parts, self._table = parts, parts.table

    def are_asked(self) -> bool:
        """Return True if a question asks which rows: "which lakes", "the deepest lake", "which one"."""
        words = [word.text.casefold() for word in self._parts.reading.words]
        heads = [mention for mention in self._parts.mentions
                 if self._parts.is_rows(mention) or mention.kind == "row_nouns"]
        return any(self.asks(mention) or self._is_superlative(mention) for mention in heads) or any(
            words[at:at + 2] in (["which", "one"], ["which", "ones"], ["which", "of"]) for at in range(len(words)))

    def asks(self, mention: Mention) -> bool:
        """Return True if "which" or "what" stands before a mention, with no more than a number or a degree between."""
        if is_han(self._parts.reading.words[mention.first].text[0]):
            return any(word.text in "哪谁" for word in self._parts.reading.words)
        before = self._parts.reading.words[max(mention.first - 3, 0):mention.first]
        return any(word.text.casefold() in _ASKING for word in before)

    def _is_superlative(self, mention: Mention) -> bool:
        """Return True if a degree stands right before what the rows are called: the deepest lake, not lake area."""
        before = any(other.kind in {"max", "min", "latest", "earliest"} and other.last <= mention.first and all(
            between.kind == "value" or between.first >= mention.first
            for between in self._parts.mentions if between.first >= other.last) for other in self._parts.mentions)
        after = any(other.first == mention.last and other.kind == "column" for other in self._parts.mentions)
        return before and not after

    def are_counted(self) -> bool:
        """Return True if the noun that is counted is what the table's rows are, or a value of theirs, or none."""
        counts = [mention for mention in self._parts.mentions if mention.kind == "count"]
        noun = self.noun_after(counts[0]) if counts else None
        if noun is None:
            is_last = all(other.kind in SKIPPED or other.last <= counts[0].last for other in self._parts.mentions) if (
                counts) else True
            if is_last or self._parts.words(counts[0]) in _OFTEN:
                noun = next((mention for mention in self._parts.mentions if self._parts.is_rows(mention)), None)
        if noun is None:
            values = [mention for mention in self._parts.mentions if mention.kind in {"value", "quoted"}]
            kind = "value" if not counts or any(mention.first < counts[0].first for mention in values) else ""
        else:
            kind = "head" if self._parts.is_rows(noun) else noun.kind
        if kind == "row_nouns":
            return True
        if self._is_series() or (self._holds_counts() and not (noun is not None and noun.is_head)):
            return False
        if kind == "people":
            return any(keys_of(column.title) in lexicon().labels["person"] for column in self._table.columns)
        # Of documents under "Events", none need be an event.
        is_counted = kind == "value" and (noun is None or self._table.kind != "documents")
        return kind == "head" or (is_counted and (noun is None or not self._names_one_row(noun)))

    def noun_after(self, mention: Mention) -> Mention | None:
        """Return the last noun of the words behind "how many", up to a word between phrases; None if there is none."""
        noun = None
        for other in self._parts.mentions:
            if other.first < mention.last:
                continue
            text = self._parts.words(other)
            is_after_plural = noun is not None and self._parts.is_rows(noun) and self._parts.words(noun).endswith("s")
            if is_after_plural and other.kind == "column":
                break  # "proposals owned", unlike "proposal authors"
            if other.kind in _NOUNS:
                noun = other
            elif other.kind == "neutral" and text in (_INSIDE_NOUNS if noun is not None else _LEADS):
                continue
            elif other.kind not in {"distinct", "date"} or (noun is not None and other.kind == "date"):
                break
        return noun

    def _holds_counts(self) -> bool:
        """Return True if a column such as "cases" counts: then the table's rows are not what people count."""
        return self._table.kind != "documents" and any(
            is_number(column) and not column.unit and keys_of(column.title) in lexicon().labels["quantity"]
            for column in self._table.columns)

    def _is_series(self) -> bool:
        """Return True for numbers by date alone."""
        texts = [column for column in self._table.columns if column.kind != "number" and column.name != "document"]
        return len(texts) == 1 and texts[0].kind == "date" and self._table.kind == "records"

    def _names_one_row(self, noun: Mention) -> bool:
        """Return True if a value's column tells the rows apart: "flights" as a title is one document, no flight."""
        return any(self._parts.columns[name].distinct >= _NEARLY_ALL * self._table.rows for name in noun.columns)

    def naming_columns(self) -> list[ColumnInfo]:
        """Return the columns whose texts tell rows apart.

        Raises:
            UnclearError: if the table has none.
        """
        heads = [self._parts.column_of(mention) for mention in self._parts.mentions if mention.is_head][:1]
        if self._table.kind == "documents":
            titles = [self._parts.columns[name] for name in ("document", "title") if name in self._parts.columns]
            return [*heads, titles[-1]] if heads else titles
        texts = [column for column in self._table.columns if column.kind == "text" and column.name != "document"]
        named = [column for column in texts if keys_of(column.title)[-1:] in _NAMING]
        telling = [column for column in texts if column.distinct >= _LEAST_DISTINCT * self._table.rows]
        if not (heads or named or telling):
            raise UnclearError(self._table.name)
        return heads or (named or telling)[:1]
