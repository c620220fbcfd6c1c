"""Conversations as people look back at them: kept, listed, renamed, rated, shared by a link, forgotten."""

from contextlib import closing

import pytest
from banyan.cli.commands.serve import key
from banyan.config import Settings
from banyan.server.responses import NotFoundError
from banyan.server.runs.conversations import Conversations, Thread, move_conversations
from banyan.server.security.keys import Keys
from banyan.server.server_database import ServerDatabase

from ...rest import ANSWER

ONE, OTHERS = Thread("", "kb", "one"), Thread("bob", "kb", "one")


@pytest.fixture
def kept(tmp_path):
    with closing(ServerDatabase(tmp_path / "server.sqlite")) as database:
        yield Conversations(database)


def test_conversations_go_with_their_knowledge_base_whoever_drops_or_renames_it(kept, tmp_path):
    settings = Settings(home=tmp_path, _env_file=None)
    for thread in (ONE, Thread("", "other", "one"), Thread("", "gone", "one")):
        kept.add(thread, f"{thread.knowledge_base}?", ANSWER)
    link = kept.change(ONE, shared=True).link
    move_conversations(settings, "kb", "gone")
    assert kept.messages(Thread("", "gone", "one"))[0].text == "kb?", "those of the earlier `gone` are gone"
    assert kept.by_link(link).kb == "gone"
    move_conversations(settings, "gone")
    with pytest.raises(NotFoundError):
        kept.by_link(link)
    kept.forget_bases(lambda name: name != "kb")
    assert kept.all("", "other") == []


def test_an_answer_to_a_conversation_that_was_deleted_meanwhile_is_not_stored(kept):
    assert kept.add(ONE, "one?", ANSWER) == 1
    kept.delete(ONE)
    assert kept.add(ONE, "and two?", ANSWER, follows=True) is None
    assert kept.messages(ONE) == []
    assert kept.add(ONE, "one?", ANSWER) == 1


def test_a_later_key_of_a_revoked_keys_name_does_not_get_its_conversations(tmp_path, monkeypatch):
    monkeypatch.setenv("BANYAN_HOME", str(tmp_path))
    settings = Settings(_env_file=None)
    Keys.of(settings).make("bob", ["ask"])
    with closing(ServerDatabase.of(settings)) as database:
        Conversations(database).add(OTHERS, "Mine?", ANSWER)
        Conversations(database).add(ONE, "Where?", ANSWER)
    key("bob", revoke=True)
    with closing(ServerDatabase.of(settings)) as database:
        assert Conversations(database).all("bob", "kb") == []
        assert len(Conversations(database).all("", "kb")) == 1
