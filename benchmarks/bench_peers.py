"""Run LightRAG, GraphRAG and HippoRAG as arms of a benchmark (`peer_arms.py`), end to end over the protocol server.

`python benchmarks/bench_peers.py --data FOLDER [--lightrag PYTHON] [--graphrag PYTHON] [--hipporag PYTHON]`: FOLDER
has MuSiQue-train-100 with its recorded triples, of which a few documents are used. The server answers extractions with
these triples in the system's form, and questions with their gold answers, so every arm's accuracy must be 100 %.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.append(str(HERE.parent))

import llm_peer_graphrag  # noqa: E402
import llm_peer_lightrag  # noqa: E402
import recorded_brain  # noqa: E402

from tests import llm_server  # noqa: E402

Json = dict[str, Any]


def dataset(data: Path, folder: Path, documents: int) -> dict[str, str]:
    """Write a dataset of some passages, gold ones first, and return its questions' answers."""
    records = json.loads((data / "musique_train.json").read_text("utf-8"))
    passages: dict[tuple[str, str], None] = {}
    asked: list[Json] = []
    for record in records:
        gold = [(one["title"], one["paragraph_text"]) for one in record["paragraphs"] if one["is_supporting"]]
        if len(passages | dict.fromkeys(gold)) <= documents // 2:
            passages |= dict.fromkeys(gold)
            asked.append(record)
    for one in json.loads((data / "musique_train_corpus.json").read_text("utf-8")):
        if len(passages) < documents:
            passages[one["title"], one["text"]] = None
    folder.mkdir()
    (folder / "musique.json").write_text(json.dumps(asked), "utf-8")
    (folder / "musique_corpus.json").write_text(json.dumps(
        [{"title": title, "text": text} for title, text in passages]), "utf-8")
    return {record["question"]: record["answer"] for record in asked}


def script(recorded: Path, answers: dict[str, str]) -> Callable[[Json], str]:
    """Return a script that answers each system's build as recorded and every question by its gold answer."""
    lightrag, graphrag = llm_peer_lightrag.script(recorded), llm_peer_graphrag.script(recorded)
    banyan, known = llm_server.scripted_brain(), recorded_brain.Recorded(recorded)

    def reply(request: Json) -> str:
        text = "\n".join(message["content"] for message in request["messages"])
        question = next((one for one in answers if one in text), "")
        if "Reply with this JSON object only:" in text or "Reply with JSON only, in rows" in text:
            return _banyan(text, answers.get(question, "")) or str(banyan(request))
        if "high_level_keywords" in text:
            return json.dumps({"high_level_keywords": ["people"], "low_level_keywords": question.split()[-3:]})
        if said := _hipporag(request["messages"], known):
            return said
        if question:
            return answers[question]
        ours = llm_peer_lightrag.step_of(request) != "summarise"
        return lightrag(request) if ours else graphrag(request)

    return reply


def _hipporag(messages: list[Json], known: recorded_brain.Recorded) -> str:
    """Answer HippoRAG by a passage's recorded entities or triples, or by all facts to filter; "" for other steps."""
    first, last = messages[0]["content"], messages[-1]["content"]
    passages = [passage for _, passage in known.find(last)]
    if first.startswith("Your task is to extract named entities"):
        return json.dumps({"named_entities": [one["name"] for passage in passages for one in passage.entities("")]})
    if first.startswith("Your task is to construct an RDF"):
        return json.dumps({"triples": [[one["head"], one["relation"], one["tail"]]
                                       for passage in passages for one in passage.triples()]})
    if "[[ ## fact_before_filter ## ]]" in last:
        facts = last.partition("[[ ## fact_before_filter ## ]]\n")[2].partition("\n\nRespond with")[0]
        return f"[[ ## fact_after_filter ## ]]\n{facts}\n\n[[ ## completed ## ]]"
    return ""


def _banyan(text: str, answer: str) -> str:
    """Answer Banyan by the gold answer, or its judge by a verdict; "" for other steps."""
    if '"correct":' in text:
        return json.dumps({"reason": "", "correct": answer.lower() in text.partition("Prediction:")[2].lower()})
    if '"answerable":' in text:
        return json.dumps({"thought": "", "answerable": True, "short": answer, "confidence": 0.9,
                           "claims": [{"text": answer, "quotes": []}]})
    return ""


def main() -> None:
    """Run the command, and print its answers' table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--lightrag")
    parser.add_argument("--graphrag")
    parser.add_argument("--hipporag")
    arguments = parser.parse_args()
    peers = [f"--peer={name}={python} {HERE / 'peers' / f'ask_{name}.py'}"
             for name in ("lightrag", "graphrag", "hipporag") if (python := getattr(arguments, name))]
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        answers = dataset(arguments.data, base / "data", arguments.documents)
        (recorded,) = arguments.data.glob("openie_*.json")
        with llm_server.LlmServer(script(recorded, answers)) as server:
            done = subprocess.run(
                [sys.executable, HERE / "peer_arms.py", "musique", "--data", base / "data", "-o",
                 base / "report", "--mode", "open", "--arms", "full,zero-shot", *peers], check=False,
                env={**os.environ, "BANYAN_HOME": str(base / "home"), "BANYAN_LLM_BASE_URL": server.base_url,
                     "BANYAN_LLM_MODEL": "recorded"})
            sys.stdout.write(f"\n{server.stats.requests} requests\n")
        report = base / "report" / "report.md"
        if report.is_file():
            sys.stdout.write(report.read_text("utf-8"))
        raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()
