"""The command line's own shape: every command is found, described once, imported if chosen, and ended by Ctrl-C.

What `build` and `status` print of what was not read, and how limits are divided among workers.
"""

import json
import pickle
import shlex

import pytest
import typer.main
from banyan.cli import main as cli
from banyan.cli import start
from banyan.cli.commands.serve import divide_limits
from banyan.cli.console import CommandError
from banyan.cli.main import EXAMPLES
from banyan.config import Settings
from banyan.graph_store.layout import Layout

from ... import scripted
from ...small_base import copied


@pytest.fixture
def two(shell):
    shell.copy_built({"a.txt": "Ada:Person --employer--> Acme:Organization."})
    copied(Layout.by(shell.settings, "kb"), Layout.by(shell.settings, "other"))
    return shell


def _every_command():
    for name in typer.main.get_command(cli.app).list_commands(None):
        found = cli.command(name)
        yield name, found
        yield from ((f"{name} {part}", of_group) for part, of_group in getattr(found, "commands", {}).items())


def test_every_option_has_help_and_no_flag_a_negative_form():
    for name, command in _every_command():
        for parameter in command.params:
            assert parameter.help, (name, parameter.name)
            assert not parameter.secondary_opts, (name, parameter.name)


def test_every_command_has_examples_that_it_takes(monkeypatch):
    commands = dict(_every_command())
    assert set(EXAMPLES) == {*commands, "banyan"}
    monkeypatch.setenv("BANYAN_KB", "papers")
    for name, examples in EXAMPLES.items():
        for example in examples:
            program, *words = shlex.split(example)
            assert program == "banyan"
            called = max((known for known in commands if words[:len(known.split())] == known.split()), key=len)
            assert name == "banyan" or called.startswith(name), example
            commands[called].make_context(called, words[len(called.split()):])  # raises what a wrong one does


def test_a_command_that_names_no_knowledge_base_means_the_only_one_or_the_one_that_is_set(two, monkeypatch):
    assert "There are kb, other: name one with --kb" in two("status").err
    monkeypatch.setenv("BANYAN_KB", "other")
    assert json.loads(two("status", "--json").out)["kb"] == "other"
    assert json.loads(two("build", two.documents, "--json").out)["kb"] == "other"
    monkeypatch.delenv("BANYAN_KB")
    assert two("drop", "other", "--yes").code == 0
    assert json.loads(two("status", "--json").out)["kb"] == "kb"
    assert two("entities").code == 0
    assert "Name it with --kb" in two("build", two.documents).err, "a name that is not known is not to be guessed"
    assert two("drop", "kb", "--yes").code == 0
    assert "make one with `banyan build PATH --kb NAME`" in two("status").err


def test_a_build_and_an_answer_have_the_fields_that_scripts_read(shell):
    report = json.loads(shell.run_build(*shell.write(scripted.TEXTS)).out)
    assert set(report) >= {"kb", "documents", "chunks", "chunks_failed", "entities", "triples", "attributes",
                           "communities", "schema_version", "rejected", "tokens", "seconds"}
    answer = json.loads(shell("ask", "Who employs Ada?", "--kb", "kb", "--json").out)
    assert set(answer) == {"answer", "abstained", "confidence", "grade", "citations", "sub_queries", "iterations"}


def test_knowledge_bases_are_listed_renamed_and_dropped(two, monkeypatch):
    listed = json.loads(two("list", "--json").out)
    assert listed == [{"kb": name, "documents": 1, "chunks": 1, "problem": ""} for name in ("kb", "other")]
    facts = two("export", "--kb", "kb", "--format", "graphml", "-o", "-").out
    assert two("rename", "kb", "new").code == 0
    assert two.kbs() == ["new", "other"]
    assert two("export", "--kb", "new", "--format", "graphml", "-o", "-").out.replace(">new<", ">kb<") == facts
    assert "already" in two("rename", "new", "other").err
    assert "add --yes" in two("drop", "new").err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda text, *, abort: asked.append((text, abort)))
    asked = []
    assert two("drop", "new").code == 0
    assert "Delete new and everything stored in it?" in asked[0][0]
    assert two.kbs() == ["other"]
    assert "there is no knowledge base 'new'" in two("drop", "new", "--yes").err


def interrupt(*_):
    raise KeyboardInterrupt


def test_ctrl_c_while_loading_ends_the_program_without_a_traceback(monkeypatch, capsys):
    monkeypatch.setattr(cli, "main", interrupt)
    with pytest.raises(SystemExit) as ended:
        start.main()
    assert ended.value.code == 130
    assert capsys.readouterr() == ("", "")


def test_limits_are_divided_and_what_has_none_stays_so(tmp_path):
    settings = Settings(home=tmp_path, llm_concurrency=32, llm_requests_per_second=1, requests_per_minute=100,
                        llm_api_key="secret", _env_file=None)
    part = pickle.loads(pickle.dumps(divide_limits(settings, 3)))  # as it is sent to a worker
    assert (part.llm_concurrency, part.requests_per_minute) == (10, 33)
    assert part.llm_requests_per_second == pytest.approx(1 / 3)
    assert part.asks_at_once is part.llm_tokens_per_minute is None
    assert (part.builds_at_once, part.llm_api_key.get_secret_value()) == (settings.builds_at_once, "secret")
    with pytest.raises(CommandError, match="BANYAN_LLM_CONCURRENCY is 32, which cannot be divided among 33 workers"):
        divide_limits(settings, 33)


def test_documents_are_ranked_and_the_ranks_listed(shell):
    shell.copy_built({"wiki-a.txt": "Ada:Person", "b.txt": "Ben:Person"})
    assert "edit 1: trust wiki-* by rank -1" in shell("documents", "--kb", "kb", "--trust", "wiki-*", -1).out
    assert "edit 2: b.txt supersedes wiki-a.txt" in shell(
        "documents", "--kb", "kb", "--supersedes", "b.txt", "wiki-a.txt").out
    listed = json.loads(shell("documents", "--kb", "kb", "--json").out)
    assert {entry["id"]: entry["trust"] for entry in listed} == {"b.txt": 0, "wiki-a.txt": -1}
    assert "trust wiki-* by rank -1" in shell("entities", "decisions", "--kb", "kb").out


FACT = "Ada:Person --employer--> Acme:Organization."


def test_parts_that_were_not_read_are_listed_by_build_and_status(shell):
    shell.write({f"{number:02}.rtf": rf"{{\rtf1 {FACT}{{\pict 00}}{{\footnote no}}}}" for number in range(22)})
    built = shell("build", shell.documents, "--kb", "kb", "--schema", "open")
    assert built.code == 0
    assert "partly read: 00.rtf: 1 picture, 1 footnote" in built.err
    assert built.err.count("partly read:") == 10
    assert "12 more partly read" in built.err
    status = " ".join(shell("status", "--kb", "kb").out.split())
    assert "22, in 22 chunks, 22 documents read in part" in status
    assert "partly read: 00.rtf: 1 picture, 1 footnote" in status


def test_a_moved_file_is_offered_with_the_command_that_deletes_its_old_document(shell):
    shell.write({"old plan.txt": FACT})
    assert shell("build", shell.documents, "--kb", "kb", "--schema", "open").code == 0
    (shell.documents / "old plan.txt").rename(shell.documents / "plan.txt")
    built = shell("build", shell.documents, "--kb", "kb")
    assert "moved: old plan.txt -> plan.txt" in built.err
    assert "banyan delete 'old plan.txt' --kb kb" in built.err
    assert shell("delete", "old plan.txt", "--kb", "kb").code == 0


def test_a_build_without_paths_repeats_what_failed_and_creates_nothing(shell):
    shell.monkeypatch.setenv("BANYAN_KB", "kb")
    for words in (["build"], ["build", "--kb", "kb"]):
        assert "name files or folders to read" in shell(*words).err
    assert shell("build", "--kb", "nothing", "--retry-failed").code == 1
    assert shell.kbs() == []
    shell.copy_built()
    assert shell("build", "--kb", "kb", "--retry-failed").code == 0


TEXTS = {"polonium.txt": "Marie Curie discovered polonium in Paris.\n", "rivers.txt": "Warsaw lies on the Vistula.\n"}


def test_passages_are_listed_with_place_words_and_score_best_first(shell):
    shell.copy_built(TEXTS)
    result = shell("search", "Who discovered polonium?", "--kb", "kb", "-k", "2", "--json")
    passages = json.loads(result.out)["passages"]
    assert [set(passage) for passage in passages] == [
        {"document", "title", "start", "end", "text", "score"}] * len(passages)
    best = passages[0]
    assert (best["document"], TEXTS["polonium.txt"][best["start"]:best["end"]]) == ("polonium.txt", best["text"])
    assert [passage["score"] for passage in passages] == sorted((one["score"] for one in passages), reverse=True)
    printed = shell("search", "polonium", "--kb", "kb", "-k", "1").out
    assert printed.startswith(f"1. polonium.txt {best['start']}-{best['end']}")
    assert "Marie Curie discovered polonium in Paris." in printed
