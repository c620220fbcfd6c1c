"""Print the exact prompts of the agent that an endpoint gets, for three kinds of question.

    python benchmarks/llm_prompts.py > prompts.txt

The English examples are built by the rules; a two-hop, a thematic and a whole-corpus question are sent over HTTP to
the tests' endpoint. Each prompt is preceded by its result: calls by step, tokens, citations checked. `--zh` asks
the Chinese examples likewise, `--kb NAME` asks an existing knowledge base the whole-corpus question.
"""

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from banyan.agents.construction.graph import build_graph as construction
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph as retrieval
from banyan.agents.retrieval.state import AskContext
from banyan.config import Settings
from banyan.text.scripts import estimate_tokens
from llm_world import KB, ROOT, llm_server

from tests.llm_brain import reply, step  # isort: skip  (llm_world says where)

QUESTIONS = {
    "en": {"two-hop": ("On which river lies the city where Marie Curie was born?",
                       [{"tool": "entity_search", "entity": "Marie Curie"},
                        {"tool": "passage_search", "query": "On which river lies Warsaw?"}]),
           "thematic": ("what kinds of discoveries changed how people understood matter?",
                        [{"tool": "community_search", "theme": "discoveries about matter"}]),
           "whole corpus": ("What are the main themes of all documents?", [])},
    "zh": {"two-hop": ("发现青蒿素的人出生的城市位于哪个省？",
                       [{"tool": "entity_search", "entity": "屠呦呦"},
                        {"tool": "passage_search", "query": "宁波位于哪个省？"}]),
           "thematic": ("古代医书怎样启发了现代药物研究？", [{"tool": "community_search", "theme": "古代医书"}]),
           "whole corpus": ("这些文档的主要主题是什么？", [])}}
_FENCED = re.compile(r"<data>\n(.*?)\n</data>", re.DOTALL)
_ITEM = re.compile(r"^\[(\d+)\] [^\n]*\n([^\n\[#(][^\n]*)", re.MULTILINE)
AGENT = frozenset({"decompose", "reflect", "answer"})


def script(language: str) -> Any:
    """Return the tests' endpoint, with the intended lookups of the three questions."""
    lookups = dict(QUESTIONS[language].values())

    def said(request: dict[str, Any]) -> str:
        if step(request) not in AGENT:
            return reply(request)
        question, *rounds = _FENCED.findall(request["messages"][1]["content"])
        wanted = lookups[question] if step(request) == "decompose" else []
        return json.dumps({"thought": "", "lookups": wanted, **cited([] if wanted else rounds)})

    return said


def cited(rounds: Sequence[str]) -> dict[str, Any]:
    """Return an answer with a sound citation of the first passage and one of it by words that are not in it."""
    found = [one for block in rounds for one in _ITEM.findall(block)]
    claims = [{"text": f"From item {number}: {words}.", "unstated": "",
               "quotes": [{"item": int(number), "words": said}]}
              for number, words in found[:1] for said in (words[:60], "words that stand nowhere")]
    return {"answerable": bool(claims), "short": "", "confidence": 0.9, "claims": claims}


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
        settings = Settings(home=home, llm_base_url=server.base_url, llm_model="scripted", _env_file=None)
        with Resources(settings) as resources:
            for kind, (question, _) in QUESTIONS[language].items():
                if not arguments.kb or kind == "whole corpus":
                    _ask(resources, server, kind, question, base, prompts=not arguments.kb)


def _ask(resources: Resources, server: Any, kind: str, question: str, base: str, *, prompts: bool) -> None:
    start = len(server.requests)
    said = retrieval(resources).invoke({"question": question}, context=AskContext(knowledge_base=base))
    requests = list(server.requests)[start:]
    tokens = sum(estimate_tokens(message["content"]) for request in requests for message in request["messages"])
    with resources.snapshot(base) as snapshot:
        documents = snapshot.kb.documents
    sound = sum(documents.get(c["document"]).text[c["start"]:c["end"]] == c["quote"] for c in said["citations"])
    out = sys.stdout.write
    out(f"######## {kind}: {question}\ncalls: {dict(Counter(map(step, requests)))}, {tokens} prompt tokens; "
        f"{sound} of {len(said['citations'])} citations stand in their source\n\n")
    for request in requests if prompts else ():
        messages = "\n-- user --\n".join(message["content"] for message in request["messages"])
        out(f"==== {kind}, {step(request)}\n{messages}\n\n")


if __name__ == "__main__":
    main()
