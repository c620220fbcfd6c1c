"""What the web page's files promise, without a browser: two languages alike, no markup from data, nothing from afar."""

import json
import re
from pathlib import Path

import pytest
from banyan.schemas.formats.schema_loading import load_schema, seed_names
from banyan.schemas.graph_schema import OPEN_SCHEMA

WEB = Path(__file__).parents[3] / "server" / "web"
MODULES = sorted(path for path in WEB.rglob("*.js") if "vendor" not in path.parts)
PAGE = (WEB / "index.html").read_text("utf-8")
LANGUAGES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((WEB / "strings").glob("*.json"))}
PLACEHOLDER = re.compile(r"\{(\w+)\}")
# t("key") and t(`prefix.${...}`) in modules, data-text="key" and data-label="key" in the page.
KEY = re.compile(r"\bt\(\s*(?:[^()]*?\?\s*)?\"([\w.]+)\"")
PREFIX = re.compile(r"\bt\(`([\w.]+\.)\$\{")
"""What is called so in Chinese, too."""
ANY_TEXT = re.compile(r"[\"`]([a-z]+(?:\.[\w]+)+)[\"`]")


def forms(text):
    return [text] if isinstance(text, str) else list(text.values())


def sources():
    return "\n".join(path.read_text("utf-8") for path in MODULES)


def test_both_languages_have_the_same_texts_with_the_same_gaps():
    english, chinese = LANGUAGES["en"], LANGUAGES["zh"]
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        gaps = {gap for form in forms(text) for gap in PLACEHOLDER.findall(form)} | {"n"}
        for form in forms(chinese[key]):
            assert set(PLACEHOLDER.findall(form)) | {"n"} == gaps, key


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_empty_and_plurals_have_the_forms_that_their_language_has(language):
    for key, text in LANGUAGES[language].items():
        assert all(form.strip() for form in forms(text)), key
        if not isinstance(text, str):
            assert text.keys() == {"one", "other"}, key
            assert language == "en", f"{key}: Chinese has one form for all numbers"


def test_every_text_that_is_asked_for_is_there_and_every_one_that_is_there_is_asked_for():
    text = sources()
    asked = set(KEY.findall(text)) | set(re.findall(r"data-(?:text|label)=\"([\w.]+)\"", PAGE))
    assert not asked - LANGUAGES["en"].keys()
    prefixes = tuple(PREFIX.findall(text))
    assert all(any(key.startswith(prefix) for key in LANGUAGES["en"]) for prefix in prefixes)
    named = asked | set(ANY_TEXT.findall(text))
    assert not {key for key in LANGUAGES["en"] if key not in named and not key.startswith(prefixes)}


def test_a_new_knowledge_base_is_offered_every_seed_schema():
    (listed,) = re.findall(r"export const SEEDS = \[(.*?)\]", (WEB / "documents" / "upload.js").read_text("utf-8"))
    offered = re.findall(r"\"(\w+)\"", listed)
    assert sorted(offered) == sorted([*seed_names(), OPEN_SCHEMA])
    assert all(f"seed.{name}" in LANGUAGES["en"] for name in offered)


def test_every_text_of_a_built_in_schema_is_there_in_chinese():
    texts = json.loads((WEB / "seeds.zh.json").read_text("utf-8"))
    said = set(seed_names()) | {OPEN_SCHEMA}
    for name in seed_names():
        schema = load_schema(name)
        said |= {schema.description, *(one.description for one in (
            *schema.entity_types, *schema.relation_types, *schema.attribute_types))}
    assert said <= texts.keys()
