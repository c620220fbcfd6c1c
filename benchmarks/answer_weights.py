"""The calibration of sentences as answers to English questions (models/rules/answering/evidence.py), made and checked.

Each question is asked of the passages nearest to it in words, with those that answer it and without; a sentence is
right if it holds the answer and stands in a gold document. None of the questions is of benchmarks/newcomer, which the
answers are measured on. Left out one set at a time, the others' calibration gives the reliability of what it never saw.

    python benchmarks/answer_weights.py --data ../shared/data
"""

import argparse
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from banyan.config import Settings
from banyan.evaluation.answer_scores import holds
from banyan.ingest.chunking import chunk_document
from banyan.ingest.loaders import load_documents
from banyan.models.embedding.embedder import Embedder, RememberingEmbedder
from banyan.models.embedding.loading import load_embedder
from banyan.models.parsing.parser import Parser
from banyan.models.rules.answering.evidence import SentencePool, Support
from banyan.models.rules.content_words import content_words, language_of
from banyan.schemas.retrieval import Passage
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LogisticRegression

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data"
_CONTEXT = 10
"""Passages that a question is asked of: about what a context of 3,000 tokens holds."""
_MOST = 90
"""Questions of a set."""
_UNANSWERABLE = 0.5
"""What a pool without an answer weighs: about half of these are, more than of what users ask."""
_BINS = 5


@dataclass(frozen=True)
class Asked:
    """A question, what answers it, and the documents that say so."""

    question: str
    answers: tuple[str, ...]
    gold: frozenset[str]


@dataclass(frozen=True)
class Pool:
    """The sentences found for a question, and which of them hold its answer."""

    supports: list[Support]
    right: list[bool]


def asked_of(path: Path, *, steps: bool) -> list[Asked]:
    """The questions of a file; of several steps each one, filled with the answers before it, where `steps`."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        record = json.loads(line)
        gold, parts = frozenset(record["gold"]), record.get("decomposition") or []
        if steps and len(parts) > 1:
            found += [Asked(question, (answer,), gold) for question, answer in _filled(parts)]
        else:
            found.append(Asked(record["question"], tuple(record["answers"]), gold))
    return found


def _filled(parts: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    answers = [part["answer"] for part in parts]
    for part in parts:
        yield re.sub(r"#(\d)", lambda match: answers[int(match[1]) - 1], part["question"]), part["answer"]


def folder_passages(*folders: Path) -> list[Passage]:
    """The chunks of the files in some folders."""
    settings = Settings()
    documents = load_documents(folders, on_failure=print)
    return [Passage(chunk_id=chunk.id, document=document.id, title=document.title,
                    text=document.text[chunk.start:chunk.end], start=chunk.start, score=0.0)
            for document in documents for chunk in chunk_document(
                document, max_tokens=settings.chunk_tokens, overlap_tokens=settings.chunk_overlap)]


def musique(folder: Path) -> tuple[list[Passage], list[Asked]]:
    """MuSiQue's passages, and the steps of its questions that are asked in words."""
    corpus = json.loads((folder / "musique_train_corpus.json").read_text("utf-8"))
    numbers = {(record["title"], record["text"]): str(number) for number, record in enumerate(corpus)}
    passages = [Passage(chunk_id=str(number), document=str(number), title=record["title"], text=record["text"],
                        start=0, score=0.0) for number, record in enumerate(corpus)]
    asked = []
    for record in json.loads((folder / "musique_train.json").read_text("utf-8")):
        parts = record["question_decomposition"]
        for part, (question, answer) in zip(parts, _filled(parts), strict=True):
            gold = record["paragraphs"][part["paragraph_support_idx"]]
            if ">>" not in question:
                asked.append(Asked(question, (answer,), frozenset({numbers[gold["title"], gold["paragraph_text"]]})))
    return passages, asked


def pools(asked: Sequence[Asked], passages: Sequence[Passage], embedder: Embedder, parser: Parser) -> list[Pool]:
    """Each English question's sentences, once with the passages that answer it and once without."""
    words = [Counter(content_words(f"{passage.title} {passage.text}")) for passage in passages]
    held = Counter(word for counted in words for word in counted)
    found = []
    for item in (item for item in asked[:: math.ceil(len(asked) / _MOST)] if language_of(item.question) == "en"):
        scores = [sum(math.log(1 + len(words) / held[word]) for word in set(content_words(item.question))
                      if word in counted) for counted in words]
        nearest = sorted(range(len(passages)), key=lambda i: -scores[i])[:_CONTEXT]
        gold = [i for i, passage in enumerate(passages) if passage.document in item.gold]
        contexts = [list(dict.fromkeys([*gold, *nearest]))[:_CONTEXT], [
            i for i in nearest if i not in gold and not holds(passages[i].text, item.answers)]]
        for numbers in contexts if item.answers else contexts[:1]:
            context = [passages[i].model_copy(update={"score": 1 + scores[i]}) for i in numbers]
            pool = SentencePool(context, embedder, parser)
            supports = pool.search(pool.analyse(item.question))
            found.append(Pool(supports, [
                context[support.sentence.passage].document in item.gold and holds(support.sentence.text, item.answers)
                for support in supports]))
    return found


def best(pool: Pool) -> tuple[float, bool]:
    """The logit of the likeliest sentence that is no row of a table, and whether it is right."""
    judged = [(support.logit, right) for support, right in zip(pool.supports, pool.right, strict=True)
              if support.sentence.row is None]
    return max(judged, default=(-9.0, False))


def fitted(given: Sequence[Pool]) -> tuple[float, float]:
    """Scale and bias that make probabilities of logits (Platt's)."""
    judged = [best(pool) for pool in given]
    weights = [1.0 if any(pool.right) else _UNANSWERABLE for pool in given]
    model = LogisticRegression(C=10).fit([[logit] for logit, _ in judged], [right for _, right in judged], weights)
    return float(model.coef_[0][0]), float(model.intercept_[0])


def curve(judged: Sequence[tuple[float, bool]]) -> list[str]:
    """The share of right ones where the probability is below .2, .4 ..., with their number."""
    shares = []
    for number in range(_BINS):
        inside = [right for probability, right in judged if int(min(probability, 0.999) * _BINS) == number]
        shares.append(f"{sum(inside) / len(inside):.2f} of {len(inside)}" if inside else "-")
    return shares


def main() -> None:
    """Print the calibration, and for each set how reliable that of the others is on it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with musique_train100")
    musique_passages, musique_steps = musique(parser.parse_args().data / "musique_train100")
    own, examples = ROOT / "benchmarks" / "questions", ROOT / "examples"
    read = partial(pools, embedder=RememberingEmbedder(load_embedder(Settings()), 20_000), parser=Parser())
    sets: dict[str, Callable[[], list[Pool]]] = {
        "offices": lambda: read(asked_of(own / "offices.jsonl", steps=False), folder_passages(own / "offices")),
        "examples": lambda: read(asked_of(examples / "questions.jsonl", steps=True),
                                 folder_passages(examples / "en", examples / "zh")),
        "multi_hop": lambda: read(asked_of(own / "multi_hop.jsonl", steps=True), musique_passages),
        "musique": lambda: read(musique_steps, musique_passages)}
    found = {name: make() for name, make in sets.items()}
    table = Table("left out", "pools", "right of those from .5", *(f"to {(n + 1) / _BINS:.1f}" for n in range(_BINS)))
    everything: list[tuple[float, bool]] = []
    for name, given in found.items():
        scale, bias = fitted([pool for other, pooled in found.items() if other != name for pool in pooled])
        judged = [(1 / (1 + math.exp(-scale * logit - bias)), right) for logit, right in map(best, given)]
        everything += judged
        table.add_row(name, str(len(given)), _sure(judged), *curve(judged))
    table.add_row("all", str(len(everything)), _sure(everything), *curve(everything))
    Console(width=150).print(table)
    scale, bias = fitted([pool for pooled in found.values() for pool in pooled])
    print(f"scale {scale:.2f}, bias {bias:.2f}")


def _sure(judged: Sequence[tuple[float, bool]]) -> str:
    above = [right for probability, right in judged if probability >= 0.5]
    return f"{sum(above)} of {len(above)}"


if __name__ == "__main__":
    main()
