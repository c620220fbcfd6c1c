"""Who does what in a parsed sentence: subjects, objects and complements, whichever way a clause puts them.

Reads the labels of spaCy's English pipelines (ClearNLP) and of Universal Dependencies, which most others have.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .mentions import VALUE_LABELS, Mention, Reading

if TYPE_CHECKING:
    from spacy.tokens import Token

_SUBJECTS = frozenset({"nsubj", "nsubjpass", "nsubj:pass", "sb"})
_OBJECTS = frozenset({"dobj", "obj", "oa"})
_QUOTED_SUBJECTS = frozenset({"csubj", "ccomp", "csubjpass", "compound"})
"""A title as a subject where the parser takes it for a clause ('"Mama Told Me" is a song') or verb and it for a name
('Heat stars Al Pacino')."""

_OBLIQUE = frozenset({"obl", "nmod", "obl:agent", "obl:arg", "obl:mod"})
_RELATIVE = frozenset({"WDT", "WP", "WP$", "PRELS"})
_RELATIVE_WORDS = frozenset({"who", "whom", "which", "that", "qui", "que"})
COPULAS = frozenset({"be", "become", "remain"})
_NEGATIONS = frozenset({"not", "n't", "n’t", "never", "no", "neither", "nor", "nie", "nicht", "ne", "pas", "jamais"})
_NOBODY = frozenset({"nobody", "none", "nothing", "niemand", "personne"})
_MODALS = frozenset({"would", "could", "might", "may", "should", "must", "ought"})
_CONDITIONS = frozenset({"if", "unless", "whether", "lest"})
_UNREAL = frozenset({
    "deny", "doubt", "want", "plan", "try", "hope", "fail", "refuse", "decline", "intend", "propose", "consider",
    "seek", "attempt", "wish", "imagine", "dream", "pretend", "threaten", "offer", "prevent", "oppose", "reject"})
"""Verbs whose clause is not said to be the case."""

_NOUNS = frozenset({"NOUN", "PROPN", "ADJ"})
_WITHOUT_COMPLEMENT = frozenset({"auxpass", "aux", "nsubjpass", "nsubj", "cc", "conj", "punct", "advmod"})
"""What a participle has that says nothing more itself: 'was written and directed by'."""
_DEEPEST = 4
"""Clauses or nouns that one argument is followed through."""


def conjuncts(token: "Token") -> Iterator["Token"]:
    """The token and what 'and' joins to it."""
    yield token
    for child in token.children:
        if child.dep_ == "conj":
            yield from conjuncts(child)


def lemma(verb: "Token") -> str:
    """A verb's lemma with its particle: 'set up'."""
    particle = next((f" {c.lower_}" for c in verb.children if c.dep_ in {"prt", "compound:prt", "svp"}), "")
    return f"{verb.lemma_.lower()}{particle}"


def _before_aside(subject: "Token", verb: "Token") -> "Token":
    """The subject; for one in brackets, the name before them: 'Ada Blum (1 May 1900, Vienna - 1980) was a painter'."""
    opened: list[int] = []
    for token in subject.doc[subject.sent.start : subject.i]:
        if token.text == "(":
            opened.append(token.i)
        elif token.text == ")" and opened:
            opened.pop()
    closed = opened and opened[0] > subject.sent.start and any(t.text == ")" for t in subject.doc[subject.i : verb.i])
    return subject.doc[opened[0] - 1] if closed else subject


def is_verb(token: "Token") -> bool:
    """Whether the token heads a clause as its verb."""
    return token.pos_ in {"VERB", "AUX"} and token.dep_ not in {"aux", "auxpass", "cop", "aux:pass", "amod"}


def is_passive(verb: "Token") -> bool:
    """Whether the verb's subject is what is acted upon."""
    deps = {c.dep_ for c in verb.children}
    if deps & {"nsubjpass", "nsubj:pass", "auxpass", "aux:pass", "agent"}:
        return True
    if verb.tag_ != "VBN" and "Part" not in verb.morph.get("VerbForm", []):
        return False
    if deps & _SUBJECTS or "aux" in deps:
        return False
    if verb.dep_ == "conj" and is_verb(verb.head):
        return is_passive(verb.head)
    return verb.dep_ in {"acl", "advcl", "relcl"} and not deps & _OBJECTS


def asserted(token: "Token") -> bool:
    """Whether the clause of a token is said to be the case: not denied, supposed or planned."""
    verb = token
    for _ in range(6):
        for child in verb.children:
            word = child.lower_
            if (child.dep_ in {"neg", "advmod", "det", "preconj", "cc"} and word in _NEGATIONS) or (
                    child.dep_ == "aux" and word in _MODALS) or (child.dep_ == "mark" and word in _CONDITIONS):
                return False
            if child.dep_ in _SUBJECTS and (word in _NOBODY or any(c.lower_ in _NEGATIONS for c in child.children)):
                return False
        if verb.head == verb:
            return True
        unreal = verb.dep_ in {"xcomp", "ccomp", "pcomp"} and verb.head.lemma_.lower() in _UNREAL
        if unreal:
            return False
        verb = verb.head
    return True


class Grammar:
    """Arguments of the predicates of one chunk, as the mentions that stand for them."""

    def __init__(self, reading: Reading) -> None:
        """Take the chunk with its mentions."""
        self._at = reading.at
        self._of_things = reading.of_things

    def named(self, token: "Token") -> list[Mention]:
        """The mention that a noun is part of, else the name that it has beside it ('his wife Ada Blum')."""
        mention = self._at.get(token.i)
        if mention is not None:
            return [mention] if mention.name else []
        return [m for c in token.children if c.dep_ == "appos" and (m := self._at.get(c.i)) and m.name]

    def meant(self, token: "Token", depth: int = 0) -> list[Mention]:
        """What a noun stands for: its mention, or the one that it describes."""
        relative = token.tag_ in _RELATIVE or (token.pos_ == "PRON" and token.lower_ in _RELATIVE_WORDS)
        if relative:
            clause = next((a for a in token.ancestors if a.dep_ in {"relcl", "acl:relcl"}), None)
            return self.meant(clause.head, depth + 1) if clause is not None and depth < _DEEPEST else []
        return self.named(token) or self.described(token, depth + 1)

    def subjects(self, verb: "Token", depth: int = 0) -> list[Mention]:
        """The mentions that are a verb's subject, taken over from the clause above where it has none."""
        before = [(c, _before_aside(c, verb)) for c in verb.children if c.dep_ in _SUBJECTS or c.dep_ == "csubj"]
        own = [t for c, s in before if c.dep_ in _SUBJECTS or c != s for t in conjuncts(s)] or [
            c for c in verb.lefts if c.dep_ in _QUOTED_SUBJECTS and c.i in self._at]
        if own or depth > _DEEPEST:
            return [m for t in own for m in self.meant(t, depth)]
        end = next((t.i for t in reversed(verb.doc[verb.sent.start : verb.i]) if not t.is_quote), verb.i)
        opening = self._at.get(end)
        if opening is not None and opening.kind == "quoted" and all(
                t.is_quote for t in verb.doc[verb.sent.start : opening.start]):
            return [opening]  # a title that is a clause of its own: '"Into the Rain" is'
        if verb.dep_ in {"acl", "acl:relcl"}:
            return self._parallel(verb, depth) or self.meant(verb.head, depth + 1)
        if verb.dep_ in {"conj", "xcomp", "advcl", "pcomp"}:
            above = verb.head
            above = above.head if above.pos_ == "ADP" else above
            if is_verb(above):
                return self.subjects(above, depth + 1)
            if verb.dep_ == "conj":
                return self.meant(above.head if above.dep_ == "acl" else above, depth + 1)
        return []

    def _parallel(self, verb: "Token", depth: int) -> list[Mention]:
        """'a film by Ada Blum, released in May': what is said of the name after 'by' is meant of the film."""
        name = verb.head
        while name.dep_ in {"conj", "appos"}:
            name = name.head
        by = name.head
        if by.lower_ != "by" or verb.head.i not in self._at or f"be {verb.lower_}" not in self._of_things:
            return []
        return self.subjects(by.head, depth + 1) if is_verb(by.head) else self.meant(by.head, depth + 1)

    def objects(self, verb: "Token") -> list["Token"]:
        """The nouns that are a verb's direct objects; of a relative clause without one, the noun it belongs to."""
        own = [t for c in verb.children if c.dep_ in _OBJECTS for o in conjuncts(c) for t in (o, *_instances(o))]
        if not own and verb.dep_ == "compound" and verb.head.i > verb.i:  # its object's, to the parser
            return list(conjuncts(verb.head))
        deps = {c.dep_ for c in verb.children}
        if not own and verb.dep_ == "relcl" and "nsubj" in deps and not any(
                c.tag_ in _RELATIVE or c.lower_ in {"where", "when"} for c in verb.subtree) and "prep" not in deps:
            return [verb.head]
        return own

    def described(self, noun: "Token", depth: int = 0) -> list[Mention]:
        """The mentions that a common noun is said of: 'Ada is a chemist', 'Ada, a chemist', 'the chemist Ada'."""
        if depth > _DEEPEST or noun.pos_ not in _NOUNS or noun.i in self._at or noun.ent_type_ in VALUE_LABELS:
            return []
        beside = [m for c in noun.children if c.dep_ == "appos" for m in self._own(c)]
        return beside or self._beside(noun, depth) or self._predicated(noun, depth)

    def _beside(self, noun: "Token", depth: int) -> list[Mention]:
        """What a noun stands in one phrase with."""
        head = noun.head
        if noun.dep_ == "conj" and head.pos_ in _NOUNS:
            return self.described(head, depth + 1) or self._own(head) * (noun.pos_ != "PROPN")
        if noun.dep_ == "appos":
            return self._own(head) or self.described(head, depth + 1)
        if noun.dep_ in {"compound", "nmod"}:
            return [m for m in self._own(head) if noun.i == m.start - 1]
        return []

    def _predicated(self, noun: "Token", depth: int) -> list[Mention]:
        """What a verb says to be what the noun names."""
        head, word = noun.head, noun.head.lemma_.lower()
        if noun.dep_ == "attr" and word in COPULAS:
            return self.subjects(head, depth + 1)
        if noun.dep_ == "nsubj" and word == "be":
            return [m for c in head.children if c.dep_ == "attr" for t in conjuncts(c) for m in self._own(t)]
        if noun.dep_ == "oprd" and is_verb(head):
            return self.subjects(head, depth + 1) if is_passive(head) else [
                m for t in self.objects(head) for m in self.named(t)]
        if noun.dep_ == "pobj" and head.lower_ == "as" and is_verb(head.head):
            return self.subjects(head.head, depth + 1)
        return self.subjects(noun, depth + 1) if any(c.dep_ == "cop" for c in noun.children) else []

    def _own(self, token: "Token") -> list[Mention]:
        mention = self._at.get(token.i)
        return [mention] if mention and mention.name else []

    @staticmethod
    def complements(token: "Token") -> Iterator[tuple[str, "Token"]]:
        """What prepositions join to a verb or noun, each with its preposition; an owner as with 'of'."""
        if token.tag_ == "VBN" and all(c.dep_ in _WITHOUT_COMPLEMENT for c in token.children):
            shared = next((c for c in token.children if c.dep_ == "conj" and c.tag_ == "VBN"), None)
            if shared is not None:  # 'written and directed by'
                yield from (found for found in Grammar.complements(shared) if found[0] == "by")
        for child in token.children:
            if child.dep_ in {"prep", "agent", "mo"}:
                for preposition in conjuncts(child):
                    yield from _objects_of(preposition, preposition.lower_)
            elif child.dep_ in _OBLIQUE:
                case = next((c.lower_ for c in child.children if c.dep_ == "case"), "")
                yield from ((case, t) for t in conjuncts(child) if case)
            elif child.dep_ in {"poss", "nmod:poss"}:
                yield from (("of", t) for t in conjuncts(child))


def _instances(noun: "Token") -> Iterator["Token"]:
    """What a noun is said to include: 'several awards, including the Silver Rose'."""
    for child in noun.children:
        if child.lower_ in {"including", "like"} or (child.lower_ == "as" and child.nbor(-1).lower_ == "such"):
            yield from (t for c in child.children if c.dep_ == "pobj" for t in conjuncts(c))


def _objects_of(preposition: "Token", words: str) -> Iterator[tuple[str, "Token"]]:
    for inner in preposition.children:
        if inner.dep_ in {"pobj", "nk"}:
            yield from ((words, t) for t in conjuncts(inner))
            if inner.ent_type_ in VALUE_LABELS:  # 'on 3 May 1900 in Vienna'
                yield from Grammar.complements(inner)
        elif inner.dep_ == "prep":  # 'out of'
            yield from _objects_of(inner, f"{words} {inner.lower_}")
