"""Print the facts that a model would be shown for questions, to be read and judged; no model is asked.

    python benchmarks/shown_facts.py --home FOLDER --kb musique --questions musique_train.json --format musique

Each question is decomposed by the rules (or, with `--sub-queries gold`, by the dataset, with the answers filled in) and
searched once; what `reflect` would be given is made by the retrieval graph's own functions. A line of JSON for each
question that facts are shown for, then how many questions and facts that were.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from banyan.agents.resources import Resources
from banyan.agents.retrieval.chaining import searchable
from banyan.agents.retrieval.evidence import choose_evidence
from banyan.agents.retrieval.planning import distinct, with_elements
from banyan.config import Settings
from banyan.evaluation.datasets import Question, load_questions
from banyan.evaluation.recall import search_texts
from banyan.schemas.retrieval import SubQuery
from banyan.tools.near_facts import FLOOR, near_facts
from banyan.tools.retriever import Retriever


def sub_queries(resources: Resources, kb: str, question: Question, *, gold: bool) -> list[SubQuery]:
    """Return the question and what is searched beside it in the first round."""
    schema, whole = resources.knowledge_base(kb).schemas.current(), SubQuery(question=question.question)
    if gold:
        parts = [SubQuery(question=text) for text in search_texts(question, "gold")]
    else:
        parts = searchable(resources.reasoner(kb).decompose(question.question, schema, 5))
    return [with_elements(part, schema) for part in distinct([whole, *parts])]


def near(retriever: Retriever, parts: Sequence[SubQuery], floor: float) -> list[str]:
    """Return the facts that serve the sub-queries, as lines with their scores, also those that passages state."""
    found = near_facts(retriever, retriever.queries(parts), floor)
    return list({item.line: f"{item.score:.2f} {item.line}" for item in reversed(found)}.values())[::-1]


def shown(retriever: Retriever, parts: Sequence[SubQuery], tokens: int) -> list[str]:
    """Return the facts and reports that a model reads first, as lines with their scores."""
    queries = retriever.queries(parts)
    evidence = [retriever.evidence(query) for query in queries]
    ranking = retriever.ranking(retriever.rank(queries, evidence), 100)
    items = choose_evidence(retriever, ranking, queries, [item for some in evidence for item in some], tokens, [], ())
    return [f"{item.score:.2f} {item.statement}" for item in items if item.statement]


def main() -> None:
    """Print the facts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--kb", required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--format", default="generic")
    parser.add_argument("--tokens", type=int, help="budget; none: the setting (BANYAN_CONTEXT_TOKENS)")
    parser.add_argument("--sub-queries", choices=["none", "gold"], default="none")
    parser.add_argument("--unread", action="store_true", help="also facts that passages state: as if none were shown")
    parser.add_argument("--floor", type=float, default=FLOOR, help="with --unread: the least score of a fact")
    given = parser.parse_args()
    count = facts = 0
    with Resources(Settings(home=given.home, llm_base_url=None)) as resources:
        retriever = resources.retriever(given.kb)
        questions = load_questions(given.questions, given.format)
        for question in questions:
            parts = sub_queries(resources, given.kb, question, gold=given.sub_queries == "gold")
            lines = (near(retriever, parts, given.floor) if given.unread else
                     shown(retriever, parts, given.tokens or resources.settings.context_tokens))
            count, facts = count + bool(lines), facts + len(lines)
            if lines:
                print(json.dumps({"question": question.question, "parts": [part.question for part in parts[1:]],
                                  "facts": lines}, ensure_ascii=False))
    print(f"{count} of {len(questions)} questions, {facts} facts")


if __name__ == "__main__":
    main()
