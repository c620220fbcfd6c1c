"""Content words and stems of a text in any script, for comparing questions and sentences."""

import re
from functools import cache, lru_cache
from itertools import pairwise
from threading import Lock

import Stemmer

from ..schemas.naming import normalise
from .lexicon import CHINESE_STOP, CONCEPTS, ENGLISH_STOP, alternatives
from .scripts import FUNCTION_WORDS, MARKS

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff"
_HAN_CHARACTER = re.compile(f"[{_HAN}]")
_RUN = re.compile(rf"\d+[年月日号]|[{_HAN}]+|[^\W_{_HAN}](?:[^\W_{_HAN}]|[-'’.](?=[^\W_{_HAN}]))*")
_CHINESE_CONCEPT = re.compile(alternatives(CONCEPTS["zh"]))
_POSSESSIVE = re.compile(r"['’]s?$")
_STEMMERS = {"es": "spanish", "pt": "portuguese", "fr": "french", "de": "german", "it": "italian", "nl": "dutch",
             "ru": "russian", "hi": "hindi", "ar": "arabic"}
# Snowball has no stemmer of Bengali. One ending may follow another, and at least two letters have to be left.
_BENGALI_ENDING = re.compile("(?<=..)(?:গুলি|গুলো|দের|জন|ের|টি|টা|কে|তে|য়|ে|র){1,2}$")
_SPOKEN = re.compile(r"(?<![^\W_])(?!(?<=[^\W_]['’])(?:s|t|re|ve|ll|d|m)\b)[^\W_]+")
"""A word; the "s" of "Blum's" and of "what's" is none."""
_SPACED_WORD = re.compile(rf"(?:[^\W_]|[{MARKS}])+")
_stemmer = cache(Stemmer.Stemmer)
_STEMMING = Lock()  # a stemmer keeps the word that it works on


@lru_cache(maxsize=65_536)
def stem_word(word: str, language: str = "english") -> str:
    """Return a word in lower case without its ending, the same for all inflections; `language` is one of Snowball's."""
    with _STEMMING:
        return str(_stemmer(language, 0).stemWord(word))  # without its own cache: `stem_word` has one


def stem(word: str) -> str:
    """Return a normalised English word without its ending; of words of one concept, that of the concept's name."""
    plain = _POSSESSIVE.sub("", word)
    return stem_word(CONCEPTS["en"].get(plain, plain))


@lru_cache(maxsize=4096)
def content_words(text: str, language: str = "en") -> tuple[str, ...]:
    """Return the content words of a text, in order: stems of words, and bigrams of Chinese characters.

    `language` is the code of the language whose function words and endings are removed.
    """
    if language not in {"en", "zh", "ja"}:
        without = FUNCTION_WORDS.get(language, frozenset())
        found = [word for word in _SPACED_WORD.findall(normalise(text)) if word not in without]
        if language in _STEMMERS:
            return tuple(stem_word(word, _STEMMERS[language]) for word in found)
        return tuple(_BENGALI_ENDING.sub("", word) if language == "bn" else word for word in found)
    words: list[str] = []
    for match in _RUN.finditer(normalise(text)):
        run = match.group()
        if _HAN_CHARACTER.match(run):
            words.extend(_chinese_words(run))
        elif _POSSESSIVE.sub("", run) not in ENGLISH_STOP:  # a function word also with an ending: "what's"
            words.append(stem(run))
    return tuple(words)


@lru_cache(maxsize=4096)
def spoken_words(text: str) -> tuple[str, ...]:
    """Return the words of an English text in lower case, without function words."""
    return tuple(word for word in _SPOKEN.findall(normalise(text)) if word not in ENGLISH_STOP)


def _chinese_words(run: str) -> list[str]:
    """Return concepts and character bigrams of a run of Chinese characters, in order."""
    words: list[str] = []
    piece_start = 0
    for match in [*_CHINESE_CONCEPT.finditer(run), None]:
        piece_end = match.start() if match else len(run)  # None is the end of the run
        for piece in CHINESE_STOP.split(run[piece_start:piece_end]):
            words += [piece] if len(piece) == 1 else [*map("".join, pairwise(piece))]  # one character has no bigram
        if match:
            words.append(stem_word(CONCEPTS["zh"][match[0]]))
            piece_start = match.end()
    return words
