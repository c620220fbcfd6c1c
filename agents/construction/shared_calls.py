"""Which chunks share a call of a model: several small ones, as each call repeats its instructions."""

from collections.abc import Sequence

from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.ledger.notes import BUILD
from ...schemas.documents import Chunk
from ...text.tokens import estimate_tokens

MOST_CHUNKS = 16
"""Chunks of a call: more would save little, and a weak model overlooks more."""


def pack_calls(sizes: Sequence[tuple[str, int]], most_tokens: int) -> list[list[str]]:
    """Return the chunks of each call, in order.

    Args:
        sizes: the chunks' ids with their estimated tokens.
        most_tokens: how many tokens of text a call reads; a longer chunk has a call of its own.
    """
    calls, filled = list[list[str]](), 0
    for chunk, tokens in sizes:
        if not calls or filled + tokens > most_tokens or len(calls[-1]) == MOST_CHUNKS:
            calls.append([])
            filled = 0
        calls[-1].append(chunk)
        filled += tokens
    return calls


def calls_of(kb: KnowledgeBase, chunks: Sequence[Chunk], most_tokens: int, most_calls: int) -> list[list[str]]:
    """Return the next calls over some chunks, at most so many.

    A build that resumes makes the calls that were in work when it stopped, so what was paid for is not paid again.
    """
    waiting = {chunk.id: estimate_tokens(chunk.text) for chunk in chunks}
    before = [call for call in kb.database.notes(BUILD).get("shared_calls", ()) if waiting.keys() >= set(call)]
    known = {chunk for call in before for chunk in call}
    fresh = pack_calls([(chunk, size) for chunk, size in waiting.items() if chunk not in known], most_tokens)
    calls = [*before, *fresh][:most_calls]
    kb.database.note(BUILD, shared_calls=calls)
    return calls


def split_call(kb: KnowledgeBase, chunks: Sequence[str]) -> None:
    """Note that the chunks of a call that failed are asked one by one."""
    with kb.database.transaction():  # others may fail at the same time
        calls = [call for call in kb.database.notes(BUILD).get("shared_calls", ()) if call != list(chunks)]
        kb.database.note(BUILD, shared_calls=[*calls, *([chunk] for chunk in chunks)])
