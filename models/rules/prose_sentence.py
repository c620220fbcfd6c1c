"""A parsed English sentence, and what in it fills the ends of a pattern's facts (`prose_facts.py`)."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...text.lexicon import words
from .clauses import Roles, all_joined
from .recognition.name_kinds import infer_type, kind_of_noun
from .recognition.name_likeness import is_nearer, is_rare, may_be
from .recognition.name_words import CALENDAR, GENERIC_ACRONYMS, HONOURS, OF_ANY_KIND, POSTS, PRONOUNS, ROLES, THINGS
from .recognition.spans import VALUES
from .stated_facts import Mention

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_UNSAID = re.compile(r"\]\([^()\s]{0,300}\)|<[^<>\s]{1,300}>|[\[\]*`_#>|•\\]|\s(?=\s)|\s+$|\bco-(?=found)"
                     r"|\A[\s*•>-]*(?:\(?(?:[a-z]|[ivx]{1,4}|\d{1,2})[.)]\s)?\s*")
"""Marks, numbering and spaces that are no part of a sentence."""
_ROAD = re.compile(r"\b(?:Route|Highway|Interstate|Freeway|Motorway|Rd)s?\b")
_TIMES = ("in", "on", "since", "from", "until", "before", "after", "during")
_FORMER = words("former late")
_ARTICLES = words("the a an its his her their our")
_OF_SOME = words("only first last same next most")
_VAGUE = words("this that these those any such some each all no more most what which other another similar lot "
               "various several multiple numerous many certain")
_PRAISE = words("complete full great good better best excellent different additional further necessary important")
"""What is said of a noun without saying what it is: "complete transparency"."""
_OF_WHAT = words("head leader chief")
"""Offices that say nothing without what they are of."""
_NO_NAME = words("a an each any no this every such another")
_COMMON = CALENDAR | ROLES | GENERIC_ACRONYMS
"""Capitalised words that are no names."""
_REFERRING = words("county district municipality borough canton commune prefecture parish archipelago board "
                   "north south east west northeast northwest southeast southwest center centre heart middle coast "
                   "shore island outskirt outskirts province region city town village headquarters headquarter seat "
                   "quarter")
"""Nouns that stand for what they are of: "the north of Norway"."""
_PLURAL = words("headquarters outskirts surroundings")
_AROUND = words("country nation state region area land world continent")
"""Nouns for places around the one that a text is about."""
_UNITS = words("team department division imprint label arm unit branch watershed basin style nomination")
"""Nouns for parts of a body, which are not what their name says: "the Acme team"."""
_UNTOLD = frozenset({"name", "location", "product", "organization"})
_RECOGNISED = {"place": "location", "body": "organization"}
"""The kinds of ends that are not told by the pattern."""
_LONGEST_PHRASE, LONGEST_SENTENCE = 12, 90
"""The most words of a value, and of a sentence that is parsed."""
_BRACKETS = frozenset("()[]“”\"")
_LONGEST_ROLE = 15
_LONG_WORD = 5
_TELLING = 3
"""The most kinds of an end that tell what a name of unknown kind is."""
_TOLD = words("person organization location product")
"""The kinds that a pattern tells of a name of unknown kind."""
_LEFT_OUT = frozenset({"relcl", "acl", "advcl", "appos", "parataxis"})
_TEXTS = frozenset({"text", "phrase", "goods", "stuff"})
"""The kinds of ends that are words as they stand."""


@dataclass(frozen=True, slots=True)
class PatternEnd:
    """An end of a fact: the roles to try, and the kinds that it may be of."""

    roles: tuple[str, ...]
    kinds: tuple[str, ...]


class ShownSentence:
    """A sentence as the parser reads it, without marks and line breaks, and with the places of its names in that."""

    def __init__(self, text: str, start: int, end: int, mentions: Sequence[Mention]) -> None:
        parts, places, at = list[str](), list[int](), start
        for gap in [*_UNSAID.finditer(text[start:end]), None]:
            stop = start + gap.start() if gap else end
            parts.append(text[at:stop])
            places += range(at, stop)
            at = start + gap.end() if gap else end
        self.text = "".join(parts).replace("\n", " ").replace("\t", " ")
        self.start, self.end = start, end
        self.mentions = [mention._replace(start=bisect_left(places, mention.start),
                                          end=bisect_left(places, mention.end)) for mention in mentions]
        words_ = [word for word in self.text.split() if word[0].isalpha()]
        capitals = sum(word[0].isupper() for word in words_)
        first = self.mentions[0] if self.mentions else None
        self.is_role = first is not None and first.kind == "person" and first.start == 0 and (
            self.text.startswith(", ", first.end) and len(words_) <= _LONGEST_ROLE)  # "Ada Blum, CTO of Acme"
        self.is_sentence = self.is_role or self.text.endswith((".", ";", ":", "!", ",")) or capitals * 2 < len(words_)


class ProseSentence:
    """A parsed sentence with its names and values."""

    def __init__(self, doc: "Doc", mentions: Sequence[Mention], subject: Mention | None) -> None:
        self.doc = doc
        self._mentions = mentions
        self._subject = subject

    def fill(self, predicate: "Token", by_role: Roles, end: PatternEnd) -> list[Mention]:
        """Return what fills an end of a fact, by the first role that has something of its kinds."""
        for role in end.roles:
            alone = role == "subj" and predicate.dep_ in {"compound", "appos", "nsubj"} and predicate.tag_ != "NNS"
            tokens = [predicate] if role in {"self", "whole"} else [
                one for token in by_role.get(role, ()) for one in ([token] if alone else all_joined(token))]
            if _TEXTS & set(end.kinds):
                tokens = tokens[:1]
            found = dict.fromkeys(one for token in tokens if not self._is_aside(predicate, token) and (
                one := self._fitting(predicate, token, end, own=role == "self")))
            if found:
                return list(found)
        return []

    def time(self, predicate: "Token", by_role: Roles) -> str:
        """Return when a fact holds, in the sentence's words; "" if it does not say."""
        if any(child.lower_ in _FORMER for child in predicate.children):
            return next(child.text for child in predicate.children if child.lower_ in _FORMER)
        for role in _TIMES:
            for token in by_role.get(role, ()):
                date = self._value(token, "date")
                lead = token.head
                if date is not None and lead.lower_ == role:
                    until = next((self._value(one, "date") for one in by_role.get("to", by_role.get("until", ()))
                                  if role == "from"), None)
                    return self.doc.text[lead.idx : (until or date).end]
        return ""

    def _fitting(self, predicate: "Token", token: "Token", end: PatternEnd, *, own: bool) -> Mention | None:
        if _TEXTS & set(end.kinds):
            words_ = self._phrase(token, own=own)
            several = (" " in words_ or token.tag_ == "NNS") and not self.covering(token) and not (
                token.dep_ in {"nsubj", "nsubjpass"} and self._mention(token) is not None)
            fits = {"text": own or token is not predicate or " " in words_, "phrase": several,
                    "goods": several and token.tag_ == "NNS",
                    "stuff": token.tag_ == "NN" and " " not in words_}[end.kinds[0]]
            fits = fits and not (own and token.tag_ == "NNS")  # "anthropologists Ada Blum and Karl Blum"
            return Mention(0, 0, "", words_) if fits and words_ and _BRACKETS.isdisjoint(words_) else None
        if VALUES & set(end.kinds):
            return self._value(token, end.kinds[0])
        return self._name(predicate, token, end.kinds)

    def _name(self, predicate: "Token", token: "Token", kinds: Sequence[str]) -> Mention | None:
        """Return the name, or the idea or office without one, at a token."""
        mention = self._mention(token)
        if words_ := self._unnamed(predicate, token, kinds):
            return Mention(0, 0, "thing", words_)
        if mention is None or mention is self.covering(predicate) or mention.name.rpartition(" ")[2].lower() in POSTS:
            return None  # the "Director" of "Executive Director", "Commercial Officer"
        nouns = {kind_of_noun(one.lemma_) for one in (token, *token.children) if one.pos_ == "NOUN"}
        if mention.kind in kinds and mention.kind in nouns:
            return mention  # the band Quiet Harbour
        if mention.kind == "name" and token.lemma_ in _REFERRING and kind_of_noun(token.lemma_) == "location":
            mention = mention._replace(kind="location")  # "the island of Sorrel Key"
        if mention.kind == "name" and kind_of_noun(predicate.lemma_) in kinds and (
                predicate.lemma_ not in OF_ANY_KIND):
            return mention._replace(kind=kind_of_noun(predicate.lemma_))  # "Radom, a city in Poland"
        kind = _kind_in(mention, kinds)
        return mention._replace(kind=kind) if kind else None

    def _is_aside(self, predicate: "Token", token: "Token") -> bool:
        """Return True for a word in brackets of what is said outside them: "The mayor is Ada Blum (SPD)"."""
        text, between = self.doc.text, sorted((predicate.idx, token.idx))
        opened = text.count("(", *between) - text.count(")", *between)
        return opened > 0 if token.i > predicate.i else opened < 0

    def _unnamed(self, predicate: "Token", token: "Token", kinds: Sequence[str]) -> str:
        """Return the words of an idea or an office without a name, if an end of a fact takes one; else ""."""
        if "office" in kinds and not self.covering(token) and not token.is_ancestor(predicate):
            return self._phrase(token, own=True)
        return self._thing(token) if "thing" in kinds and self._mention(token) is None else ""

    def _before(self, mention: Mention) -> str:
        """Return the word before a name."""
        return self.doc.text[: mention.start].rstrip().rpartition(" ")[2].lower()

    def _mention(self, token: "Token") -> Mention | None:
        """Return the name at a token, or what a pronoun or "the company" refers to."""
        if token.lower_ in PRONOUNS:
            return self._referent(token)
        honour = token.i and token.lower_ in HONOURS
        covering = self.covering(token.nbor(-1) if honour else token)  # Ada Blum CBE
        if covering is not None:
            common = not is_rare(covering.name)
            kind_of_thing = " " not in covering.name and (
                (covering.kind == "person" and (covering.name.isupper() or (common and (
                    self._before(covering) == "the" or kind_of_noun(covering.name.lower()) == "person"))))
                or (self._before(covering) in _NO_NAME and (covering.name.isupper() or common)))
            return None if kind_of_thing else covering  # "an API", "a Project", "Ada Blum (SPD)"
        if token.tag_ in {"NNP", "NNPS"} and token.lower_ not in _COMMON:
            first = token
            while first.i and (other := self.doc[first.i - 1]).tag_ in {"NNP", "NNPS"} and token.is_ancestor(other):
                first = other
            before = self.doc[first.i - 1].lower_ if first.i else ""
            following = self.doc[min(token.i + 1, len(self.doc) - 1)]
            last = following if following.tag_ == "CD" and following.head == token else token  # the Kestrel 200
            name = self.doc.text[first.idx : last.idx + len(last)]
            if first.text[0].isupper() and before not in _NO_NAME and len(name) > 1:
                return Mention(first.idx, first.idx + len(name), "name", name)
        return self._held(token)

    def _held(self, token: "Token") -> Mention | None:
        """Return the name that a common noun stands for."""
        if token.pos_ == "NOUN" and self._subject is not None and token.lemma_ not in _AROUND and [
                child.lower_ for child in token.children] in (["the"], ["this"]) and (
                kind_of_noun(token.lemma_) == self._subject.kind or token.lemma_ in self._subject.name.lower().split()):
            return self._subject
        if token.dep_ == "attr":  # "Acme is a maker founded in 1970"
            return next((self._mention(child) for child in token.head.children if child.dep_ == "nsubj"), None)
        if token.lemma_ in _REFERRING and (token.tag_ != "NNS" or token.lower_ in _PLURAL):
            parts = [one for child in token.children for one in (
                child.children if child.lower_ == "of" else [child] if child.dep_ == "poss" else ())]
            if found := next(filter(None, map(self._mention, parts)), None):
                return found
        if token.dep_ == "appos" and token.pos_ == "NOUN" and (held := self.covering(token.head)) is not None:
            # "Ada Blum, a painter born in Oslo"
            return held if held.kind == kind_of_noun(token.lemma_) or (
                held.kind == "name" and token.left_edge.lower_ in {"a", "an"}) else None
        named = (child for child in token.children if child.dep_ == "appos" or (
            # "the Nile Queen pump", but not "the Acme engineer", "its Acme office" and "the API key"
            # nor "Acme projects", which are several
            child.dep_ == "compound" and child.i + 1 == token.i and token.lemma_ not in _UNITS and (
                token.tag_ != "NNS") and (
                kind_of_noun(token.lemma_) != "person") and not child.text.isupper() and not any(
                one.tag_ == "PRP$" or one.dep_ == "appos" for one in token.children)))
        kind = kind_of_noun(token.lemma_)
        return next((held for child in named if (held := self._mention(child)) is not None and (
            child.dep_ == "appos" or held.kind in {kind or held.kind, "product", "name", "event"})), None)

    def covering(self, token: "Token") -> Mention | None:
        """Return the name or value that a word is in."""
        return next((mention for mention in self._mentions if mention.start <= token.idx < mention.end), None)

    def _referent(self, pronoun: "Token") -> Mention | None:
        """Return the only person before "he" or "she", or the text's subject."""
        refers = PRONOUNS[pronoun.lower_]
        before = {mention.name: mention for mention in self._mentions
                  if mention.kind == "person" and mention.end <= pronoun.idx}
        if refers in {"male", "female"}:
            first = next(iter(before.values()), None)
            carried_on = first is not None and any(
                PRONOUNS.get(one.lower_) == refers and one.idx < first.start for one in self.doc)
            if before and not carried_on:  # "Her last book was read by Ada Blum and her sister"
                return next(iter(before.values())) if len(before) == 1 else None
            return self._subject if self._subject is not None and self._subject.kind == "person" else None
        if refers == "thing" and (own := self._own_subject(pronoun)) is not None:
            return own
        opens = not any(mention.end <= pronoun.idx for mention in self._mentions
                        if mention.kind not in VALUES)
        fits = refers == "thing" and opens and self._subject is not None and self._subject.kind != "person"
        return self._subject if fits else None

    def _own_subject(self, pronoun: "Token") -> Mention | None:
        """Return the body that "its", or the "it" of what it says, refers to: "With its bank in Oslo, Acme sells"."""
        holder = pronoun.head
        if holder.dep_ == "conj" and holder.head.i < pronoun.i:  # "Acme and its bank"
            subjects = [holder.head]
        else:
            subjects = [child for verb in pronoun.ancestors if verb.pos_ in {"VERB", "AUX"} for child in verb.children
                        if child.dep_ in {"nsubj", "nsubjpass"} and not child.is_ancestor(pronoun) and child != pronoun]
        held = self.covering(subjects[0]) if subjects and (pronoun.tag_ == "PRP$" or holder.dep_ == "ccomp") else None
        return held if held is not None and held.kind == "organization" else None

    def _value(self, token: "Token", kind: str) -> Mention | None:
        """Return the first date or number in a token's phrase."""
        last = token.right_edge if token.lower_ in CALENDAR else token  # on Friday 9 May
        start, end = token.left_edge.idx, last.idx + len(last)
        return next((mention for mention in self._mentions if mention.kind == kind and (
            start <= mention.start <= end or mention.start <= token.idx < mention.end)), None)

    def _phrase(self, token: "Token", *, own: bool) -> str:
        """Return the words of a noun's phrase without its article and clauses; "" if there are none or too many.

        Its `own` phrase as a role or occupation does not contain the names of others: "head of sales" of a company.
        """
        if (token.pos_ not in {"NOUN", "PROPN"} and token.dep_ != "pcomp") or (
                token.lower_ in PRONOUNS or not token.text[0].isalpha()):
            return ""
        left_out = {one for child in token.children for one in child.subtree
                    if child.dep_ in _LEFT_OUT or (
                        child.dep_ == "amod" and child.i > token.i and self.doc[child.left_edge.i - 1].text == ",") or (
                        own and not self._describes(child, token))}
        first = next(one for one in token.subtree if one not in left_out)
        if first.lower_ in _ARTICLES:
            first = self.doc[first.i + 1]
        if first.lower_ in _VAGUE or (first.lower_ in _PRAISE and first.i + 1 == token.i):
            return ""
        last = first
        while last.i + 1 < len(self.doc) and self.doc[last.i + 1] not in left_out and (
                token.is_ancestor(self.doc[last.i + 1]) or last.i < token.i):
            last = self.doc[last.i + 1]
        phrase = self.doc[first.i : last.i + 1]
        while len(phrase) and (phrase[-1].is_punct or phrase[-1].pos_ in {"CCONJ", "ADP"}):
            phrase = phrase[:-1]
        if own and (phrase.text.lower() in _OF_WHAT or any(one.text == "," for one in phrase)):
            return ""
        if last.i < token.i or (len(phrase) and phrase[-1].tag_ == "VBN"):
            return ""  # "a Danish (former) painter", and the "Danish born" of a parse that ends there
        if any(one in left_out for one in token.rights) and any(
                one.tag_ == "JJS" or one.lower_ in _OF_SOME for one in phrase):
            return ""  # "the only school" that ...
        return phrase.text if 0 < len(phrase) <= _LONGEST_PHRASE and first.i <= token.i else ""

    def _thing(self, token: "Token") -> str:
        """Return a phrase without an article, as ideas and substances have; "" for another."""
        is_bare = not any(child.dep_ in {"det", "poss", "conj"} for child in token.children)
        words_ = self._phrase(token, own=True) if is_bare else token.text if is_rare(token.text) else ""
        return words_ if token.tag_ == "NN" and len(words_) > _LONG_WORD else ""

    def _describes(self, child: "Token", token: "Token") -> bool:
        """Return True for the part of a role or occupation that is no other's name: "sales" in "head of sales"."""
        if child.dep_ == "prep":
            objects = [one for one in child.children if one.dep_ == "pobj"]
            body = token.text.isupper() and any(one.tag_ in {"NNP", "NNPS"} for one in objects)  # CTO of Acme
            return child.lower_ == "of" and bool(objects) and not (body or any(map(self.covering, objects)))
        former = child.lower_ in _FORMER or child.dep_ in {"poss", "cc", "conj", "prep", "punct", "det"}
        named = self.covering(child)
        return child.i < token.i and not former and (named is None or named is self.covering(token))


def _kind_in(mention: Mention, kinds: Sequence[str]) -> str:  # noqa: PLR0911 - a decision list
    """Return the kind that a pattern gives a name, or "" if the name is of another kind.

    A pattern is a better witness than a recogniser that guesses: who was born is a person, who employs a body.
    """
    name, kind = mention.name, mention.kind
    several, acronym, last = " " in name, name.isupper() and name.isalpha(), name.rpartition(" ")[2].lower()
    if kind in VALUES or ("location" in kinds and _ROAD.search(name)) or last in POSTS | THINGS or (
            kind not in {"person", "work"} and "person" in {kind_of_noun(last), kind_of_noun(last.removesuffix("s"))}):
        return ""  # "located on Highway 54", "Platinum Members", "Executive Director"
    named = infer_type(name).lower()
    if kinds[0] in _RECOGNISED:
        return kind if kind == _RECOGNISED[kinds[0]] else ""
    if kinds == ("work",) and several and kind in ({"name", "location", "product"} if named else _UNTOLD):
        return "work"  # "Joon Park directed The Salt Road"
    guessed = kind in {"organization", "location"} and several and not named and not acronym
    if guessed and kinds[0] == "person" and " and " not in name and may_be("person", name) and (
            is_nearer("person", kind, name)):
        return "person"  # "founded by Georg Carstensen"
    if kinds == ("location",) and not several and not acronym and is_rare(name):
        return "location"  # "born in Radom"
    if kind in kinds or kinds[0] == "name" or (kind == "name" and len(kinds) > _TELLING):
        return kind
    if named:
        return named if named in kinds else ""
    if kind == "name":
        told = [one for one in kinds if one in _TOLD and (several or not kind_of_noun(last)) and (
            one != "organization" or several or acronym or is_rare(name))]
        return next((one for one in told if one in {"product", "organization"} or (
            may_be(one, name) and not (one == "person" and acronym))), "")
    return _corrected(kind, kinds, several=several)


def _corrected(kind: str, kinds: Sequence[str], *, several: bool) -> str:
    """Return the kind that a pattern gives a name of another kind; "" if none fits."""
    if "firm" in kinds and several and kind == "person":
        return "organization"  # no person is founded or a subsidiary
    if "organization" in kinds and kind in ({"product", "work"} if several else {"person", "product", "work"}):
        return "organization"
    return "product" if kinds[0] == "product" and kind in {"organization", "work", "location"} else ""
