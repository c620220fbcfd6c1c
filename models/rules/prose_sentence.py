"""A parsed English sentence, and what in it fills the ends of a pattern's facts (`prose_facts.py`)."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
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

_MARKUP = re.compile(r"\]\([^()\s]{0,300}\)|<[^<>\s]{1,300}>|[\[\]*`_#>|•\\]|\s(?=\s)|\s+$|\bco-(?=found)"
                     r"|\A[\s*•>-]*(?:\(?(?:[a-z]|[ivx]{1,4}|\d{1,2})[.)]\s)?\s*")
"""Marks, numbering and spaces that are no part of a sentence."""
_ROAD_NAME = re.compile(r"\b(?:Route|Highway|Interstate|Freeway|Motorway|Rd)s?\b")
_TIME_ROLES = ("in", "on", "since", "from", "until", "before", "after", "during")
_FORMER_WORDS = words("former late")
_ARTICLES = words("the a an its his her their our")
_LIMITING_WORDS = words("only first last same next most")
_VAGUE_OPENINGS = words("this that these those any such some each all no more most what which other another similar "
                        "lot various several multiple numerous many certain")
_VAGUE_ADJECTIVES = words(
    "complete full great good better best excellent different additional further necessary important")
"""Adjectives that do not say which one is meant: "complete transparency"."""
_INCOMPLETE_OFFICES = words("head leader chief")  # offices that say nothing alone, without "of ..."
_BEFORE_COMMON_NOUN = words("a an each any no this every such another")
_CAPITALISED_NON_NAMES = CALENDAR | ROLES | GENERIC_ACRONYMS  # capitalised words that are no names
_PART_NOUNS = words("county district municipality borough canton commune prefecture parish archipelago board north "
                    "south east west northeast northwest southeast southwest center centre heart middle coast shore "
                    "island outskirt outskirts province region city town village headquarters headquarter seat quarter")
"""Nouns for a part of a place that stand for the place: "the north of Norway"."""
_PART_NOUNS_IN_PLURAL = words("headquarters outskirts surroundings")
_SURROUNDING_PLACES = words("country nation state region area land world continent")
"""Nouns for the places in which a text's subject lies: "the country" does not mean the city that a text is about."""
_NOUNS_FOR_UNITS = words("team department division imprint label arm unit branch watershed basin style nomination")
"""Nouns for a part of what the name before them means: "the Acme team" is not Acme."""
_UNCERTAIN_KINDS = frozenset({"name", "location", "product", "organization"})
_RECOGNISED = {"place": "location", "body": "organization"}
"""Kinds of ends that a pattern leaves to the recogniser, with the recogniser's kind."""
_LONGEST_PHRASE, LONGEST_SENTENCE = 12, 90
"""The most words of a value, and of a sentence that is parsed."""
_BRACKETS = frozenset("()[]“”\"")
_LONGEST_ROLE_LINE = 15
_SHORT_PHRASE = 5  # characters of a phrase that is too short for an idea or substance
_MOST_TELLING_KINDS = 3  # with more kinds than these, an end does not tell what a name of unknown kind is
_ASSIGNABLE_KINDS = words("person organization location product")
"""The kinds that a pattern may give a name of unknown kind."""
_OMITTED_CLAUSES = frozenset({"relcl", "acl", "advcl", "appos", "parataxis"})
_TEXT_KINDS = frozenset({"text", "phrase", "goods", "stuff"})
"""The kinds of ends that are any words rather than names or values."""


@dataclass(frozen=True, slots=True)
class PatternEnd:
    """An end of a fact: the roles to try, and the kinds that it may be of."""

    roles: tuple[str, ...]
    kinds: tuple[str, ...]


class ShownSentence:
    """A sentence as the parser reads it: without markup and line breaks.

    `start` and `end` are its place in the source, and those of its `mentions` are places in its own `text`. `is_role`
    is True for a line such as "Ada Blum, CTO of Acme", and `is_sentence` False for headings.
    """

    def __init__(self, text: str, start: int, end: int, mentions: Sequence[Mention]) -> None:
        """Remove the markup from `text[start:end]`, and move the mentions accordingly."""
        # `source_places` has the place in the source of each character that is kept.
        parts, source_places, at = list[str](), list[int](), start
        gaps = [(start + gap.start(), start + gap.end()) for gap in _MARKUP.finditer(text[start:end])]
        for gap_start, gap_end in [*gaps, (end, end)]:
            parts.append(text[at:gap_start])
            source_places += range(at, gap_start)
            at = gap_end
        self.text = "".join(parts).replace("\n", " ").replace("\t", " ")
        self.start, self.end = start, end
        self.mentions = [mention._replace(start=bisect_left(source_places, mention.start),
                                          end=bisect_left(source_places, mention.end)) for mention in mentions]
        words_ = [word for word in self.text.split() if word[0].isalpha()]
        capitalised = sum(word[0].isupper() for word in words_)
        first = self.mentions[0] if self.mentions else None
        self.is_role = first is not None and first.kind == "person" and first.start == 0 and (
            self.text.startswith(", ", first.end) and len(words_) <= _LONGEST_ROLE_LINE)
        ends_like_sentence = self.text.endswith((".", ";", ":", "!", ","))
        is_capitalised_like_heading = 2 * capitalised >= len(words_)
        self.is_sentence = self.is_role or ends_like_sentence or not is_capitalised_like_heading


class ProseSentence:
    """A parsed sentence with its names and values."""

    def __init__(self, doc: "Doc", mentions: Sequence[Mention], subject: Mention | None) -> None:
        self.doc = doc
        self._mentions = mentions
        self._subject = subject

    def fill(self, predicate: "Token", by_role: Roles, end: PatternEnd) -> list[Mention]:
        """Return the names, values or words that can be an end of a fact, from the first role that has any.

        `predicate` is the word that states the fact, and `by_role` has its phrases.
        """
        for role in end.roles:
            # A singular noun beside a name describes this name alone, not those joined to the name by "and".
            is_single = role == "subj" and predicate.dep_ in {"compound", "appos", "nsubj"} and predicate.tag_ != "NNS"
            tokens = [predicate] if role in {"self", "whole"} else [
                one for token in by_role.get(role, ()) for one in ([token] if is_single else all_joined(token))]
            if _TEXT_KINDS & set(end.kinds):
                tokens = tokens[:1]
            elif role not in {"self", "whole"} and not is_single:
                tokens = [named for token in tokens for named in self._listed_names(token)]
            outside_brackets = [token for token in tokens if not self._is_aside(predicate, token)]
            candidates = (self._fill_from(predicate, token, end, own=role == "self") for token in outside_brackets)
            if found := dict.fromkeys(filter(None, candidates)):
                return list(found)
        return []

    def _listed_names(self, token: "Token") -> Iterator["Token"]:
        """Yield the names that an apposition lists ("two brothers, Ada Blum and Karl Blum"), else the token itself."""
        apposition = next((child for child in token.children if child.dep_ == "appos" and child.i > token.i), None)
        if apposition is None or token.pos_ != "NOUN" or self.covering(token) is not None:
            yield token
        elif apposition.tag_ in {"NNP", "NNPS"} and apposition.conjuncts:
            yield from all_joined(apposition)
        else:
            yield token

    def time(self, predicate: "Token", by_role: Roles) -> str:
        """Return when a fact holds, in the sentence's words ("from 1907 to 1919", "former"); "" if it does not say."""
        if any(child.lower_ in _FORMER_WORDS for child in predicate.children):
            return next(child.text for child in predicate.children if child.lower_ in _FORMER_WORDS)
        for role in _TIME_ROLES:
            for token in by_role.get(role, ()):
                date = self._value(token, "date")
                preposition = token.head
                if date is not None and preposition.lower_ == role:
                    ends = by_role.get("to", by_role.get("until", ())) if role == "from" else ()
                    end_date = self._value(ends[0], "date") if ends else None
                    return self.doc.text[preposition.idx : (end_date or date).end]
        return ""

    def _fill_from(self, predicate: "Token", token: "Token", end: PatternEnd, *, own: bool) -> Mention | None:
        """Return the words, the value or the name at a token if they are of an end's kinds, or None."""
        if _TEXT_KINDS & set(end.kinds):
            words_, is_plural = self._phrase(token, own=own), token.tag_ == "NNS"
            names_subject = token.dep_ in {"nsubj", "nsubjpass"} and self._mention(token) is not None
            is_common = not self.covering(token) and not names_subject
            is_phrase = (" " in words_ or is_plural) and is_common
            fits_kind = {"text": own or token is not predicate or " " in words_, "phrase": is_phrase,
                         "goods": is_phrase and is_plural, "stuff": token.tag_ == "NN" and " " not in words_}
            describes_several = own and is_plural  # "anthropologists Ada Blum and Karl Blum"
            fits = fits_kind[end.kinds[0]] and not describes_several and _BRACKETS.isdisjoint(words_)
            return Mention(0, 0, "", words_) if fits and words_ else None
        if VALUES & set(end.kinds):
            return self._value(token, end.kinds[0])
        return self._name(predicate, token, end.kinds)

    def _name(self, predicate: "Token", token: "Token", kinds: Sequence[str]) -> Mention | None:
        """Return the name at a token with a kind among `kinds`, or an idea or office in words; None if neither fits."""
        mention = self._mention(token)
        if words_ := self._unnamed_phrase(predicate, token, kinds):
            return Mention(0, 0, "thing", words_)
        if mention is None or mention is self.covering(predicate) or mention.name.rpartition(" ")[2].lower() in POSTS:
            return None  # the "Director" of "Executive Director", "Commercial Officer"
        kinds_of_nouns = {kind_of_noun(one.lemma_) for one in (token, *token.children) if one.pos_ == "NOUN"}
        if mention.kind in kinds and mention.kind in kinds_of_nouns:
            return mention  # the band Quiet Harbour
        if mention.kind == "name" and token.lemma_ in _PART_NOUNS and kind_of_noun(token.lemma_) == "location":
            mention = mention._replace(kind="location")  # "the island of Sorrel Key"
        predicate_kind = kind_of_noun(predicate.lemma_)
        if mention.kind == "name" and predicate_kind in kinds and predicate.lemma_ not in OF_ANY_KIND:
            return mention._replace(kind=predicate_kind)  # "Radom, a city in Poland"
        kind = _kind_in(mention, kinds)
        return mention._replace(kind=kind) if kind else None

    def _is_aside(self, predicate: "Token", token: "Token") -> bool:
        """Return True if a bracket separates a word from the predicate: SPD in "The mayor is Ada Blum (SPD)"."""
        text, between = self.doc.text, sorted((predicate.idx, token.idx))
        opened = text.count("(", *between) - text.count(")", *between)
        return opened > 0 if token.i > predicate.i else opened < 0

    def _unnamed_phrase(self, predicate: "Token", token: "Token", kinds: Sequence[str]) -> str:
        """Return the words of an idea or an office that has no name, or "" if `kinds` do not include such."""
        if "office" in kinds and not self.covering(token) and not token.is_ancestor(predicate):
            return self._phrase(token, own=True)
        return self._thing_phrase(token) if "thing" in kinds and self._mention(token) is None else ""



    def _mention(self, token: "Token") -> Mention | None:
        """Return the name at a token, or the name that a pronoun or a noun such as "the company" refers to; or None."""
        if token.lower_ in PRONOUNS:
            return self._referent(token)
        is_honour = token.i and token.lower_ in HONOURS
        covering = self.covering(token.nbor(-1) if is_honour else token)  # Ada Blum CBE
        if covering is not None:
            is_common, is_acronym = not is_rare(covering.name), covering.name.isupper()
            before = self.doc.text[: covering.start].rstrip().rpartition(" ")[2].lower()
            is_no_person = covering.kind == "person" and (is_acronym or (is_common and (
                before == "the" or kind_of_noun(covering.name.lower()) == "person")))
            is_noun = before in _BEFORE_COMMON_NOUN and (is_acronym or is_common)
            is_thing = " " not in covering.name and (is_no_person or is_noun)
            return None if is_thing else covering  # "an API", "a Project", "Ada Blum (SPD)"
        if token.tag_ in {"NNP", "NNPS"} and token.lower_ not in _CAPITALISED_NON_NAMES:
            # A name that no recogniser found: the proper nouns before the token, and a number behind it.
            first = token
            while first.i and (other := self.doc[first.i - 1]).tag_ in {"NNP", "NNPS"} and token.is_ancestor(other):
                first = other
            before = self.doc[first.i - 1].lower_ if first.i else ""
            following = self.doc[min(token.i + 1, len(self.doc) - 1)]
            last = following if following.tag_ == "CD" and following.head == token else token  # the Kestrel 200
            name = self.doc.text[first.idx : last.idx + len(last)]
            if first.text[0].isupper() and before not in _BEFORE_COMMON_NOUN and len(name) > 1:
                return Mention(first.idx, first.idx + len(name), "name", name)
        return self._name_behind(token)

    def _name_behind(self, token: "Token") -> Mention | None:
        """Return the name that a common noun stands for, or None."""
        kind = kind_of_noun(token.lemma_)
        if token.pos_ == "NOUN" and self._subject is not None and token.lemma_ not in _SURROUNDING_PLACES:
            is_definite = [child.lower_ for child in token.children] in (["the"], ["this"])
            fits_subject = kind == self._subject.kind or token.lemma_ in self._subject.name.lower().split()
            if is_definite and fits_subject:
                return self._subject  # "the company"
        if token.dep_ == "attr":  # "Acme is a maker founded in 1970"
            return next((self._mention(child) for child in token.head.children if child.dep_ == "nsubj"), None)
        if token.lemma_ in _PART_NOUNS and (token.tag_ != "NNS" or token.lower_ in _PART_NOUNS_IN_PLURAL):
            wholes = [one for child in token.children for one in (
                child.children if child.lower_ == "of" else [child] if child.dep_ == "poss" else ())]
            if found := next(filter(None, map(self._mention, wholes)), None):
                return found  # "the north of Norway"
        if token.dep_ == "appos" and token.pos_ == "NOUN" and (described := self.covering(token.head)) is not None:
            # "Ada Blum, a painter born in Oslo"
            is_indefinite = token.left_edge.lower_ in {"a", "an"}
            fits = described.kind == kind or (described.kind == "name" and is_indefinite)
            return described if fits else None
        # The name before the noun means the same thing in "the Nile Queen pump", but not in "the Acme engineer",
        # "its Acme office", "the API key", nor in "Acme projects", which are several.
        takes_compound = token.lemma_ not in _NOUNS_FOR_UNITS and token.tag_ != "NNS" and kind != "person" and not any(
            one.tag_ == "PRP$" or one.dep_ == "appos" for one in token.children)
        for child in token.children:
            is_compound = child.dep_ == "compound" and child.i + 1 == token.i and not child.text.isupper()
            if child.dep_ != "appos" and not (takes_compound and is_compound):
                continue
            name = self._mention(child)
            if name is not None and (child.dep_ == "appos" or name.kind in {kind or name.kind, "product", "name",
                                                                             "event"}):
                return name
        return None

    def covering(self, token: "Token") -> Mention | None:
        """Return the name or value that a word is in."""
        return next((mention for mention in self._mentions if mention.start <= token.idx < mention.end), None)

    def _referent(self, pronoun: "Token") -> Mention | None:
        """Return the name that a pronoun refers to, or None if that is not certain."""
        gender = PRONOUNS[pronoun.lower_]
        persons_before = {mention.name: mention for mention in self._mentions
                          if mention.kind == "person" and mention.end <= pronoun.idx}
        if gender in {"male", "female"}:
            first = next(iter(persons_before.values()), None)
            # An earlier pronoun means somebody else: "Her last book was read by Ada Blum and her sister".
            repeats_pronoun = first is not None and any(
                PRONOUNS.get(one.lower_) == gender and one.idx < first.start for one in self.doc)
            if persons_before and not repeats_pronoun:
                return first if len(persons_before) == 1 else None
            return self._subject if self._subject is not None and self._subject.kind == "person" else None
        if gender == "thing" and (own_subject := self._own_subject(pronoun)) is not None:
            return own_subject
        follows_name = any(mention.end <= pronoun.idx for mention in self._mentions if mention.kind not in VALUES)
        fits = gender == "thing" and not follows_name and self._subject is not None and self._subject.kind != "person"
        return self._subject if fits else None

    def _own_subject(self, pronoun: "Token") -> Mention | None:
        """Return the organization in the same sentence that "its" or "it" refers to, or None."""
        parent = pronoun.head
        if parent.dep_ == "conj" and parent.head.i < pronoun.i:  # "Acme and its bank"
            subjects = [parent.head]
        else:
            subjects = [child for verb in pronoun.ancestors if verb.pos_ in {"VERB", "AUX"} for child in verb.children
                        if child.dep_ in {"nsubj", "nsubjpass"} and not child.is_ancestor(pronoun) and child != pronoun]
        is_possessive, is_reported = pronoun.tag_ == "PRP$", parent.dep_ == "ccomp"
        name = self.covering(subjects[0]) if subjects and (is_possessive or is_reported) else None
        return name if name is not None and name.kind == "organization" else None

    def _value(self, token: "Token", kind: str) -> Mention | None:
        """Return the first date or number in a token's phrase."""
        last = token.right_edge if token.lower_ in CALENDAR else token  # on Friday 9 May
        start, end = token.left_edge.idx, last.idx + len(last)
        return next((mention for mention in self._mentions if mention.kind == kind and (
            start <= mention.start <= end or mention.start <= token.idx < mention.end)), None)

    def _phrase(self, token: "Token", *, own: bool) -> str:
        """Return the words of a noun's phrase without its article and its clauses."""
        is_noun = token.pos_ in {"NOUN", "PROPN"} or token.dep_ == "pcomp"
        if not is_noun or token.lower_ in PRONOUNS or not token.text[0].isalpha():
            return ""
        omitted = {one for child in token.children for one in child.subtree
                   if self._is_addition(child, token) or (own and not self._describes(child, token))}
        first = next(one for one in token.subtree if one not in omitted)
        if first.lower_ in _ARTICLES:
            first = self.doc[first.i + 1]
        if first.lower_ in _VAGUE_OPENINGS or (first.lower_ in _VAGUE_ADJECTIVES and first.i + 1 == token.i):
            return ""
        last = first
        while last.i + 1 < len(self.doc) and self.doc[last.i + 1] not in omitted and (
                token.is_ancestor(self.doc[last.i + 1]) or last.i < token.i):
            last = self.doc[last.i + 1]
        phrase = self.doc[first.i : last.i + 1]
        while len(phrase) and (phrase[-1].is_punct or phrase[-1].pos_ in {"CCONJ", "ADP"}):
            phrase = phrase[:-1]
        if own and (phrase.text.lower() in _INCOMPLETE_OFFICES or any(one.text == "," for one in phrase)):
            return ""
        if last.i < token.i or (len(phrase) and phrase[-1].tag_ == "VBN"):
            return ""  # "a Danish (former) painter", and the "Danish born" of a parse that ends there
        loses_clause = any(one in omitted for one in token.rights)
        if loses_clause and any(one.tag_ == "JJS" or one.lower_ in _LIMITING_WORDS for one in phrase):
            return ""  # "the only school that ..." is wrong without its clause
        return phrase.text if 0 < len(phrase) <= _LONGEST_PHRASE and first.i <= token.i else ""

    def _is_addition(self, child: "Token", token: "Token") -> bool:
        """Return True for a clause or apposition after a noun, and for adjectives that follow it after a comma."""
        is_late_adjective = child.dep_ == "amod" and child.i > token.i
        return child.dep_ in _OMITTED_CLAUSES or (is_late_adjective and self.doc[child.left_edge.i - 1].text == ",")

    def _thing_phrase(self, token: "Token") -> str:
        """Return the words of an idea or substance: a singular noun without an article, not too short; or ""."""
        has_determiner = any(child.dep_ in {"det", "poss", "conj"} for child in token.children)
        rare_word = token.text if is_rare(token.text) else ""
        words_ = rare_word if has_determiner else self._phrase(token, own=True)
        return words_ if token.tag_ == "NN" and len(words_) > _SHORT_PHRASE else ""

    def _describes(self, child: "Token", token: "Token") -> bool:
        """Return True if a child of a role's noun belongs to the role, as "of sales" does in "head of sales"."""
        if child.dep_ == "prep":
            objects = [one for one in child.children if one.dep_ == "pobj"]
            is_of_body = token.text.isupper() and any(one.tag_ in {"NNP", "NNPS"} for one in objects)  # CTO of Acme
            return child.lower_ == "of" and bool(objects) and not (is_of_body or any(map(self.covering, objects)))
        is_apart = child.lower_ in _FORMER_WORDS or child.dep_ in {"poss", "cc", "conj", "prep", "punct", "det"}
        name = self.covering(child)
        return child.i < token.i and not is_apart and (name is None or name is self.covering(token))


def _kind_in(mention: Mention, kinds: Sequence[str]) -> str:  # noqa: PLR0911 - a decision list
    """Return the kind of a name at an end of a pattern that takes certain kinds, or "" if the name does not fit."""
    name, kind = mention.name, mention.kind
    has_space, is_acronym = " " in name, name.isupper() and name.isalpha()
    last_word = name.rpartition(" ")[2].lower()
    is_road = "location" in kinds and _ROAD_NAME.search(name)  # "located on Highway 54"
    ends_in_role = kind not in {"person", "work"} and "person" in {
        kind_of_noun(last_word), kind_of_noun(last_word.removesuffix("s"))}  # "Platinum Members"
    if kind in VALUES or is_road or last_word in POSTS | THINGS or ends_in_role:  # "Executive Director"
        return ""
    type_by_words = infer_type(name).lower()  # "university" for University of Oslo
    if kinds[0] in _RECOGNISED:
        return kind if kind == _RECOGNISED[kinds[0]] else ""
    may_be_work = kind in ({"name", "location", "product"} if type_by_words else _UNCERTAIN_KINDS)
    if kinds == ("work",) and has_space and may_be_work:
        return "work"  # "Joon Park directed The Salt Road"
    is_guess = kind in {"organization", "location"} and has_space and not type_by_words and not is_acronym
    if is_guess and kinds[0] == "person" and " and " not in name and may_be("person", name) and (
            is_nearer("person", kind, name)):
        return "person"  # "founded by Georg Carstensen"
    if kinds == ("location",) and not has_space and not is_acronym and is_rare(name):
        return "location"  # "born in Radom"
    if kind in kinds or kinds[0] == "name" or (kind == "name" and len(kinds) > _MOST_TELLING_KINDS):
        return kind
    if type_by_words:
        return type_by_words if type_by_words in kinds else ""
    if kind == "name":
        may_be_body = has_space or is_acronym or is_rare(name)
        is_noun = not has_space and kind_of_noun(last_word)
        possible = [one for one in kinds if one in _ASSIGNABLE_KINDS and not is_noun and (
            one != "organization" or may_be_body)]
        return next((one for one in possible if one in {"product", "organization"} or (
            may_be(one, name) and not (one == "person" and is_acronym))), "")
    return _correct_kind(kind, kinds, has_space=has_space)


def _correct_kind(kind: str, kinds: Sequence[str], *, has_space: bool) -> str:
    """Return the expected kind that recognisers often confuse with the `kind` of a name, or ""."""
    if "firm" in kinds and has_space and kind == "person":
        return "organization"  # "Blum Glass is a subsidiary of ..."
    # Where persons can be, a name of several words that looks like a person's may be one.
    if "organization" in kinds and kind in ({"product", "work"} if has_space else {"person", "product", "work"}):
        return "organization"
    return "product" if kinds[0] == "product" and kind in {"organization", "work", "location"} else ""
