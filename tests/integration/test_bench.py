"""`banyan bench` over the protocol server: right answers, wrong ones, and killed in the middle."""

import json
from pathlib import Path
from typing import Any

import pytest
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.evaluation.bench.arms import chosen_arms
from banyan.evaluation.bench.bench_report import make_report
from banyan.evaluation.bench.published_datasets import load_dataset
from banyan.evaluation.bench.results import Results
from banyan.evaluation.bench.running import Plan, identity, run

from .. import bench_brain, bench_files, command_line, llm_server, warm_start
from .. import hashed_embedding as hashed

pytestmark = pytest.mark.integration

ARMS = "full,zero-shot,naive-both,agentic-text"


def measured(folder: Path, name: str, *, right: bool) -> Any:
    """The report of a dataset whose questions are answered as scripted; a second one finds the knowledge base built."""
    dataset = load_dataset(name, folder / "data")
    with llm_server.LlmServer(bench_brain.bench_brain(dataset.questions, right=right)) as server:
        settings = Settings(home=folder / "home", llm_base_url=server.base_url, llm_model="scripted", llm_retries=0,
                            llm_model_answer=str(right), llm_model_decompose=str(right), llm_model_reflect=str(right),
                            context_passages=10, _env_file=None)
        with Resources(settings, hashed.HashedEmbedder()) as resources:
            plan = Plan(arms=chosen_arms(ARMS, with_llm=True), judge="another")
            this_run = identity(resources, dataset, plan)
            with Results(folder / str(right), this_run) as results:
                done = run(resources, dataset, plan, results)
                report = make_report(dataset, this_run, results, {arm.name: arm.about for arm in plan.arms},
                                     judge="another", bases=done.bases, failures=done.failures)
    assert {request["model"] for request in server.requests
            if '"correct":' in request["messages"][0]["content"]} <= {"another"}
    return report


@pytest.mark.parametrize("name", ["anonyrag", "gbench", "multihop-rag"])
def test_gold_answers_are_all_right_and_others_all_wrong(tmp_path, name):
    bench_files.DATASETS[name](tmp_path / "data")
    for right in (True, False):
        report = measured(tmp_path, name, right=right)
        assert report.complete
        assert {row.arm: row.accuracy.value for row in report.rows} == dict.fromkeys(ARMS.split(","), 100.0 * right)
        assert {row.null_declined for row in report.rows if row.null_questions} <= {100.0}
        if name == "anonyrag":
            assert {row.pairs["f1"] for row in report.rows} == {100.0 * right}


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
