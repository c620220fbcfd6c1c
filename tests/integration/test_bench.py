"""`banyan bench` over the protocol server: right answers, wrong ones, and killed in the middle."""

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
    assert (tmp_path / "killed" / "report" / "report.html").is_file()


def comparable(report: Any) -> Any:
    """A report without what depends on the clock."""
    if isinstance(report, dict):
        return {key: comparable(value) for key, value in report.items() if key != "seconds"}
    return [comparable(item) for item in report] if isinstance(report, list) else report
