"""Decide whether an English sentence states a value as the answer to a question, by spaCy's parse of both.

A value answers if its clause is asserted, has the question's predicate, and has the value and the question's names as
arguments of it. What a sentence denies, reports, plans, supposes or calls past states nothing. Where a parse shows no
certain relation, there is none: a missed short answer costs little, because its sentence is quoted anyway.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...text.lexicon import word_set
from .english_clauses import (
    CURRENT,
    SUBJECTS,
    antecedent_of,
    clause_head,
    find_name,
    is_verb,
    own_subject,
    qualifiers_of,
    role_of,
    subject_of,
    tense_of,
)
from .likeness import may_be
from .question import Question

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_LIGHT = word_set("be have do become remain")
"""Verbs that state nothing without their noun: the noun is what a question asks for."""
_IMPLICATIVE = word_set("begin start continue go come help manage proceed make cause know learn realise realize "
                        "discover notice remember recall regret show reveal prove confirm demonstrate")
"""Verbs after which what they govern is a fact: "went on to win", "learned that he had won"."""
_STATIVE = word_set("contain include comprise consist hold cover measure weigh cost total number amount seat span last "
                    "count lie stand sit situate locate take start begin open happen occur")
"""Verbs that say as much as "is" and "has" of a size, a place or a time: "The hall seats 40"."""
_UNREAL = word_set("fiction theory principle legend myth story novel film play dream rumour rumor joke")
"""What something may be so in without being so: "in fiction"."""
_WEAKENING = word_set("almost nearly hardly scarcely barely practically virtually perhaps maybe probably possibly "
                      "likely unlikely potentially conceivably apparently seemingly presumably allegedly reportedly "
                      "supposedly purportedly ostensibly arguably wrongly falsely mistakenly erroneously incorrectly "
                      "never rarely seldom otherwise hypothetically theoretically")
"""Adverbs by which a clause is no fact."""
_EXCLUDING = word_set("instead unlike without except than excluding but rather")
"""Prepositions whose object a sentence does not speak of: "instead of Karl"."""
_BOUNDS = word_set("after before until till by since")
"""Prepositions of a bound: "after 1931" is not 1931."""
_LOCATIVE = word_set("in at on near of within inside")
"""Prepositions by which a place in a place is one as well: "in a house in Ulm"."""
_WHOLES = word_set("structure organisation organization workforce staff personnel headcount")
_OF_ALL = word_set("corporate whole entire total overall global worldwide")
"""Nouns that stand for all of whoever has them, and what may qualify them: "Acme's entire workforce"."""
_DESCRIBING = word_set("describe define specify explain list document mention detail outline state")
"""Verbs whose subject is a text: what "RFC 20 defines" is "defined in RFC 20"."""
_EMBEDDED = word_set("relcl advcl ccomp acl csubj csubjpass parataxis pcomp xcomp")
"""How a clause depends on another one whose arguments are not its own."""
_NEGATING = word_set("no neither few nobody none nothing nor")
"""Subjects and objects, or words before them, that deny a clause without a "not"."""
_HEARSAY = word_set("accord according")
_CONDITIONS = word_set("if unless whether lest")
_SPEAKERS = word_set("i we you")
"""Pronouns for those who speak, not for what stands before."""


class AskedClause:
    """The clause of an English question: its predicate, the part that its question word plays, and its tense."""

    def __init__(self, question: Question, doc: "Doc") -> None:
        self.question = question
        self.words = frozenset(question.words_of(question.text))
        self.lemmas = frozenset(token.lemma_.lower() for token in doc)
        root = next((token for token in doc if token.dep_ == "ROOT"), doc[0])
        # "In which city was Ada born?" is often parsed as if "was" were the predicate.
        root = next((token for token in root.children if token.dep_ == "ccomp" and root.lemma_ == "be"), root)
        question_word = next((token for token in doc if token.tag_ in {"WP", "WDT", "WRB", "WP$"}), root)
        asks_for_noun = question_word.dep_ in {"det", "amod"} or question_word.head.dep_ == "amod"
        nouns = (token for token in question_word.ancestors if asks_for_noun and token.pos_ in {"NOUN", "PROPN"})
        asked_noun = next(nouns, question_word)
        following = doc[min(asked_noun.i + 1, len(doc) - 1)]
        if asked_noun.tag_ == "WDT" and following.pos_ in {"NOUN", "PROPN"}:
            asked_noun = following  # "Which RFC defines" is often parsed as if both were arguments
        self.role = role_of(asked_noun)
        self.preposition = asked_noun.head.lemma_.lower() if asked_noun.head.dep_ == "prep" else ""
        self.is_light = root.lemma_ in _LIGHT
        name_words = {word for name in question.names for word in name.split()}
        nouns = (token for token in root.children if token.dep_ in SUBJECTS | {"attr", "dobj"}
                 and token != asked_noun and token.text not in name_words)
        self.predicate = (next(filter(None, map(self._noun_stems, nouns)), frozenset()) if self.is_light
                          else self._stems(root))
        self.is_present = tense_of(root) == "present"
        self._qualified = [(self._stems(noun), [self._stems(word) for word in words]) for noun in doc
                           if not noun.ent_type_ and (words := qualifiers_of(noun))]

    def is_of_same_things(self, doc: "Doc") -> bool:
        """Return False if the question qualifies a noun by other words than a sentence: a prize of another name."""
        for noun, wanted in self._qualified:
            found = [token for token in doc if not noun.isdisjoint(self._stems(token))]
            said = frozenset(stem for token in doc for stem in self._stems(token))
            is_same = any(not qualifiers_of(token) for token in found) or all(map(said.intersection, wanted))
            if found and not is_same:
                return False
        return True

    def says(self, token: "Token") -> bool:
        """Return True if the question has a word."""
        return not self.words.isdisjoint(self._stems(token))

    def is_predicate(self, token: "Token") -> bool:
        """Return True if a token says the predicate."""
        return not self.predicate.isdisjoint(self._stems(token))

    def _noun_stems(self, noun: "Token") -> frozenset[str]:
        """Return a noun's stems; of one that says nothing, those of what it is of: "the name of the wife"."""
        objects = (token for prep in noun.children if prep.lower_ == "of" for token in prep.children)
        return self._stems(noun) or next((self._noun_stems(token) for token in objects), frozenset())

    def _stems(self, token: "Token") -> frozenset[str]:
        return frozenset(self.question.words_of(token.text)[:1] + self.question.words_of(token.lemma_)[:1])


class EnglishStatement:
    """A parsed sentence, read for a question."""

    def __init__(self, asked: AskedClause, doc: "Doc") -> None:
        self._asked, self._doc = asked, doc

    @property
    def has_clause(self) -> bool:
        """Whether the text has a finite verb; a line without one, such as "Chair: Ada Blum", is no sentence."""
        return any(tense_of(token) for token in self._doc if token.pos_ in {"VERB", "AUX"})

    def stated(self, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return those values, given as (start, end) in characters, that the sentence states as the answer.

        What describes another one is left out: "Foo Ltd, a company of Bar Group".
        """
        if self._doc.text.rstrip().endswith("?") or not self._asked.is_of_same_things(self._doc):
            return []
        spans = {place: span for place in places
                 if (span := self._doc.char_span(*place, alignment_mode="expand")) and self._states(span.root)}
        described = {token.i for span in spans.values() for child in span.root.children if child.dep_ == "appos"
                     for token in child.subtree}
        return [place for place, span in spans.items() if span.root.i not in described]

    def _states(self, value: "Token") -> bool:
        if self._is_excluded(value):
            return False
        # A value may stand beside the noun of the question: "the mayor, Karl Brandt", "director Ada Blum".
        beside = [token for token in value.children if token.dep_ in {"appos", "compound"}]
        beside += [value.head, antecedent_of(value)] if value.dep_ == "appos" else []
        if noun := next(filter(self._asked.is_predicate, beside), None):
            clause = clause_head(noun)
            return self._is_whole(noun) and (not is_verb(clause) or self._is_asserted(clause))
        if any(self._states_of(value, relative, role_of(pronoun)) for relative in value.children
               if relative.dep_ == "relcl" and (pronoun := own_subject(relative)) and pronoun.tag_ in {"WP", "WDT"}):
            return True
        return self._states_of(value, clause_head(value), role_of(value))

    def _states_of(self, value: "Token", clause: "Token", role: str) -> bool:
        """Return True if a clause states the value, which plays a part in it, as the answer."""
        if not is_verb(clause) or not self._is_linked(value, clause) or not self._has_subject(value, clause):
            return False
        asked = self._asked
        may_have_any_role = asked.question.expected in {"date", "number", "location"} or asked.is_light
        is_text = role == "prepositional" and clause.lemma_ in _DESCRIBING and any(
            child.dep_ == "nsubjpass" for child in clause.children)
        if not (may_have_any_role or role == asked.role or (asked.role == "agent" and (role == "attr" or is_text))):
            return False
        tokens = {token.i for token in self._tokens(clause)}
        for name in asked.question.names:  # if the sentence has it, it is an argument in the clause, as a whole
            places = list(find_name(self._doc, name))
            if places and not any(end - 1 in tokens and self._is_whole_name(start, end) for start, end in places):
                return False
        return not (asked.is_present and tense_of(clause) == "past") and self._is_asserted(clause)

    def _is_whole(self, noun: "Token") -> bool:
        """Return True if nothing but the question's words qualifies a noun: a "deputy director" is no director."""
        is_prefixed = noun.i > 0 and self._doc[noun.i - 1].text == "-"  # "ex-mayor"
        qualifiers = (token for token in noun.children if token.dep_ in {"amod", "compound", "nmod", "advmod"}
                      and token.ent_type_ != "PERSON" and not token.text[:1].isdigit())
        return not is_prefixed and all(
            self._asked.says(token) or token.lemma_.lower() in CURRENT for token in qualifiers)

    def _is_linked(self, value: "Token", clause: "Token") -> bool:
        """Return True if a value is an argument of the clause that has the question's predicate."""
        asked = self._asked
        sized = next(filter(asked.is_predicate, value.ancestors), None)
        if sized and asked.is_light and asked.question.expected == "number" and clause.is_ancestor(sized):
            return self._is_whole(sized) and self._reaches(value, sized, value)  # "a batch size of 64"
        if not self._reaches(value, clause, value):
            return False
        roles = list(filter(asked.is_predicate, self._tokens(clause)))
        is_named = clause.lemma_ in _LIGHT or asked.says(clause) or (
            asked.is_light and clause.lemma_ in _STATIVE) or (bool(roles) and clause.lemma_ in _IMPLICATIVE)
        if asked.is_light and asked.question.expected in {"person", "organization"}:
            roles = [noun for noun in roles if noun.head == clause and self._is_whole(noun)]
        return is_named and (bool(roles) or not asked.predicate)

    def _reaches(self, token: "Token", clause: "Token", value: "Token") -> bool:
        """Return True if only words of the question stand between a token and a word that governs it."""
        places = self._asked.question.expected == "location" and token == value
        prepositions = [one.lemma_.lower() for one in (token, *token.ancestors) if one.dep_ == "prep"][:1]
        if token == value and self._asked.preposition and prepositions != [self._asked.preposition]:
            return False
        step = token
        while step != clause and step.dep_ != "ROOT":
            if step.dep_ == "prep" and token == value:
                lemma = step.lemma_.lower()
                is_bound = self._asked.question.expected == "date" and lemma in _BOUNDS
                is_origin = lemma == "from" and lemma not in self._asked.lemmas
                is_nested = step.head != clause and lemma not in _LOCATIVE
                if is_bound or is_origin or (is_nested and places):
                    return False
            is_inner_noun = step not in {token, value} and step.pos_ in {"NOUN", "PROPN"}
            if is_inner_noun and not (self._asked.says(step) or places or token.dep_ == "appos"
                                      or step.ent_type_ == token.ent_type_ != ""):
                return False
            while step.dep_ == "conj":  # what a value is joined to does not govern it
                step = step.head
            step = step.head
        return True

    def _has_subject(self, value: "Token", clause: "Token") -> bool:
        """Return True if the subject is the value, a pronoun for what stands before, or something of the question."""
        subject = subject_of(clause)
        if subject is None or value == subject or subject in value.conjuncts:
            return True
        if subject.pos_ == "PRON" and subject.text.lower() not in _SPEAKERS:
            return True
        if clause.lemma_ in _LIGHT | _STATIVE and subject.text.lower() not in _SPEAKERS:
            return any(map(self._asked.says, subject.subtree)) or value in subject.subtree
        counted = {value.i, value.head.i} if self._asked.predicate else {value.i}  # "40 members" of which body?
        arguments = (token for token in self._tokens(clause) if token != clause and token.pos_ in {"NOUN", "PROPN"}
                     and token.i not in counted)
        return any(map(self._asked.says, arguments))

    def _is_whole_name(self, start: int, end: int) -> bool:
        """Return True if tokens are no part of a longer name, and qualify no noun that the question lacks."""
        noun = self._doc[start:end].root
        if noun.dep_ == "appos":
            return True
        governor = noun.head if noun.dep_ in {"compound", "poss", "nmod", "amod", "pobj"} else noun
        governor = governor.head if governor.dep_ == "prep" and governor.lemma_ == "of" else governor
        is_inside = start <= governor.i < end
        if governor.lemma_ in _WHOLES and not is_inside:
            return all(one.lemma_.lower() in _OF_ALL or self._asked.says(one) for one in qualifiers_of(governor))
        if not is_inside and governor.pos_ in {"NOUN", "PROPN"} and not self._asked.says(governor):
            return False
        beside = [token for token in self._doc[end:end + 1] if token.dep_ != "appos"]
        beside += [token for token in self._doc[max(0, start - 1):start] if token.dep_ == "compound"
                   and not (noun.ent_type_ == "PERSON" and may_be("person", token.text))]  # Ada, before Blum
        return not any(token.pos_ == "PROPN" and token.head in {noun, noun.head} for token in beside)

    def _tokens(self, clause: "Token") -> "Iterator[Token]":
        """Yield the tokens of a clause, with its subject or antecedent, but without the clauses in it."""
        happened = {one.i for one in clause.children if one.dep_ == "xcomp" and clause.lemma_ in _IMPLICATIVE}
        inner = {token.i for one in clause.subtree if one != clause and is_verb(one) and one.i not in happened and (
                     one.dep_ in _EMBEDDED or (one.dep_ == "conj" and own_subject(one) is not None))
                 for token in one.subtree}
        yield from (token for token in clause.subtree if token.i not in inner)
        own = {token.i for token in clause.subtree}
        outer = (antecedent_of(clause) if clause.dep_ in {"relcl", "acl"} else
                 clause.head if clause.dep_ == "xcomp" else subject_of(clause))
        if outer is not None:
            yield from (token for token in outer.subtree if token.i not in own)

    def _is_excluded(self, value: "Token") -> bool:
        """Return True if a sentence says that it is not the value: "not by X but by Y", "instead of X", "nor X"."""
        span = {token.i for token in value.subtree}
        if any(child.dep_ in {"neg", "preconj"} and child.i < value.i for child in value.children):
            return True
        for token in (value, *value.ancestors):
            words = {child.lemma_.lower() for child in token.children if child.i < value.i and child.i not in span
                     and child.dep_ in {"neg", "preconj", "advmod", "det"} and token.pos_ == "ADP"}
            if (token.dep_ == "prep" and token.lemma_.lower() in _EXCLUDING) or words & {"not", "instead", "rather"}:
                return True
            if is_verb(token):
                break
        left = min(span)
        before = [token.lower_ for token in self._doc[max(0, left - 3):left]]
        return bool({"not", "neither", "nor"}.intersection(before[-2:])) or before[-2:] == ["other", "than"]

    def _is_asserted(self, clause: "Token") -> bool:
        """Return True if a clause and those that it depends on are facts for the sentence's author."""
        step = clause
        while True:
            if any(self._weakens(word, step) for word in step.children):
                return False
            head = step.head
            if step.dep_ in {"relcl", "acl"}:  # but "the rumour that he sold it" says what the rumour is
                that, own = step.left_edge, own_subject(step)
                has_object = any(child.dep_ in {"dobj", "attr", "acomp"} and child != that for child in step.children)
                has_no_gap = that.lower_ == "that" and own is not None and own != that and has_object
                return not has_no_gap and all(child.dep_ != "mark" for child in step.children)
            if step.dep_ == "advcl":
                return True  # "when he founded it" is taken for granted
            if step.dep_ in {"ccomp", "xcomp", "csubj", "csubjpass", "pcomp", "parataxis"}:
                is_independent = any(token.text == ";" for token in self._doc[step.i:head.i])
                if is_independent or not (self._asked.says(head) or head.lemma_ in _IMPLICATIVE):
                    return is_independent
            if head == step:
                return True
            step = clause_head(head)

    def _weakens(self, word: "Token", clause: "Token") -> bool:
        """Return True for a word below a clause's verb that denies the clause or makes it less than a fact."""
        asked = self._asked.lemmas
        lemma = word.lemma_.lower()
        # "Only in Ulm is Ada the owner": elsewhere, or otherwise, she is not.
        is_restricting = lemma == "only" and word.i < clause.i and any(
            one.dep_ in SUBJECTS and one.i > clause.i for one in clause.children)
        if is_restricting or (word.tag_ == "MD" and lemma not in asked):
            return True
        match word.dep_:
            case "neg":  # the "not" of "not X but Y" denies X alone
                after = self._doc[min(word.i + 1, len(self._doc) - 1)]
                return after.pos_ not in {"NUM", "PROPN", "DET", "ADP"} or all(
                    token.lower_ != "but" for token in self._doc[word.i:])
            case "aux" if word.tag_ == "TO":  # "is to found it"
                return clause.dep_ != "xcomp"
            case "advmod":
                return any(one.dep_ == "neg" or (one.lemma_.lower() in _WEAKENING and one.lemma_ not in asked)
                           for one in word.subtree)
            case "prep":  # "in theory"
                return lemma in _HEARSAY or (lemma == "in" and any(
                    one.dep_ == "pobj" and one.lemma_.lower() in _UNREAL - asked for one in word.children))
            case "advcl":
                return lemma in _HEARSAY or any(_is_condition(mark, asked) for mark in word.children)
            case role if role in SUBJECTS | {"dobj", "attr"}:  # "no founder"
                return any(one.lemma_.lower() in _NEGATING for one in (word, *word.children))
        return _is_condition(word, asked)


def _is_condition(token: "Token", asked: frozenset[str]) -> bool:
    """Return True for an "if", and for the verb before the subject that stands for one: "Had he sold it, ..."."""
    if token.dep_ == "mark":
        return token.lemma_.lower() in _CONDITIONS - asked
    clause = token.head
    subject = own_subject(clause)
    return (token.dep_ in {"aux", "auxpass"} and clause.dep_ == "advcl" and subject is not None
            and token.i < subject.i)
