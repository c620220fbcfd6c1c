"""Mentions in English, and in other languages that write names with capital letters."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..lexicon import words as word_set
from ..name_words import (
    AUXILIARIES,
    BODY_NOUNS,
    CALENDAR,
    DETERMINERS,
    FIELD_NOUNS,
    FIELDS,
    LEAD_NOUNS,
    NATIONALITIES,
    OPENERS,
    PARTICLES,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    ROLES,
    VERB_FORMS,
)
from .cues import fold
from .mentions import Mention, Sentence, Source

_TOKEN = re.compile(
    r"(?:[^\W\d_]\.){2,}|[^\W\d_]\.(?=\s?[^\W\d_])"
    r"|\b(?:Dr|Mr|Mrs|Ms|St|Jr|Sr|Mt|Prof|Inc|Ltd|Co|Corp|Gen|Col|Sen|Rep|Gov|Lt|Capt|Rev|Hon|Bros)\."
    r"|[^\W_]+(?:[-'’&.·/–][^\W_]+)*|[^\w\s]|_")
_STRIPPED_TITLES = ROLES - word_set(
    "king queen prince princess pope saint lord lady general major judge justice emperor father brother sister "
    "chief head coach bishop cardinal admiral")
_COMMON_ENDINGS = ("ness", "tion", "sion", "ment", "ity", "ing", "ance", "ence", "ism", "ly", "ed", "ture", "ics",
                   "fall", "ship", "hood", "ings", "tions", "ments", "ities")
_ADJECTIVE_ENDINGS = ("ian", "ese", "ish")
_YEAR_DIGITS = 4
_MODIFIERS = 2
_SHORTEST_ACRONYM = 2


@dataclass(frozen=True, slots=True)
class Token:
    """A word or mark; `possessive` when "'s" stood after it and was cut off."""

    start: int
    end: int
    text: str
    lower: str
    possessive: bool = False

    @property
    def capital(self) -> bool:
        """Written as a name is: with a capital first, or inside as in 'iPhone'."""
        return self.text[0].isupper() or (self.text[0].isalpha() and not self.text.islower()
                                          and any(c.isupper() for c in self.text))


def tokenise(text: str, start: int, end: int) -> list[Token]:
    """The words and marks of a part of a text, in order."""
    tokens = []
    for match in _TOKEN.finditer(text, start, end):
        word = match.group()
        cut = len(word) > 2 and word[-2] in "'’" and word[-1] in "sS"  # noqa: PLR2004 - a letter and 's
        if cut:
            word = word[:-2]
        tokens.append(Token(match.start(), match.start() + len(word), word, fold(word), cut))
    return tokens


class EnglishMentions:
    """Finds the mentions of one chunk; the whole chunk is evidence for what is a name."""

    def __init__(self, source: Source, sentences: Sequence[Sentence]) -> None:
        """Read the chunk once for the words that occur in small letters, or with a capital inside."""
        self._source = source
        self._types = source.compiled.types
        self._tokens = [tokenise(source.text, s.start, s.end) for s in sentences]
        self._small: set[str] = set()
        self._inside: set[str] = {fold(word) for word in re.findall(r"\w+", source.title)}
        for tokens in self._tokens:
            self._small.update(t.text for t in tokens if not t.capital)
            self._inside.update(t.lower for t in tokens[1:] if t.capital)

    def find(self, index: int) -> list[Mention]:
        """The names, terms and anaphors of the sentence with this index."""
        tokens = self._tokens[index]
        if not tokens or _shouting(tokens):
            return []
        mentions: list[Mention] = []
        at = 0
        while at < len(tokens):
            end = self._name_end(tokens, at)
            names = self._name(tokens, at, end) if end > at else []
            mentions.extend(names or self._anaphor(tokens, at) or self._term(tokens, at))
            at = end if names else at + 1
        return mentions

    def _name_end(self, tokens: list[Token], at: int) -> int:
        """The end of the run of tokens from `at` that may be one name; `at` where none begins."""
        token = tokens[at]
        if not _may_begin(token):
            return at
        end = at + 1
        while end < len(tokens):
            step = self._continues(tokens, at, end)
            if not step:
                break
            end += step
        return end

    def _continues(self, tokens: list[Token], begin: int, at: int) -> int:
        """How many tokens from `at` carry on the name that began at `begin`."""
        last, token = tokens[at - 1], tokens[at]
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        if token.start - last.end > (3 if last.possessive else 1):
            return 0
        if last.possessive and not (token.capital and token.lower in LEAD_NOUNS | {"day", "cup", "park"}):
            return 0
        if token.capital:
            dated = token.lower in CALENDAR and following is not None and following.text[0].isdigit()
            opens = token.lower in OPENERS and token.text != token.text.upper() and last.lower not in PARTICLES
            return 0 if dated or opens else 1
        if following is None:
            return 0
        if token.lower in {"&", "-"}:
            return 2 if following.capital and token.text == "&" else 0
        if token.text.isdigit() and len(token.text) < _YEAR_DIGITS:
            return 0 if following.text[0].islower() and following.lower not in AUXILIARIES | PREPOSITIONS else 1
        return self._connects(tokens, begin, at)

    def _connects(self, tokens: list[Token], begin: int, at: int) -> int:
        """How many tokens a connecting word ('of the', 'von', 'for', 'and') brings into the name."""
        word = tokens[at].lower
        ahead = at + 1
        while ahead < len(tokens) and ahead - at < 3 and tokens[ahead].lower in PARTICLES | {"the"}:  # noqa: PLR2004
            ahead += 1
        if ahead >= len(tokens) or not tokens[ahead].capital or tokens[ahead].lower in CALENDAR:
            return 0
        step = ahead - at + 1
        run = [t.lower for t in tokens[begin:at]]
        if word in PARTICLES:
            return step
        if word == "of":
            return step if run[-1] in LEAD_NOUNS | FIELDS or (len(run) == 1 and run[0] not in ROLES | OPENERS) else 0
        body = bool(BODY_NOUNS & set(run))
        if word in {"for", "in"} and run[-1] in FIELD_NOUNS:
            return step
        if word == "for":
            return step if run[-1] in BODY_NOUNS else 0
        if word == "and" and len(run) > 1 and tokens[ahead].lower in FIELDS:
            return step
        joins = body and ("of" in run or "for" in run) and tokens[ahead].lower not in LEAD_NOUNS
        return step if word == "and" and joins and ahead == at + 1 else 0

    def _name(self, tokens: list[Token], begin: int, end: int) -> list[Mention]:
        """The run as a mention, trimmed; none where it is no name after all."""
        first = begin
        while begin < end and begin <= first + 1 and tokens[begin].lower in OPENERS and (
                begin == 0 or (tokens[begin].lower in {"the", "a", "an"} and begin + 1 == end)):
            begin += 1
        run = tokens[begin:end]
        if not run:
            return []
        if all(t.lower in self._types.words for t in run) and begin and tokens[begin - 1].lower in {"the", "this"}:
            return self._described(tokens, begin - 1, run[-1])
        while len(run) > 1 and self._is_title(run[0], initial=begin == 0) and run[1].lower != "of":
            run = run[1:]
        following = tokens[end] if end < len(tokens) else None
        if self._is_common(run, following, initial=begin == 0 or not _has_word(tokens[:begin])):
            return []
        start = run[0].start
        if self._names_an_edition(tokens, begin, run):
            start = tokens[begin - 1].start
        return [Mention(start, run[-1].end, self._source.text[start : run[-1].end])]

    def _is_title(self, token: Token, *, initial: bool) -> bool:
        """'President', 'Dr.', or at the beginning of a sentence any word for a person: 'Composer John'."""
        word = token.lower.rstrip(".")
        person = self._types.roles.get("person")
        return word in _STRIPPED_TITLES or (initial and word not in ROLES and self._types.words.get(word) == person
                                            and person is not None)

    def _names_an_edition(self, tokens: list[Token], begin: int, run: list[Token]) -> bool:
        """'2000 Summer Olympics': the year before an event's name belongs to it."""
        if not begin or len(run) < _MODIFIERS:
            return False
        year = tokens[begin - 1].text
        event = self._types.roles.get("event")
        return year.isdigit() and len(year) == _YEAR_DIGITS and self._types.of_word(run[-1].lower) == event

    def _is_common(self, run: list[Token], following: Token | None, *, initial: bool) -> bool:
        """Whether a capitalised run is no name: a title, a nationality, a word that opens a sentence."""
        words = [t.lower.rstrip(".") for t in run]
        lower_next = following is not None and following.text[0].islower()
        if all(w in ROLES or w in CALENDAR for w in words) or (len(run[0].text) == 1 and len(run) == 1):
            return True
        if all(w in NATIONALITIES or (w.endswith(_ADJECTIVE_ENDINGS) and lower_next) for w in words):
            return True
        if len(run) > 1:
            return False
        token = run[0]
        if words[0] in OPENERS or words[0] in self._types.words:
            return True
        return initial and self._opens_sentence(token, following)

    def _opens_sentence(self, token: Token, following: Token | None) -> bool:
        """Whether a lone capitalised word has its capital from the beginning of the sentence only."""
        if token.lower in self._inside or token.possessive or not token.text.isalpha():
            return False
        if token.text.isupper() and len(token.text) >= _SHORTEST_ACRONYM:
            return False
        if token.lower in self._small or token.lower.endswith(_COMMON_ENDINGS):
            return True
        return following is None or not (_verb_like(following) or following.text in {",", "("})

    def _anaphor(self, tokens: list[Token], at: int) -> list[Mention]:
        token = tokens[at]
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        if following is None:
            return []
        if token.lower in POSSESSIVES and following.text[0].isalpha() and following.lower not in PREPOSITIONS:
            return [Mention(token.start, token.end, "", "possessive", POSSESSIVES[token.lower])]
        if token.lower in PRONOUNS and token.lower not in {"who", "which"}:
            subject = token.lower in {"he", "she"} or not _has_word(tokens[:at]) or (
                tokens[at - 1].lower in {",", "and", "but", "where", "when", "that"} and _verb_like(following))
            return [Mention(token.start, token.end, "", "pronoun", PRONOUNS[token.lower])] if subject else []
        if token.lower in {"the", "this"} and following.lower in self._types.words:
            return self._described(tokens, at, following)
        return []

    def _described(self, tokens: list[Token], at: int, noun: Token) -> list[Mention]:
        """'the company' as an anaphor, unless the noun goes on ('the company of', 'the film industry')."""
        after = next((t for t in tokens[at + 1 :] if t.start >= noun.end), None)
        closed = noun.possessive or after is None or not after.text[0].isalnum() or _verb_like(after) or (
            after.lower in PREPOSITIONS - {"of"})
        kind = self._types.of_word(noun.lower)
        if not closed or kind is None:
            return []
        return [Mention(tokens[at].start, noun.end, "", "description", kind)]

    def _term(self, tokens: list[Token], at: int) -> list[Mention]:
        """A lower-case term that the schema asks for, with the words before that describe it."""
        token = tokens[at]
        if token.capital or not token.text[0].isalpha() or self._types.of_term(token.lower) is None:
            return []
        begin = at
        while begin > 0 and at - begin < _MODIFIERS and self._describes(tokens[begin - 1]):
            begin -= 1
        text = self._source.text[tokens[begin].start : token.end]
        return [Mention(tokens[begin].start, token.end, text, "term")]

    def _describes(self, token: Token) -> bool:
        word = token.lower
        return (word[0].isalpha() and not token.possessive and not token.capital and word not in OPENERS
                and word not in PREPOSITIONS and not word.endswith(("ed", "ing", "ly", "s")))


def _may_begin(token: Token) -> bool:
    return token.capital and token.lower not in CALENDAR and token.text not in {"I", "I'm"}


def _has_word(tokens: list[Token]) -> bool:
    return any(t.text[0].isalnum() for t in tokens)


def _shouting(tokens: list[Token]) -> bool:
    """Whether a sentence is in capitals throughout, where they tell nothing."""
    words = [t.text for t in tokens if t.text[0].isalpha()]
    return len(words) > 3 and sum(w.isupper() for w in words) > 0.8 * len(words)  # noqa: PLR2004


def _verb_like(token: Token) -> bool:
    word = token.lower
    return (word in AUXILIARIES or word in VERB_FORMS or word in {"do", "does", "did", "can", "will", "would", "also"}
            or (word.endswith(("ed", "es")) and word not in DETERMINERS))
