"""Decide whether an English sentence states a value as the answer to a question, by spaCy's parse of both.

A value answers if its clause is asserted, has the question's predicate, and has the value and the question's names as
arguments of it. What a sentence denies, reports, plans, supposes or calls past states nothing. Where a parse shows no
certain relation, there is none: a missed short answer costs little, because its sentence is quoted anyway.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...text.lexicon import WORDS, word_set
from . import english_clauses as clauses
from .likeness import may_be
from .question import Question

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_LIGHT = word_set("be have do become remain")
"""Verbs that state nothing without their noun: the noun is what a question asks for."""
_IMPLICATIVE = WORDS["implicative"]
"""Verbs after which what they govern is a fact: "went on to win", "learned that he had won"."""
_STATIVE = WORDS["stative"]
"""Verbs that say as much as "is" and "has" of a size, a place or a time: "The hall seats 40"."""
_UNREAL = word_set("fiction theory principle legend myth story novel film play dream rumour rumor joke")
"""What something may be so in without being so: "in fiction"."""
_WEAKENING = WORDS["weakening adverbs"]
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
        """Read the parse of a question."""
        self.question = question
        self.words = frozenset(question.words_of(question.text))
        self.lemmas = frozenset(token.lemma_.lower() for token in doc)
        verb = clauses.main_verb(doc)
        asked = clauses.asked_token(doc, verb)
        self.role = clauses.role_of(asked)
        self.preposition = asked.head.lemma_.lower() if asked.head.dep_ == "prep" else ""
        self.is_light = verb.lemma_ in _LIGHT
        self.is_present = clauses.tense_of(verb) == "present"
        self.predicate = self._noun_predicate(verb, asked) if self.is_light else self._stems(verb)
        # The nouns that other words qualify ("physics prize"), each with these words.
        self._qualified: list[tuple[frozenset[str], list[frozenset[str]]]] = []
        for noun in doc:
            qualifiers = [] if noun.ent_type_ else clauses.qualifiers_of(noun)
            if qualifiers:
                self._qualified.append((self._stems(noun), [self._stems(word) for word in qualifiers]))

    def _noun_predicate(self, verb: "Token", asked: "Token") -> frozenset[str]:
        """Return the stems of the noun that says what is asked: "mayor" in "Who is the mayor of Ulm?"."""
        name_words = {word for name in self.question.names for word in name.split()}
        for noun in verb.children:
            is_argument = noun.dep_ in clauses.SUBJECTS | {"attr", "dobj"} and noun != asked
            if is_argument and noun.text not in name_words and (stems := self._noun_stems(noun)):
                return stems
        return frozenset()

    def is_of_same_things(self, doc: "Doc") -> bool:
        """Return False if the question qualifies a noun by other words than a sentence: a prize of another name."""
        words_of_doc = frozenset(stem for token in doc for stem in self._stems(token))
        for noun_stems, qualifiers in self._qualified:
            same_nouns = [token for token in doc if not noun_stems.isdisjoint(self._stems(token))]
            is_bare = any(not clauses.qualifiers_of(token) for token in same_nouns)
            has_qualifiers = all(not stems.isdisjoint(words_of_doc) for stems in qualifiers)
            if same_nouns and not (is_bare or has_qualifiers):
                return False
        return True

    def says(self, token: "Token") -> bool:
        """Return True if the question has a word."""
        return not self.words.isdisjoint(self._stems(token))

    def is_predicate(self, token: "Token") -> bool:
        """Return True if a token says the predicate."""
        return not self.predicate.isdisjoint(self._stems(token))

    def _noun_stems(self, noun: "Token") -> frozenset[str]:
        """Return a noun's stems; of one without content, those of what it is of: "wife" in "the name of the wife"."""
        if stems := self._stems(noun):
            return stems
        for preposition in noun.children:
            if preposition.lower_ == "of":
                for token in preposition.children:
                    return self._noun_stems(token)
        return frozenset()

    def _stems(self, token: "Token") -> frozenset[str]:
        """Return the stems of a token and of its lemma; empty for a function word."""
        return frozenset(self.question.words_of(token.text)[:1] + self.question.words_of(token.lemma_)[:1])


class EnglishStatement:
    """A parsed sentence, read for a question."""

    def __init__(self, asked: AskedClause, doc: "Doc") -> None:
        self._asked, self._doc = asked, doc

    @property
    def has_clause(self) -> bool:
        """Whether the text has a finite verb; a line without one, such as "Chair: Ada Blum", is no sentence."""
        return any(clauses.tense_of(token) for token in self._doc if token.pos_ in {"VERB", "AUX"})

    def stated(self, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return those values, given as (start, end) in characters, that the sentence states as the answer.

        What describes another one is left out: "Bar Group" in "Foo Ltd, a company of Bar Group".
        """
        if self._doc.text.rstrip().endswith("?") or not self._asked.is_of_same_things(self._doc):
            return []
        roots: dict[tuple[int, int], Token] = {}
        for place in places:
            span = self._doc.char_span(*place, alignment_mode="expand")
            if span and self._states(span.root):
                roots[place] = span.root
        describing = {token.i for root in roots.values() for child in root.children if child.dep_ == "appos"
                      for token in child.subtree}
        return [place for place, root in roots.items() if root.i not in describing]

    def _states(self, value: "Token") -> bool:
        """Return True if the sentence states a value, given by its root, as the answer."""
        if self._is_excluded(value):
            return False
        # A value may stand beside the noun of the question: "the mayor, Karl Brandt", "director Ada Blum".
        beside = [token for token in value.children if token.dep_ in {"appos", "compound"}]
        beside += [value.head, clauses.antecedent_of(value)] if value.dep_ == "appos" else []
        if noun := next(filter(self._asked.is_predicate, beside), None):
            clause = clauses.clause_head(noun)
            return self._is_whole(noun) and (not clauses.is_verb(clause) or self._is_asserted(clause))
        for relative in value.children:  # "Ada Blum, who founded it"
            pronoun = clauses.own_subject(relative) if relative.dep_ == "relcl" else None
            is_subject = pronoun is not None and pronoun.tag_ in clauses.RELATIVE_PRONOUNS
            if pronoun is not None and is_subject and self._states_of(value, relative, clauses.role_of(pronoun)):
                return True
        return self._states_of(value, clauses.clause_head(value), clauses.role_of(value))

    def _states_of(self, value: "Token", clause: "Token", role: str) -> bool:
        """Return True if a clause states the value, which plays the part `role` in it, as the answer."""
        if not clauses.is_verb(clause) or not self._is_linked(value, clause) or not self._has_subject(value, clause):
            return False
        asked = self._asked
        is_outdated = asked.is_present and clauses.tense_of(clause) == "past"
        is_passive = any(child.dep_ == "nsubjpass" for child in clause.children)
        is_describing_text = role == "prepositional" and clause.lemma_ in _DESCRIBING and is_passive
        fits_role = (role == asked.role or asked.is_light or asked.question.expected in {"date", "number", "location"}
                     or (asked.role == "agent" and (role == "attr" or is_describing_text)))
        return fits_role and self._has_names(clause) and not is_outdated and self._is_asserted(clause)

    def _has_names(self, clause: "Token") -> bool:
        """Return True if each name of the question that the sentence has is, as a whole, in the clause."""
        tokens = {token.i for token in self._tokens(clause)}
        for name in self._asked.question.names:
            places = clauses.find_name(self._doc, name)
            if places and not any(end - 1 in tokens and self._is_whole_name(start, end) for start, end in places):
                return False
        return True

    def _is_whole(self, noun: "Token") -> bool:
        """Return True if nothing but the question's words qualifies a noun: a "deputy director" is no director."""
        is_prefixed = noun.i > 0 and self._doc[noun.i - 1].text == "-"  # "ex-mayor"
        qualifiers = (token for token in noun.children if token.dep_ in {"amod", "compound", "nmod", "advmod"}
                      and token.ent_type_ != "PERSON" and not token.text[:1].isdigit())
        return not is_prefixed and all(
            self._asked.says(token) or token.lemma_.lower() in clauses.CURRENT for token in qualifiers)

    def _is_linked(self, value: "Token", clause: "Token") -> bool:
        """Return True if a value is an argument of the clause that has the question's predicate."""
        asked = self._asked
        sized = next(filter(asked.is_predicate, value.ancestors), None)
        if sized and asked.is_light and asked.question.expected == "number" and clause.is_ancestor(sized):
            return self._is_whole(sized) and self._reaches(value, sized)  # "a batch size of 64"
        if not self._reaches(value, clause):
            return False
        predicates = list(filter(asked.is_predicate, self._tokens(clause)))
        has_verb_of_question = clause.lemma_ in _LIGHT or asked.says(clause)
        is_stative = asked.is_light and clause.lemma_ in _STATIVE
        is_implicative = bool(predicates) and clause.lemma_ in _IMPLICATIVE
        if asked.is_light and asked.question.expected in {"person", "organization"}:
            # Whoever holds a post is joined to it by the verb itself: "Ada Blum is the mayor".
            predicates = [noun for noun in predicates if noun.head == clause and self._is_whole(noun)]
        has_predicate = bool(predicates) or not asked.predicate
        return has_predicate and (has_verb_of_question or is_stative or is_implicative)

    def _reaches(self, value: "Token", governor: "Token") -> bool:
        """Return True if only words of the question stand between a value and a word that governs it."""
        asked = self._asked
        asks_for_place = asked.question.expected == "location"
        prepositions = [one.lemma_.lower() for one in (value, *value.ancestors) if one.dep_ == "prep"]
        if asked.preposition and prepositions[:1] != [asked.preposition]:
            return False
        step = value
        while step != governor and step.dep_ != "ROOT":
            if step.dep_ == "prep":
                lemma = step.lemma_.lower()
                is_bound = asked.question.expected == "date" and lemma in _BOUNDS
                is_origin = lemma == "from" and lemma not in asked.lemmas
                is_nested = step.head != governor and lemma not in _LOCATIVE
                if is_bound or is_origin or (is_nested and asks_for_place):
                    return False
            is_inner_noun = step != value and step.pos_ in {"NOUN", "PROPN"}
            is_of_same_kind = step.ent_type_ == value.ent_type_ != ""
            if is_inner_noun and not (asked.says(step) or asks_for_place or value.dep_ == "appos" or is_of_same_kind):
                return False
            while step.dep_ == "conj":  # what a value is joined to does not govern it
                step = step.head
            step = step.head
        return True

    def _has_subject(self, value: "Token", clause: "Token") -> bool:
        """Return True if the subject is the value, a pronoun for what stands before, or something of the question."""
        subject = clauses.subject_of(clause)
        if subject is None or value == subject or subject in value.conjuncts:
            return True
        is_speaker = subject.text.lower() in _SPEAKERS
        if subject.pos_ == "PRON" and not is_speaker:
            return True
        if clause.lemma_ in _LIGHT | _STATIVE and not is_speaker:
            return any(map(self._asked.says, subject.subtree)) or value in subject.subtree
        # Some argument beside the value, and what it counts, has to be of the question: "40 members" of which body?
        counted = {value.i, value.head.i} if self._asked.predicate else {value.i}
        return any(self._asked.says(token) for token in self._tokens(clause)
                   if token != clause and token.pos_ in {"NOUN", "PROPN"} and token.i not in counted)

    def _is_whole_name(self, start: int, end: int) -> bool:
        """Return True if tokens are no part of a longer name, and qualify no noun that the question lacks."""
        noun = self._doc[start:end].root
        if noun.dep_ == "appos":
            return True
        governor = noun.head if noun.dep_ in {"compound", "poss", "nmod", "amod", "pobj"} else noun
        governor = governor.head if governor.dep_ == "prep" and governor.lemma_ == "of" else governor
        is_inside = start <= governor.i < end
        if governor.lemma_ in _WHOLES and not is_inside:
            qualifiers = clauses.qualifiers_of(governor)  # "Acme's entire workforce", but not "its sales staff"
            return all(one.lemma_.lower() in _OF_ALL or self._asked.says(one) for one in qualifiers)
        if not is_inside and governor.pos_ in {"NOUN", "PROPN"} and not self._asked.says(governor):
            return False
        beside = [token for token in self._doc[end:end + 1] if token.dep_ != "appos"]
        beside += [token for token in self._doc[max(0, start - 1):start] if token.dep_ == "compound"
                   and not (noun.ent_type_ == "PERSON" and may_be("person", token.text))]  # Ada, before Blum
        return not any(token.pos_ == "PROPN" and token.head in {noun, noun.head} for token in beside)

    def _tokens(self, clause: "Token") -> "Iterator[Token]":
        """Yield the tokens of a clause, with its subject or antecedent, but without the clauses in it."""
        inner = set[int]()
        for verb in clause.subtree:
            is_own_clause = verb.dep_ in _EMBEDDED or (verb.dep_ == "conj" and clauses.own_subject(verb) is not None)
            # "went on to win" states the winning itself.
            has_happened = verb.head == clause and verb.dep_ == "xcomp" and clause.lemma_ in _IMPLICATIVE
            if verb != clause and clauses.is_verb(verb) and is_own_clause and not has_happened:
                inner.update(token.i for token in verb.subtree)
        yield from (token for token in clause.subtree if token.i not in inner)
        if clause.dep_ in {"relcl", "acl"}:
            outer: Token | None = clauses.antecedent_of(clause)
        else:
            outer = clause.head if clause.dep_ == "xcomp" else clauses.subject_of(clause)
        if outer is not None:
            own = {token.i for token in clause.subtree}
            yield from (token for token in outer.subtree if token.i not in own)

    def _is_excluded(self, value: "Token") -> bool:
        """Return True if a sentence says that it is not the value: "not by X but by Y", "instead of X", "nor X"."""
        own = {token.i for token in value.subtree}
        if any(child.dep_ in {"neg", "preconj"} and child.i < value.i for child in value.children):
            return True
        for token in (value, *value.ancestors):
            if token.dep_ == "prep" and token.lemma_.lower() in _EXCLUDING:
                return True
            for child in token.children if token.pos_ == "ADP" else ():  # "not by X", "rather than by X"
                is_adverb = child.dep_ in {"neg", "preconj", "advmod", "det"} and child.i < value.i
                if is_adverb and child.i not in own and child.lemma_.lower() in {"not", "instead", "rather"}:
                    return True
            if clauses.is_verb(token):
                break
        first = min(own)
        before = [token.lower_ for token in self._doc[max(0, first - 2):first]]
        return not {"not", "neither", "nor"}.isdisjoint(before) or before == ["other", "than"]

    def _is_asserted(self, clause: "Token") -> bool:
        """Return True if a clause and those that it depends on are facts for the sentence's author."""
        step = clause
        while True:
            if any(self._weakens(word, step) for word in step.children):
                return False
            head = step.head
            if step.dep_ in {"relcl", "acl"}:
                return not clauses.is_content_clause(step)
            if step.dep_ == "advcl":
                return True  # "when he founded it" is taken for granted
            if step.dep_ in _EMBEDDED:
                is_independent = any(token.text == ";" for token in self._doc[step.i:head.i])
                if is_independent or not (self._asked.says(head) or head.lemma_ in _IMPLICATIVE):
                    return is_independent
            if head == step:
                return True
            step = clauses.clause_head(head)

    def _weakens(self, word: "Token", clause: "Token") -> bool:
        """Return True for a word below a clause's verb that denies the clause or makes it less than a fact."""
        asked = self._asked.lemmas
        lemma = word.lemma_.lower()
        # "Only in Ulm is Ada the owner": elsewhere, or otherwise, she is not.
        is_restricting = lemma == "only" and word.i < clause.i and any(
            one.dep_ in clauses.SUBJECTS and one.i > clause.i for one in clause.children)
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
            case role if role in clauses.SUBJECTS | {"dobj", "attr"}:  # "no founder"
                return any(one.lemma_.lower() in _NEGATING for one in (word, *word.children))
        return _is_condition(word, asked)


def _is_condition(token: "Token", asked: frozenset[str]) -> bool:
    """Return True for an "if", and for the verb before the subject that stands for one: "Had he sold it, ..."."""
    if token.dep_ == "mark":
        return token.lemma_.lower() in _CONDITIONS - asked
    clause = token.head
    subject = clauses.own_subject(clause)
    return (token.dep_ in {"aux", "auxpass"} and clause.dep_ == "advcl" and subject is not None and token.i < subject.i)
