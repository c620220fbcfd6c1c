"""The headings above a line, what they say of it, and the sentence that opens its list."""

import pytest
from banyan.schemas.extraction import Extraction
from banyan.text.cleaning import has_statement, has_words, without_markup
from banyan.text.section_lines import headings, is_back_matter, is_telling, lines_under, opening_of, section_of

from ...scripted import ScriptedReasoner, Workshop


def section(text, heading="", title="", known=()):
    *_, last = lines_under(text, heading)
    return section_of(last, title, {*known})


@pytest.mark.parametrize(("heading", "said"), [
    ("Depots > Ferry pumps", "Depots > Ferry pumps"), ("Ferry pumps > Parameters", "Ferry pumps"),
    ("Depots > Overview > Ferry pumps", "Ferry pumps"),
    ("A hall > Depots north > Ferry pumps", "Depots north > Ferry pumps"),
    ("3.2 Ferry pumps", "Ferry pumps"), ("Pumps of 1929 and 256 valves", "Pumps of 1929 and 256 valves"),
    ("`pump_on` calls", "pump_on calls"), ("Specification > Test Cases", ""), ("Sheet1", ""), ("参数", ""),
    ("Pumps; valves", ""), ("", ""), (f"Depots > {'long ' * 20}", ""), ("第二季度 > 参数", "第二季度")])
def test_the_innermost_headings_that_say_what_a_line_is_of(heading, said):
    assert section("| a: 1 |", heading) == said


def test_a_heading_of_one_word_follows_what_the_document_is_called_by_and_is_not_repeated():
    assert section("x", "Activation", "Ferry plan") == "Ferry plan > Activation"
    assert section("x", "Pump activation", "Ferry plan") == "Pump activation"
    assert section("x", "Overview", "Ferry plan") == ""
    assert section("x", "Core pumps > Valves", known=["Valves"]) == "Core pumps"


def test_headings_of_a_whole_text_end_with_the_next_one_of_their_level():
    text = "# North hall\n## Old pumps\nx\n## New pumps\n"
    assert section(f"{text}x") == "North hall > New pumps"
    assert section(f"{text}# South hall\nx") == "South hall"
    assert section(f"{text}```\n# South hall\n```\nx") == "North hall > New pumps"
    assert section("# a comment of code that was cut\n```\nx", "New pumps") == "New pumps"


@pytest.mark.parametrize("heading", ["**North hall**", "*North hall*", "***North hall***", "[North hall](https://n.example)",
                                     "North [hall](hall.md)", "2 * 3 * 4", "f(*a, **b)", "**b", "__init__",
                                     "[1] Sources"])
def test_a_heading_has_no_emphasis_and_no_links(heading):
    title = "North hall" if "hall" in heading else heading
    assert [found.title for found in headings(f"## {heading} ##\nx")] == [title]
    assert "hall" not in heading or section(f"## {heading}\nx") == title


@pytest.mark.parametrize(("lines", "said"), [
    (["**Old pumps**", "**Old pumps:**", "Old pumps\n| a: 1 |", "Old pumps:\n| a: 1 |",
      "Old pumps\n| a: 1 |\n| a: 2 |"], "Ferry hall > Old pumps"),
    (["They were bought in May.", "- old pumps", "old pumps", "Old pumps\n", "Is it old?", "Column 3: Pumps"],
     "Ferry hall")])
def test_a_caption_is_a_heading_and_a_sentence_an_item_or_a_line_apart_is_none(lines, said):
    assert [section(f"{line}\n| b: 1 |", "Ferry hall") for line in lines] == [said] * len(lines)


def test_a_general_heading_tells_nothing():
    assert not any(map(is_telling, ["Overview", "Key Facts", "1.2 Parameters", "Constants and parameters", "**Notes**",
                                    "12"]))
    assert all(map(is_telling, ["Gas costs", "Notes of May", "EIP-20"]))


BORN = "Born in Ulm:"


@pytest.mark.parametrize(("before", "opening"), [
    (f"{BORN}\n- Ada\n- Bo\n", BORN), ("These were born in Ulm\n- Ada\n", "These were born in Ulm"),
    (f"{BORN}\n1. Ada\n2) Bo\n(3) Dan\n", BORN), (f"First list:\n- Eva\n\n{BORN}\n- Ada\n", BORN),
    ("当选：\n\n一、甲\n", "当选："), ("# Born in Ulm\n- Ada\n", ""),
    (f"{BORN}\n- Ada\n\nIn other news:\nall is well.\n", "all is well."), ("word " * 100 + "born in Ulm:\n", "")])
def test_an_items_list_is_opened_by_the_last_sentence_before_it(before, opening):
    for item in ("- Cy Dahl", "3. Cy Dahl", "3、戴西", "  - Cy Dahl"):
        assert opening_of(f"{before}{item}\n- more", len(before) + item.index(item.strip())) == opening


def test_a_long_list_is_looked_back_over_to_its_beginning():
    text = f"{BORN}\n" + "- somebody\n" * 1000
    assert opening_of(text, len(text) - len("- somebody\n")) == BORN
    assert opening_of("\n" + text, 1 + len(BORN) + 1) == BORN


def test_headings_of_references_contents_and_thanks_and_those_of_content():
    assert all(map(is_back_matter, [
        "References", "7. REFERENCES", "Boats > VI. Literature cited", "Acknowledgements:", "Table of Contents",
        "Literaturverzeichnis", "参考文献", "五、参考文献", "References > A"]))
    assert not any(map(is_back_matter, ["", "Reference points", "Index of prices", "Contents of the cargo", "Results",
                                        "References to law in the act", "License"]))


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
    *((text, text) for text in ("decree [1]", "List<T> of a < b", "dict[str](x)", "a ::: b", "5 * 3 ** 2",
                                "[x] and (y)", "__init__")),
])
def test_markup_is_rendered_or_removed_and_nothing_else(text: str, shown: str) -> None:
    assert without_markup(text) == shown


def test_markup_alone_says_nothing() -> None:
    assert not has_words("<!-- INFO END -->")
    assert not has_words("![plan](plan.png)")
    assert has_words("<b>Plan</b>")
