"""The clauses of a parsed English sentence: their subjects and tenses, and the parts that words play in them."""

from typing import TYPE_CHECKING

from ...text.lexicon import word_set

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

SUBJECTS = word_set("nsubj nsubjpass")
CURRENT = word_set("current present")
"""What may qualify a role that is asked for in the present tense."""
RELATIVE_PRONOUNS = frozenset({"WP", "WDT"})
"""The tags of "who" and "which"."""
_NO_CLAUSE = word_set("aux auxpass amod compound")
"""How a verb depends on another word that is no clause of its own."""


def main_verb(doc: "Doc") -> "Token":
    """Return the verb of a question's main clause."""
    root = next((token for token in doc if token.dep_ == "ROOT"), doc[0])
    # "In which city was Ada born?" is often parsed as if "was" were the predicate.
    return next((token for token in root.children if token.dep_ == "ccomp" and root.lemma_ == "be"), root)


def asked_token(doc: "Doc", verb: "Token") -> "Token":
    """Return the noun that a question asks for ("Which river"), or its question word; the verb if it has neither."""
    question_word = next((token for token in doc if token.tag_ in {"WP", "WDT", "WRB", "WP$"}), verb)
    asks_for_noun = question_word.dep_ in {"det", "amod"} or question_word.head.dep_ == "amod"
    nouns = (token for token in question_word.ancestors if asks_for_noun and token.pos_ in {"NOUN", "PROPN"})
    asked = next(nouns, question_word)
    following = doc[min(asked.i + 1, len(doc) - 1)]
    # "Which RFC defines" is often parsed as if "which" and "RFC" were both arguments.
    return following if asked.tag_ == "WDT" and following.pos_ in {"NOUN", "PROPN"} else asked


def is_verb(token: "Token") -> bool:
    """Return True for the verb of a clause."""
    return token.pos_ in {"VERB", "AUX"} and token.dep_ not in _NO_CLAUSE


def clause_head(token: "Token") -> "Token":
    """Return the verb of the innermost clause of a token, or the root of a text without one."""
    step = token
    while not is_verb(step) and step.head != step:
        step = step.head
    return step


def role_of(token: "Token") -> str:
    """Return the part that a token plays in its clause, whether active or passive."""
    while token.dep_ in {"conj", "appos", "compound"} and token.head != token:
        token = token.head
    if token.dep_ == "pobj":
        return "agent" if token.head.dep_ == "agent" else "prepositional"
    return {"nsubj": "agent", "nsubjpass": "patient", "dobj": "patient", "attr": "attr"}.get(token.dep_, "other")


def antecedent_of(addition: "Token") -> "Token":
    """Return the noun that a clause or name adds to, with what it is "of": "the tower of Ulm, which Ada designed"."""
    noun = addition.head
    while noun.dep_ == "pobj" and noun.head.lemma_ == "of" and noun.head.head != noun.head:
        noun = noun.head.head
    return noun


def own_subject(clause: "Token") -> "Token | None":
    """Return the subject that a clause itself has."""
    return next((child for child in clause.children if child.dep_ in SUBJECTS), None)


def subject_of(clause: "Token") -> "Token | None":
    """Return the subject of a clause: of a relative clause its antecedent, of a further verb that of the first one."""
    own = own_subject(clause)
    if clause.dep_ in {"relcl", "acl"} and (own is None or own.tag_ in RELATIVE_PRONOUNS):
        return clause.head
    if own is None and clause.dep_ in {"conj", "xcomp", "advcl"} and is_verb(clause.head):
        return subject_of(clause.head)
    return own


def tense_of(verb: "Token") -> str:
    """Return "present" or "past" by the finite verb of a clause, or "" if it has none."""
    tags = set([token.tag_ for token in verb.children if token.dep_ in {"aux", "auxpass"}] or [verb.tag_])
    if tags & {"VBZ", "VBP", "MD"}:
        return "present"
    if "VBD" in tags:
        return "past"
    return tense_of(verb.head) if verb.dep_ == "conj" and verb.head != verb else ""


def qualifiers_of(noun: "Token") -> list["Token"]:
    """Return the words that tell which one of its kind a noun means, as in "physics prize"; [] for another word."""
    if noun.pos_ not in {"NOUN", "PROPN"}:
        return []
    return [child for child in noun.children if child.dep_ in {"compound", "amod"} and child.pos_ != "NUM"
            and child.i < noun.i and child.lemma_.lower() not in CURRENT]


def find_name(doc: "Doc", name: str) -> list[tuple[int, int]]:
    """Return the (start, end) of the tokens of each occurrence of a name, or else of its last word ("Blum")."""
    texts = [token.text.casefold().removesuffix("'s") for token in doc]
    words = [word.casefold() for word in name.split()]
    # The last word of "University of Oslo" is another thing.
    forms = [words] if "of" in words else [words, words[-1:]]
    for form in forms:
        places = [(start, start + len(form)) for start in range(len(texts) - len(form) + 1)
                  if texts[start:start + len(form)] == form]
        if places:
            return places
    return []


def is_content_clause(clause: "Token") -> bool:
    """Return True for a clause after a noun that says what it is: "the rumour that he sold it", not "that he sold"."""
    first, subject = clause.left_edge, own_subject(clause)
    has_object = any(child.dep_ in {"dobj", "attr", "acomp"} and child != first for child in clause.children)
    lacks_nothing = first.lower_ == "that" and subject is not None and subject != first and has_object
    return lacks_nothing or any(child.dep_ == "mark" for child in clause.children)
