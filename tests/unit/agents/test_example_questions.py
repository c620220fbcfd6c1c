"""Questions that a knowledge base's own documents answer."""

import pytest
from banyan.agents.example_questions import (
    Tried,
    example_questions,
)
from banyan.tools.index import RetrievalIndex

from ...hashed_embedding import HashedEmbedder
from ...small_base import create, finish, put

WORDS = {
    "Where was Zofia Nowak born?": Tried("Radom", ("She was born in Radom.",), ("two",)),
    "Where was Carl Berg born?": Tried("Radom", ("He was born in Radom.",), ("one",)),
    "Who was born in Radom?": Tried("Carl Berg; Zofia Nowak", ("He was born in Radom.", "She was born in Radom."),
                                    ("one", "two")),
    "What are these documents about?": Tried("", ("Radium.", "Zofia.", "林小雨。"), ("one", "two", "zh")),
    "林小雨出生在哪里？": Tried("宁波", ("林小雨出生于宁波。",), ("zh",)),
}


@pytest.fixture
def kb(tmp_path):
    with create(tmp_path, "kb", HashedEmbedder()) as made, made.writing():
        put(made, "one", "Carl Berg was born in Radom. Zofia Nowak was his teacher.",
            triples=[("Carl Berg", "born_in", "Radom")], entities={"Zofia Nowak": "Person"})
        put(made, "two", "Zofia Nowak was born in Radom.", triples=[("Zofia Nowak", "born_in", "Radom")])
        put(made, "zh", "林小雨出生于宁波。", triples=[("林小雨", "born_in", "宁波")])
        finish(made)
        yield made


def test_there_is_a_look_up_a_list_and_a_question_across_documents(kb):
    found = example_questions(RetrievalIndex(kb), WORDS.get)
    assert [one.kind for one in found] == ["lookup", "list", "across"]
    assert [one.text for one in found][1:] == ["Who was born in Radom?", "What are these documents about?"]


def test_documents_that_mention_an_entity_are_listed_where_no_relation_makes_a_list(tmp_path):
    said = {"Which documents mention Zofia Nowak?": Tried("One; Two", ("…", "…"), ("one", "two")),
            "What was created by Carl Berg?": Tried("Note of May; Note of June", ("…", "…"), ("one", "two"))}
    with create(tmp_path, "kb", HashedEmbedder()) as made, made.writing():
        for name, title in (("one", "Note of May"), ("two", "Note of June")):
            put(made, name, f"We met Zofia Nowak and Carl Berg.\n| Document: {title} | Author: Carl Berg |",
                triples=[(title, "created_by", "Carl Berg")], entities={"Zofia Nowak": "Person"})
        finish(made)
        found = example_questions(RetrievalIndex(made), said.get)
    assert [(one.text, one.kind) for one in found] == [("Which documents mention Zofia Nowak?", "list")]


def test_entities_of_one_sentence_in_two_documents_are_asked_about(tmp_path):
    said = "The Elm Board meets with Oak Trust."
    names = {"Elm Board": "Organization", "Oak Trust": "Organization"}
    with create(tmp_path, "kb", HashedEmbedder()) as made, made.writing():
        for number in range(2):
            put(made, f"d{number}", f"{said} It is number {number}.", entities=names)
        finish(made)
        index, question = RetrievalIndex(made), "How is Elm Board connected to Oak Trust?"
        assert question in [one.text for one in example_questions(
            index, {question: Tried("", (said, said), ("d0", "d1"))}.get)]
        assert example_questions(index, {question: Tried("", (said, "Oak Trust."), ("d0", "d1"))}.get) == []
