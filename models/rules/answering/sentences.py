"""The sentences of passages: what each says, stands under and is near to."""

import re
from dataclasses import dataclass

from ....schemas.retrieval import Passage, Quote, TypedFact
from ....text.sentences import split_sentences
from ....text.table_rows import Row, find_rows
from ..content_words import content_words, language_of
from ..lexicon import ORGANISATION_NOUNS, PLACE_NOUNS
from ..questions.names import mentions
from .rows import named_in_row, said_in_row

IN_TITLE, IN_PART, NEARBY = 0.9, 0.8, 0.7
_IN_EARLIER_TEXT, _BESIDE = 0.6, 0.6
_IN_EARLIER_TEXT_OF_ANOTHER = 0.3
_KINDS = ORGANISATION_NOUNS | PLACE_NOUNS
_CAPITAL_AROUND = re.compile(r"_ [A-Z\d]")
_OPENING_PRONOUN = re.compile(r"(?:He|She|It|They|His|Her|Its|Their)\b|[他她它其]")
_OPENING_NAME = re.compile(r"[A-Z][\w’'-]+ (?:(?:of|de|von|van|the) )?[A-Z]\w")
_BOLD = re.compile(r"(?:\d{1,3}[.)]\s{1,3})?\*\*([^*\n]{1,80})\*\*")
_LABEL = re.compile(r"(?:\d{1,3}[.)]\s{1,3})?[A-Z][^\W\d_]*(?:[ ’'-][^\W\d_]{1,30}){0,3}[.:]")
"""What a paragraph opens with, in bold type or of a few words: it says what all its sentences are about."""
_MARKUP = re.compile(r"\s*(?:#{1,6}\s|[|=*-]{3,})")


@dataclass(frozen=True)
class Sentence:
    """One sentence of a passage: `passages[passage].text[start:end] == text`."""

    passage: int
    start: int
    text: str
    title: str
    heading: str
    """The heading or label above it, and the title."""
    before: str
    words: frozenset[str]
    title_words: frozenset[str]
    """Of the passage's title and of the heading above the sentence."""
    previous: str
    following: str
    near_words: frozenset[str]
    passage_text: str
    passage_words: frozenset[str]
    facts: tuple[TypedFact, ...]
    row: Row | None = None

    @property
    def starts_line(self) -> bool:
        """Whether it is the first sentence of a line."""
        return not self.before.strip(" *_-–") or self.before.rstrip(" *_-–•").endswith("\n")

    @property
    def near(self) -> str:
        """The sentences before and after it."""
        return f"{self.previous} {self.following}"

    def passage_holds(self, word: str) -> bool:
        """Whether the sentence's passage or its title says a content word."""
        return word in self.passage_words or (language_of(word) == "zh" and word in self.passage_text)

    def quote(self) -> Quote:
        """The sentence as a verbatim quote; passages count from 1."""
        return Quote(passage=self.passage + 1, words=self.text)


def sentences_of(number: int, passage: Passage) -> list[Sentence]:
    """The sentences of one passage, without headings and rules of markup."""
    whole = f"{passage.title}\n{passage.text}"
    words = frozenset(content_words(whole))
    rows = {row.start: row for row in find_rows(passage.text)}
    found: list[tuple[int, int, str]] = []
    heading = label = ""
    end_before = 0
    for start, end in split_sentences(passage.text):
        text = passage.text[start:end]
        if start == 0 or "\n" in passage.text[end_before - 1 : start]:
            label = ""
        end_before = end
        if text.startswith("#"):
            heading = text.lstrip("# ")
        elif (bold := _BOLD.match(text)) is not None:
            label = bold[1]
            found.append((start, end, f"{heading} {label}"))
        elif _LABEL.fullmatch(text) and passage.text[end : end + 2].strip() and "\n" not in passage.text[end : end + 1]:
            label = text  # 'Late returns. 20 pence a day ...'
        elif text.strip() and not _MARKUP.match(text):
            found.append((start, end, f"{heading} {label}".strip()))
    made: list[Sentence] = []
    for i, (start, end, above) in enumerate(found):
        text = passage.text[start:end]
        previous, following = (passage.text[slice(*found[n][:2])] if 0 <= n < len(found) else ""
                               for n in (i - 1, i + 1))
        headed = f"{passage.title} {above}".strip()
        facts = tuple(fact for fact in passage.facts if start <= fact.start < end)
        made.append(Sentence(number, start, text, passage.title, headed, passage.text[:start],
                             frozenset(content_words(text)), frozenset(content_words(headed)), previous, following,
                             frozenset(content_words(f"{previous} {following}")), whole, words, facts, rows.get(start)))
    return made


def holds(sentence: Sentence, word: str) -> float:
    """How surely a sentence says a content word; Chinese characters are looked for as written."""
    chinese = language_of(word) == "zh"
    if word in sentence.words or (chinese and word in sentence.text):
        return 1.0
    if sentence.row is not None:
        return IN_TITLE if said_in_row(sentence.row, word) or word in sentence.passage_words else 0.0
    if word in sentence.title_words or (chinese and word in sentence.title):
        return IN_TITLE
    return NEARBY if word in sentence.near_words or (chinese and word in sentence.near) else 0.0


def presence(name: str, sentence: Sentence) -> float:
    """How surely a sentence speaks of a name: it names it, its title does, or the text before it.

    A sentence that opens with a pronoun speaks of its title's entity: other names stand only beside.
    """
    if sentence.row is not None:
        return named_in_row(sentence.row, name) or (IN_TITLE if mentions(sentence.title, name) else 0.0)
    beside = _OPENING_PRONOUN.match(sentence.text) and not mentions(sentence.title, name)
    if mentions(sentence.text, name):
        return _BESIDE if beside else 1.0
    if mentions(sentence.title, name):
        return IN_TITLE
    if partly(sentence.text, name):
        return IN_PART
    if mentions(sentence.near, name):
        return NEARBY
    if not mentions(sentence.before, name):
        return 0.0
    return _IN_EARLIER_TEXT_OF_ANOTHER if _OPENING_NAME.match(sentence.text) else _IN_EARLIER_TEXT


def partly(text: str, name: str) -> bool:
    """Whether a text calls something by the first word of a name alone: 'Ada' for Ada Byron, not 'University'."""
    first, _, others = name.partition(" ")
    if first not in text or first.casefold() in _KINDS:
        return False
    return bool(others) and len(first) > 2 and first[:1].isupper() and any(  # noqa: PLR2004 - no initials or articles
        not _CAPITAL_AROUND.search(text[max(0, match.start() - 1) : match.end() + 2].replace(first, "_"))
        for match in re.finditer(rf"(?<![\w-]){re.escape(first)}(?![\w-])", text))
