"""Questions for the documents that have some words are answered completely, without a model."""

from types import SimpleNamespace

import pytest
from banyan.models.parsing.parser import Parser
from banyan.models.rules.rules_reasoner import Answers
from banyan.tools.asking.asked_mentions import asked_mentions
from banyan.tools.asking.asked_rows import MOST_SHOWN

from ... import small_base

TEXTS = {"a": "The Acme Works were founded in 1901.\nNothing else.", "b": "Acme works with Bolt.",
         "c": "Acmeology is fun.", "d": "An intro.\n\nThe ACME\nworks burned down.", "e": "云溪市有一座桥。",
         **{f"n{number:02}": "A note on geese." for number in range(MOST_SHOWN + 3)}}


@pytest.fixture(scope="module")
def index(tmp_path_factory, hashed_embedder):
    with small_base.create(tmp_path_factory.mktemp("home"), "kb", hashed_embedder) as kb:
        with kb.writing():
            for name, text in TEXTS.items():
                small_base.put_plain(kb, name, text, title=f"Title {name}")
        yield SimpleNamespace(store=kb)


def asked(index, question):
    """The short answer, and the documents and words that are cited."""
    items = [item for block in asked_mentions(index, question) for item in block.items]
    short = Answers(Parser()).answer(question, items).short if items else ""
    return short, [(place.document, place.text) for item in items for place in item.places]


@pytest.mark.parametrize(("question", "count", "documents"), [
    ("How many documents mention Acme?", "3", "abdabd"), ("How many of the files mention “acme works”?", "3", "abdabd"),
    ("How many documents contain Bolt?", "1", "bb"), ("有多少份文档提到云溪市？", "1", "ee"),
])
def test_documents_are_counted_and_each_is_cited(index, question, count, documents):
    short, cited = asked(index, question)
    assert (short, "".join(document for document, _ in cited)) == (count, documents)
    assert all(text in TEXTS[document] for document, text in cited)


def test_documents_are_listed_by_their_titles(index):
    assert asked(index, "Which documents mention the Acme?")[0] == "Title a; Title b; Title d"
    assert asked(index, "哪些文件提到了云溪市")[0] == "Title e"


def test_the_number_is_whole_where_the_list_is_not(index):
    short, cited = asked(index, "Which notes or papers mention geese?")
    assert (short, cited) == ("", []), "it asks for notes"
    short, cited = asked(index, "Which papers mention geese?")
    assert (short, len(dict(cited))) == (str(MOST_SHOWN + 3), MOST_SHOWN)


@pytest.mark.parametrize("question", ["How many documents mention Zorkmid?", "How many people work for Acme?",
                                      "Which documents mention?", "What do the documents say on Acme?"])
def test_other_questions_are_left_to_others(index, question):
    assert asked(index, question) == ("", [])
