"""The query of a question that compares rows: a share, groups in order or of a size, a difference, several counts."""

from collections.abc import Sequence
from dataclasses import replace

from .asked_parts import DEGREES, UnclearError, is_date, is_list, quoted
from .question_conditions import SIGNS, Condition, size
from .question_target import AGGREGATES, Plan, QuestionTarget, members_of
from .question_words import bare_name

_EXTREMES = {"max": "highest", "min": "lowest"}
EACH = frozenset({"each", "of each", "for each"})
_VERBS = frozenset({"is", "are", "was", "were", "has", "have", "had", "fall", "falls", "ist", "sind", "war", "waren",
                    "是"})
_LESS = frozenset({"fewer", "less"})


class ComparedRows(QuestionTarget):
    """The forms of questions that compare the rows of one condition with others."""

    def _share(self) -> Plan | None:
        """Read "what percentage of the birds are female"."""
        if self._parts.unused(*DEGREES) or (share := self._parts.take("share")) is None:
            return None
        group = self._group() if self._parts.unused("group") else None
        verbs = [mention for mention in self._parts.mentions
                 if mention.first > share.last and self._parts.words(mention).partition(" ")[0] in _VERBS]
        whole = [condition for condition in self.conditions if verbs and condition.last <= verbs[0].first]
        wanted = [condition for condition in self.conditions if condition not in whole]
        if not wanted:
            wanted, whole = whole, []
        self._take_heads()
        self._parts.use(*(one for one in self._parts.unused("unit") if one.name == "%"))
        nouns = [mention for mention in self._parts.mentions if self._parts.is_rows(mention)
                 or mention.kind in {"row_nouns", "people", "value"}]
        if not wanted or self._named_documents() or self._parts.unused("column", "count", *AGGREGATES) or not nouns:
            raise UnclearError(share)
        self.conditions = whole
        plan = self._computed(_share_of(wanted), "percent", group)
        each = f" for each {group[1]}" if group is not None else ""
        return replace(plan, understood=f"share of {self._table.title}{self._where(whole)} "
                                        f"{self._where(wanted).strip()}{each}", percent=True)

    def _group_value(self, measure: str = "") -> tuple[str, str]:
        """Return what is computed of each group, in SQL and in words."""
        if (share := self._parts.take("share")) is not None:  # "the highest percentage of final proposals"
            wanted = [condition for condition in self.conditions if condition.first >= share.last]
            if not wanted or len(wanted) < len(self.conditions) or not any(
                    map(self._parts.is_rows, self._parts.mentions)):
                raise UnclearError(share)
            self._take_heads()
            self.conditions = []
            return _share_of(wanted), f"percent{self._where(wanted)}"
        operation = self._parts.take(*AGGREGATES)
        if operation is not None and (listed := self._counted_list()) is not None:
            self._parts.use(*self._parts.unused("count"), listed)
            value, label = size(self._parts.column_of(listed, is_list))
            return f"{AGGREGATES[operation.kind][0]}({value})", f"{AGGREGATES[operation.kind][1]} of {label}"
        measured = self._parts.measured(measure) if measure else []
        column = measured[0] if len(measured) == 1 else self._number_column()
        self._parts.take("count")  # the average number of pages
        if operation is not None and column is not None:
            function, word = AGGREGATES[operation.kind]
            return f"{function}({quoted(column.name)})", f"{word} of {column.title}"
        if operation is not None or column is not None or not self._parts.are_counted():
            raise UnclearError(self._table.name)
        return "count(*)", f"count of {self._table.title}"

    def _several_figures(self) -> Plan | None:
        """Read "the lowest and the highest price", and the difference between them."""
        figures = {mention.kind: mention for mention in self._parts.unused("max", "min", *AGGREGATES)}
        others = self._parts.unused("group", "count", "who", "most", "fewest", "latest", "earliest")
        between = [one for one in self._parts.mentions if any(figure.first < one.first for figure in figures.values())]
        is_joined = any(self._parts.words(one) in {"and", "und", "和", "与"} and self._parts.following(one, *figures)
                        for one in between)
        if len(figures) < 2 or others or not is_joined or not figures.keys() & {"max", "min"} or (  # noqa: PLR2004
                self._parts.are_asked()):
            return None
        column = self._number_column()
        if column is None or any(one.name for one in figures.values()):
            raise UnclearError(self._table.name)
        self._take_heads()
        self._parts.use(*self._parts.unused("max", "min", *AGGREGATES))
        shown = [(f"{AGGREGATES.get(kind, (kind,))[0]}({quoted(column.name)})",
                  AGGREGATES[kind][1] if kind in AGGREGATES else _EXTREMES[kind]) for kind in figures]
        if self._parts.take("difference") is not None:
            if figures.keys() != {"max", "min"}:
                raise UnclearError(column.name)
            shown.insert(0, (f"max({quoted(column.name)}) - min({quoted(column.name)})", "difference"))
        sql = self._select(", ".join(f"{value} AS {quoted(words)}" for value, words in shown))
        return Plan(sql, f"{', '.join(words for _, words in shown)} of {column.title}{self._where()}", is_named=True)

    def _comparison(self) -> Plan | None:
        """Read "Which weighs more on average, A or B?" as groups in order."""
        compared = [condition for condition in self.conditions
                    if len(condition.values) > 1 and not condition.is_negative]
        says_more = self._parts.unused("compare", "or_more")
        if not says_more or len(compared) != 1 or not self._parts.has("or", "or_more") or any(
                self._parts.words(mention) in _LESS for mention in says_more):
            return None
        self._parts.use(*says_more, self._parts.take("who"), *(
            mention for mention in self._parts.unused("group") if self._parts.words(mention) in EACH))
        column = self._parts.columns[compared[0].column]
        group = self._period("year", column) if is_date(column) else (members_of(column), column.title)
        self._parts.use(*(mention for mention in self._columns() if column.name in mention.columns))
        value, label = self._group_value(next((mention.name for mention in says_more if mention.name), ""))
        among = sorted({bare_name(name) for name in compared[0].values}) if is_list(column) else ()
        return replace(self._ranked_groups(group, value, label, "DESC", 0, among),
                       labels={bare_name(name): words for name, words in compared[0].words.items()})

    def _several_counts(self) -> Plan | None:
        """Read "How many are open, and how many closed?" and "How many more are open than closed?"."""
        counts = [one for one in self._parts.mentions if one.kind in {"count", "difference", "ratio"}]
        difference = next((one for one in counts if one.kind in {"difference", "ratio"}), None)
        is_ratio = difference is not None and difference.kind == "ratio"
        compared = [one for one in self.conditions if one.alternatives and any(
            difference is not None or one.first < count.first < one.last for count in counts)]
        if not compared:
            return None
        one = compared[0]
        others = [condition for condition in self.conditions if condition is not one]
        last = counts[-1]
        is_shared = difference is not None or not any(
            self._parts.is_rows(mention) and one.first < mention.first for mention in self._parts.after(last))
        is_clear = len(compared) == 1 and not one.is_negative and (not others or is_shared) and all(
            condition.last <= one.first for condition in others)
        are_counted = self._parts.are_counted() or (is_ratio and any(map(self._parts.is_rows, self._parts.after(last))))
        if not is_clear or len(one.alternatives) != max(len(counts), 2) or not are_counted or (
                difference is not None and not is_ratio and not self._parts.has("than")):
            raise UnclearError(one.text)
        self._parts.use(*counts, *self._parts.unused("than"))
        self._take_heads()
        shown = [(f"count(*) FILTER (WHERE {sql})", words) for words, sql in one.alternatives.items()]
        if difference is not None:
            more, less = shown[::-1] if self._parts.words(difference).endswith("fewer") else shown
            shown.insert(0, (f"{more[0]} / {less[0]}", "ratio") if is_ratio else (
                f"{more[0]} - {less[0]}", "difference"))
        sql = self._select(", ".join(f"{sql} AS {quoted(words)}" for sql, words in shown), conditions=others)
        label = f"{shown[0][1]} of counts" if difference is not None else "counts"
        column = self._parts.columns[one.column].title
        return Plan(sql, f"{label} of {self._table.title} where {column} is {' and '.join(one.alternatives)}"
                         f"{self._where(others).replace(' where ', ', and where ', 1)}", is_named=True)

    def _groups_of_size(self) -> Plan | None:
        """Read "Which authors wrote more than five books?"."""
        number = self._parts.counted_rows()
        if number is None:
            return None
        sign = self._parts.preceding(number, *SIGNS, gap=0)
        self._parts.use(self._parts.preceding(number, "only", gap=0))
        groups = self._columns()
        if len({mention.columns for mention in groups}) > 1:
            raise UnclearError(number)
        if not groups and not self._parts.has("who", "people"):
            raise UnclearError(number)  # "how many of the 20 books"
        column = self._parts.column_of(groups[0]) if groups else self._labelled("author")
        counts = self._parts.take("count")
        self._parts.use(number, sign, *groups, self._parts.take("who"))
        self._take_heads()
        bound = f"{SIGNS[sign.kind] if sign is not None else '='} {number.name}"
        label = f"count of {self._table.title}"
        plan = self._computed("count(*)", label, (members_of(column), column.title),
                              f" HAVING count(*) {bound} AND count({quoted(column.name)}) > 0 ORDER BY 2 DESC, 1")
        plan = replace(plan, understood=f"{column.title} with {plan.understood} {bound}")
        if counts is None:
            return plan
        sql, folded = (f"SELECT count(*) FROM ({sql}) AS sizes" for sql in (plan.sql, plan.folded))  # noqa: S608 - as above
        return Plan(sql, f"number of {plan.understood}", otherwise=folded if plan.folded else "")


def _share_of(wanted: Sequence[Condition]) -> str:
    """Return the percentage of rows that meet some conditions, in SQL."""
    inner = " AND ".join(condition.sql for condition in wanted)
    return f"100.0 * count(*) FILTER (WHERE {inner}) / count(*)"
