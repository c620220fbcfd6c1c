"""Fit the confidence of quotes without a short answer: how likely they hold the answer.

    python benchmarks/found_confidence.py hotpotqa_train.json

HotpotQA gives ten paragraphs a question; the demo (examples/) gives its documents. Each question is asked twice without
a model: of all its paragraphs, and of those that do not support the answer. Three quotes hold the answer if it is in
them word by word. A logistic regression of that on the share of the question's words that the best sentence covers
gives the two numbers of `models/rules/rules_reasoner.py`. No folder whose figures are reported is read.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from banyan.models.parsing.parser import Parser
from banyan.models.rules.finder import Finder
from banyan.models.rules.question import analyse
from banyan.models.rules.rules_reasoner import RulesReasoner
from banyan.schemas.retrieval import Passage
from sklearn.linear_model import LogisticRegression

EXAMPLES = Path(__file__).parent.parent / "examples"


def read_hotpot(path: Path) -> Iterator[tuple[str, list[str], dict[str, str], set[str]]]:
    """Yield each question with its answers, its paragraphs by title, and the titles that support the answer."""
    for item in json.loads(path.read_text("utf-8")):
        if item["answer"] not in {"yes", "no"}:
            texts = {title: "".join(sentences) for title, sentences in item["context"]}
            yield item["question"], [item["answer"]], texts, {title for title, _ in item["supporting_facts"]}


def read_demo() -> Iterator[tuple[str, list[str], dict[str, str], set[str]]]:
    """Yield the same for the questions of the demo."""
    for line in (EXAMPLES / "questions.jsonl").read_text("utf-8").splitlines():
        item = json.loads(line)
        texts = {path.name: path.read_text("utf-8") for path in (EXAMPLES / item["language"]).glob("*.md")}
        if not item["unanswerable"]:
            yield item["question"], item["answers"], texts, set(item["gold"])


def main() -> None:
    """Print the coefficients, and how often quotes held the answer by tenths of the confidence."""
    answers, parser, rows = RulesReasoner(Parser()), Parser(), []
    for question, accepted, texts, gold in [*read_hotpot(Path(sys.argv[1])), *read_demo()]:
        asked = analyse(question)
        for left_out in (set(), gold):
            kept = {title: text for title, text in texts.items() if title not in left_out}
            words = frozenset(asked.words_of(question))
            ranked = sorted(kept, key=lambda title: -len(words & frozenset(asked.words_of(f"{title} {kept[title]}"))))
            passages = [Passage(chunk_id=title, document=title, title=title, text=kept[title], start=0,
                                score=1 / (rank + 1)) for rank, title in enumerate(ranked)]
            draft, found = answers.find(question, passages), Finder(passages, parser).search(asked)
            quoted = " ".join(claim.text for claim in draft.claims)
            holds = any(re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", quoted, re.IGNORECASE) for answer in accepted)
            if found and not draft.short:
                rows.append((found[0].covered, holds))
    data = np.array(rows, float)
    model = LogisticRegression().fit(data[:, :1], data[:, 1])
    print(f"{len(data)} asked, {int(data[:, 1].sum())} hold the answer")
    print(f"covered {model.coef_[0][0]:.2f}, constant {model.intercept_[0]:.2f}")
    confidence = model.predict_proba(data[:, :1])[:, 1]
    for tenth in range(10):
        of_tenth = data[(confidence * 10).astype(int) == tenth, 1]
        print(f"{tenth / 10:.1f} {len(of_tenth):4d} {of_tenth.mean() if len(of_tenth) else 0:.2f}")


if __name__ == "__main__":
    main()
