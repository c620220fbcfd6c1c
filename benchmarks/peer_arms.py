"""The papers' benchmarks (`benchmarks/papers`) with other systems as arms: programs in separate environments.

They get the same endpoint and embeddings.

`python benchmarks/peer_arms.py musique --data FOLDER -o REPORT --peer "lightrag=/envs/lightrag/bin/python
benchmarks/peers/ask_lightrag.py"`; the other options are those of `python -m benchmarks.papers
measure`. A report that it wrote in the folder with the same options gets further rows, and nothing in it is measured
again.

A program gets one argument, a JSON file with `documents` ({id, title, text}), `base_url`, `model`, `dimension` of the
embeddings, `folder` for its data, `top_k`, and `instruction`, which it adds to each question. It builds unless its
folder is built, and writes the JSON line `{"built": seconds}` to its output. Then it reads questions from its input,
one `{"id", "question"}` per line, writes `{"id", "answer"}` for each, and ends at the end of its input. It gets one
question at a time, so the endpoint's usage can be assigned to that question.
"""

import argparse
import json
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, get_args

from banyan.agents.resources import Resources
from banyan.benchmarks.papers.__main__ import finish, judge_of, measure
from banyan.benchmarks.papers.arm_answers import DEFAULT_ARMS, chosen_arms
from banyan.benchmarks.papers.dataset_files import BenchQuestion, Dataset, DatasetName
from banyan.benchmarks.papers.published_datasets import load_dataset
from banyan.benchmarks.papers.results import ArmOutcome, Base, Results
from banyan.benchmarks.papers.running import BenchError, Plan, Progressed, Watch, corpus_hash
from banyan.cli.console import explain_errors
from banyan.config import Settings
from banyan.evaluation.recall import DatasetError
from banyan.prompts.rendering import Language, text_language
from banyan.runtime.budgets import Budget
from banyan.schemas.retrieval import Mode

sys.path.insert(0, str(Path(__file__).parent))

from peer_endpoint import PeerEndpoint

_SHORT: dict[Language, str] = {"en": "Answer in the fewest words: a name, a date, a number, yes or no, the letter of a "
                                     "choice; a sentence only if it takes one.",
                               "zh": "用最少的字作答：名称、日期、数值、是或否、选项字母；确有必要才用整句。"}
_REJECT: dict[Language, str] = {"en": "If the information given does not answer the question, reply only: unanswerable",
                                "zh": "若所给信息不足以回答，只回复：无法回答"}
_OPEN: dict[Language, str] = {"en": "If the information given does not answer the question, use your own knowledge.",
                              "zh": "若所给信息不足以回答，可使用自身知识作答。"}
_DECLINED = ("unanswerable", "无法回答", "sorry, i'm not able to provide an answer")


@dataclass
class Peer:
    """A peer: its name in the table, and the command that starts its program."""

    name: str
    command: tuple[str, ...]
    about: str

    def ask(self, resources: Resources, dataset: Dataset, plan: Plan, results: Results, done: Progressed, *,
            budget: Budget | None = None, watch: Watch = lambda _: nullcontext(lambda *_: None)) -> None:
        """Answer the questions that have no outcome yet; see `ask_peer`."""
        ask_peer(self, resources, dataset, plan, results, done, budget=budget, watch=watch)


def peers_of(given: Sequence[str]) -> list[Peer]:
    """Parse peers from texts such as "lightrag=/envs/lightrag/bin/python benchmarks/peers/lightrag.py".

    Raises:
        DatasetError: a text has another form.
    """
    peers = []
    for text in given:
        name, _, command = text.partition("=")
        words = tuple(shlex.split(command))
        if not name.strip() or not words:
            raise DatasetError(f"--peer {text!r}: write NAME=PYTHON PROGRAM, as in "
                               "lightrag=/envs/lightrag/bin/python benchmarks/peers/lightrag.py")
        peers.append(Peer(name.strip(), words, f"peer: {Path(words[-1]).name}"))
    return peers


def ask_peer(peer: Peer, resources: Resources, dataset: Dataset, plan: Plan, results: Results, done: Progressed, *,
             budget: Budget | None = None, watch: Watch = lambda _: nullcontext(lambda *_: None)) -> None:
    """Ask a peer the questions that it has not answered yet.

    Args:
        peer: the program.
        resources: the endpoint, the embeddings and the home folder, which contains the peer's data.
        dataset: documents and questions.
        plan: how many passages it may read, and whether it may answer from its own knowledge.
        results: the store of its answers.
        done: receives failures and the build.
        budget: the budget; None means no limit.
        watch: opens a progress bar.

    Raises:
        BenchError: the program cannot be started, or ended before its last answer.
        BudgetExceeded: the budget is reached.
    """
    left = [question for question in dataset.questions if (peer.name, question.id) not in results.outcomes]
    if peer.name in results.bases:
        done.bases[peer.name] = results.bases[peer.name]
    if not left:
        return
    folder = resources.settings.home / "peers" / f"{peer.name}-{corpus_hash(dataset.documents)}"
    folder.mkdir(parents=True, exist_ok=True)
    with resources.standalone_calls() as calls, watch(peer.name) as progress:
        endpoint = PeerEndpoint(resources.settings, resources.embedder, calls, budget)
        with endpoint.serve() as url:
            job = folder / "job.json"
            fields = _job(resources, dataset, plan, text_language(left[0].question), folder, url)
            job.write_text(json.dumps(fields, ensure_ascii=False), "utf-8")
            _converse(peer, job, endpoint, left, results, done, lambda number: progress(number, len(left)),
                      len(dataset.documents))
    if budget:
        budget.check()


def _job(resources: Resources, dataset: Dataset, plan: Plan, language: Language, folder: Path, url: str,
         ) -> dict[str, object]:
    settings = resources.settings
    return {"documents": [document.model_dump(include={"id", "title", "text"}) for document in dataset.documents],
            "base_url": url, "model": settings.llm_model, "dimension": resources.embedder.dimension,
            "folder": str(folder), "top_k": plan.passages,
            "instruction": f"{_SHORT[language]} {(_REJECT if plan.mode == 'reject' else _OPEN)[language]}"}


def _converse(peer: Peer, job: Path, endpoint: PeerEndpoint, questions: Sequence[BenchQuestion], results: Results,
              done: Progressed, progress: Callable[[int], None], documents: int) -> None:
    """Start the program, ask it the questions one by one and store its answers."""
    log = job.with_name("log")
    with log.open("wb") as errors:
        try:
            process = subprocess.Popen([*peer.command, str(job)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=errors, text=True, encoding="utf-8")
        except OSError as error:
            raise BenchError(f"{peer.name} cannot be started ({error}): fix the command after --peer") from error
        answered = 0
        with suppress(BrokenPipeError), process:  # a program that ended reads no further question
            lines = iter(process.stdout or ())
            if reply := _find(lines, lambda line: "built" in line):
                done.bases[peer.name] = _base(peer, reply["built"], documents, endpoint, results)
                for question in questions:
                    started, spent = time.perf_counter(), _spent(endpoint)
                    asked = json.dumps({"id": question.id, "question": question.question})
                    print(asked, file=process.stdin, flush=True)
                    if not (reply := _find(lines, partial(_answers, question))):
                        break
                    results.add(outcome=_outcome(peer, question, reply, _spent(endpoint), spent,
                                                 time.perf_counter() - started))
                    answered += 1
                    progress(answered)
    if process.returncode or answered < len(questions):
        raise BenchError(f"{peer.name} answered {answered} of {len(questions)} questions and ended with "
                         f"{process.returncode}: see {log}")


def _answers(question: BenchQuestion, line: dict[str, Any]) -> bool:
    return line.get("id") == question.id and "answer" in line


def _find(lines: Iterator[str], wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return the next wanted line, or an empty dict; peers print other output too."""
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and wanted(value):
            return value
    return {}


def _spent(endpoint: PeerEndpoint) -> tuple[int, int, int]:
    return endpoint.usage.calls, endpoint.usage.prompt, endpoint.usage.completion


def _base(peer: Peer, seconds: float, documents: int, endpoint: PeerEndpoint, results: Results) -> Base:
    known = results.bases.get(peer.name)
    if known is not None:
        return known
    base = Base(name=peer.name, documents=documents, entities=0, triples=0, communities=0, seconds=round(seconds, 1),
                tokens={"build": endpoint.usage.prompt + endpoint.usage.completion})
    results.add(base=base)
    return base


def _outcome(peer: Peer, question: BenchQuestion, reply: dict[str, str], now: tuple[int, int, int],
             before: tuple[int, int, int], seconds: float) -> ArmOutcome:
    answer = str(reply["answer"]).strip()
    declined = not answer or answer.lower().startswith(_DECLINED)
    calls, prompt, completion = (one - other for one, other in zip(now, before, strict=True))
    return ArmOutcome(arm=peer.name, id=question.id, answer="" if declined else answer, declined=declined,
                      calls=calls, prompt_tokens=prompt, completion_tokens=completion, seconds=round(seconds, 4))


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", choices=get_args(DatasetName))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--peer", action="append", required=True, help="NAME=PYTHON PROGRAM; may be repeated")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--mode", choices=get_args(Mode), default="reject")
    parser.add_argument("--top-k", type=int, choices=(10, 20), default=20)
    parser.add_argument("--arms", default=DEFAULT_ARMS)
    parser.add_argument("--judge", default="")
    parser.add_argument("--schema", default="general")
    parser.add_argument("--max-tokens", type=int)
    asked = parser.parse_args()
    with explain_errors():
        dataset, settings = load_dataset(asked.dataset, asked.data, asked.limit), Settings()
        if not settings.llm_base_url:
            raise DatasetError("peers need a model to answer: set BANYAN_LLM_BASE_URL")
        plan = Plan(arms=chosen_arms(asked.arms, with_llm=True), mode=asked.mode, schema=asked.schema,
                    judge=judge_of(asked.judge, settings), max_tokens=asked.max_tokens, passages=asked.top_k,
                    peers=peers_of(asked.peer))
        with Resources(settings) as resources:
            report = measure(resources, dataset, plan, asked.output)
    finish(report, asked.output, as_json=False)


if __name__ == "__main__":
    main()
