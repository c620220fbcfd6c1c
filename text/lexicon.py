"""Closed word lists: function words, headings, words with the same meaning, peoples; the long ones in `words.json`.

They contain general grammar of English and Chinese and are short on purpose: other words are matched literally, by
stem or by character bigrams.
"""

import re

from .patterns import read_json, read_patterns


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list written as one text."""
    return frozenset(text.split())


WORDS: dict[str, frozenset[str]] = {
    name: frozenset(words.split(", ")) for name, words in read_json("words.json").items()}
"""The lists of `words.json` by name; what each is for is said where it is used."""
ENGLISH_STOP = WORDS["english stop"]  # English words without content in a question or a sentence
_FORMS = {name: re.compile(form) for name, form in read_patterns("lexicon.toml").items()}
CHINESE_STOP, SUMMARY_CUES = _FORMS["chinese_stop"], _FORMS["summary_cues"]
ENGLISH_CONCEPTS: dict[str, str]
CHINESE_CONCEPTS: dict[str, str]
ENGLISH_CONCEPTS, CHINESE_CONCEPTS = (
    {word: concept for concept, forms in concepts.items() for word in forms.split()}
    for concepts in map(read_json("concepts.json").get, ("en", "zh")))
"""English word forms that no suffix rule unites, and Chinese synonyms, each with its concept."""
DATE_NOUNS = word_set("date year day month decade century birthdate birthday time")
NUMBER_NOUNS = WORDS["number nouns"]
COUNTRIES: dict[str, str] = read_json("peoples.json")
"""The country of each adjective for a people, such as that of "Ethiopian"."""
