"""Compare the fused ranking with BM25 and dense passages, collection by collection.

Run `BANYAN_HOME=... python benchmarks/ranking_table.py DATA [KB ...]` after building the knowledge bases that
`COLLECTIONS` names, without a model (the commands are in benchmarks/README.md; a newcomer's folder gives its knowledge
base its name). DATA is the folder with the collections. Gold passages are a file's own, or the documents of `sources`,
counted once each; for the one gold document of a newcomer's question those of `also` are as good. Questions that have
only `must` are scored by the share of these strings that the first k passages have; strings that many passages have,
as "no", are left out. `--failed` lists the questions on which BM25 or dense passages are better than the fused ranking.
"""

import argparse
import json
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.evaluation.recall import GoldPassage, gold_rank, load_questions
from banyan.schemas.documents import Chunk
from banyan.tools.ranking.fusion import rank_chunks
from banyan.tools.retriever import Retriever
from rich.console import Console
from rich.table import Table


class Collection(NamedTuple):
    """A knowledge base's name, its questions with their format, the cut-offs, and which share of them is asked.

    A path that is not absolute is below DATA.
    """

    kb: str
    questions: str
    form: str
    ks: tuple[int, ...] = (2, 5, 10)
    every: int = 1


_NEWCOMERS = Path(__file__).parent / "newcomer"
COLLECTIONS = (
    Collection("musique", "musique_train100/musique_train.json", "musique", (2, 5, 10, 20)),
    Collection("hotpot", "hotpotqa_train100/hotpotqa_train.json", "hotpotqa", (2, 5, 10, 20)),
    Collection("dragon", "dragonball_zh_finance/questions.jsonl", "generic", every=5),
    Collection("twowiki", "twowiki_half/questions.json", "2wiki", (2, 5, 8)),
    Collection("chats", "chats/questions.jsonl", "generic"),
    Collection("eth", "ethereum_upgrades/questions.jsonl", "sources"),
    Collection("company", "company_folder/questions.jsonl", "must"),
    Collection("chinese", "chinese_folder/questions.jsonl", "must"),
    *(Collection(path.stem, str(path), "newcomer") for path in sorted(_NEWCOMERS.glob("*.jsonl"))),
)
_TELLING = 0.1
"""The largest share of passages that may have a string of `must`: one that more have does not tell what is right."""
Ranking = Callable[[str], Sequence[Chunk]]
Score = Callable[[Sequence[Chunk], int], float]


class Case(NamedTuple):
    """A question with the function that scores the first k passages of a ranking, 0 to 1."""

    question: str
    score: Score


def cases(data: Path, collection: Collection, chunks: Sequence[Chunk]) -> list[Case]:
    """Return the questions of a collection that have gold."""
    path = data / collection.questions
    if collection.form in {"musique", "hotpotqa", "2wiki", "generic"}:
        return [Case(one.question, _by_gold(_located(one.gold, chunks)))
                for one in load_questions(path, collection.form)]  # type: ignore[arg-type]  (checked above)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    if collection.form == "sources":
        return [Case(one["question"], _by_gold([_of_document(name, chunks) for name in one["sources"]]))
                for one in records if one["sources"]]
    if collection.form == "newcomer":
        return [Case(one["question"], _by_gold([_of_document(name, chunks) for name in one["gold"]], [
            _of_document(name, chunks) for name in one.get("also", ())])) for one in records if one["gold"]]
    found = [(one["question"], [must for must in map(_pattern, one["must"]) if 0 < np.mean(
        [bool(must.search(chunk.text)) for chunk in chunks]) <= _TELLING]) for one in records]
    return [Case(question, _by_words(must)) for question, must in found if must]


def _pattern(must: str) -> re.Pattern[str]:
    """Return a pattern for a string as words of their own; Chinese words have no borders."""
    return re.compile(rf"(?<![a-z0-9]){re.escape(must)}(?![a-z0-9])", re.IGNORECASE)


def _located(gold: Sequence[GoldPassage], chunks: Sequence[Chunk]) -> list[GoldPassage]:
    return [_of_document(one.id, chunks) if one.id else one for one in gold]


def _of_document(name: str, chunks: Sequence[Chunk]) -> GoldPassage:
    """Return the document that a file calls `name`, as itself or as the end of a path."""
    known = {one.document_id for one in chunks}
    return GoldPassage(id=name if name in known else next(
        (key for key in sorted(known) if key.endswith(f"/{name}")), name))


def _by_gold(gold: Sequence[GoldPassage], also: Sequence[GoldPassage] = ()) -> Score:
    others = also if len(gold) == 1 else ()
    return lambda ranked, k: float(np.mean([any((gold_rank(same, ranked) or k + 1) <= k for same in (one, *others))
                                            for one in gold]))


def _by_words(must: Sequence[re.Pattern[str]]) -> Score:
    return lambda ranked, k: float(np.mean([any(one.search(chunk.text) for chunk in ranked[:k]) for one in must]))


def rankings(retriever: Retriever) -> dict[str, Ranking]:
    """Return the rankings to compare, by name."""
    index, chunks = retriever.index, retriever.index.chunks
    documents, number = index.documents

    def best(scores: np.ndarray) -> list[Chunk]:
        return [chunks[int(row)] for row in np.argsort(-scores, kind="stable")[:200]]

    return {
        "fused": lambda text: [chunks[index.chunk_row[key]] for key, _ in retriever.rank_passages(text, 100)],
        "fused, undivided": lambda text: best(rank_chunks(index, [(retriever.compare(text), ())])),
        "BM25": lambda text: best(index.lexical.scores(text)),
        "BM25, documents": lambda text: best(documents.scores(text)[number]),
        "dense": lambda text: best(index.cosines("chunks", retriever.compare(text).vector)),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("kb", nargs="*", help="which knowledge bases; all by default")
    parser.add_argument("--failed", action="store_true", help="list questions on which another ranking is better")
    parser.add_argument("--only", default="", help="only the rankings whose names have this")
    arguments = parser.parse_args()
    console, table = Console(width=160), Table("collection", "ranking", "k", "recall in %", "ms")
    with Resources(Settings(llm_base_url=None)) as resources:
        for collection in [one for one in COLLECTIONS if not arguments.kb or one.kb in arguments.kb]:
            with resources.snapshot(collection.kb) as snapshot:
                retriever = snapshot.retriever
            asked = cases(arguments.data, collection, list(retriever.index.chunks))[::collection.every]
            recalls = dict[str, np.ndarray]()
            for name, ranking in rankings(retriever).items():
                if arguments.only in name:
                    started = time.perf_counter()
                    ranked = [ranking(one.question) for one in asked]
                    each = 1000 * (time.perf_counter() - started) / len(asked)
                    recalls[name] = np.array([[one.score(found, k) for k in collection.ks]
                                              for one, found in zip(asked, ranked, strict=True)])
                    table.add_row(f"{collection.kb} ({len(asked)})", name, "/".join(map(str, collection.ks)),
                                  " / ".join(f"{100 * mean:.1f}" for mean in recalls[name].mean(0)), f"{each:.0f}")
            if arguments.failed:
                others = np.max([found for name, found in recalls.items() if not name.startswith("fused")], axis=0)
                for one, fused, other in zip(asked, recalls["fused"], others, strict=True):
                    if (fused < other).any():
                        console.print(collection.kb, one.question, fused, other)
    console.print(table)


if __name__ == "__main__":
    main()
