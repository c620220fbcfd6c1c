"""Words and patterns of this folder's data files: lists of words in JSON, and regular expressions in TOML.

The lists contain general grammar of English and Chinese and are short on purpose: other words are matched literally,
by stem or by character bigrams. In a TOML file `{name}` stands for a text of its table [parts].
"""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

_PART = re.compile(r"\{([a-z_]+)\}")


def read_json(file: str) -> Any:
    """Return the data of a JSON file."""
    return json.loads(Path(__file__).with_name(file).read_text("utf-8"))


def read_patterns(file: str, **parts: str) -> dict[str, Any]:
    """Return the tables of a file, in whose texts the names of its parts, and of `parts`, are replaced by these."""
    tables = tomllib.loads(Path(__file__).with_name(file).read_text("utf-8"))
    texts = {**tables.pop("parts", {}), **parts}

    def fill(value: Any) -> Any:
        """Return a value of the file with all parts filled in, also those that are in other parts."""
        if isinstance(value, dict):
            return {name: fill(one) for name, one in value.items()}
        if isinstance(value, list):
            return [*map(fill, value)]
        while isinstance(value, str) and _PART.search(value):
            value = _PART.sub(lambda name: texts[name[1]], value)
        return value

    return {name: fill(value) for name, value in tables.items()}


def alternatives(words: "set[str] | frozenset[str] | dict[str, Any]") -> str:
    """Return a regular expression for any of some words, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list written as one text."""
    return frozenset(text.split())


WORDS: dict[str, frozenset[str]] = {
    name: frozenset(words.split(", ")) for name, words in read_json("words.json").items()}
"""The lists of `words.json` by name; what each is for is said where it is used."""
ENGLISH_STOP = WORDS["english stop"]  # English words without content in a question or a sentence
_FORMS = {name: re.compile(form) for name, form in read_patterns("lexicon.toml").items()}
CHINESE_STOP, SUMMARY_CUES = _FORMS["chinese_stop"], _FORMS["summary_cues"]
CONCEPTS: dict[str, dict[str, str]] = {
    language: {word: concept for concept, forms in concepts.items() for word in forms.split()}
    for language, concepts in read_json("concepts.json").items()}
"""English word forms that no suffix rule unites, and Chinese synonyms, each with its concept."""
DATE_NOUNS = word_set("date year day month decade century birthdate birthday time")
NUMBER_NOUNS = WORDS["number nouns"]
COUNTRIES: dict[str, str] = read_json("peoples.json")
"""The country of each adjective for a people, such as that of "Ethiopian"."""
