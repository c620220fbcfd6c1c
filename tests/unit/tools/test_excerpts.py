"""Long passages are cut to the sentences with a question's words; their offsets stay those of the document."""

import pytest
from banyan.prompts.rendering import passage_text
from banyan.schemas.lookups import PassageLookup
from banyan.schemas.retrieval import Passage
from banyan.tools.passages import Excerpts, look_up_passages
from banyan.tools.retriever import Retriever

from ... import small_base as base

PLAIN = "The wind blew over the hills of the north and the rain fell for days without an end in sight."
ASKED = "The picture of Adrian was painted by Battoni in Rome."
LONG = "\n".join([*[PLAIN] * 10, ASKED, *[PLAIN] * 10])


@pytest.fixture(scope="module")
def retriever(tmp_path_factory, hashed_embedder):
    with base.create(tmp_path_factory.mktemp("home"), "kb", hashed_embedder) as kb, kb.writing():
        base.put(kb, "long", LONG)
        base.finish(kb)
        yield Retriever(kb)


def passage(text, score=1.0, start=0):
    return Passage(chunk_id="c", document="d", title="", text=text, start=start, score=score)


def cut(retriever, *passages, is_first=False):
    excerpts, shown = Excerpts(retriever.index.lexical, "Who painted Adrian's picture?", is_first=is_first), []
    for one in passages:
        shown.append(excerpts.cut(one))
        if shown[-1] is not None:
            excerpts.add(shown[-1])
    return shown


def test_a_lookup_shows_the_sentences_that_are_asked_for(retriever):
    (shown,) = cut(retriever, passage(LONG, start=7))
    assert ASKED in shown.text
    assert len(shown.text) < len(LONG) / 2
    assert LONG[shown.start - 7:][:len(shown.text)] == shown.text
    assert passage_text(shown) == f"… {shown.text} …"


LIST = "\n".join(f"- picture {number} of Adrian" for number in range(90))


@pytest.mark.parametrize(("best", "weight", "far", "weight_of_far", "excerpt"), [
    (LONG, 1.0, LONG.replace("hills", "lakes"), .5, ASKED), (LIST, .6, LIST.replace("picture", "bust"), .2, "- bust"),
    (LONG, 1.0, LONG.replace(ASKED, "Nobody slept."), .2, None)])  # few of the question's words
def test_a_first_look_has_its_best_passages_whole_and_cuts_others(retriever, best, weight, far, weight_of_far, excerpt):
    whole, shown = cut(retriever, passage(best, weight), passage(far, weight_of_far, start=9000), is_first=True)
    assert whole.text == best
    assert shown is None if excerpt is None else shown.is_excerpt and excerpt in shown.text


@pytest.mark.parametrize("text", [ASKED, LIST])
def test_what_is_short_and_lists_stay_whole(retriever, text):
    assert cut(retriever, passage(text)) == [passage(text)]


@pytest.mark.parametrize(("question", "is_far_shown"), [
    ("Who painted Adrian's picture?", False), ("Who painted Adrian's picture, and where is Kalmar?", True)])
def test_far_passages_are_in_a_first_look_if_near_ones_lack_words(tmp_path, hashed_embedder, monkeypatch, question,
                                                                  is_far_shown):
    texts = {"near": ASKED, "next": "Adrian liked it.", "far": "Kalmar is a town by the sea."}
    with base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        for document, text in texts.items():
            base.put(kb, document, text)
        base.finish(kb)
        retriever = Retriever(kb)
        ids = {chunk.document_id: chunk.id for chunk in retriever.index.chunks}
        ranking = [(ids["near"], 1.0), (ids["next"], .4), (ids["far"], .1)]
        monkeypatch.setattr(retriever, "rank_passages", lambda *_, **__: ranking)
        (block,) = look_up_passages(retriever, PassageLookup(query=question), 500, near=False)
    assert [item.document for item in block.items] == [*texts][:2 + is_far_shown]


def test_what_neighbours_share_is_shown_once(retriever):
    second = f"{ASKED}\n{PLAIN}"
    shown = cut(retriever, passage(f"{PLAIN}\n{ASKED}"), passage(second, start=len(PLAIN) + 1))
    assert shown[1].text == PLAIN
    assert cut(retriever, passage(second), passage(ASKED))[1] is None


def test_the_same_query_shows_no_excerpt_twice_and_a_document_to_stay_in_is_read_whole(retriever):
    lookup = PassageLookup(query="Who painted Adrian's picture?")
    (block,) = look_up_passages(retriever, lookup, 2000)
    excerpt = next(item for item in block.items if item.document == "long")
    (again,) = look_up_passages(retriever, lookup, 2000, [item.key for item in block.items])
    (whole,) = look_up_passages(retriever, lookup.model_copy(update={"documents": ("long",)}), 2000,
                                [item.key for item in block.items])
    assert excerpt.is_excerpt
    assert excerpt.key not in [item.key for item in again.items]
    assert ASKED in "\n".join(item.text for item in whole.items if not item.is_excerpt)
