"""What a knowledge base is about, at a glance, and questions that its own documents answer."""

import pytest
from banyan.agents import introduction
from banyan.agents.construction.graph import build_graph
from banyan.agents.construction.state import BuildContext
from banyan.agents.example_questions import (
    Tried,
    example_questions,
)
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.tools.index import RetrievalIndex

from ...hashed_embedding import HashedEmbedder
from ...small_base import create, finish, put


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "notes"
    for name, text in {"letters/2021-03-04-elm.md": "# Elm Street\n\nElm Street is in Radom. It was paved with stone.",
                       "letters/oak.md": "---\ndate: 2019-11-02\n---\n# Oak Street\n\nOak Street is in Radom, too.",
                       "plans/all.txt": "The plans of Radom are kept in the town hall.",
                       "plans/broken.docx": "this is no archive"}.items():
        file = made / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return made


def test_an_introduction_says_what_there_is_and_what_was_not_read(tmp_path, folder):
    settings = Settings(_env_file=None, home=tmp_path / "home")
    with Resources(settings, HashedEmbedder()) as resources:
        def build(*paths):
            build_graph(resources).invoke({"knowledge_base": "kb", "paths": [str(path) for path in paths]},
                                          context=BuildContext())
            return introduction.introduce(resources, "kb", lambda _: None)

        found = build(folder)
        assert found.documents == 3
        assert found.kinds == {"Markdown": 2, "text": 1}
        assert found.dates == ("2019-11-02", "2021-03-04")
        assert found.titles == ("Elm Street", "all", "Oak Street"), "of each folder in turn"
        assert [line.partition(":")[0] for line in found.unread] == ["plans/broken.docx"], "by its path in the folder"
        assert dict(found.lines())["not read"] == "1 file"
        assert dict(found.lines())["kinds"] == "2 Markdown, 1 text, from 2019-11-02 to 2021-03-04"
        assert found.examples == ()
        (folder / "plans" / "broken.docx").unlink()
        assert build(folder).unread == (), "the latest build read all"


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
