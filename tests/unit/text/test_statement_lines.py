"""What is not sent to a model: headings, navigation and page numbers; and markup, not shown."""

import pytest
from banyan.schemas.extraction import Extraction
from banyan.text.cleaning import has_statement, has_words, without_markup

from ...scripted import ScriptedReasoner, Workshop


@pytest.mark.parametrize("text", [
    "", " \n\n", "# Season 2025/26", "## Part\n### Chapter 2\n", "Home | Tickets | Bar", "Start › Shop › Hats", "12",
    "Page 3 of 10", "- 4 -", "* * *", "© 2024 Acme Ltd. All rights reserved.", "第 3 页", "Back to top"])
def test_what_states_nothing(text):
    assert not has_statement(text)


def test_a_model_is_not_asked_about_what_states_nothing(tmp_path, hashed_embedder):
    read = []

    class Reading(ScriptedReasoner):
        def extract_together(self, requests, schema):
            read.extend(request.text for request in requests)
            return [Extraction() for _ in requests]

    shop = Workshop(tmp_path, hashed_embedder)
    shop.scripted = Reading()
    shop.settings = shop.settings.model_copy(update={"llm_base_url": "http://127.0.0.1:9/v1"})
    report = shop.build(shop.write({"a.txt": "Ada works for Acme.", "b.txt": "Home | Tickets | Bar\n\n# Welcome\n"}))
    assert read == ["Ada works for Acme."]
    assert (report["chunks"], report["chunks_failed"]) == (2, 0)


@pytest.mark.parametrize(("text", "shown"), [
    (":::caution\nMind the step.\n:::", "\nMind the step.\n"),
    ("See [the rules](#rules) and [x] (./x.md \"X\").", "See the rules and x."),
    ("<img src=\"a.png\" width=1 /> Labs <b>now</b>", " Labs now"),
    ("Passed in 2007. <!-- INFO END -->", "Passed in 2007. "),
    ("end of a note --> Rest", " Rest"),
    ("## Fees", "Fees"),
    ("* ###### agreed", "agreed"),
    ("**Does it?** Yes", "Does it? Yes"),
    ("![plan](plan.png)Plan", "Plan"),
])
def test_markup_is_rendered_or_removed(text: str, shown: str) -> None:
    assert without_markup(text) == shown


@pytest.mark.parametrize("text", [
    "decree [1]", "List<T> of a < b", "dict[str](x)", "a ::: b", "5 * 3 ** 2", "[x] and (y)", "__init__"])
def test_what_is_no_markup_stays(text: str) -> None:
    assert without_markup(text) == text


def test_markup_alone_says_nothing() -> None:
    assert not has_words("<!-- INFO END -->")
    assert not has_words("![plan](plan.png)")
    assert has_words("<b>Plan</b>")
