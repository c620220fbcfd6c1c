"""Print the exact prompts of `reflect` and `answer` that an endpoint gets, for three kinds of question.

    python benchmarks/llm_prompts.py > prompts.txt

The English examples are built by the rules; a two-hop, a thematic and a whole-corpus question are sent over HTTP to
the tests' endpoint. Each prompt is preceded by its result: calls by step, tokens, citations checked. `--zh` asks
the Chinese examples likewise, `--kb NAME` asks an existing knowledge base the whole-corpus question. The context is
short, so facts are shown beside the passages.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from banyan.agents.construction.graph import build_graph as construction
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph as retrieval
from banyan.agents.retrieval.state import AskContext
from banyan.config import Settings
from banyan.schemas.references import reference
from banyan.text.tokens import estimate_tokens
from llm_world import KB, ROOT, llm_server

from llm_brain import reply, step  # isort: skip  (in the tests' folder, which llm_world adds)

TOKENS = 500
EVERY_ROUTE = ["entity", "triple", "community", "dfs"]
QUESTIONS = {
    "en": {"two-hop": ("On which river lies the city where Marie Curie was born?",
                       ("Where was Marie Curie born?", f"On which river lies {reference(1)}?")),
           "thematic": ("what kinds of discoveries changed how people understood matter?", ()),
           "whole corpus": ("What are the main themes of all documents?", ())},
    "zh": {"two-hop": ("发现青蒿素的人出生的城市位于哪个省？", ("谁发现了青蒿素？", f"{reference(1)}出生在哪座城市？")),
           "thematic": ("古代医书怎样启发了现代药物研究？", ()),
           "whole corpus": ("这些文档的主要主题是什么？", ())}}


def script(language: str) -> Any:
    """Return the tests' endpoint, with the intended decompositions of the three questions."""
    parts = dict(QUESTIONS[language].values())
    whole = QUESTIONS[language]["whole corpus"][0]

    def said(request: dict[str, Any]) -> str:
        if step(request) != "decomposition":
            return cited(request) if step(request) == "answer" else reply(request)
        question = next(one for one in parts if one in request["messages"][1]["content"])
        return json.dumps({"thought": "", "sub_queries": [
            {"question": one, "types": [], "relations": [], "attributes": [],
             "routes": ["community"] if question == whole else EVERY_ROUTE} for one in parts[question] or (question,)]})

    return said


def cited(request: dict[str, Any]) -> str:
    """Answer with a sound citation of the first item and one of the last by words that are not in it."""
    items = request["messages"][1]["content"].partition("</data>")[0].split("\n\n[")
    first = items[0].partition("[1] ")[2].split("\n")
    words = (first[1] if len(first) > 1 and not first[0].count(" | ") else first[0])[:60]
    return json.dumps({"thought": "", "answerable": True, "short": "", "confidence": 0.9, "claims": [
        {"text": f"From item {number}.", "quotes": [{"passage": number, "words": said}]}
        for number, said in ((1, words), (len(items), "words that stand nowhere"))]})


def main() -> None:
    """Build, ask and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zh", action="store_true", help="the Chinese examples")
    parser.add_argument("--kb", help="the whole-corpus question alone, of this base of BANYAN_HOME; no prompts")
    arguments = parser.parse_args()
    language, base = "zh" if arguments.zh else "en", arguments.kb or KB
    with tempfile.TemporaryDirectory() as folder, llm_server.LlmServer(script(language)) as server:
        home = Settings().home if arguments.kb else Path(folder)
        if not arguments.kb:
            with Resources(Settings(home=home, _env_file=None)) as resources:
                construction(resources).invoke({"knowledge_base": KB, "paths": [str(ROOT / "examples" / language)],
                                                "schema": "general"})
        settings = Settings(home=home, llm_base_url=server.base_url, llm_model="scripted", _env_file=None,
                            **({} if arguments.kb else {"context_tokens": TOKENS}))
        with Resources(settings) as resources:
            for kind, (question, _) in QUESTIONS[language].items():
                if not arguments.kb or kind == "whole corpus":
                    _ask(resources, server, kind, question, base, prompts=not arguments.kb)


def _ask(resources: Resources, server: Any, kind: str, question: str, base: str, *, prompts: bool) -> None:
    start = len(server.requests)
    said = retrieval(resources).invoke({"question": question}, context=AskContext(knowledge_base=base))
    requests = list(server.requests)[start:]
    tokens = sum(estimate_tokens(message["content"]) for request in requests for message in request["messages"])
    documents = resources.knowledge_base(base).documents
    sound = sum(documents.get(c["document"]).text[c["start"]:c["end"]] == c["quote"] for c in said["citations"])
    out = sys.stdout.write
    out(f"######## {kind}: {question}\ncalls: {dict(Counter(map(step, requests)))}, {tokens} prompt tokens; "
        f"{sound} of {len(said['citations'])} citations stand in their source\n\n")
    shown: dict[str, dict[str, Any]] = {step(request): request for request in requests}
    for name in ("reflection", "answer"):
        if prompts and name in shown:
            messages = "\n-- user --\n".join(message["content"] for message in shown[name]["messages"])
            out(f"==== {kind}, {name}\n{messages}\n\n")


if __name__ == "__main__":
    main()
