"""The steps of nested English questions, along their parse, innermost noun phrase first.

'On which river does the birthplace of the discoverer of polonium lie?' has three steps. Each step asks for one
described noun phrase, which later steps leave out and wait for the answer of. A noun is described by a relative clause,
a participle, another noun's possessive, or 'of' with a name.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...models.parsing.parser import Parser
from ...models.rules.question import analyse
from ...models.rules.recognition.name_kinds import kind_of_noun
from ...text.lexicon import SUMMARY_CUES, word_set

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_MOST = 5  # a question of more steps is searched as it is
_LONGEST = 120  # the longest question in words; a longer text is searched as it is
_NOUNS = frozenset({"NOUN", "PROPN", "PRON"})
_RELATIVE_TAGS = frozenset({"WDT", "WP", "WP$", "WRB"})
_ADDS_NOTHING = word_set("be the name of")  # lemmas that ask for nothing more than a step: "What is the name of ...?"


class Step(NamedTuple):
    """A text to rank by, and the positions of the earlier steps whose answers it is about."""

    text: str
    waits_for: tuple[int, ...] = ()


def split_question(question: str, parser: Parser, names_in: Callable[[str], Sequence[object]]) -> tuple[Step, ...]:
    """Return a question, which is always searched itself, and the steps that it is nested of.

    `names_in` returns the names in a text that the knowledge base knows.
    """
    whole, steps = Step(question.strip()), list[Step]()
    is_short = 0 < len(question.split()) <= _LONGEST
    if is_short and not SUMMARY_CUES.search(question) and analyse(question).language == "en":
        steps = _NestedQuestion(parser.parse(whole.text)).steps()
    has_name = [bool(names_in(step.text)) for step in steps]
    # It is misread if a first step has no known name, while a later one has.
    is_misread = any(not has_name[at] and not step.waits_for and any(has_name[at:]) for at, step in enumerate(steps))
    return (whole,) if is_misread or not 1 < len(steps) <= _MOST else (whole, *steps)


class _NestedQuestion:
    """A parsed question, and the tokens that its steps replace; tokens are given by their positions."""

    def __init__(self, doc: "Doc") -> None:
        self._doc = doc
        # The phrases that are steps: start -> (end, the number of the step whose answer stands for these tokens).
        self._replaced: dict[int, tuple[int, int]] = {}
        self._asking = frozenset(token.i for token in doc if _is_question_word(token))  # the question words

    def steps(self) -> list[Step]:
        """Return the steps in order; the remaining question comes last."""
        asked: list[Step] = []
        described = [token for token in self._doc if token.pos_ in _NOUNS]
        # The shortest noun phrase first: a phrase comes before the one that it is a part of.
        for noun in sorted(described, key=lambda token: (token.right_edge.i - token.left_edge.i, token.i)):
            start, end = noun.left_edge.i, _subtree_end(noun)
            text = self._question_for(noun)
            rest = [*self._doc[:start], *self._doc[end:]]
            only_asks = all(token.is_punct or token.is_space or token.tag_ in _RELATIVE_TAGS
                            or token.lemma_ in _ADDS_NOTHING for token in rest)
            if text and not only_asks:  # else the step would be the question itself
                asked.append(self._step(text, start, end))
                for inner in [i for i in self._replaced if start <= i < end]:
                    del self._replaced[inner]  # the new step waits for it
                self._replaced[start] = (end, len(asked))
        return [*asked, self._step(self._text_between(0, len(self._doc)), 0, len(self._doc))]

    def _step(self, text: str, start: int, end: int) -> Step:
        """Return the step that asks by a text for what some tokens describe."""
        waits_for = [number for first, (_, number) in sorted(self._replaced.items()) if start <= first < end]
        return Step(f"{text[:1].upper()}{' '.join(text[1:].split())}?", tuple(waits_for))

    def _text_between(self, start: int, end: int) -> str:
        """Return the text of some tokens, without the phrases that are steps already."""
        parts: list[str] = []
        i = start
        while i < end:
            next_i, _ = self._replaced.get(i, (i + 1, 0))
            parts.append(self._doc[i].text_with_ws if i not in self._replaced else self._doc[next_i - 1].whitespace_)
            i = next_i
        return "".join(parts).strip(" ,.;?")

    def _question_for(self, noun: "Token") -> str:
        """Return the question for a described noun ("who is the founder of Acme"); "" if it is nothing to look up."""
        start, end = noun.left_edge.i, _subtree_end(noun)
        # The verb of the relative clause or participle that tells which one the noun means. A name without "the" means
        # one by itself, "a man called X" only has a name, "the man to see" has an infinitive.
        names_one = noun.tag_ in {"NNP", "NNPS"} and not _is_definite(noun)
        verb = None if names_one else next((
            child for child in noun.rights if child.dep_ in {"relcl", "acl"} and child.pos_ in {"VERB", "AUX"}
            and child.tag_ != "VB" and child.lemma_ not in {"call", "name", "know"}), None)
        subject = range(noun.head.left_edge.i, noun.head.i)
        # 'X is a ...' states a property of X if before the verb is something, but no question word.
        is_property = noun.dep_ == "attr" and bool(subject) and self._asking.isdisjoint(subject)
        asks_itself = not self._asking.isdisjoint(range(start, end))  # "which river": the question, not a step of it
        if is_property or asks_itself:
            return ""
        if verb is not None and self._names_something(verb.left_edge.i, end):
            return self._ask_clause(noun, verb, end)
        if self._is_of_something(noun):
            return f"{'who' if _is_person(noun) else 'what'} is {self._text_between(start, end)}"
        return ""

    def _names_something(self, start: int, end: int) -> bool:
        """Return True if some of these tokens are of a name, or refer to an answer."""
        return any(i in self._replaced or _is_name(self._doc[i]) for i in range(start, end))

    def _is_of_something(self, noun: "Token") -> bool:
        """Return True for a common noun that belongs to a name: 'the founder of X', 'X's founder', 'the X founder'."""
        if noun.tag_ not in {"NN", "NNS"}:
            return False
        for child in noun.children:
            if child.dep_ == "poss":
                return self._names_something(child.left_edge.i, _subtree_end(child))
            if child.dep_ == "prep" and child.lemma_ == "of":
                # "the discoverer of polonium" can be looked up, although "polonium" is no name.
                return _is_definite(noun) and (
                    _is_person(noun) or self._names_something(child.left_edge.i, _subtree_end(child)))
            if child.dep_ == "compound" and _is_person(noun) and _is_name(child):
                return True
        return False

    def _ask_clause(self, noun: "Token", verb: "Token", end: int) -> str:
        """Return the question for a noun, by the words of its relative clause or participle: "which man founded X"."""
        start = verb.left_edge.i
        # The noun ends before its clause, or at itself if a verb is between: "when was the man born who founded X".
        noun_start = next((child.i + 1 for child in noun.lefts if child.dep_ == "det"), noun.left_edge.i)
        noun_end = noun.i + 1 if noun.head.i > noun.i else max(noun.i + 1, start)
        # The words stay in their order without the pronoun: a step is searched by them, not read.
        pronoun = next((token.i for token in self._doc[start:end] if token.tag_ in _RELATIVE_TAGS), start - 1)
        parts = (self._text_between(noun_start, noun_end), self._text_between(start, pronoun),
                 self._text_between(pronoun + 1, end))
        return " ".join(["which", *filter(None, parts)])


def _is_question_word(token: "Token") -> bool:
    """Return True if a word such as 'which' or 'where' asks rather than opening a relative clause."""
    is_in_relative_clause = "relcl" in {token.head.dep_, token.head.head.dep_}
    return token.tag_ in _RELATIVE_TAGS and token.lower_ != "that" and (
        not is_in_relative_clause or token.i in {token.sent.start, len(token.doc) - 1})


def _is_person(noun: "Token") -> bool:
    return kind_of_noun(noun.lemma_) == "person"


def _is_definite(noun: "Token") -> bool:
    return any(child.lower_ == "the" for child in noun.lefts)


def _subtree_end(token: "Token") -> int:
    return token.right_edge.i + 1


def _is_name(token: "Token") -> bool:
    return bool(token.ent_type_) or token.tag_ in {"NNP", "NNPS"}
