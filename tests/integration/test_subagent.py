"""Banyan in larger agents: deepagents, and the examples, those of other servers against a real one."""

import asyncio
import json
import sys
from typing import Any

import banyan
import pytest
from banyan.cli import main
from banyan.schemas.retrieval import StructuredAnswer
from deepagents import create_deep_agent
from langchain_core.messages import ToolMessage
from langchain_openai import ChatOpenAI

from .. import command_line, langgraph_server, llm_server, warm_start

pytestmark = pytest.mark.integration


AGENTS = command_line.EXAMPLES / "agents"
QUESTION = "Where was Ada Byron born?"


def agent_model(name: str, **arguments: str):
    """The script of a calling agent's model: asked, it calls a tool; told what the tool says, it repeats that.

    What Banyan itself asks of a model is answered as ever.
    """
    def said(body: dict[str, Any]):
        if name not in {tool["function"]["name"] for tool in body.get("tools", ())}:
            return llm_server.brain.reply(body)
        last = body["messages"][-1]
        if last["role"] == "tool":
            return llm_server.Turn(text=f"The documents say: {last['content']}")
        question = last["content"] if isinstance(last["content"], str) else last["content"][0]["text"]
        return llm_server.Turn(call=(name, {key: value.format(question=question) for key, value in arguments.items()}))
    return said


def model_of(server) -> ChatOpenAI:
    return ChatOpenAI(base_url=server.base_url, api_key="none", model="test")


@pytest.fixture(scope="module")
def folder(english_folder):
    return langgraph_server.project_in(english_folder)


@pytest.fixture(scope="module")
def url(folder):
    with langgraph_server.langgraph_dev(folder, folder / "server.log") as address:
        yield address


class TestDeepagents:
    @pytest.mark.parametrize("awaited", [False, True])
    def test_an_agent_delegates_and_gets_the_cited_answer(self, resources, awaited):
        documents = banyan.as_subagent("people", resources=resources, about="mathematicians")
        script = agent_model("task", description="{question}", subagent_type=documents["name"])
        with llm_server.LlmServer(script) as server:
            agent = create_deep_agent(model=model_of(server), subagents=[documents])
            given = {"messages": [("user", QUESTION)]}
            state = asyncio.run(agent.ainvoke(given)) if awaited else agent.invoke(given)
            offered = {tool["function"]["name"]: tool["function"] for tool in server.requests[0]["tools"]}
        assert f"- {documents['name']}: Answers a question from the documents about mathematicians" in (
            offered["task"]["description"])
        reply, final = state["messages"][-2:]
        assert isinstance(reply, ToolMessage)
        assert "Ulm" in final.text
        answer = StructuredAnswer.model_validate_json(reply.text)  # what deepagents makes of `structured_response`
        assert (answer.grade, answer.citations[0].document, answer.citations[0].start) == ("stated", "ada", 31)


class TestExamples:
    def run(self, folder, name, *arguments, **settings):
        done = warm_start.run(
            [sys.executable, str(AGENTS / f"{name}.py"), *arguments], cwd=folder, timeout=command_line.SECONDS,
            env=command_line.clean_environment(BANYAN_HOME=str(folder / "home"), **settings))
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    @pytest.mark.parametrize(("name", "arguments", "words"), [
        ("deepagents_parent", ["Where was Lise Meitner born?"], ["Vienna", '"document":"lise-meitner.md"']),
        ("retriever_chain", [], ["polonium.md, characters"]),
        pytest.param("planning_agent", ["Who was born in Vienna in 1878, the third of eight children?"],
                     ["Found in: ", "Vienna", "Sources:  \n[1] "], marks=pytest.mark.slow),
        pytest.param("supervisor", [], ["[1] marie-curie.md, characters", "Grade: stated"], marks=pytest.mark.slow)])
    def test_agents_that_need_no_server(self, folder, name, arguments, words):
        said = self.run(folder, name, *arguments)
        assert [word for word in words if word not in said.replace('": "', '":"')] == [], said

    @pytest.mark.parametrize(("name", "words"), [
        ("remote_graph", ["Found: Warsaw", "Found: Warsaw", "[1] marie-curie.md, characters"]),
        # Messages alone, as of Studio and Agent Chat UI; the year answers a follow-up.
        ("chat_messages", ["Warsaw", "1867", "[1] marie-curie.md, characters "]),
        ("a2a_client", ["\nenglish: Answers questions from the documents of the knowledge base 'english'", "Warsaw",
                        "Sources:  \n[1] marie-curie.md, characters "])])
    def test_clients_of_langgraphs_server(self, folder, url, name, words):
        said = "\n" + self.run(folder, name, url)
        assert [word for word in words if said.count(word) < words.count(word)] == [], said

    def test_a_plain_parent_with_a_chat_model(self, folder):
        with llm_server.LlmServer(agent_model("ask_english", question="{question}")) as server:
            said = self.run(folder, "langgraph_parent", "Where was Marie Curie born?",
                            BANYAN_LLM_BASE_URL=server.base_url)
        assert said.startswith("As a tool: The documents say: ")
        assert "Citations in the parent's state: ['" in said

    @pytest.mark.slow
    def test_deepagents_in_the_background(self, folder, url):
        said = json.loads(self.run(folder, "async_subagent", url))
        assert said["status"] == "success"
        assert "Warsaw" in said["result"]
        assert "Sources:  \n[1] marie-curie.md, " in said["result"]

    def test_mcp_in_an_editor(self):
        """The configuration that editors read is a command that there is, with tools that only read."""
        (server,) = json.loads((AGENTS / "editor_mcp.json").read_text("utf-8"))["mcpServers"].values()
        name, *options = server["args"]
        assert (server["command"], name) == ("banyan", "mcp")
        assert main.command(name).make_context(name, options).params["read_only"]

    @pytest.mark.slow
    def test_ag_ui(self, folder):
        """Its app in a process of its own, as it opens the environment's knowledge bases."""
        said = warm_start.run([sys.executable, "-c", AG_UI], cwd=AGENTS, timeout=command_line.SECONDS,
                              env=command_line.clean_environment(BANYAN_HOME=str(folder / "home")))
        assert said.returncode == 0, said.stderr[-4000:]
        events = [json.loads(line.removeprefix("data: ")) for line in said.stdout.splitlines() if line]
        kinds = [event["type"] for event in events]
        assert (kinds[0], kinds[-1]) == ("RUN_STARTED", "RUN_FINISHED")
        assert kinds.count("STEP_STARTED") == kinds.count("STEP_FINISHED") > 2
        (text,) = [event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"]
        assert "Warsaw" in text


AG_UI = """
import sys
sys.path.insert(0, ".")
from ag_ui_server import app
from starlette.testclient import TestClient
given = {"threadId": "t", "runId": "r", "messages": [{"role": "user", "content": "Where was Marie Curie born?"}]}
print(TestClient(app).post("/", json=given).text)
"""
