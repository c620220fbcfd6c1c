"""Conversations as people look back at them: kept, listed, renamed, rated, shared by a link, forgotten."""

import pytest
from banyan.server.errors import NotFoundError
from banyan.server.runs.conversations import KEPT_TURNS, Conversations
from banyan.server.runs.threads import Thread, Threads
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver

ONE, TWO, OTHERS = Thread("", "kb", "one"), Thread("", "kb", "two"), Thread("bob", "kb", "one")
ANSWER = {"answer": "Radom [1]", "citations": [{"id": 1, "quote": "in Radom"}], "trace": [{"step": "fuse"}]}


@pytest.fixture
def kept(tmp_path):
    with SqliteSaver.from_conn_string(str(tmp_path / "server.sqlite")) as saver:
        yield Conversations(saver)


def test_a_turn_is_kept_as_it_was_given_and_names_its_conversation(kept):
    assert [kept.add(ONE, "Where was  Zofia born?", ANSWER), kept.add(ONE, "When?", {"answer": "1921"})] == [1, 2]
    kept.add(OTHERS, "Mine?", ANSWER)
    assert [(turn.number, turn.question, turn.answer) for turn in kept.turns(ONE)] == [
        (1, "Where was  Zofia born?", ANSWER), (2, "When?", {"answer": "1921"})]
    (listed,) = kept.all("", "kb")
    assert (listed.name, listed.title, listed.link) == ("one", "Where was Zofia born?", None)


def test_the_one_used_last_is_listed_first_and_each_client_sees_its_own(kept):
    for thread in (ONE, TWO, OTHERS):
        kept.add(thread, f"{thread.name}?", ANSWER)
    assert [entry.name for entry in kept.all("", "kb")] == ["two", "one"]
    assert [entry.name for entry in kept.all("bob", "kb")] == ["one"]
    assert kept.all("", "other") == []


def test_a_link_shows_a_conversation_until_it_is_taken_back(kept):
    kept.add(ONE, "Where?", ANSWER)
    link = kept.share(ONE, shared=True)
    assert kept.share(ONE, shared=True) == link
    entry, turns = kept.linked(link)
    assert (entry.title, len(turns)) == ("Where?", 1)
    assert kept.share(ONE, shared=False) is None
    with pytest.raises(NotFoundError, match="not shared any more"):
        kept.linked(link)


def test_what_is_renamed_rated_or_deleted_has_to_be_there(kept):
    kept.add(ONE, "Where?", ANSWER)
    kept.rename(ONE, "Radom")
    kept.rate(ONE, 1, -1)
    assert (kept.entry(ONE).title, kept.turns(ONE)[0].rating) == ("Radom", -1)
    with pytest.raises(NotFoundError, match="has no turn 2"):
        kept.rate(ONE, 2, 1)
    with pytest.raises(NotFoundError, match="no conversation 'two'"):
        kept.rename(TWO, "x")
    kept.delete(ONE)
    assert kept.turns(ONE) == []
    assert kept.all("", "kb") == []


def test_the_newest_turns_of_a_long_conversation_are_kept(kept):
    for number in range(KEPT_TURNS + 2):
        kept.add(ONE, f"{number}?", {"answer": "x"})
    numbers = [turn.number for turn in kept.turns(ONE)]
    assert (numbers[0], numbers[-1], len(numbers)) == (3, KEPT_TURNS + 2, KEPT_TURNS)


def test_conversations_follow_the_name_of_their_knowledge_base_and_go_with_it(tmp_path):
    with SqliteSaver.from_conn_string(str(tmp_path / "server.sqlite")) as saver:
        threads, kept = Threads(saver), Conversations(saver)
        for thread in (ONE, OTHERS):
            with threads.turn(thread) as messages:
                messages += [HumanMessage("Where?"), AIMessage("Radom")]
            kept.add(thread, "Where?", ANSWER)
        kept.rename_base("kb", "new")
        moved = ONE._replace(knowledge_base="new")
        assert kept.all("", "kb") == []
        assert kept.turns(moved)[0].answer == ANSWER
        assert [one.text for one in threads.messages(moved)] == ["Where?", "Radom"]
        assert kept.entry(OTHERS._replace(knowledge_base="new")).title == "Where?"
        kept.forget_base("new")
        assert kept.turns(moved) == threads.messages(moved) == []
