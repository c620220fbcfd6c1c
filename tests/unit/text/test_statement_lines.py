"""What is not sent to a model: headings, navigation and page numbers."""

import pytest
from banyan.schemas.extraction import Extraction
from banyan.text.statement_lines import has_statement

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
