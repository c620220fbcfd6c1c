"""spaCy's pipelines and parses: what is loaded is verified, and no text takes more than linear time."""

import contextvars
import shutil

import pytest
from banyan.models.parsing import pipelines
from banyan.models.parsing.parser import Parser
from banyan.models.parsing.pipelines import ParsingError
from banyan.text.sentences import split_sentences

TEXT = "Anna Brandt joined in 2011. She runs the plant in Lyon.\n# Our people\nPaul Weiss left."


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


def test_a_parse_has_our_sentences_and_the_texts_offsets(parser):
    doc = parser.parse(TEXT)

    assert all(TEXT[token.idx : token.idx + len(token)] == token.text for token in doc)
    first_words = {sentence[0].idx for sentence in doc.sents}
    assert {start for start, _ in split_sentences(TEXT)} <= first_words
    assert ("Anna Brandt", "PERSON") in {(entity.text, entity.label_) for entity in doc.ents}


def test_no_parse_looks_through_the_installed_packages_again(parser, monkeypatch):
    parser.parse("Ada met Bob in Ulm.")
    monkeypatch.setattr("thinc.backends.require_cpu", lambda: pytest.fail("thinc chose its backend again"))
    for read in (lambda: parser.parse("Bob met Ada in Bonn."), lambda: parser.entities(["Ada left Bonn."])):
        contextvars.Context().run(read)  # as in another thread


@pytest.mark.parametrize("pattern", [") ", "a. ", "a", "(", " ", "和", "[", "\n", "the cat "])
def test_the_work_grows_with_the_text(parser, pattern):
    """Tokens of one sentence are bounded, and so are the characters of one token."""
    doc = parser.parse((pattern * 4000)[:4000])

    assert max(len(sentence) for sentence in doc.sents) <= 151
    assert all(len(token) < 100 or token.is_space for token in doc)


def test_an_altered_file_is_not_loaded(tmp_path, monkeypatch):
    source = pipelines.load_pipeline(pipelines.PACKAGE).path
    package = tmp_path / pipelines.PACKAGE
    shutil.copytree(source, package / pipelines.FOLDER)
    (package / "__init__.py").write_text("raise SystemExit('the package runs')")
    (package / pipelines.FOLDER / "ner" / "model").write_bytes(b"altered")
    monkeypatch.syspath_prepend(tmp_path)
    pipelines._load.cache_clear()

    with pytest.raises(ParsingError, match="pip install --force-reinstall"):
        pipelines.load_pipeline(pipelines.PACKAGE)
    monkeypatch.undo()
    pipelines._load.cache_clear()


def test_a_missing_pipeline_is_named_with_the_fix():
    with pytest.raises(ParsingError, match=r"xx_core_news_sm.*BANYAN_SPACY_PIPELINES"):
        Parser().parse("text", "xx")
