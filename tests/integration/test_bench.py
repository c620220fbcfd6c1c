"""`banyan bench` over the protocol server, killed in the middle; `banyan anonymise` there and back to the byte."""

import json
from pathlib import Path
from typing import Any

import pytest
from banyan.evaluation.bench.published_datasets import load_dataset

from .. import bench_brain, bench_files, command_line, llm_server, warm_start

pytestmark = pytest.mark.integration

ARMS = "full,zero-shot,naive-both,agentic-text"


def test_stopped_and_killed_in_the_middle_and_run_again_the_report_is_the_same_and_nothing_is_paid_twice(tmp_path):
    bench_files.DATASETS["gbench"](tmp_path / "data")
    brain = bench_brain.bench_brain(load_dataset("gbench", tmp_path / "data").questions)
    running: list[Any] = []
    kills: set[int] = set()

    def script(request: dict[str, Any]) -> Any:
        if len(running) and len(server.requests) in kills:
            running[-1].kill()
            return llm_server.Fault("reset")
        return brain(request)

    with llm_server.LlmServer(script) as server:
        def bench(folder: Path) -> Any:
            banyan = command_line.CommandLine(folder, (
                ("BANYAN_LLM_BASE_URL", server.base_url), ("BANYAN_LLM_MODEL", "scripted"), (warm_start.HASHED, "1"),
                ("BANYAN_LLM_CONCURRENCY", "1"), ("BANYAN_LLM_RETRIES", "0")))
            return banyan, ("bench", "gbench", "--data", tmp_path / "data", "-o", folder / "report", "--arms", ARMS)

        (tmp_path / "once").mkdir()
        banyan, arguments = bench(tmp_path / "once")
        estimated = banyan(*arguments, "--dry-run", "--json").json
        assert not server.requests, "a dry run asks nothing"
        first = banyan(*arguments, "--json").json
        whole = len(server.requests)
        kills |= {whole // 3, whole * 3 // 4}
        server.requests.clear()
        (tmp_path / "killed").mkdir()
        banyan, arguments = bench(tmp_path / "killed")
        stopped = banyan(*arguments, "--max-tokens", "400", "--json")
        assert (stopped.code, stopped.report["complete"], len(server.requests)) == (1, False, 1)
        assert "the token budget is reached" in stopped.err
        for _ in kills:
            with warm_start.WarmProcess(
                    [warm_start.BANYAN, *map(str, arguments)], cwd=banyan.folder,
                    env=command_line.clean_environment(BANYAN_HOME=str(banyan.folder / "home"),
                                                       **dict(banyan.settings))) as process:
                running.append(process)
                assert process.wait(120) == -9
        running.clear()
        last = banyan(*arguments, "--json").json
        asked = len(server.requests)
        again = banyan(*arguments, "--json").json
    assert whole <= estimated["calls"] <= 6 * whole, "an agent may make 16 calls"
    assert estimated["tokens"] > sum(row["prompt_tokens"] for row in first["rows"])
    assert comparable(first) == comparable(last) == comparable(again)
    assert len({json.dumps(request["messages"]) for request in server.requests}) == whole
    assert asked == len(server.requests) == whole + len(kills), "only what was in flight was asked again"
    assert (tmp_path / "killed" / "report" / "report.md").is_file()


def comparable(report: Any) -> Any:
    """A report without what depends on the clock."""
    if isinstance(report, dict):
        return {key: comparable(value) for key, value in report.items() if key != "seconds"}
    return [comparable(item) for item in report] if isinstance(report, list) else report


def test_there_and_back(tmp_path):
    texts = tmp_path / "texts"
    texts.mkdir()
    for name in ("marie-curie", "pierre-curie", "warsaw", "irene-joliot-curie"):
        (texts / f"{name}.md").write_bytes((command_line.EXAMPLES / "en" / f"{name}.md").read_bytes())
    (texts / "crlf.txt").write_bytes(b"Marie Curie lived.\r\nShe met [PERSON#9].\r\n")
    (tmp_path / "own.json").write_text(json.dumps([
        {"question": "Where was Marie Curie born?", "answer": "PERSON#0——in Warsaw"}]), "utf-8")
    banyan = command_line.CommandLine(tmp_path, ((warm_start.HASHED, "1"),))
    said = banyan("anonymise", texts, "-o", "out", "--key", "key.json", "--questions", "own.json", "--json").json
    key = json.loads((tmp_path / "key.json").read_text("utf-8"))
    assert said == {"texts": 5, "ids": len(key["entities"]), "places": sum(map(len, key["places"].values())),
                    "tasks": said["tasks"], "leaks": 0}
    assert "Curie" not in "".join(path.read_text("utf-8") for path in (tmp_path / "out").glob("*.md"))
    dataset = load_dataset("anonyrag", tmp_path / "out")
    assert len(dataset.documents) == 5
    assert "[PERSON#" in dataset.questions[0].question
    assert {question.kind for question in dataset.questions} >= {"reversion"}

    back = banyan("anonymise", *sorted((tmp_path / "out").glob("*.md")), tmp_path / "out" / "crlf.txt", "--revert",
                  "--key", "key.json", "-o", "again")
    assert back.code == 0, back.err
    for path in texts.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
    refused = banyan("anonymise", texts, "-o", "out", "--key", "out/key.json")
    assert refused.code == 1
    assert "name another place (--key)" in refused.err
