"""The query of a question for a share, or for several figures in one row: the lowest and the highest, two counts."""

from collections.abc import Sequence
from dataclasses import replace

from ..graph_store.sql.logical_tables import quoted
from .asked_columns import UnclearError, is_date, only, years_of
from .asked_parts import DEGREES
from .question_conditions import Condition, Expression
from .question_target import AGGREGATES, PERIODS, Plan, QuestionTarget
from .question_words import Mention

_VERBS = frozenset({"is", "are", "was", "were", "has", "have", "had", "fall", "falls", "ist", "sind", "war", "waren",
                    "是"})
_JOINING = frozenset({"and", "und", "和", "与"})


class SeveralFigures(QuestionTarget):
    """The forms of questions for a share or several figures; each returns None if the question does not have it."""

    def _share(self) -> Plan | None:
        """Read "what percentage of the birds are female"."""
        if self._parts.unused(*DEGREES) or (share := self._parts.take("share")) is None:
            return None
        group = self._group() if self._parts.unused("group") else None
        # "What share of the female birds are heavier than 5 kg": the conditions before the verb are of the rows, those
        # behind it of the share. Without a verb, or with nothing behind it, all are of the share.
        verbs = [mention for mention in self._parts.mentions
                 if mention.first > share.last and self._parts.words(mention).partition(" ")[0] in _VERBS]
        whole = [condition for condition in self.conditions if verbs and condition.last <= verbs[0].first]
        wanted = [condition for condition in self.conditions if condition not in whole]
        whole, wanted = (whole, wanted) if wanted else ([], whole)
        self._take_heads()
        self._parts.use(*(mention for mention in self._parts.unused("unit") if mention.name == "%"))
        says_of_what = any(self._parts.is_rows(mention) or mention.kind in {"row_nouns", "people", "value"}
                           for mention in self._parts.mentions)
        asks_more = self._parts.unused("column", "count", *AGGREGATES)
        if not wanted or self._named_documents() or asks_more or not says_of_what:
            raise UnclearError(share)
        self.conditions = whole
        plan = self._computed(share_of(wanted), group)
        each = f" for each {group.words}" if group is not None else ""
        return replace(plan, understood=f"share of {self._table.title}{self._where(whole)} "
                                        f"{self._where(wanted).strip()}{each}", percent=True)

    def _span(self) -> Plan | None:
        """Read "What years do the proposals span?"."""
        if (span := self._parts.take("span")) is None:
            return None
        self._take_heads()
        period = self._parts.take("year")
        dates = self._dates() or years_of(self._table)
        column = only(dates, span)
        form = PERIODS["year"] if period is not None and is_date(column) else "{}"
        first, last = (form.format(quoted(name)) for name in (column.name, column.last or column.name))
        self._parts.take("when")
        return Plan(self._select(f"min({first}) AS earliest, max({last}) AS latest"),
                    f"earliest and latest {column.title}{self._where()}", is_named=True)

    def _several_figures(self) -> Plan | None:
        """Read "the lowest and the highest price", and the difference between them."""
        figures = {mention.kind: mention for mention in self._parts.unused("max", "min", *AGGREGATES)}
        if len(figures) < 2 or figures.keys().isdisjoint({"max", "min"}):  # noqa: PLR2004
            return None
        first = min(mention.first for mention in figures.values())
        is_joined = any(self._parts.words(mention) in _JOINING and self._parts.following(mention, *figures)
                        for mention in self._parts.mentions if mention.first > first)
        asks_otherwise = self._parts.unused("group", "count", "who", "most", "fewest", "latest", "earliest")
        if not is_joined or asks_otherwise or self._parts.are_asked():
            return None
        column = self._number_column()
        if column is None or any(mention.name for mention in figures.values()):  # "the longest" names a measure
            raise UnclearError(self._table.name)
        self._take_heads()
        self._parts.use(*self._parts.unused("max", "min", *AGGREGATES))
        name = quoted(column.name)
        functions = {**AGGREGATES, "max": ("max", "highest"), "min": ("min", "lowest")}
        shown = [Expression(f"{functions[kind][0]}({name})", functions[kind][1]) for kind in figures]
        if self._parts.take("difference") is not None:
            if figures.keys() != {"max", "min"}:
                raise UnclearError(column.name)
            shown.insert(0, Expression(f"max({name}) - min({name})", "difference"))
        understood = f"{', '.join(figure.words for figure in shown)} of {column.title}{self._where()}"
        return Plan(self._select(_select_list(shown)), understood, is_named=True)

    def _several_counts(self) -> Plan | None:
        """Read "How many are open, and how many closed?" and "How many more are open than closed?"."""
        counts = [mention for mention in self._parts.mentions if mention.kind in {"count", "difference", "ratio"}]
        comparing = next((mention for mention in counts if mention.kind != "count"), None)
        compared = [condition for condition in self.conditions if condition.alternatives and any(
            comparing is not None or condition.first < count.first < condition.last for count in counts)]
        if not compared:
            return None
        condition = compared[0]
        others = [other for other in self.conditions if other is not condition]
        if len(compared) > 1 or not self._are_counts_clear(condition, others, counts, comparing):
            raise UnclearError(condition.text)
        self._parts.use(*counts, *self._parts.unused("than"))
        self._take_heads()
        shown = [Expression(f"count(*) FILTER (WHERE {sql})", words) for words, sql in condition.alternatives.items()]
        label = "counts"
        if comparing is not None:
            says_fewer = self._parts.words(comparing).endswith("fewer")
            more, less = reversed(shown) if says_fewer else shown
            sign, name = ("/", "ratio") if comparing.kind == "ratio" else ("-", "difference")
            shown.insert(0, Expression(f"{more.sql} {sign} {less.sql}", name))
            label = f"{name} of counts"
        column = self._parts.columns[condition.column].title
        further = self._where(others).replace(" where ", ", and where ", 1)
        return Plan(self._select(_select_list(shown), conditions=others),
                    f"{label} of {self._table.title} where {column} is {' and '.join(condition.alternatives)}{further}",
                    is_named=True)

    def _are_counts_clear(self, condition: Condition, others: Sequence[Condition], counts: Sequence[Mention],
                          comparing: Mention | None) -> bool:
        """Return True if each count is of one alternative of a condition, and the other conditions hold for all."""
        behind = self._parts.after(counts[-1])
        # "How many films by Alba are dramas, and how many films are comedies?" may count other films the second time.
        repeats_rows = comparing is None and any(
            self._parts.is_rows(mention) and condition.first < mention.first for mention in behind)
        if condition.is_negative or (others and repeats_rows):
            return False
        if any(other.last > condition.first for other in others):
            return False
        is_ratio = comparing is not None and comparing.kind == "ratio"
        is_difference = comparing is not None and not is_ratio
        if is_difference and not self._parts.has("than"):
            return False
        if comparing is not None and len(condition.alternatives) != 2:  # noqa: PLR2004 - only two are compared
            return False
        are_counted = self._parts.are_counted() or (is_ratio and any(map(self._parts.is_rows, behind)))
        return are_counted and len(condition.alternatives) == max(len(counts), 2)


def share_of(wanted: Sequence[Condition]) -> Expression:
    """Return the percentage of rows that meet some conditions."""
    inner = " AND ".join(condition.sql for condition in wanted)
    return Expression(f"100.0 * count(*) FILTER (WHERE {inner}) / count(*)", "percent")


def _select_list(shown: Sequence[Expression]) -> str:
    return ", ".join(f"{figure.sql} AS {quoted(figure.words)}" for figure in shown)
