"""Decide whether an English sentence states a value as the answer to a question, by spaCy's parse of both.

A value answers if its sentence is asserted, and its clause has the question's predicate, with the value and the
question's names as arguments of it. A sentence with a word that denies, weakens, supposes or reports states nothing.
Where a parse shows no certain relation, there is none: a missed short answer costs little, because its sentence is
quoted anyway.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...text.lexicon import WORDS, word_set
from .question import Question

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_LIGHT = word_set("be have do become remain")  # verbs that state nothing without their noun, for which a question asks
_IMPLICATIVE = WORDS["implicative"]  # what these govern is a fact: "went on to win", "learned that he had won"
_STATIVE = WORDS["stative"]  # they say as much as "is" and "has" of a size, place or time: "The hall seats 40"
_UNCERTAIN = WORDS["weakening adverbs"] | word_set(
    "no neither nor few nobody none nothing if unless whether lest accord according "
    "instead unlike without except than excluding but rather legend myth rumour rumor joke claim")
"""Words of a sentence that denies something, or calls it uncertain, supposed or reported."""
_UNREAL = word_set("fiction theory principle story novel film play dream")
"""What something may be so in without being so: "in fiction"."""
_BOUNDS = word_set("after before until till by since from")  # of a bound or an origin: "after 1931" is not 1931
_LOCATIVE = word_set("in at on near of within inside")  # a place in a place is one as well: "in a house in Ulm"
_WHOLES = word_set("structure organisation organization workforce staff personnel headcount")
_OF_ALL = word_set("corporate whole entire total overall global worldwide")
"""Nouns that stand for all of whoever has them, and what may qualify them: "Acme's entire workforce"."""
_DESCRIBING = word_set("describe define specify explain list document mention detail outline state")
"""Verbs whose subject is a text: what "RFC 20 defines" is "defined in RFC 20"."""
_SUBJECTS = word_set("nsubj nsubjpass")
_GOVERNED = word_set("ccomp csubj csubjpass parataxis pcomp xcomp")  # the verb above says if such a clause is a fact
_NOUNS = word_set("NOUN PROPN")
_CURRENT = word_set("current present")  # what may qualify a role that is asked for in the present tense


class AskedClause:
    """The clause of an English question: its predicate, the part that its question word plays, and its tense."""

    def __init__(self, question: Question, doc: "Doc") -> None:
        """Read the parse of a question."""
        self.question = question
        self._words = frozenset(question.words_of(question.text))
        self.lemmas = frozenset(token.lemma_.lower() for token in doc)
        root = next((token for token in doc if token.dep_ == "ROOT"), doc[0])
        # "In which city was Ada born?" is often parsed as if "was" were the predicate.
        verb = next((token for token in root.children if token.dep_ == "ccomp" and root.lemma_ == "be"), root)
        asked = _asked_token(doc, verb)
        self.role = _role_of(asked)
        self.preposition = asked.head.lemma_.lower() if asked.head.dep_ == "prep" else ""
        self.is_light = verb.lemma_ in _LIGHT
        self.is_present = _tense_of(verb) == "present"
        self._predicate = self._noun_predicate(verb, asked) if self.is_light else self._stems(verb)
        # The nouns with qualifiers outside names: names are compared as wholes.
        self._qualified = {noun: qualifiers for noun in doc
                           if not noun.ent_type_ and (qualifiers := _qualifiers_of(noun))}

    def _noun_predicate(self, verb: "Token", asked: "Token") -> frozenset[str]:
        """Return the stems of the noun that says what is asked: "mayor" in "Who is the mayor of Ulm?"; or none."""
        # Of a noun without content, they are those of what it is of: "wife" in "the name of the wife".
        name_words = {word for name in self.question.names for word in name.split()}
        for noun in verb.children:
            if noun.dep_ in _SUBJECTS | {"attr", "dobj"} and noun != asked and noun.text not in name_words:
                nouns_behind_of = (token for of in noun.children if of.lower_ == "of" for token in of.children)
                return self._stems(noun) or self._stems(next(nouns_behind_of, noun))
        return frozenset()

    def is_of_same_things(self, doc: "Doc") -> bool:
        """Return False if a sentence qualifies a noun of the question, but by other words: a prize of another name."""
        words_of_doc = frozenset(stem for token in doc for stem in self._stems(token))
        for noun, qualifiers in self._qualified.items():
            same_nouns = [token for token in doc if not self._stems(noun).isdisjoint(self._stems(token))]
            has_unqualified = any(not _qualifiers_of(token) for token in same_nouns)
            has_qualifiers = all(not self._stems(word).isdisjoint(words_of_doc) for word in qualifiers)
            if same_nouns and not (has_unqualified or has_qualifiers):
                return False
        return True

    def says(self, token: "Token") -> bool:
        """Return True if the question has a word."""
        return not self._words.isdisjoint(self._stems(token))

    def is_predicate(self, token: "Token") -> bool:
        """Return True if a token says the predicate."""
        return not self._predicate.isdisjoint(self._stems(token))

    @property
    def has_predicate(self) -> bool:
        """Whether the question has a verb or noun that a sentence has to say."""
        return bool(self._predicate)

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
        return any(_tense_of(token) for token in self._doc if token.pos_ in {"VERB", "AUX"})

    def stated(self, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return those values, given as (start, end) in characters, that the sentence states as the answer.

        What describes another one is left out: "Bar Group" in "Foo Ltd, a company of Bar Group".
        """
        is_question = self._doc.text.rstrip().endswith("?")
        if is_question or any(map(self._is_uncertain, self._doc)) or not self._asked.is_of_same_things(self._doc):
            return []
        spans = [(place, self._doc.char_span(*place, alignment_mode="expand")) for place in places]
        roots = {place: span.root for place, span in spans if span and self._states(span.root)}
        descriptions = [child for root in roots.values() for child in root.children if child.dep_ == "appos"]
        described_by = {token for description in descriptions for token in description.subtree}
        return [place for place, root in roots.items() if root not in described_by]

    def _is_uncertain(self, word: "Token") -> bool:
        """Return True for a word that denies something, or that weakens or supposes it and is not in the question."""
        lemma = word.lemma_.lower()
        if word.dep_ == "neg":  # a denial states nothing, even if the question has one, too
            return True
        is_unreal = lemma in _UNREAL and word.dep_ == "pobj" and word.head.lower_ == "in"
        is_uncertain = lemma in _UNCERTAIN or word.tag_ == "MD" or is_unreal
        return is_uncertain and lemma not in self._asked.lemmas

    def _states(self, value: "Token") -> bool:
        """Return True if the sentence states a value, given by its root, as the answer."""
        # A value may stand beside the noun of the question: "the mayor, Karl Brandt", "director Ada Blum".
        nouns_beside = [token for token in value.children if token.dep_ in {"appos", "compound"}]
        nouns_beside += [value.head, _antecedent_of(value)] if value.dep_ == "appos" else []
        clause = next(filter(_is_verb, (value, *value.ancestors)), value.sent.root)  # the innermost one
        if noun := next(filter(self._asked.is_predicate, nouns_beside), None):
            return self._is_whole(noun) and self._is_asserted(clause) and self._has_names(clause)
        # Who was the mayor may no longer be.
        is_outdated = self._asked.is_present and _tense_of(clause) == "past"
        return (self._is_linked(value, clause) and self._has_subject(value, clause) and self._fits_role(value, clause)
                and self._has_names(clause) and not is_outdated and self._is_asserted(clause))

    def _fits_role(self, value: "Token", clause: "Token") -> bool:
        """Return True if a value plays the part in its clause that the question word plays in the question."""
        # With "is" and the like the parts may be swapped, and a date, number or place may play any.
        asked, role = self._asked, _role_of(value)
        is_free = asked.is_light or asked.question.expected in {"date", "number", "location"}
        is_describing = asked.role == "agent" and role == "prepositional" and clause.lemma_ in _DESCRIBING
        is_passive = any(child.dep_ == "nsubjpass" for child in clause.children)
        return role == asked.role or is_free or (is_describing and is_passive)

    def _has_names(self, clause: "Token") -> bool:
        """Return True if each name of the question that the sentence has is, as a whole, in the clause."""
        tokens = self._tokens(clause)
        for name in self._asked.question.names:
            places = _find_name(self._doc, name)
            if places and not any(self._doc[end - 1] in tokens and self._is_whole_name(start, end)
                                  for start, end in places):
                return False
        return True

    def _is_whole(self, noun: "Token") -> bool:
        """Return True if nothing but the question's words qualifies a noun: a "deputy director" is no director."""
        is_prefixed = noun.i > 0 and self._doc[noun.i - 1].text == "-"  # "ex-mayor"
        # A person's name or a number beside the noun, as in "director Ada Blum", makes it no other post.
        qualifiers = (token for token in noun.children if token.dep_ in {"amod", "compound", "nmod", "advmod"}
                      and token.ent_type_ != "PERSON" and not token.text[:1].isdigit())
        return not is_prefixed and all(
            self._asked.says(token) or token.lemma_.lower() in _CURRENT for token in qualifiers)

    def _is_linked(self, value: "Token", clause: "Token") -> bool:
        """Return True if a value is an argument of the clause that has the question's predicate."""
        asked = self._asked
        if not self._reaches(value, clause):
            return False
        predicates = list(filter(asked.is_predicate, self._tokens(clause)))
        if asked.is_light and asked.question.expected in {"person", "organization"}:
            # Whoever holds a post is joined to it by the verb itself: "Ada Blum is the mayor".
            predicates = [noun for noun in predicates if noun.head == clause and self._is_whole(noun)]
        # Any other verb, such as "meet" in "Ada Blum met the mayor", says something else of the value.
        says_no_more = asked.says(clause) or clause.lemma_ in _LIGHT | _IMPLICATIVE | (
            _STATIVE if asked.is_light else frozenset())
        return says_no_more and (bool(predicates) or not asked.has_predicate)

    def _reaches(self, value: "Token", governor: "Token") -> bool:
        """Return True if between a value and the verb that governs it the parse has no noun or bound of its own."""
        # Such a noun would have the value instead of the verb: "the son of Ada Blum wrote".
        asked = self._asked
        asks_for_place = asked.question.expected == "location"
        prepositions = [one.lemma_.lower() for one in (value, *value.ancestors) if one.dep_ == "prep"]
        if asked.preposition and prepositions[:1] != [asked.preposition]:  # "with whom" is not answered by "for Ada"
            return False
        step = value
        while step != governor and step.dep_ != "ROOT":
            preposition = step.lemma_.lower() if step.dep_ == "prep" else ""
            is_bound = preposition in _BOUNDS - asked.lemmas and asked.role != "agent"
            is_of_noun = asks_for_place and preposition not in {"", *_LOCATIVE} and step.head != governor
            # "In a house in Ulm" is in Ulm, and the noun before an apposition is the same thing.
            may_pass = asked.says(step) or asks_for_place or value.dep_ == "appos"
            is_other_noun = step != value and step.pos_ in _NOUNS and not may_pass
            if is_bound or is_of_noun or is_other_noun:
                return False
            while step.dep_ == "conj":  # what a value is joined to does not govern it
                step = step.head
            step = step.head
        return True

    def _has_subject(self, value: "Token", clause: "Token") -> bool:
        """Return True if the subject is the value, a pronoun for what stands before, or something of the question."""
        subject = _subject_of(clause)
        if subject is None or value == subject or subject in value.conjuncts:
            return True
        if subject.pos_ == "PRON":
            return subject.lower_ not in {"i", "we", "you"}  # who speaks is unknown
        # Some argument besides the value, and what it counts, has to be of the question: "40 members" of which body?
        counted = {value, value.head} if self._asked.has_predicate else {value}
        tokens = subject.subtree if clause.lemma_ in _LIGHT | _STATIVE else self._tokens(clause)
        other_nouns = [token for token in tokens if token != clause and token.pos_ in _NOUNS and token not in counted]
        return any(map(self._asked.says, other_nouns))

    def _is_whole_name(self, start: int, end: int) -> bool:
        """Return True if tokens are no part of a longer name, and qualify no noun that the question lacks."""
        noun = self._doc[start:end].root
        # "Acme" may qualify a noun: "Acme's staff", "the Acme staff", "the staff of Acme".
        governor = noun.head if noun.dep_ in {"compound", "poss", "nmod", "amod", "pobj"} else noun
        governor = governor.head if governor.dep_ == "prep" and governor.lemma_ == "of" else governor
        is_inside = start <= governor.i < end
        if governor.lemma_ in _WHOLES and not is_inside:  # "Acme's entire workforce", but not "its sales staff"
            return all(one.lemma_.lower() in _OF_ALL or self._asked.says(one) for one in _qualifiers_of(governor))
        if not is_inside and governor.pos_ in _NOUNS and not self._asked.says(governor):
            return False
        neighbours = [token for token in self._doc[end:end + 1] if token.dep_ != "appos"]
        if noun.ent_type_ != "PERSON":  # else the word before may be the first name
            neighbours += [token for token in self._doc[max(0, start - 1):start] if token.dep_ == "compound"]
        return not any(token.pos_ == "PROPN" and token.head in {noun, noun.head} for token in neighbours)

    def _tokens(self, clause: "Token") -> "set[Token]":
        """Return the tokens of a clause, with its subject or antecedent."""
        outer = _antecedent_of(clause) if clause.dep_ in {"relcl", "acl"} else _subject_of(clause)
        return {*clause.subtree, *(outer.subtree if outer is not None else ())}

    def _is_asserted(self, clause: "Token") -> bool:
        """Return False if a clause depends on a verb that makes it no fact, such as "claim" and "hope"."""
        verbs_above = [step.head for step in (clause, *clause.ancestors) if step.dep_ in _GOVERNED]
        return all(self._asked.says(verb) or verb.lemma_ in _IMPLICATIVE for verb in verbs_above)


def _asked_token(doc: "Doc", verb: "Token") -> "Token":
    """Return the noun that a question asks for ("Which river"), or its question word; the verb if it has neither."""
    question_word = next((token for token in doc if token.tag_ in {"WP", "WDT", "WRB", "WP$"}), verb)
    asks_for_noun = question_word.dep_ in {"det", "amod"} or question_word.head.dep_ == "amod"  # "how many rivers"
    nouns = (token for token in question_word.ancestors if asks_for_noun and token.pos_ in _NOUNS)
    asked = next(nouns, question_word)
    next_token = doc[min(asked.i + 1, len(doc) - 1)]
    # "Which RFC defines" is often parsed as if "which" and "RFC" were both arguments.
    return next_token if asked.tag_ == "WDT" and next_token.pos_ in _NOUNS else asked


def _is_verb(token: "Token") -> bool:
    """Return True for the verb of a clause."""
    return token.pos_ in {"VERB", "AUX"} and token.dep_ not in {"aux", "auxpass", "amod", "compound"}


def _role_of(token: "Token") -> str:
    """Return the part that a token plays in its clause; the agent of a passive verb stands behind "by"."""
    # What is joined to a noun, describes it or is a part of its name plays the part of that noun.
    while token.dep_ in {"conj", "appos", "compound"} and token.head != token:
        token = token.head
    if token.dep_ == "pobj":
        return "agent" if token.head.dep_ == "agent" else "prepositional"
    return {"nsubj": "agent", "nsubjpass": "patient", "dobj": "patient", "attr": "attr"}.get(token.dep_, "other")


def _antecedent_of(addition: "Token") -> "Token":
    """Return the noun that a clause or name adds to, with what it is "of": "the tower of Ulm, which Ada designed"."""
    noun = addition.head
    while noun.dep_ == "pobj" and noun.head.lemma_ == "of" and noun.head.head != noun.head:
        noun = noun.head.head
    return noun


def _subject_of(clause: "Token") -> "Token | None":
    """Return the subject of a clause: of a relative clause its antecedent, of a further verb that of the first one."""
    own = next((child for child in clause.children if child.dep_ in _SUBJECTS), None)
    if clause.dep_ in {"relcl", "acl"} and (own is None or own.tag_ in {"WP", "WDT"}):
        return clause.head
    if own is None and clause.dep_ in {"conj", "xcomp", "advcl"} and _is_verb(clause.head):
        return _subject_of(clause.head)
    return own


def _tense_of(verb: "Token") -> str:
    """Return "present" or "past" by the finite verb of a clause, or "" if it has none."""
    # In "has won" the auxiliary verb has the tense.
    tags = set([token.tag_ for token in verb.children if token.dep_ in {"aux", "auxpass"}] or [verb.tag_])
    if tags & {"VBZ", "VBP", "MD"}:
        return "present"
    if "VBD" in tags:
        return "past"
    return _tense_of(verb.head) if verb.dep_ == "conj" and verb.head != verb else ""


def _qualifiers_of(noun: "Token") -> list["Token"]:
    """Return the words before a noun that tell which one of its kind it is ("physics prize"); [] for no noun."""
    if noun.pos_ not in _NOUNS:
        return []
    return [child for child in noun.lefts if child.dep_ in {"compound", "amod"}
            and child.pos_ != "NUM" and child.lemma_.lower() not in _CURRENT]


def _find_name(doc: "Doc", name: str) -> list[tuple[int, int]]:
    """Return the (start, end) of the tokens of each occurrence of a name, or else of its last word ("Blum")."""
    texts = [token.text.casefold().removesuffix("'s") for token in doc]
    words = [word.casefold() for word in name.split()]
    forms = [words] if "of" in words else [words, words[-1:]]  # the last word of "University of Oslo" is another thing
    for form in forms:
        places = [(start, start + len(form)) for start in range(len(texts)) if texts[start:start + len(form)] == form]
        if places:
            return places
    return []
