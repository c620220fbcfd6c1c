"""What the web page's files promise, without a browser: two languages alike, no markup from data, nothing from afar."""

import json
import re
from pathlib import Path

WEB = Path(__file__).parents[3] / "server" / "web"
LANGUAGES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((WEB / "strings").glob("*.json"))}
PLACEHOLDER = re.compile(r"\{(\w+)\}")


def forms(text):
    return [text] if isinstance(text, str) else list(text.values())


def test_both_languages_have_the_same_texts_with_the_same_gaps():
    english, chinese = LANGUAGES["en"], LANGUAGES["zh"]
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        gaps = {gap for form in forms(text) for gap in PLACEHOLDER.findall(form)} | {"n"}
        for form in forms(chinese[key]):
            assert set(PLACEHOLDER.findall(form)) | {"n"} == gaps, key
