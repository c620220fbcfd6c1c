"""Reports of a benchmark: a row for each arm, with intervals, scores by type of question, and costs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

import numpy as np
from banyan.evaluation.agent_answers import percent
from banyan.evaluation.recall import Values, intervals, round_2
from banyan.schemas.documents import Frozen
from banyan.schemas.retrieval import Grade
from pydantic import Field

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


class _ScoredArm:
    """An arm's outcomes with their scores and the judge's verdicts.

    `answerable` has the answerable questions with their outcomes; `scores` and `verdicts` are in the same order.
    `unanswerable` has the outcomes of the other questions. `right`, `coverage` and `recalls` are by the question's id,
    for the questions that have such a score.
    """

    def __init__(self, arm: str, dataset: Dataset, results: Results, judge: str, *, answers: bool) -> None:
        """Score the outcomes of an arm, if the run answers questions."""
        self.outcomes = [(question, results.outcomes[arm, question.id]) for question in dataset.questions
                    if (arm, question.id) in results.outcomes]
        self.missing = len(dataset.questions) - len(self.outcomes)
        self.answerable = [(question, outcome) for question, outcome in self.outcomes if not question.unanswerable]
        self.unanswerable = [outcome for question, outcome in self.outcomes if question.unanswerable]
        self.scores = [score(question, outcome.short, outcome.answer, declined=outcome.declined)
                       for question, outcome in self.answerable]
        self.verdicts: list[JudgedOutcome | None] = [results.verdicts.get((judge, arm, question.id))
                                                     for question, _ in self.answerable]
        self.right, self.coverage = dict[str, float](), dict[str, float]()
        scored_answers = zip(self.answerable, self.scores, self.verdicts, strict=True) if answers else ()
        for (question, outcome), scores, verdict in scored_answers:
            right = _right(scores, verdict)
            if right is not None:
                self.right[question.id] = right
            if question.kind == "open" and outcome.declined:
                self.coverage[question.id] = 0.0
            elif question.kind == "open" and verdict:
                self.coverage[question.id] = verdict.coverage
        self.recalls = {question.id: [_recall(outcome, cut) for cut in CUTS]
                        for question, outcome in self.answerable if question.gold and outcome.passages}


def make_report(dataset: Dataset, run: Run, results: Results, arms: Mapping[str, str], *, judge: str,
                bases: Mapping[str, Base], failures: Sequence[str] = (), stopped: str = "") -> BenchReport:
    """Create a report of the results so far.

    Args:
        dataset: the questions.
        run: the run of the results.
        results: outcomes and verdicts.
        arms: the arms' descriptions by name; the arms are compared with the first one.
        judge: the judge's model; "" if there is none.
        bases: the knowledge bases by their schema.
        failures: the failures of this run.
        stopped: why the run stopped early; "" if it did not.
    """
    scored = {arm: _ScoredArm(arm, dataset, results, judge, answers=run.answers) for arm in arms}
    first = next(iter(scored.values()))
    rows = tuple(_row(arm, arms[arm], scored_arm, None if scored_arm is first else first)
                 for arm, scored_arm in scored.items() if scored_arm.outcomes)
    complete = not (stopped or failures or any(scored_arm.missing for scored_arm in scored.values()))
    return BenchReport(run=run, questions=len(dataset.questions), documents=len(dataset.documents), judge=judge,
                       complete=complete, failures=tuple(failures), stopped=stopped, bases=dict(bases), rows=rows)


def _row(arm: str, about: str, scored: _ScoredArm, first: _ScoredArm | None) -> ArmRow:
    """Return an arm's row of the report, compared with the first arm; `first` is None for the first arm itself."""
    outcomes = [outcome for _, outcome in scored.outcomes]
    scores, seconds = scored.scores, [outcome.seconds for outcome in outcomes]
    facts = [(question, fact_scores(outcome.facts, outcome.gold, len(question.facts)))
             for question, outcome in scored.answerable if question.facts and outcome.facts]
    return ArmRow(
        arm=arm, about=about, questions=len(scored.answerable), failed=scored.missing,
        accuracy=_figure(list(scored.right.values())) if scored.right else None,
        coverage=_figure(list(scored.coverage.values())) if scored.coverage else None,
        exact_match=_figure([answer.exact_match for answer in scores]), f1=_figure([answer.f1 for answer in scores]),
        contained=_figure([answer.contained for answer in scores]),
        declined=percent(sum(outcome.declined for _, outcome in scored.answerable), len(scored.answerable)),
        null_questions=len(scored.unanswerable),
        null_declined=percent(sum(outcome.declined for outcome in scored.unanswerable), len(scored.unanswerable)),
        by_type=_by_type(scored),
        grades=_grades(scored), pairs=_pairs(scores),
        recall={str(cut): _figure([recalls[column] for recalls in scored.recalls.values()])
                for column, cut in enumerate(CUTS)} if scored.recalls else {},
        facts={name: _figure([getattr(ranking, name) for _, ranking in facts])
               for name in ("hits_4", "hits_10", "map_10", "mrr_10")} if facts else {},
        evidence=_evidence(facts),
        change=_change(scored.right, first.right) if first else None,
        recall_change=_change(_recall_at_5(scored), _recall_at_5(first)) if first else None,
        calls=_mean(outcome.calls for outcome in outcomes),
        prompt_tokens=_mean(outcome.prompt_tokens for outcome in outcomes),
        completion_tokens=_mean(outcome.completion_tokens for outcome in outcomes),
        judge_tokens=sum(verdict.tokens for verdict in scored.verdicts if verdict),
        seconds={name: round(float(np.percentile(seconds, share)), 3) for name, share in (("p50", 50), ("p95", 95))})


def _right(scores: AnswerScores, verdict: JudgedOutcome | None) -> float | None:
    return float(verdict.correct) if verdict else scores.right


def _recall(outcome: ArmOutcome, cut: int) -> float:
    return sum(rank is not None and rank <= cut for rank in outcome.ranks) / len(outcome.ranks) if outcome.ranks else 0


def _recall_at_5(scored: _ScoredArm) -> dict[str, float]:
    return {question_id: recalls[CUTS.index(5)] for question_id, recalls in scored.recalls.items()}


def _figure(shares: Sequence[float]) -> Figure:
    """Return the mean of shares (0 to 1), in %, with its interval; 0 without shares."""
    if not shares:
        return Figure(value=0, low=0, high=0)
    values: Values = 100 * np.array(shares, np.float64).reshape(-1, 1)
    (low, high), = intervals(values)
    return Figure(value=round_2(values.mean()), low=round_2(low), high=round_2(high))


def _change(scores: Mapping[str, float], first: Mapping[str, float]) -> Figure | None:
    """Return the mean difference from the first arm over the questions that both have; None if there are none."""
    common = [question_id for question_id in scores if question_id in first]
    return _figure([scores[question_id] - first[question_id] for question_id in common]) if common else None


def _by_type(scored: _ScoredArm) -> dict[str, dict[str, float]]:
    """Return, for each type of question, the number of questions, and those of the scores that they have, in %."""
    rows, recall_at_5 = {}, _recall_at_5(scored)
    for group in sorted({question.group for question, _ in scored.answerable} - {""}):
        answers = zip(scored.answerable, scored.scores, strict=True)
        in_group = [(question.id, scores) for (question, _), scores in answers if question.group == group]
        rows[group] = {"questions": float(len(in_group))}
        right = [scored.right[question_id] for question_id, _ in in_group if question_id in scored.right]
        if right:
            rows[group] |= {"accuracy": round_2(100 * _mean(right)),
                            "f1": round_2(100 * _mean(scores.f1 for _, scores in in_group))}
        coverages = [scored.coverage[question_id] for question_id, _ in in_group if question_id in scored.coverage]
        if coverages:
            rows[group]["coverage"] = round_2(100 * _mean(coverages))
        recalls = [recall_at_5[question_id] for question_id, _ in in_group if question_id in recall_at_5]
        if recalls:
            rows[group]["recall@5"] = round_2(100 * _mean(recalls))
    return rows


def _grades(scored: _ScoredArm) -> dict[Grade, dict[str, float]]:
    """Return the number of answers of each grade of support, and the share of right ones in %."""
    by_grade: dict[Grade, dict[str, float]] = {}
    for grade in GRADES:
        right = [scored.right[question.id] for question, outcome in scored.answerable
                 if outcome.grade == grade and not outcome.declined and question.id in scored.right]
        if right:
            by_grade[grade] = {"answers": float(len(right)), "right": round_2(100 * _mean(right))}
    return by_grade


def _pairs(scores: Sequence[AnswerScores]) -> dict[str, float]:
    """Return precision, recall and F1 in % over all ids of all Anonymity Reversion questions; empty without them."""
    pair_scores: list[PairScores] = [answer.pairs for answer in scores if answer.pairs]
    if not pair_scores:
        return {}
    asked, named, right = (sum(counts) for counts in zip(*pair_scores, strict=True))
    return {"ids": asked, "precision": percent(right, named), "recall": percent(right, asked),
            "f1": percent(2 * right, asked + named)}


def _evidence(facts: Sequence[tuple[BenchQuestion, FactScores]]) -> dict[str, dict[str, float]]:
    """Return recall, relevancy and F1 of the evidence in %, by type of question and on average."""
    groups: dict[str, list[FactScores]] = {}
    for question, scores in facts:
        groups.setdefault(question.type or "all", []).append(scores)
    if len(groups) > 1:
        groups["average"] = [scores for _, scores in facts]
    rows = {}
    for name, group_scores in groups.items():
        recall = 100 * _mean(scores.recall for scores in group_scores)
        relevancy = 100 * _mean(scores.relevancy for scores in group_scores)
        f1 = 2 * recall * relevancy / (recall + relevancy) if recall + relevancy else 0.0
        rows[name] = {"questions": float(len(group_scores)), "relevancy": round_2(relevancy),
                      "recall": round_2(recall), "f1": round_2(f1)}
    return rows


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return round(float(np.mean(listed)), 4) if listed else 0.0
