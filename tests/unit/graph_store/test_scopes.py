"""Questions that are limited to some documents: the answer is that of a knowledge base of these documents alone."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.graph_store.scopes import ScopeError, documents_in
from banyan.schemas.documents import Scope
from banyan.subagent.tool import search

from ...hashed_embedding import HashedEmbedder
from ...newest import dump_graph, newest
from ...scripted import Workshop, run_build

CORPUS = {
    "d0.txt": "Ada:Person --employer--> Acme:Organization.\nAda likes Oslo in the rain.",
    "d1.txt": "Acme:Organization --located_in--> Bonn:Place.\nBob:Person --mentor of--> Ada:Person (0.9).",
    "d2.txt": "Bob:Person --employer--> Beko:Organization.\nCem:Person --mentor of--> Dua:Person (0.9).\n"
              "Acme:Organization.founded = 1991."}
QUESTIONS = ["Where is the employer of Ada located?", "Who is the mentor of Bob?", "When was Acme founded?",
             "What are the main themes of all documents?"]


def built(folder: Path, texts: dict[str, str], **given: Any) -> Workshop:
    shop = Workshop(folder, HashedEmbedder(), schema_support=None)
    documents = [{"id": name, "title": f"On {name}", "text": text, "metadata": given.get(name, {})}
                 for name, text in texts.items()]
    with shop.resources() as resources:
        run_build(resources, {"knowledge_base": "kb", "documents": documents, "schema": str(shop.schema)})
    return shop


def observed(resources: Resources, scope: Sequence[str] = ()) -> list[Any]:
    """What questions find: the index with all statistics, facts and reports, then passages, answers and citations."""
    store = newest(resources, "kb", Scope.of(scope)).kb
    # Chroma brings vectors to length 1, and may change their last digit each time they are put into it.
    arrays = {name: (array.dtype.str, (np.round(array, 5) if array.dtype.kind == "f" else array).tolist())
              for name, array in store.index().items()}
    seen: list[Any] = [arrays, store.schemas.current(), dump_graph(store.graph), store.communities.all(level=None)]
    graph, context = build_graph(resources), AskContext(documents=tuple(scope))
    for question in QUESTIONS:
        found = search(resources, "kb", question, 9, AskContext(documents=tuple(scope), agent=False, decompose=False))
        output = graph.invoke({"knowledge_base": "kb", "question": question}, context=context,
                              output_keys=["answer", "citations", "confidence", "sub_queries"])
        # The last digit of a sum of floats depends on where in memory its terms are.
        seen += [[passage.model_copy(update={"score": round(passage.score, 4)}) for passage in found], output]
    return seen


def test_a_scope_equals_a_knowledge_base_of_its_documents(tmp_path: Path) -> None:
    chosen = ["d0.txt", "d2.txt"]
    everything = built(tmp_path / "all", CORPUS)
    alone = built(tmp_path / "alone", {name: CORPUS[name] for name in chosen})
    with everything.resources() as resources, alone.resources() as others:
        assert observed(resources, chosen) == observed(others)


ABOUT = {"ada.txt": {"author": "Ada Marsh", "date": "2024-05-01"}, "bob.txt": {"author": "Bob Hale", "date": "2023"},
         "acme.txt": {}}
TEXTS = {"ada.txt": "Ada:Person --employer--> Acme:Organization.",
         "bob.txt": "Bob:Person --employer--> Beko:Organization.",
         "acme.txt": "Acme:Organization --located_in--> Bonn:Place. Acme:Organization.founded = 1999."}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return built(tmp_path_factory.mktemp("original"), TEXTS, **ABOUT)


@pytest.fixture
def shop(original: Workshop, tmp_path: Path) -> Workshop:
    shop = Workshop(tmp_path, HashedEmbedder(), schema_support=None)
    shutil.copytree(original.settings.home, shop.settings.home)
    shop.scripted.extracted.update(original.scripted.extracted)
    return shop


@pytest.mark.parametrize(("documents", "where", "expected"), [
    (["ada.txt"], {}, ["ada.txt"]), (["ON  ADA.TXT", "b*"], {}, ["ada.txt", "bob.txt"]),
    ([], {"author": "ada marsh"}, ["ada.txt"]), ([], {"date": "2024-*", "author": "Ada*"}, ["ada.txt"]),
    (["*"], {"date": "2023"}, ["bob.txt"])])
def test_documents_are_named_by_id_title_pattern_and_metadata(shop, documents, where, expected) -> None:
    with shop.resources() as resources:
        assert documents_in(newest(resources).kb.documents, Scope.of(documents, where)) == expected


@pytest.mark.parametrize(("documents", "where", "said"), [
    (["adda.txt"], {}, "no document is called 'adda.txt'; `banyan documents`"),
    (["*.pdf"], {}, "no document is called '*.pdf'"),
    ([], {"writer": "Ada"}, "no document has the metadata 'writer'; there are: author, date"),
    ([], {"author": "Ada March"}, "none of the 3 documents has author = 'Ada March'; there are: Ada Marsh, Bob Hale"),
    (["bob.txt"], {"date": "2024-*"}, "none of the 1 documents has date = '2024-*'; there are: 2023"),
    (["acme.txt"], {"date": "2024"}, "has date = '2024'; there are: none")])
def test_what_names_no_document_is_an_error_that_says_what_there_is(shop, documents, where, said) -> None:
    with shop.resources() as resources, pytest.raises(ScopeError) as raised:
        newest(resources, "kb", Scope.of(documents, where))
    assert said in str(raised.value)


def test_a_scope_is_made_once_by_what_is_there_already(shop) -> None:
    extracted, summarised = shop.scripted.extracted.copy(), shop.scripted.summarised.copy()
    with shop.resources() as resources:
        first = newest(resources, "kb", Scope.of("a*.txt"))
        assert newest(resources, "kb", Scope.of("a*.txt")) is first
    assert (shop.scripted.extracted, shop.scripted.summarised) == (extracted, summarised)
    assert [entry.name for entry in shop.settings.home.iterdir() if entry.is_dir()] == ["kb"], "it left nothing behind"


def test_a_scope_follows_its_knowledge_base_and_forgets_what_was_deleted(shop) -> None:
    with shop.resources() as resources:
        assert len(newest(resources, "kb", Scope.of("a*.txt")).index.chunks) == 2
        run_build(resources, {"knowledge_base": "kb", "documents": [
            {"id": "anna.txt", "text": "Anna:Person --employer--> Acme:Organization. A secret."}]})
        assert len(newest(resources, "kb", Scope.of("a*.txt")).index.chunks) == 3
        resources.delete_documents("kb", ["anna.txt"])
        made = shop.settings.home.rglob("*.scope/**/*")
        assert not [file for file in made if file.is_file() and b"A secret" in file.read_bytes()]
        assert len(newest(resources, "kb", Scope.of("a*.txt")).index.chunks) == 2
