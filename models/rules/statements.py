"""Decide whether a sentence states a value as the answer to a question, by its words and their parts of speech.

From the value to the nearest place of each word of the question, with the noun phrases that these are in, a sentence
may say nothing that the question does not say, and the question's predicate has to be there. So "Ada is the mayor of
Ulm" answers "Who is the mayor of Ulm?", but "Ada met the mayor of Ulm" and "Ada is the deputy mayor of Ulm" do not.
A sentence that denies, weakens, supposes or reports states nothing. Nor does one in which another verb governs the
value, as "An error put the siege of Ulm in 1544", unless a name and what is asked stand side by side. A missed short
answer costs little, because its sentence is quoted anyway.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise, takewhile
from typing import TYPE_CHECKING, NamedTuple

from ...text.dates import find_dates
from ...text.lexicon import DATE_NOUNS, WORDS, read_patterns, word_set
from ..parsing.parser import Parser, load_tagger
from ..parsing.parser import Word as TaggedWord
from .question import Question
from .recognition.name_kinds import VALUES, without_emphasis
from .recognition.names import Place

if TYPE_CHECKING:
    from spacy.tokens import Token

_EMPTY_VERBS = WORDS["empty verbs"]  # they state nothing without their noun, for which a question asks
_STATIVE = WORDS["stative"]  # they say as much as "is" and "has" of a size, place or time: "The hall seats 40"
_IMPLICATIVE = WORDS["implicative"]  # what these govern is a fact: "went on to win", "learned that he had won"
_GOVERNED = word_set("ccomp csubj csubjpass parataxis pcomp xcomp")  # clauses of which the verb above says if they hold
_TRANSPARENT = DATE_NOUNS | WORDS["transparent"]
"""Words that stand for what the words beside them mean: "in the year 1931", "Acme's entire workforce"."""
_DOUBT = WORDS["words of doubt"]  # a sentence with one denies something, or calls it past, uncertain or reported
_FINITE = word_set("VB VBD VBG VBN VBP VBZ")
_FORMS = {name: re.compile(form) for name, form in read_patterns("rules.toml")["statements"].items()}
_KINDS = {"NOUN": "noun", "PROPN": "noun", "ADJ": "noun", "VERB": "verb", "DET": "link", "v": "verb",
          **dict.fromkeys(word_set("n nz nw vn an a f s ORG LOC PER"), "noun")}
"""Words by the tags of spaCy and LAC: those of noun phrases, verbs, and what stands within noun phrases."""
_LINKS = word_set("of 's ’s ' 的")


class _Word(NamedTuple):
    """A word of a sentence at characters `start` to `end`.

    `lemma` is its basic form, and `stems` are the forms that are compared, empty for a function word. `kind` is
    "noun" (also for adjectives), "verb", "link" or its tag. `token` is spaCy's; None in Chinese.
    """

    start: int
    end: int
    lemma: str
    kind: str
    stems: frozenset[str]
    token: "Token | None"

    @property
    def is_proper(self) -> bool:
        """True for an English word of a name."""
        return self.token is not None and self.token.pos_ == "PROPN"


class Statements:
    """Reads sentences for one question in English or Chinese."""

    def __init__(self, question: Question, parser: Parser) -> None:
        """Read the question: its predicate, the part that its question word plays, and its tense."""
        self._question, self._parser, self._is_english = question, parser, question.language == "en"
        self._asks_for_value = question.expected in VALUES
        self._stems = frozenset(question.words_of(question.text))
        asked = self._words_of(question.asking)
        self._lemmas = frozenset(word.lemma for word in asked)
        name_stems = frozenset(question.words_of(" ".join(question.names)))
        # In Chinese what stands behind the question word is what it counts: 多少工资.
        self._counted = frozenset(stem for before, word in pairwise(asked) if before.kind == "r" for stem in word.stems)
        verbs = [word for word in asked if word.kind == "verb" and word.stems and word.lemma not in _EMPTY_VERBS
                 and (word.token is None or word.token.dep_ in {"ROOT", "ccomp"})]
        nouns = [word for word in asked if word.kind == "noun" and not word.stems <= name_stems | self._counted]
        self._is_light = not verbs
        # The main verb is the predicate, or else the nouns; in Chinese it is the last one.
        predicates = (verbs[:1] or nouns) if self._is_english else (verbs or nouns)[-1:]
        self._predicate = frozenset(stem for word in predicates for stem in word.stems)
        tokens = [word.token for word in asked if word.token is not None]
        self._asked_token = _asked_token(tokens) if tokens else None
        tags = {token.tag_ for token in tokens}
        self._is_present = "VBD" not in tags and not tags.isdisjoint({"VBZ", "VBP"})

    def stated(self, text: str, values: Sequence[Place]) -> list[Place]:
        """Return those values, given as (start, end) in characters, that a sentence states as the answer."""
        if text.rstrip().endswith(("?", "？")) or _FORMS["planned"].search(text):
            return []
        text = without_emphasis(text)
        words, stated = self._words_of(text), list[Place]()
        # "name: Arc room: 4 name: Bow" has a field of several things, so the words between do not tell whose it is.
        if text.count(":") > 1 and not any(word.kind == "verb" for word in words):
            return []
        for start, end in [(0, len(text))] if self._is_english else _clauses(text, values):
            clause = [word for word in words if start <= word.start < end]
            # A conjunction such as 如果 ("if") in an earlier clause also makes this one no fact.
            conjunctions = [word for word in words if word.kind == "c" and word.start < start]
            # Where another clause has the predicate, this one says something else.
            is_of_other_clause = self._has_predicate(words) and not self._has_predicate(clause)
            if not is_of_other_clause and not any(self._is_doubtful(text, word) for word in (*conjunctions, *clause)):
                stated += [value for value in values if start <= value[0] < end and self._states(text, clause, value)]
        return stated

    def _words_of(self, text: str) -> list[_Word]:
        """Return the words of a text by spaCy or LAC."""
        words_of = self._question.words_of
        if self._is_english:
            return [_Word(token.idx, token.idx + len(token), token.lemma_.lower(),
                          "link" if token.lower_ in _LINKS else _KINDS.get(token.pos_, token.pos_),
                          frozenset(words_of(token.text)[:1] + words_of(token.lemma_)[:1]), token)
                    for token in self._parser.parse(text)]
        return [_Word(word.start, word.end, word.text,
                      "link" if word.text in _LINKS else _KINDS.get(word.tag, word.tag),
                      frozenset(words_of(word.text)), None) for word in _tag(text)]

    def _has_predicate(self, words: Sequence[_Word]) -> bool:
        """Return True if one of some words says the question's predicate, or the question has none."""
        return not self._predicate or any(self._predicate & word.stems for word in words)

    def _is_doubtful(self, text: str, word: _Word) -> bool:
        """Return True for a word that denies something, or that weakens or supposes it and is not in the question."""
        token, is_asked = word.token, word.lemma in self._lemmas
        if token is None:
            is_past = self._is_light and _FORMS["past"].match(word.lemma)
            is_doubt = word.kind in {"d", "c", "p", "verb", "noun"} and _FORMS["chinese_doubt"].match(text, word.start)
            return bool(is_past or is_doubt) and not is_asked
        if token.dep_ == "neg":  # a denial states nothing, even if the question has one, too
            return True
        return not is_asked and (word.lemma in _DOUBT or token.tag_ == "MD")

    def _states(self, text: str, words: Sequence[_Word], value: Place) -> bool:
        """Return True if a clause states a value as the answer."""
        start, end = value
        of_value = [index for index, word in enumerate(words) if word.end > start and word.start < end]
        bound = _FORMS["bound_before"].search(text, 0, start)
        is_bound = _FORMS["bound_after"].match(text, end) or (bound and bound[1].lower() not in self._lemmas)
        if not of_value or (is_bound and self._question.expected == "date"):
            return False
        first, last = self._window(words, of_value)
        asides = set[int]()
        for begin, stop in (*(match.span() for match in _FORMS["aside"].finditer(text)), *find_dates(text)):
            aside = {index for index, word in enumerate(words) if begin <= word.start < stop}
            if not any(index in of_value or self._stems & words[index].stems for index in aside):
                asides |= aside
        window = [index for index in range(first, last + 1) if index not in asides and index not in of_value]
        if any(self._is_foreign(words, index) and not self._is_beside(words, index, of_value) for index in window):
            return False
        is_beside = self._is_apposition(text, words, of_value)
        if not is_beside and any(self._is_foreign(words, index) for index in self._verbs_over(words, of_value, asides)):
            return False
        # In Chinese a date or number answers in other words, too. A name does not: a sentence names many by the way.
        has_predicate = self._has_predicate(words[first : last + 1])
        if not self._is_english:
            return has_predicate or self._asks_for_value
        value_tokens = [token for index in of_value if (token := words[index].token)]
        window_tokens = [token for index in window if (token := words[index].token)]
        return has_predicate and self._fits_grammar(value_tokens, window_tokens)

    def _verbs_over(self, words: Sequence[_Word], of_value: Sequence[int], asides: Collection[int]) -> list[int]:
        """Return the verbs that say what a value is: in English the nearest one over it, in Chinese any over a name."""
        verbs = [index for index, word in enumerate(words) if word.kind == "verb" and index not in asides]
        if not self._is_english:
            return [] if self._asks_for_value else verbs
        heads = chain.from_iterable(token.ancestors for index in of_value[-1:] if (token := words[index].token))
        nearest = next((token.idx for token in heads if token.pos_ in {"VERB", "AUX"}), -1)
        return [index for index in verbs if words[index].start == nearest]

    def _is_apposition(self, text: str, words: Sequence[_Word], of_value: Sequence[int]) -> bool:
        """Return True if a name stands beside the noun that is asked for: "Ada, mayor of Ulm, sings", 总经理李明."""
        beside = words[max(0, of_value[0] - 1) : of_value[-1] + 2]
        if not self._is_english:
            return any(word.kind == "noun" and self._predicate & word.stems for word in beside)
        around = text[max(0, words[of_value[0]].start - 2) : words[of_value[-1]].end + 1]
        tokens = [token for index in of_value if (token := words[index].token)]
        return "," in around and any(
            token.dep_ == "appos" or any(child.dep_ == "appos" for child in token.children) for token in tokens)

    def _window(self, words: Sequence[_Word], of_value: Sequence[int]) -> tuple[int, int]:
        """Return the first and last index of the words from a value to each word of the question."""
        needed = [*of_value]  # with the nearest place of each word of the question
        for stem in self._stems:
            places = [index for index, word in enumerate(words) if stem in word.stems]
            needed += [min(places, key=lambda index: abs(index - of_value[0]))] if places else []
        reach = list[int]()  # the indices at the ends of the noun phrases that the words are in
        for index in needed:
            reach += takewhile(lambda one: words[one].kind in {"noun", "link"}, range(index - 1, -1, -1))
            reach += takewhile(lambda one: words[one].kind in {"noun", "link"}, range(index + 1, len(words)))
        return min(needed + reach), max(needed + reach)

    def _is_foreign(self, words: Sequence[_Word], index: int) -> bool:
        """Return True for a word that says something that the question does not say."""
        word = words[index]
        is_known = not self._stems.isdisjoint(word.stems) if self._is_english else self._stems >= word.stems
        is_empty = word.lemma in _EMPTY_VERBS | _TRANSPARENT or (self._is_light and word.lemma in _STATIVE)
        if word.kind not in {"noun", "verb"} or not word.stems or is_known or is_empty:
            return False
        if self._is_english or word.kind == "verb" or not self._asks_for_value:
            return True
        # In Chinese, dates and numbers stand beside more nouns; only one right behind a noun makes it another thing.
        before = next((one for one in reversed(words[:index]) if one.kind != "link"), word)
        # Behind what is counted itself (多少工资) another noun may stand.
        return bool(before.stems) and before.stems <= self._stems - self._counted

    def _is_beside(self, words: Sequence[_Word], index: int, of_value: Sequence[int]) -> bool:
        """Return True for a noun right before a name ("the physicist Ada Blum"), and for where or by whom it was."""
        token = words[index].token
        if token is None:
            return False
        name = next((one for one in range(index, len(words)) if words[one].kind != "noun"
                     or words[one].is_proper or self._stems & words[one].stems), index)
        describes_name = words[name].is_proper and (name in of_value or self._stems & words[name].stems)
        # A date or number holds beside "in Ulm" and "by Karl Brandt"; a name could be one of several parts.
        phrase = next((one for one in (token, *token.ancestors) if one.dep_ in {"prep", "agent"}
                       and one.head.pos_ in {"VERB", "AUX"}), None)
        is_adjunct = phrase is not None and self._asks_for_value and not any(
            one.idx in range(words[of_value[0]].start, words[of_value[-1]].end) for one in phrase.subtree)
        return bool(describes_name or is_adjunct)

    def _fits_grammar(self, value: Sequence["Token"], window: Sequence["Token"]) -> bool:
        """Return True if a value is in a clause of the question's tense that holds, and plays the part asked for."""
        root = next((token for token in value if token.head not in value), value[0])
        tags = {token.tag_ for token in window}
        is_outdated = self._is_present and "VBD" in tags and tags.isdisjoint({"VBZ", "VBP"})
        # What only stands beside the value, as in "Ada Blum, mayor of Ulm", holds under any verb.
        governed = [token for token in (root, *root.ancestors) if token.dep_ in _GOVERNED] if tags & _FINITE else []
        is_asserted = all(token.head in window or token.head.lemma_ in _IMPLICATIVE for token in governed)
        # With "is" the parts may be swapped. Of two persons beside another verb one did it, to the other.
        is_swappable = self._is_light or self._question.expected not in {"person", "organization"}
        has_asked_part = is_swappable or self._asked_token is None or _role_of(root) == _role_of(self._asked_token)
        return is_asserted and has_asked_part and not is_outdated


def _asked_token(question: Sequence["Token"]) -> "Token":
    """Return the noun that a question asks for ("Which river"), or its question word; the first word if it has none."""
    question_word = next((token for token in question if token.tag_ in {"WP", "WDT", "WRB", "WP$"}), question[0])
    asks_for_noun = question_word.dep_ in {"det", "amod"} or question_word.head.dep_ == "amod"  # "how many rivers"
    nouns = (token for token in question_word.ancestors if asks_for_noun and token.pos_ in {"NOUN", "PROPN"})
    return next(nouns, question_word)


def _role_of(token: "Token") -> str:
    """Return the part that a token plays in its clause; the agent of a passive verb stands behind "by"."""
    # What is joined to a noun, describes it or is a part of its name plays the part of that noun.
    while token.dep_ in {"conj", "appos", "compound"} and token.head != token:
        token = token.head
    if token.dep_ == "pobj":
        return "agent" if token.head.lower_ == "by" else "prepositional"
    return {"nsubj": "agent", "nsubjpass": "patient", "dobj": "patient"}.get(token.dep_, "other")


def _clauses(text: str, values: Sequence[Place]) -> Iterator[Place]:
    """Yield the (start, end) of a sentence's clauses; one that is only a value ("1998年，") belongs to the next one."""
    value_start: int | None = None  # of a value that waits for its clause
    for match in _FORMS["clause"].finditer(text):
        start, end = match.start() if value_start is None else value_start, match.start() + len(match[0].rstrip())
        is_only_value = any(first <= match.start() and end <= last for first, last in values)
        value_start = start if is_only_value else None
        if not is_only_value:
            yield start, match.end()
    if value_start is not None:
        yield value_start, len(text)


@lru_cache(16)
def _tag(text: str) -> list[TaggedWord]:
    """Return the words of a Chinese text; a question is read once for all its sentences."""
    return load_tagger().tag(text, [(0, len(text))])[0] if text else []
