"""Closed word lists: function words, headings, words with the same meaning, peoples; the long ones in `words.json`.

They contain general grammar of English and Chinese and are short on purpose: other words are matched literally, by
stem or by character bigrams.
"""

import json
import re
from functools import cache
from pathlib import Path

_CONCEPTS, _PEOPLES = map(Path(__file__).with_name, ("concepts.json", "peoples.json"))


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list written as one text."""
    return frozenset(text.split())


WORDS = {name: frozenset(words.split(", ")) for name, words in
         json.loads(Path(__file__).with_name("words.json").read_text("utf-8")).items()}
"""The lists of `words.json` by name; what each is for is said where it is used."""
ENGLISH_STOP = WORDS["english stop"]  # english words without content in a question or a sentence

CHINESE_STOP = re.compile(
    "什么时候|什么地方|什么样|多少|什么|哪一[年天个位家些]|哪[个家位年天里儿些所座条部本国省市月]|何时|何地|为何|如何|怎么|怎样|是否|"
    "有没有|请问|告诉我|开始|一共|总共|分别|可以|能够|能否|可否|能不能|应当|应该|必须|不得|不能|[的了是在于和与及吗呢吧啊谁哪几么被把由从对将为其之这那有个]"
)
"""Chinese words and characters without content; runs of characters are cut at them."""


def _load_concepts(language: str) -> dict[str, str]:
    listed: dict[str, str] = json.loads(_CONCEPTS.read_text("utf-8"))[language]
    return {word: concept for concept, forms in listed.items() for word in forms.split()}


ENGLISH_CONCEPTS, CHINESE_CONCEPTS = _load_concepts("en"), _load_concepts("zh")
"""English word forms that no suffix rule unites, and Chinese synonyms, each with its concept."""

DATE_NOUNS = word_set("date year day month decade century birthdate birthday time")
NUMBER_NOUNS = WORDS["number nouns"]
SUMMARY_CUES = re.compile(
    r"\b(summari[sz]e|summary|overview|main (themes?|topics?|points?|ideas?)|overall|in general|"
    r"key (themes?|topics?)|what (?:is|are) (?:all )?(?:this|these|the) (?:(?:collection|folder|set|corpus)\b|"
    r"(?:documents?|texts?|files?|papers?)\b)(?: of (?:documents|texts|files|papers))?(?: all)? about|"
    r"what are (?:all )?these (?:\w+ ){1,3}?(?:all )?about(?=\W*$))\b|"
    r"总结|概括|概述|综述|总体|整体上|主要(主题|内容|议题|话题)|归纳|"
    r"(?:文件|文档|资料|文章|材料|这[些批组][^，,。？?是]{1,6}?)(?:都|主要)*(?:是)?(?:关于|讲|说|写|谈|涉及)[^，,。？?]{0,6}(?:什么|哪些)",
    re.IGNORECASE,
)
"""Questions about the whole corpus rather than a fact; they go to the communities."""


@cache
def countries() -> dict[str, str]:
    """Return the country of each adjective for a people, such as that of "Ethiopian"."""
    listed: dict[str, str] = json.loads(_PEOPLES.read_bytes())
    return listed
