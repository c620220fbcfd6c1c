"""Decomposition of nested English questions along their parse, innermost noun phrase first.

'In which country is the birthplace of the discoverer of polonium?' has three steps: 'the discoverer of polonium', 'the
birthplace of {answer 1}' and 'In which country is {answer 2}?'. Each step is a described noun phrase, which a
reference to its answer replaces in later steps. A noun is described by a relative clause, a participle, another noun's
possessive, or 'of'.
"""

from typing import TYPE_CHECKING

from ...models.parsing.parser import Parser
from ...models.rules.content_words import language_of as english_or_chinese
from ...models.rules.lexicon import SUMMARY_CUES, words
from ...models.rules.question import foreign_forms
from ...schemas.references import reference
from ...text.languages import language_of

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_LONGEST = 120
"""The longest question in tokens; a longer text is searched as it is."""
_RELATIVE_TAGS = frozenset({"WDT", "WP", "WP$", "WRB"})
_EMPTY = words("be the name of")


def unfold(question: str, parser: Parser, limit: int) -> list[str]:
    """Decompose a nested English question into steps, in the order in which they can be answered.

    Args:
        question: the question, not blank.
        parser: parses it.
        limit: the most steps.

    Returns:
        The steps, which may refer to earlier answers (`schemas/references.py`); only the question itself if it is not
        nested, for an overview, in another language, or if it would need more than `limit`.
    """
    question = question.strip() or question
    is_foreign = language_of(question) in foreign_forms() or english_or_chinese(question) == "zh"
    if question.isspace() or SUMMARY_CUES.search(question) or is_foreign:
        return [question]
    (doc,) = parser.parse_sentences([question], _LONGEST)
    steps = _Steps(doc).texts() if doc is not None else []
    return steps if 1 < len(steps) <= limit else [question]


class _Steps:
    """The steps of a nested question, and the tokens that they replace."""

    def __init__(self, doc: "Doc") -> None:
        self._doc = doc
        self._replaced: dict[int, tuple[int, str]] = {}

    def texts(self) -> list[str]:
        """Return the steps in order; the remaining question comes last."""
        found: list[str] = []
        nouns = [token for token in self._doc if token.pos_ in {"NOUN", "PROPN", "PRON"}]
        for noun in sorted(nouns, key=lambda token: (token.right_edge.i - token.left_edge.i, token.i)):
            clause = _description(noun)
            if clause is None and not _is_of_something(noun):
                continue
            start = noun.left_edge.i
            end = max(token.right_edge.i for token in (noun, clause) if token is not None) + 1
            if not any(map(_asks, self._doc[start:end])) and not self._is_rest(start, end):
                found.append(self._text(start, end))
                self._replaced[start] = (end, reference(len(found)))
        return [*found, f"{self._text(0, len(self._doc))}?"]

    def _is_rest(self, start: int, end: int) -> bool:
        """Return True if the rest of the question only asks for a phrase ('Who is {answer 1}?')."""
        return all(token.is_punct or token.is_space or token.tag_ in _RELATIVE_TAGS or token.lemma_ in _EMPTY
                   for token in (*self._doc[:start], *self._doc[end:]))

    def _text(self, start: int, end: int) -> str:
        """Return the tokens' text with replacements, the longest of those that begin together."""
        parts: list[str] = []
        i = start
        while i < end:
            last, by = self._replaced.get(i, (i + 1, self._doc[i].text))
            parts.append(by + self._doc[last - 1].whitespace_)
            i = last
        return "".join(parts).strip(" ,.;?")


def _asks(token: "Token") -> bool:
    """Return True if a word such as 'which' or 'where' asks rather than opening a relative clause."""
    if token.tag_ not in _RELATIVE_TAGS or token.lower_ == "that":
        return False
    is_last = token.i + 1 == len(token.doc) or token.nbor().is_punct
    return is_last or token.dep_ == "det" or token.lower_ in {"what", "how", "why"} or token.i == token.sent.start


def _description(noun: "Token") -> "Token | None":
    """Return the verb of the relative clause or participle that describes a noun, except one that only names it."""
    if noun.tag_ in {"NNP", "NNPS"} and not _is_definite(noun):
        return None
    return next((child for child in noun.rights if child.pos_ in {"VERB", "AUX"} and child.tag_ != "VB" and (
        child.dep_ == "relcl" or (child.dep_ == "acl" and child.lemma_ not in {"call", "name", "know"}))), None)


def _is_of_something(noun: "Token") -> bool:
    """Return True for a common noun that belongs to something: 'the founder of X', 'X's founder'."""
    if noun.tag_ not in {"NN", "NNS"} or noun.text.istitle():
        return False
    return any((child.dep_ == "poss" and child.tag_ not in {"PRP$", "WP$"})
               or (child.dep_ == "prep" and child.lemma_ == "of" and _is_definite(noun)) for child in noun.children)


def _is_definite(noun: "Token") -> bool:
    return any(child.lower_ == "the" for child in noun.lefts)
