"""Questions that are limited to some documents: the answer is that of a knowledge base of these documents alone."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.schemas.scope import Scope
from banyan.subagent.searching import search
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ..hashed_embedding import HashedEmbedder
from ..scripted import Workshop, run_build

PEOPLE, FIRMS, PLACES = ["Ada", "Bob", "Cem", "Dua"], ["Acme", "Beko"], ["Bonn", "Kiel", "Oslo"]
SENTENCES = st.one_of(
    st.builds("{}:Person --employer--> {}:Organization.".format, st.sampled_from(PEOPLE), st.sampled_from(FIRMS)),
    st.builds("{}:Organization --located_in--> {}:Place.".format, st.sampled_from(FIRMS), st.sampled_from(PLACES)),
    st.builds("{}:Person --mentor of--> {}:Person (0.9).".format, st.sampled_from(PEOPLE), st.sampled_from(PEOPLE)),
    st.builds("{}:Organization.founded = {}.".format, st.sampled_from(FIRMS), st.integers(1990, 1993)),
    st.builds("{} likes {} in the rain.".format, st.sampled_from(PEOPLE), st.sampled_from(PLACES)))
CORPORA = st.lists(st.lists(SENTENCES, min_size=1, max_size=4).map("\n".join), min_size=2, max_size=5)
QUESTIONS = ["Where is the employer of Ada located?", "Who is the mentor of Bob?", "When was Acme founded?",
             "What are the main themes of all documents?"]
_NUMBER = itertools.count()


def built(folder: Path, texts: dict[str, str], **given: Any) -> Workshop:
    shop = Workshop(folder, HashedEmbedder(), schema_support=None)
    documents = [{"id": name, "title": f"About {name}", "text": text, "metadata": given.get(name, {})}
                 for name, text in texts.items()]
    with shop.resources() as resources:
        run_build(resources, {"knowledge_base": "kb", "documents": documents, "schema": str(shop.schema)})
    return shop


def observed(resources: Resources, scope: Sequence[str] = ()) -> list[Any]:
    """What questions find: passages, facts, reports, answers and citations."""
    retriever = resources.retriever("kb", Scope.of(scope))
    index = retriever.index
    facts = sorted((index.said(row), tuple(index.spans(row))) for row in range(len(index.edges)))
    reports = sorted((c.name, c.summary, c.members) for c in index.communities.values())
    seen: list[Any] = [facts, reports, index.store.schemas.current()]
    graph, context = build_graph(resources), AskContext(documents=tuple(scope))
    for question in QUESTIONS:
        found = search(resources, "kb", question, 9, AskContext(documents=tuple(scope), agent=False, decompose=False))
        output = graph.invoke({"knowledge_base": "kb", "question": question}, context=context,
                              output_keys=["answer", "citations", "confidence", "sub_queries"])
        seen += [found, output]
    return seen


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=CORPORA, data=st.data())
def test_a_scope_equals_a_knowledge_base_of_its_documents(tmp_path: Path, texts: list[str], data: Any) -> None:
    names = [f"d{number}.txt" for number in range(len(texts))]
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=len(names) - 1, unique=True))
    folder, corpus = tmp_path / str(next(_NUMBER)), dict(zip(names, texts, strict=True))
    everything, alone = built(folder / "all", corpus), built(folder / "alone", {name: corpus[name] for name in chosen})
    with everything.resources() as resources, alone.resources() as others:
        assert observed(resources, chosen) == observed(others)
