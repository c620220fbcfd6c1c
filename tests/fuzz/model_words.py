"""What a model may say: counts of tokens, claims, quotes; in an answer, in accounts, in a conversation."""

import json
import random
import re
from contextlib import closing
from pathlib import Path
from typing import Any

from banyan.agents.retrieval.citing import cite
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.models.embedding.embedder import Embedder
from banyan.models.llm.endpoint import read_usage
from banyan.models.llm.parsing import UnusableAnswer, json_objects
from banyan.schemas.retrieval import Claim, DraftAnswer, Passage, Quote
from banyan.server.runs.conversations import Conversations, Thread
from banyan.server.runs.process_lock import FileProcessLock
from banyan.server.server_database import ServerDatabase

from .. import small_base

_COUNTS = ("7", "0", "-1", "1000.5", "1e400", "-1e400", "NaN", "1e15", "null", "[]", '"9"', "true", "{}", "9" * 400)
_WORDS = ("Ada", "Ulm", "in", ".", "was born", "[1]", "[[2]3]", "【1】", "<img src=x>", "![x](http://e)", "[x]: http://e",
          "\ud800", "\0", "\u202e", "\n", "yes", "3", "1801", "林小雨", "```", "](")
_FORBIDDEN = re.compile(r"<[A-Za-z/!?]|\]\(|\]:|[\x00\u202e\ud800]")


class ModelWords:
    """Reads what a model could say through all that reads it."""

    name = "words"

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        """Make a knowledge base, and the database of a server."""
        home = folder / "words"
        small_base.people(home, "kb", embedder)
        self._kb = KnowledgeBase.open(home, "kb", embedder)
        self._database = ServerDatabase(home / "server.sqlite")
        self._kept = Conversations(self._database, FileProcessLock(home))
        self._documents = [self._kb.documents.get(entry.id) for entry in self._kb.documents.entries()]

    def round(self, draw: random.Random) -> int:
        """Say some things; returns how many."""
        for _ in range(100):
            self._usage(draw)
            self._answer(draw)
        return 200

    def _usage(self, draw: random.Random) -> None:
        names = ("prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details")
        said = "{" + ", ".join(f'"{name}": {draw.choice(_COUNTS)}' for name in names) + "}"
        counts = read_usage(json.loads(said))
        details = counts.pop("prompt_tokens_details", {"cached_tokens": 0})
        assert all(type(count) is int and count >= 0 for count in (*counts.values(), details["cached_tokens"])), said

    def _answer(self, draw: random.Random) -> None:
        passages = [Passage(chunk_id=one.id, document=one.id, title="", text=one.text, start=0, score=1.0)
                    for one in self._documents]
        said: dict[str, Any] = {"answerable": True, "short": self._text(draw), "confidence": draw.random(), "claims": [
            {"text": self._text(draw), "quotes": [self._quote(draw, passages) for _ in range(draw.randint(0, 3))]}
            for _ in range(draw.randint(1, 3))]}
        try:
            read = next(json_objects(json.dumps(said)))
        except UnusableAnswer:
            return
        draft = DraftAnswer(claims=[Claim(text=claim["text"], quotes=[Quote(**quote) for quote in claim["quotes"]])
                                    for claim in read["claims"]],
                            **{name: read[name] for name in ("answerable", "short", "confidence")})
        answer = cite(draft, passages, self._kb.documents, draw.choice(("reject", "open")))
        numbers = {citation.id for citation in answer.citations}
        for citation in answer.citations:
            source = self._kb.documents.get(citation.document).text
            assert source[citation.start:citation.end] == citation.quote
            assert any(map(str.isalnum, citation.quote)), citation.quote
        for text in (answer.answer, answer.short):
            assert not _FORBIDDEN.search(text), ascii(text)
            assert {int(mark) for mark in re.findall(r"\[(\d+)\]", text)} <= numbers, ascii(text)
        thread = Thread("", "kb", f"t{draw.randint(0, 5)}")
        self._kept.add(thread, self._text(draw) or "?", {**answer.model_dump(mode="json"), "sub_queries": [
            self._text(draw)], "iterations": 1, "trace": []})
        for turn in self._kept.turns(thread):
            turn.model_dump_json().encode()

    @staticmethod
    def _text(draw: random.Random) -> str:
        return " ".join(draw.choices(_WORDS, k=draw.randint(0, 5)))

    def _quote(self, draw: random.Random, passages: list[Passage]) -> dict[str, Any]:
        number = draw.randint(-1, len(passages) + 1)
        text = passages[number - 1].text if 1 <= number <= len(passages) else ""
        start = draw.randrange(len(text)) if text else 0
        words = text[start:start + draw.randint(0, 40)] if draw.random() < 0.7 else self._text(draw)
        return {"item": number, "words": words}

    def close(self) -> None:
        """Close both."""
        with closing(self._kb), closing(self._database):
            pass
