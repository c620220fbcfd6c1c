"""`banyan ask` and `banyan chat`: answers from a knowledge base."""

from typing import Annotated, Any, Literal, cast

import typer

from ..agents.resources import Resources
from ..agents.retrieval.graph import build_graph
from ..agents.retrieval.state import AskContext
from .console import err, escape, on_a_line, out, print_json
from .session import AnswerMode, AsJson, Kb, NoAgent, opened
from .trace import print_trace

app = typer.Typer()


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    kb: Kb,
    mode: AnswerMode = "reject",
    *,
    no_agent: NoAgent = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show every step: sub-queries, what each route found and "
                                                        "how, the ranking, and what was missing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Answer a question from a knowledge base, with citations, or abstain."""
    with opened() as resources:
        answer = _ask(resources, kb, mode, [("user", question)], agent=not no_agent, trace=trace)
        if as_json:
            print_json(answer)
            return
        if trace:
            print_trace(out, answer["trace"])
        _print_answer(answer)


@app.command()
def chat(kb: Kb, mode: AnswerMode = "reject") -> None:
    """Ask one question after another; follow-ups are understood. End with an empty line or Ctrl-D."""
    messages: list[tuple[str, str]] = []
    with opened() as resources:
        while True:
            try:
                question = out.input("[bold]> [/bold]").strip()
            except EOFError:
                return
            if not question:
                return
            answer = _ask(resources, kb, mode, [*messages, ("user", question)], agent=True)
            messages += [("user", question), ("assistant", answer["answer"])]
            _print_answer(answer)


def _ask(resources: Resources, kb: str, mode: Literal["reject", "open"], messages: list[tuple[str, str]], *,
         agent: bool, trace: bool = False) -> dict[str, Any]:

    answer: dict[str, Any] = {}
    with err.status("thinking") as status:
        events = build_graph(resources).stream(
            cast("Any", {"knowledge_base": kb, "messages": messages}),
            context=AskContext(mode=mode, agent=agent, trace=trace), stream_mode=["custom", "values"],
            output_keys=["answer", "abstained", "confidence", "citations", "sub_queries", "iterations",
                         *(["trace"] if trace else [])])
        for kind, event in events:
            if kind == "custom":
                progress = cast("dict[str, Any]", event)
                status.update(on_a_line(f"{progress['step']}: {'; '.join(progress['found'])}"[:err.width - 4]))
            else:
                answer = cast("dict[str, Any]", event)
    return answer


def _print_answer(answer: dict[str, Any]) -> None:
    out.print(escape(answer["answer"]), style="dim" if answer["abstained"] else "")
    for citation in answer["citations"]:
        out.print(f"  [dim]\\[{citation['id']}] {on_a_line(citation['document'])} "
                   f"{citation['start']}-{citation['end']}:[/dim] {on_a_line(citation['quote'])}")
