"""The SQL statements of a question: their number is bounded, however large the knowledge base is."""

from contextlib import contextmanager

from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.config import Settings
from sqlalchemy import Engine, event

from ... import small_base as base


@contextmanager
def counted():
    statements = []

    def count(connection, cursor, statement, *_):
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", count)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", count)


def statements_after(numbers, home, embedder):
    """Add documents; returns the statements of a question that is not the first one."""
    with base.create(home, "kb", embedder) as kb, kb.writing():
        base.put_meetings(kb, numbers)
        base.finish(kb)
    with Resources(Settings(home=home, llm_base_url=None), embedder) as resources:
        ask = build_graph(resources).invoke
        ask({"knowledge_base": "kb", "question": "Who met P2?"})
        with counted() as statements:
            answer = ask({"knowledge_base": "kb", "question": "Whom did P3 meet?"})
        assert "P3 met P4" in answer["answer"]
        return statements


def test_a_question_takes_as_many_statements_in_a_base_twice_as_large(tmp_path, hashed_embedder):
    # Each passage that a question looks at takes one; there are more passages than it looks at.
    large = statements_after(range(70), tmp_path, hashed_embedder)
    twice_as_large = statements_after(range(70, 140), tmp_path, hashed_embedder)
    assert 0 < len(twice_as_large) == len(large) < 120
