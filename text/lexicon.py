"""Closed word lists of the rules reasoner: function words, relational nouns, words with the same meaning, peoples.

They contain general grammar of English and Chinese and are short on purpose: other words are matched literally, by
stem or by character bigrams.
"""

import json
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

_PEOPLES = Path(__file__).with_name("peoples.json")


def words(text: str) -> frozenset[str]:
    """Return the words of a list written as one text."""
    return frozenset(text.split())


ENGLISH_STOP = words(
    "a an the of in on at to for from by with and or as is are was were be been being do does did has have "
    "had this that these those there it its he she they him her them his their who whom whose which what "
    "when where why how many much name called named not no can could will would shall should may might "
    "must about into than then so if but also i you we me my your our please tell give anybody anyone anything any ever"
)
"""English words without content in a question or a sentence."""

CHINESE_STOP = re.compile(
    "什么时候|什么地方|什么样|多少|什么|哪一[年天个位家些]|哪[个家位年天里儿些所座条部本国省市月]|何时|何地|为何|如何|怎么|怎样|是否|"
    "有没有|请问|告诉我|开始|一共|总共|分别|可以|能够|能否|可否|能不能|应当|应该|必须|不得|不能|[的了是在于和与及吗呢吧啊谁哪几么被把由从对将为其之这那有个]"
)
"""Chinese words and characters without content; runs of characters are cut at them."""

ENGLISH_CONCEPTS = {
    "born": "birth", "birthplace": "birth", "birthdate": "birth", "birthday": "birth",
    "die": "death", "died": "death", "dies": "death", "dead": "death", "dying": "death",
    "wrote": "write", "written": "write", "writer": "write", "author": "write", "authored": "write",
    "writing": "write", "writes": "write", "authors": "write", "novelist": "write",
    "founded": "establish", "founder": "establish", "founders": "establish", "founding": "establish",
    "established": "establish", "cofounded": "establish", "co-founded": "establish",
    "won": "win", "winner": "win", "winning": "win", "wins": "win",
    "wife": "spouse", "husband": "spouse", "married": "spouse", "marry": "spouse", "marriage": "spouse",
    "son": "child", "daughter": "child", "children": "child", "sons": "child", "daughters": "child",
    "made": "make", "maker": "make", "built": "build", "builder": "build", "building": "building",
    "led": "lead", "leader": "lead", "taught": "teach", "teacher": "teach", "teaching": "teach",
    "lie": "locate", "lies": "locate", "lay": "locate", "located": "locate", "situated": "locate",
    "stands": "locate", "location": "locate", "headquarters": "headquarter", "headquartered": "headquarter",
    "studied": "study", "studies": "study", "educated": "study", "graduated": "study",
    "alma": "study", "sang": "sing", "sung": "sing", "singer": "sing",
    "spoken": "speak", "spoke": "speak", "inhabitants": "population", "populous": "population",
    "populations": "population", "bought": "acquire", "tall": "height", "high": "height", "long": "length",
    "large": "size", "big": "size", "area": "size", "old": "age", "aged": "age", "far": "distance",
    "cost": "price", "costs": "price", "expensive": "price", "cheap": "price", "cheaper": "price", "cheapest": "price",
    "dearer": "price", "dearest": "price", "prices": "price", "weigh": "weight", "weighs": "weight", "heavy": "weight",
    "light": "weight", "heavier": "weight", "heaviest": "weight", "lighter": "weight", "lightest": "weight",
    "longer": "length", "longest": "length", "taller": "height", "tallest": "height",
    "higher": "height", "highest": "height",
    "larger": "size", "largest": "size", "bigger": "size", "biggest": "size", "older": "age", "oldest": "age",
    "young": "age", "younger": "age", "youngest": "age",
    "fast": "speed", "faster": "speed", "fastest": "speed", "ceo": "executive", "cfo": "finance",
    "employs": "employ", "employees": "employ", "staff": "employ",
    "pay": "price", "pays": "price", "paid": "price", "fee": "price", "fees": "price", "charge": "price",
    "attended": "present", "attendees": "present", "attend": "present", "sent": "send", "sender": "send",
    "cc": "copy", "copied": "copy", "copies": "copy", "job": "role", "position": "role", "post": "role",
    "acquired": "acquire", "starring": "star", "starred": "star", "stars": "star",
}
"""English word forms that no suffix rule unites, with their concept."""

CHINESE_CONCEPTS = {
    "出生地": "birth", "出生": "birth", "生于": "birth", "诞生": "birth",
    "去世": "death", "逝世": "death", "卒于": "death", "病逝": "death", "死于": "death",
    "作者": "write", "撰写": "write", "写": "write", "著": "write",
    "创始人": "establish", "成立": "establish", "创立": "establish", "创建": "establish", "创办": "establish",
    "设立": "establish", "建造": "build", "修建": "build", "兴建": "build", "建于": "build", "始建": "build",
    "位于": "locate", "坐落": "locate", "地处": "locate",
    "妻子": "spouse", "丈夫": "spouse", "配偶": "spouse", "结婚": "spouse",
    "儿子": "child", "女儿": "child", "子女": "child",
    "毕业": "study", "就读": "study", "母校": "study",
    "发现者": "discover", "发现": "discover", "发明者": "invent", "发明": "invent",
    "售价": "price", "价格": "price", "多少钱": "price", "重量": "weight", "首席执行官": "executive", "库存": "stock",
    "导演": "direct", "执导": "direct", "总部": "headquarter", "人口": "population", "居民": "population",
}
"""Chinese synonyms with their concept."""

DATE_NOUNS = words("date year day month decade century birthdate birthday time")
NUMBER_NOUNS = words(
    "population height length area depth weight price cost number amount age distance size elevation "
    "revenue profit width diameter mass speed temperature capacity budget salary percentage share range rate fee rent "
    "turnover quantity total sum load"
)


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


def peoples_of(country: str) -> tuple[str, ...]:
    """Return the adjectives for the people of a country; empty if the country is unknown."""
    return _peoples().get(country, ())


@cache
def _peoples() -> dict[str, tuple[str, ...]]:
    """Return the adjectives for the people of each country; the file lists the country of each adjective."""
    countries: dict[str, str] = json.loads(_PEOPLES.read_bytes())
    by_country: dict[str, list[str]] = defaultdict(list)
    for people, country in countries.items():
        by_country[country].append(people)
    return {country: tuple(peoples) for country, peoples in by_country.items()}
