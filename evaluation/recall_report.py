"""Reports of a retrieval evaluation: recall with its bootstrap interval, and latency."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..schemas.documents import Frozen

Values = NDArray[np.float64]

RESAMPLES = 2000
# A fixed seed makes reports reproducible, and lets compared rows share their resamples.
_SEED = 20240917
# The 2.5 and 97.5 percentiles give the 95 % interval.
_ENDS = (0.025, 0.975)
# The most resampled counts in memory at once: 8 MB.
_CELLS = 1_000_000
Percent = dict[str, float]
"""A value in % by cut-off ("2", "5", ...)."""
Interval = dict[str, tuple[float, float]]
"""The 95 % bootstrap interval by cut-off."""
Percentiles = dict[str, float]
"""The percentiles p50 and p95."""


def intervals(values: Values) -> Values:
    """Return percentile intervals of column means, by resampling rows with replacement (Efron 1979).

    For a paired comparison pass the differences of the pairs.

    Args:
        values: shape (n, k), n at least 1; each row is one question and is drawn as a whole.

    Returns:
        Shape (k, 2): the lower and upper end for each column; 95 % of the resampled means are between them.
    """
    rows = len(values)
    random = np.random.default_rng(_SEED)
    means = []
    for start in range(0, RESAMPLES, step := max(1, _CELLS // rows)):
        draws = min(step, RESAMPLES - start)
        # The number of times each question was drawn is enough, because the order does not matter.
        means.append(random.multinomial(rows, np.full(rows, 1 / rows), size=draws) @ values / rows)
    return np.asarray(np.quantile(np.concatenate(means), _ENDS, axis=0).T)


class QuestionRecord(Frozen):
    """The search result of one question."""

    id: str
    question: str
    type: str = ""
    ranks: tuple[int | None, ...]
    """The rank of each gold passage among the ranked documents, from 1; None if it is not among them."""
    milliseconds: float


class Group(Frozen):
    """Recall and latency over some questions."""

    questions: int
    recall: Percent
    interval: Interval
    latency_ms: Percentiles


class SettingRow(Frozen):
    """One setting or baseline compared with the default: its recall, and the difference from the default's."""

    name: str
    recall: Percent
    interval: Interval
    change: Percent
    change_interval: Interval


class RetrievalReport(Group):
    """Recall at k in % and latency, over all questions, by type, and compared with other settings."""

    gold_absent: int = 0
    """The number of gold passages that are not in the knowledge base; they count as missed."""
    by_type: dict[str, Group]
    rows: tuple[SettingRow, ...] = ()
    records: tuple[QuestionRecord, ...]


def summarise(records: Sequence[QuestionRecord], ks: Sequence[int]) -> RetrievalReport:
    """Summarise recall and latency of at least one question."""
    whole = _group(records, ks)
    types = sorted({record.type for record in records} - {""})
    return RetrievalReport(
        **dict(whole), records=tuple(records),
        by_type={kind: _group([record for record in records if record.type == kind], ks) for kind in types})


def compare(name: str, records: Sequence[QuestionRecord], default: Sequence[QuestionRecord],
             ks: Sequence[int]) -> SettingRow:
    """Return the row of a setting.

    Args:
        name: the name of the row.
        records: the records of the setting.
        default: the records of the default setting, for the same questions in the same order.
        ks: the cut-offs.
    """
    values = _recalls(records, ks)
    change = values - _recalls(default, ks)
    return SettingRow(name=name, recall=_means(values, ks), interval=_intervals(values, ks), change=_means(change, ks),
                      change_interval=_intervals(change, ks))


def _group(records: Sequence[QuestionRecord], ks: Sequence[int]) -> Group:
    values = _recalls(records, ks)
    times = [record.milliseconds for record in records]
    return Group(questions=len(records), recall=_means(values, ks), interval=_intervals(values, ks),
                 latency_ms={name: round_2(np.percentile(times, share)) for name, share in (("p50", 50), ("p95", 95))})


def _recalls(records: Sequence[QuestionRecord], ks: Sequence[int]) -> Values:
    """Return recalls in %, shape (questions, k): the share of gold passages among the first k documents."""
    return np.array([[100 * sum(rank is not None and rank <= k for rank in record.ranks) / len(record.ranks)
                      for k in ks] for record in records])


def _means(values: Values, ks: Sequence[int]) -> Percent:
    return {str(k): round_2(mean) for k, mean in zip(ks, values.mean(axis=0), strict=True)}


def _intervals(values: Values, ks: Sequence[int]) -> Interval:
    return {str(k): (round_2(low), round_2(high)) for k, (low, high) in zip(ks, intervals(values), strict=True)}


def round_2(value: float) -> float:
    """Round to two places."""
    return round(float(value), 2) + 0.0  # avoids -0.0
