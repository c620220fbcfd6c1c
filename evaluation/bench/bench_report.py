"""Reports of a benchmark: a row for each arm, with intervals, scores by type of question, and costs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

import numpy as np
from pydantic import Field

from ...schemas.documents import Frozen
from ...schemas.retrieval import Grade
from ..agent_answers import percent
from ..recall import Values, intervals, round_2
from .dataset_files import BenchQuestion, Dataset
from .results import ArmOutcome, Base, JudgedOutcome, Results, Run
from .scoring import AnswerScores, FactScores, PairScores, fact_scores, score

CUTS = (2, 5, 10, 20)
GRADES: tuple[Grade, ...] = get_args(Grade)


class Figure(Frozen):
    """A mean over questions with its 95 % bootstrap interval; a share is in %."""

    value: float
    low: float
    high: float


class ArmRow(Frozen):
    """One arm. Shares are in %.

    `accuracy` is the judge's verdict if there is one, else the score by the question's kind (`scoring`); a declined
    question counts as wrong. `coverage` is the share of the gold statements that answers to open questions make, by the
    judge. `declined` is over the questions with an answer; `null_declined` is over those without, which count nowhere
    else. `grades` are the answers by how the evidence supports them, with the share of right ones. `facts` and
    `evidence` are the scores of `ranking`; `pairs` are the scores of Anonymity Reversion over all ids. `change` is the
    accuracy minus that of the first row, question by question; `recall_change` is the same for recall@5.
    """

    arm: str
    about: str
    questions: int
    failed: int
    accuracy: Figure | None
    coverage: Figure | None = None
    exact_match: Figure
    f1: Figure
    contained: Figure
    declined: float
    null_questions: int
    null_declined: float
    by_type: dict[str, dict[str, float]]
    grades: dict[Grade, dict[str, float]] = Field(default_factory=dict)
    pairs: dict[str, float]
    recall: dict[str, Figure]
    facts: dict[str, Figure]
    evidence: dict[str, dict[str, float]]
    change: Figure | None = None
    recall_change: Figure | None = None
    calls: float
    prompt_tokens: float
    completion_tokens: float
    judge_tokens: int
    seconds: dict[str, float]


class BenchReport(Frozen):
    """A benchmark's report. `complete`: every arm answered every question, and every answer has its verdict."""

    run: Run
    questions: int
    documents: int
    judge: str
    complete: bool
    failures: tuple[str, ...] = ()
    stopped: str = ""
    bases: dict[str, Base]
    rows: tuple[ArmRow, ...]


class _Scored:
    """An arm's outcomes with their scores and the judge's verdicts."""

    def __init__(self, arm: str, dataset: Dataset, results: Results, judge: str, *, answers: bool) -> None:
        self.all = [(question, results.outcomes[arm, question.id]) for question in dataset.questions
                    if (arm, question.id) in results.outcomes]
        self.missing = len(dataset.questions) - len(self.all)
        self.asked = [(question, outcome) for question, outcome in self.all if not question.unanswerable]
        self.null = [outcome for question, outcome in self.all if question.unanswerable]
        self.scores = [score(question, outcome.short, outcome.answer, declined=outcome.declined)
                       for question, outcome in self.asked]
        self.verdicts: list[JudgedOutcome | None] = [results.verdicts.get((judge, arm, question.id))
                                                     for question, _ in self.asked]
        self.right = {} if not answers else {question.id: right for (question, _), scores, verdict in zip(
            self.asked, self.scores, self.verdicts, strict=True) if (right := _right(scores, verdict)) is not None}
        self.coverage = {question.id: 0.0 if outcome.declined else verdict.coverage if verdict else 0.0
                         for (question, outcome), verdict in zip(self.asked, self.verdicts, strict=True)
                         if answers and question.kind == "open" and (verdict or outcome.declined)}
        self.recalls = {question.id: [_recall(outcome, cut) for cut in CUTS]
                        for question, outcome in self.asked if question.gold and outcome.passages}


def make_report(dataset: Dataset, run: Run, results: Results, arms: Mapping[str, str], *, judge: str,
                bases: Mapping[str, Base], failures: Sequence[str] = (), stopped: str = "") -> BenchReport:
    """Create a report of the results so far.

    Args:
        dataset: the questions.
        run: the run of the results.
        results: outcomes and verdicts.
        arms: the arms' names and descriptions; the others are compared with the first.
        judge: the judge's model; empty if there is none.
        bases: the knowledge bases by their schema.
        failures: the failures of this run.
        stopped: why the run stopped early; empty if it did not.
    """
    scored = {arm: _Scored(arm, dataset, results, judge, answers=run.answers) for arm in arms}
    first = next(iter(scored.values()))
    rows = tuple(_row(arm, arms[arm], one, None if one is first else first) for arm, one in scored.items() if one.all)
    complete = not (stopped or failures or any(one.missing for one in scored.values()))
    return BenchReport(run=run, questions=len(dataset.questions), documents=len(dataset.documents), judge=judge,
                       complete=complete, failures=tuple(failures), stopped=stopped, bases=dict(bases), rows=rows)


def _row(arm: str, about: str, scored: _Scored, first: _Scored | None) -> ArmRow:
    outcomes = [outcome for _, outcome in scored.all]
    scores, seconds = scored.scores, [outcome.seconds for outcome in outcomes]
    facts = [(question, fact_scores(outcome.facts, outcome.gold, len(question.facts)))
             for question, outcome in scored.asked if question.facts and outcome.facts]
    return ArmRow(
        arm=arm, about=about, questions=len(scored.asked), failed=scored.missing,
        accuracy=_figure(list(scored.right.values())) if scored.right else None,
        coverage=_figure(list(scored.coverage.values())) if scored.coverage else None,
        exact_match=_figure([one.exact_match for one in scores]), f1=_figure([one.f1 for one in scores]),
        contained=_figure([one.contained for one in scores]),
        declined=percent(sum(outcome.declined for _, outcome in scored.asked), len(scored.asked)),
        null_questions=len(scored.null),
        null_declined=percent(sum(outcome.declined for outcome in scored.null), len(scored.null)),
        by_type=_by_type(scored),
        grades=_grades(scored), pairs=_pairs(scores),
        recall={str(cut): _figure([recalls[place] for recalls in scored.recalls.values()])
                for place, cut in enumerate(CUTS)} if scored.recalls else {},
        facts={name: _figure([getattr(one, name) for _, one in facts])
               for name in ("hits_4", "hits_10", "map_10", "mrr_10")} if facts else {},
        evidence=_evidence(facts),
        change=_change(scored.right, first.right) if first else None,
        recall_change=_change(*({key: values[CUTS.index(5)] for key, values in one.recalls.items()}
                                for one in (scored, first))) if first else None,
        calls=_mean(outcome.calls for outcome in outcomes),
        prompt_tokens=_mean(outcome.prompt_tokens for outcome in outcomes),
        completion_tokens=_mean(outcome.completion_tokens for outcome in outcomes),
        judge_tokens=sum(verdict.tokens for verdict in scored.verdicts if verdict),
        seconds={name: round(float(np.percentile(seconds, share)), 3) for name, share in (("p50", 50), ("p95", 95))})


def _right(scores: AnswerScores, verdict: JudgedOutcome | None) -> float | None:
    return float(verdict.correct) if verdict else scores.right


def _recall(outcome: ArmOutcome, cut: int) -> float:
    return sum(rank is not None and rank <= cut for rank in outcome.ranks) / len(outcome.ranks) if outcome.ranks else 0


def _figure(shares: Sequence[float]) -> Figure:
    """Return the mean of shares in % with its interval; 0 without shares."""
    if not shares:
        return Figure(value=0, low=0, high=0)
    values: Values = 100 * np.array(shares, np.float64).reshape(-1, 1)
    (low, high), = intervals(values)
    return Figure(value=round_2(values.mean()), low=round_2(low), high=round_2(high))


def _change(own: Mapping[str, float], first: Mapping[str, float]) -> Figure | None:
    both = [key for key in own if key in first]
    return _figure([own[key] - first[key] for key in both]) if both else None


def _by_type(scored: _Scored) -> dict[str, dict[str, float]]:
    """Return questions, accuracy, F1, coverage and recall at 5 for each type of question."""
    rows = {}
    for group in sorted({question.group for question, _ in scored.asked} - {""}):
        of_group = [(question, scores) for (question, _), scores in zip(scored.asked, scored.scores, strict=True)
                    if question.group == group]
        right = [scored.right[question.id] for question, _ in of_group if question.id in scored.right]
        rows[group] = {"questions": float(len(of_group))}
        if right:
            rows[group] |= {"accuracy": round_2(100 * _mean(right)),
                            "f1": round_2(100 * _mean(scores.f1 for _, scores in of_group))}
        covered = [scored.coverage[question.id] for question, _ in of_group if question.id in scored.coverage]
        if covered:
            rows[group]["coverage"] = round_2(100 * _mean(covered))
        recalls = [scored.recalls[question.id][CUTS.index(5)] for question, _ in of_group
                   if question.id in scored.recalls]
        if recalls:
            rows[group]["recall@5"] = round_2(100 * _mean(recalls))
    return rows


def _grades(scored: _Scored) -> dict[Grade, dict[str, float]]:
    """Return the number of answers of each grade, and the share of right ones in %."""
    by_grade: dict[Grade, dict[str, float]] = {}
    for grade in GRADES:
        right = [scored.right[question.id] for question, outcome in scored.asked
                 if outcome.grade == grade and not outcome.declined and question.id in scored.right]
        if right:
            by_grade[grade] = {"answers": float(len(right)), "right": round_2(100 * _mean(right))}
    return by_grade


def _pairs(scores: Sequence[AnswerScores]) -> dict[str, float]:
    """Return precision, recall and F1 over all ids of all questions."""
    pair_scores: list[PairScores] = [one.pairs for one in scores if one.pairs]
    if not pair_scores:
        return {}
    asked, named, right = (sum(values) for values in zip(*pair_scores, strict=True))
    return {"ids": asked, "precision": percent(right, named), "recall": percent(right, asked),
            "f1": percent(2 * right, asked + named)}


def _evidence(facts: Sequence[tuple[BenchQuestion, FactScores]]) -> dict[str, dict[str, float]]:
    """Return recall, relevancy and F1 of the evidence by type, with F1 from the means as in the paper's table."""
    groups: dict[str, list[FactScores]] = {}
    for question, scores in facts:
        groups.setdefault(question.type or "all", []).append(scores)
    if len(groups) > 1:
        groups["average"] = [scores for _, scores in facts]
    rows = {}
    for name, scored in groups.items():
        recall, relevancy = (100 * _mean(getattr(one, field) for one in scored) for field in ("recall", "relevancy"))
        both = 2 * recall * relevancy / (recall + relevancy) if recall + relevancy else 0.0
        rows[name] = {"questions": float(len(scored)), "relevancy": round_2(relevancy), "recall": round_2(recall),
                      "f1": round_2(both)}
    return rows


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return round(float(np.mean(listed)), 4) if listed else 0.0
