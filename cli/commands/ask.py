"""`banyan ask`, `banyan chat` and `banyan search`: answers and passages from a knowledge base."""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, cast

import typer
from rich.markup import escape

from ...agents.resources import Resources
from ...agents.retrieval.graph import build_graph
from ...agents.retrieval.state import AskContext
from ...runtime.threads import iterate
from ...schemas.inquiry import TraceStep
from ...schemas.retrieval import Mode
from ...subagent.tool import search as find_passages
from ..console import err, on_a_line, out, print_json
from ..session import AsJson, Documents, Kbs, Where, open_resources, where_of

app = typer.Typer()
_LONGEST_LINE = 100  # columns of a printed answer, on a wide terminal
_GRADES = {"inferred": "[yellow]Inferred: the documents do not state every link of this answer.[/yellow]",
           "found": "[dim]Found: passages that may hold the answer.[/dim]"}
_OUTPUT_KEYS = ["answer", "abstained", "short", "confidence", "grade", "citations", "sub_queries", "iterations"]
_WITHDRAWN = "[yellow]The lines above are withdrawn; the answer follows.[/yellow]"


@app.command()
def ask(question: str, kb: Kbs, mode: Mode = "reject", *, documents: Documents = None,  # noqa: PLR0913  (its options)
        where: Where = None, no_agent: bool = False, no_decompose: bool = False, instructions: str = "",
        trace: bool = False, as_json: AsJson = False) -> None:
    """Answer a question from one or more knowledge bases, with citations, or abstain."""
    with open_resources() as resources:
        context = AskContext(mode=mode, agent=not no_agent, decompose=not no_decompose, trace=trace,
                             instructions=instructions, documents=tuple(documents or ()), where=where_of(where))
        answer, printed = _ask(resources, ",".join(kb), context, [("user", question)],
                               shows_claims=out.is_terminal and not (as_json or trace))
        if as_json:
            del answer["short"]  # the keys of the report are fixed
            print_json(answer)
            return
        for step in answer.get("trace", ()):
            for line in _step_lines(TraceStep(**step)):
                out.print(line, soft_wrap=True)
        _print_answer(answer, printed)


@app.command()
def chat(kb: Kbs, mode: Mode = "reject", *, documents: Documents = None, where: Where = None,
         instructions: str = "") -> None:
    """Ask one question after another, including follow-ups. End with an empty line, Ctrl-C or Ctrl-D."""
    messages: list[tuple[str, str]] = []
    context = AskContext(mode=mode, instructions=instructions, documents=tuple(documents or ()), where=where_of(where))
    with open_resources() as resources:
        err.print("[dim]An empty line ends the conversation.[/dim]")
        while True:
            try:
                question = out.input("[bold]> [/bold]").strip()
            except (EOFError, KeyboardInterrupt):
                out.print()
                return
            if not question:
                return
            answer, printed = _ask(resources, ",".join(kb), context, [*messages, ("user", question)],
                                   shows_claims=out.is_terminal)
            messages += [("user", question), ("assistant", answer["answer"])]
            _print_answer(answer, printed)


@app.command()
def search(query: str, kb: Kbs, k: Annotated[int, typer.Option("-k", min=1, max=100)] = 5, *,
           documents: Documents = None, where: Where = None, as_json: AsJson = False) -> None:
    """List the passages that are most relevant to a query, best first, without calling a model."""
    context = AskContext(documents=tuple(documents or ()), where=where_of(where))
    with open_resources(uses_model=False) as resources:
        passages = find_passages(resources, ",".join(kb), query, k, context)
    if as_json:
        print_json({"passages": [passage.model_dump() for passage in passages]})
        return
    if not passages:
        out.print("no passage fits")
    for number, passage in enumerate(passages, 1):
        out.say("{}. [bold]{} {}-{}[/bold] [dim]{}, score {}[/dim]", number, passage.document, passage.start,
                passage.end, passage.title, f"{passage.score:.3f}")
        out.print(f"{escape(passage.text.strip())}\n", width=_answer_width())


def _ask(resources: Resources, kb: str, context: AskContext, messages: list[tuple[str, str]], *,
         shows_claims: bool) -> tuple[dict[str, Any], list[str]]:
    """Ask a question, with the current step shown on the terminal; return the answer, and its lines already printed."""
    # With `shows_claims`, each line of the answer is printed as soon as its quotes are checked.
    answer: dict[str, Any] = {}
    printed: list[str] = []
    output_keys = [*_OUTPUT_KEYS, "trace"] if context.trace else _OUTPUT_KEYS
    graph, graph_input = build_graph(resources), cast("Any", {"knowledge_base": kb, "messages": messages})
    with err.status("thinking") as status:
        for kind, event in iterate(lambda: graph.astream(graph_input, context=context, output_keys=output_keys,
                                                         stream_mode=["custom", "values"])):
            progress = cast("dict[str, Any]", event)
            if kind == "values":
                answer = progress  # a state of the graph; the last one has the answer
            elif progress["step"] not in {"claim", "withdrawn"}:
                line = f"{progress['step']}: {'; '.join(progress['found'])}"
                status.update(on_a_line(line[:err.width - 4]))  # beside the spinner
            elif shows_claims:
                status.stop()  # otherwise the status line would be drawn into the printed text
                if progress["step"] == "withdrawn":
                    out.print(_WITHDRAWN)
                    printed = []
                else:
                    (line,) = progress["found"]
                    out.print(escape(line), width=_answer_width())
                    printed.append(line)
    return answer, printed


def _print_answer(answer: dict[str, Any], printed: Sequence[str]) -> None:
    """Print an answer without the lines that are `printed` already, and then its citations."""
    lines = answer["answer"].split("\n")
    if lines[:len(printed)] == list(printed):
        lines = lines[len(printed):]
    else:  # a document was changed or deleted meanwhile, so the final answer differs from the printed lines
        out.print(_WITHDRAWN)
    if lines:
        text, short = escape("\n".join(lines)), escape(answer["short"])
        if short and out.is_terminal:  # the short answer stands out where the text has its words
            text = text.replace(short, f"[bold]{short}[/bold]")
        out.print(text, width=_answer_width())
    if answer["grade"] in _GRADES:
        out.print(_GRADES[answer["grade"]])
    # A line of the answer may be the quote itself, which is not repeated then: “...” — document [1].
    quoted_ids = set(re.findall(r"^“[^\n]*”(?: — [^“”\n]*)? \[(\d+)\]$", answer["answer"], re.MULTILINE))
    for cited in answer["citations"]:
        page = f", page {cited['page']}" if cited["page"] else ""
        place = f"{on_a_line(cited['document'])}{page} {cited['start']}-{cited['end']}"
        quote = "" if str(cited["id"]) in quoted_ids else f": {on_a_line(' '.join(cited['quote'].split()))}"
        out.print(f"  [dim]\\[{cited['id']}] {place}[/dim]{quote}", width=_answer_width())


def _answer_width() -> int:
    """Return the width of printed answers: at most 100 columns on a terminal, where longer lines are hard to read."""
    return min(out.width, _LONGEST_LINE) if out.is_terminal else out.width


def _step_lines(step: TraceStep) -> Iterator[str]:
    """Yield the lines of a trace's step as markup: its name and text, what it found, and what is missing."""
    result = f" [dim]{step.total} found[/dim]" if step.step in {"first_look", "search"} else ""
    if step.step == "answer":
        result = f" [dim]{step.grade or 'none'}[/dim]"
    yield f"[bold]{step.step.replace('_', ' ')}[/bold] {on_a_line(step.text)}".rstrip() + result
    for item in step.found:
        # Its documents, without those that its text names already.
        unnamed = ", ".join(document for document in item.documents if document not in item.text)
        yield f"    {on_a_line(item.text)}" + (f" [dim]\\[{on_a_line(unnamed)}][/dim]" if unnamed else "")
    if step.total > len(step.found) > 0:  # the trace has only the first findings
        yield "    [dim]…[/dim]"
    yield from (f"  [yellow]{on_a_line(note)}[/yellow]" for note in step.notes)
