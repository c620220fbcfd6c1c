"""The phrases of an English predicate by their roles, in spaCy's parse: who did what to whom, where and when.

A verb has the same roles in all its forms: "Blum founded Acme", "Acme was founded by Blum", "Acme, founded by Blum",
"Acme, which Blum founded". `subj` is who acts, `obj` what is acted on; other roles are prepositions. The `subj` of a
noun is what it describes ("Blum is the head of Acme", "Blum, head of Acme", "Acme's head, Blum"), `of` its possessor.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...text.lexicon import words
from .recognition.name_words import CALENDAR

if TYPE_CHECKING:
    from spacy.tokens import Token

Roles = Mapping[str, Sequence["Token"]]

_BECOMING = words("be become remain")
_POSTS = words("position post role office job title")
_POSTED = words("appoint elect name make hire serve work act join return start begin succeed replace follow take "
                "employ promote bear")
"""Verbs with a post: "was appointed head"."""
_DONE = words("complete finalize finalise close announce finish make")
_GOING_ON = words("begin start continue")
_PLACED = words("locate situate base headquarter")
"""Participles that say where a text's subject is, even after a name: "a museum of Acme, located in Oslo"."""
_APPOINTING = words("appoint elect hire name")
_DOUBT = words("deny doubt dispute suggest propose recommend require request hope fear expect assume suppose if unless "
               "whether think believe claim allege rumour rumor imagine pretend wonder speculate guess deem "
               "intend want offer decline refuse reject seek consider plan block oppose cancel abandon prevent forbid "
               "mistake myth misconception belief rumors rumours allegation suggestion speculation theory legend lie "
               "help false untrue wrong incorrect unlikely doubtful possible unclear uncertain likely probable "
               "allegedly supposedly reportedly possibly perhaps maybe probably hardly proposed planned alleged "
               "attempted supposed potential rumoured rumored hypothetical failed possibility idea risk chance")
"""Words that govern what is not said to hold, or that are said of it: "the claim that", "the proposed takeover of"."""
_FARTHEST_JOINED = 5
_NONE = words("nobody none neither no")
"""Who or what does nothing, as a subject or before it."""
_NAMED = frozenset({"NNP", "NNPS"})


def roles(predicate: "Token") -> Roles:
    """Return the tokens that head the phrases of a verb, a noun or an adjective, by role."""
    found: dict[str, list[Token]] = defaultdict(list)
    if predicate.pos_ in {"VERB", "AUX"}:
        _add_verb(predicate, found)
    elif predicate.pos_ == "ADJ":
        if predicate.dep_ in {"acomp", "advcl"} or predicate.i > predicate.head.i:  # "the head responsible for"
            found["subj"] += [predicate.head] if predicate.head.pos_ in {"NOUN", "PROPN"} else _subject(predicate.head)
            _add_prepositions(predicate.head, found)
    else:
        _add_noun(predicate, found)
    _add_prepositions(predicate, found)
    return {role: [_antecedent(token) for token in tokens] for role, tokens in found.items()}


def is_stated(predicate: "Token", *, planned: bool) -> bool:
    """Return True if a predicate is said to hold: not denied, wished, possible or conditional.

    Args:
        predicate: a token of a parse.
        planned: whether "will" and "shall" are statements.
    """
    verb = predicate if predicate.pos_ in {"VERB", "AUX"} else _office(predicate).head
    for token in {predicate, verb}:
        for child in token.children:
            modal = child.tag_ == "MD" and not (planned and child.lemma_ in {"will", "shall"})
            none = child.dep_ in {"nsubj", "nsubjpass"} and any(map(_is_none, (child, *child.children)))
            if child.dep_ == "neg" or modal or none or (child.tag_ == "TO" and child.dep_ == "aux") or (
                    child.dep_ in {"mark", "advmod", "" if predicate.dep_ == "attr" else "amod"} and (
                        child.lower_ in _DOUBT)):
                return False
    if verb.dep_ == "conj" and verb.head.pos_ in {"VERB", "AUX"} and not any(c.dep_ == "nsubj" for c in verb.children):
        return is_stated(verb.head, planned=planned)
    affected = predicate is not verb and _office(predicate).dep_ in {"dobj", "nsubjpass", "oprd"}
    return not (affected and verb.lemma_ in _DOUBT) and not any(map(_is_doubtful, _governors(verb)))


def _is_none(token: "Token") -> bool:
    return token.lower_ in _NONE and token.pos_ not in {"NOUN", "PROPN"}  # "Sonata No. 3"


def _office(noun: "Token") -> "Token":
    """Return the "post" of "the post of director", or the noun."""
    return noun.head.head if noun.dep_ == "pobj" and noun.head.lower_ == "of" and (
        noun.head.head.lemma_ in _POSTS) else noun


def _governors(verb: "Token") -> Iterator["Token"]:
    """Yield the words that a clause depends on as what is thought or said: "think" in "to think that Ada Blum died"."""
    while verb.dep_ in {"ccomp", "xcomp"} or (
            verb.dep_ == "acl" and any(child.dep_ == "mark" for child in verb.children)):
        verb = verb.head
        yield verb


def _is_doubtful(governor: "Token") -> bool:
    return governor.lemma_ in _DOUBT or any(
        child.dep_ == "neg" or (child.dep_ in {"mark", "attr", "acomp", "advmod"} and child.lemma_.lower() in _DOUBT)
        for child in governor.children)


def _add_verb(verb: "Token", found: dict[str, list["Token"]]) -> None:
    subjects = _subject(verb)
    passive = _is_passive(verb)
    found["obj" if passive else "subj"] += subjects
    for child in verb.children:
        if child.dep_ == "dobj":
            found["given" if passive else "obj"].append(child)
            _add_prepositions(child, found, but="of")
        elif child.dep_ == "dative" and child.pos_ != "ADP":
            found["to"].append(child)
        elif child.dep_ in {"attr", "acomp", "oprd"}:
            found["is"].append(child)
        elif child.dep_ == "advmod":  # "dates back to"
            _add_prepositions(child, found)
    joined = [verb, *(token for token in verb.conjuncts if passive and token.pos_ == "VERB" and (
        0 < token.i - verb.i < _FARTHEST_JOINED))]  # "was written and produced by"
    agents = next(filter(None, (_objects(child) for token in joined for child in token.children
                                if child.dep_ == "agent")), [])
    found["subj"] += agents
    found["by"] += agents


def _add_noun(noun: "Token", found: dict[str, list["Token"]]) -> None:
    found["subj"] += _described(noun, found) or [
        child for child in noun.children if child.dep_ == "appos" and child.i > noun.i] or _opened(noun)
    found["poss"] += [child for child in noun.children if child.dep_ == "poss"]
    named = noun.lemma_ == "director" or (  # "Quiet Harbour director Ada Blum", (the "Oslo Fund")
        noun.tag_ in _NAMED and noun.dep_ == "appos" and any(child.lower_ == "the" for child in noun.children))
    found["of"] += [child for child in noun.children if child.dep_ == "poss" or (
        child.dep_ == "compound" and child.tag_ in _NAMED and child.text[0].isupper() and not named)]
    if noun.dep_ == "nsubj" and noun.head.lemma_ == "be":
        found["is"] += [child for child in noun.head.children if child.dep_ == "attr"]
    if noun.dep_ == "dobj" and noun.head.lemma_ in _DONE:  # "completed the acquisition of"
        found["doer"] += _subject(noun.head)
    if noun.dep_ != "conj" and not any(child.lower_ == "of" for child in noun.children):
        for other in noun.conjuncts[:1]:  # "the capital and largest city of Norway"
            _add_prepositions(other, found)


def _described(noun: "Token", found: dict[str, list["Token"]]) -> list["Token"]:
    """Return what a noun says something of, and add the phrases of the verb between them."""
    head = noun.head
    if noun.dep_ == "conj" and head.pos_ in {"NOUN", "PROPN"}:  # "a physicist and winner of ..."
        return _described(head, found)
    if noun.dep_ == "appos" and (head.dep_ == "appos" or (noun.left_edge.lower_ == "the" and any(
            child.dep_ == "conj" and child.i > noun.i for child in head.children))):
        return []  # "a river in Perm, Russia, a tributary of": not of Russia; "Skye, the north of Lewis and Mull"
    if noun.dep_ == "appos" or (noun.dep_ == "compound" and head.tag_ in _NAMED and head.i > noun.i):
        return [head]
    if noun.dep_ == "pobj" and head.head.lemma_ in _POSTED and (
            head.lower_ == "as" or (head.lower_ == "to" and head.head.lemma_ == "promote")):
        return _posted(head.head, found)
    if holder := _holder(noun):
        return _subject(holder) if holder.pos_ in {"VERB", "AUX"} else [holder]
    linked = noun.dep_ == "attr" and head.lemma_ in _BECOMING
    if not linked and not (noun.dep_ in {"oprd", "attr"} and head.lemma_ in _POSTED) and not (
            noun.dep_ == "nsubj" and head.lemma_ == "be"):
        return []
    _add_prepositions(head, found)
    if noun.dep_ == "nsubj":  # "the head of Acme is Ada Blum"
        return [one for child in head.children if child.dep_ == "attr" for one in (child, *child.children)
                if one.tag_ in _NAMED and (one is child or one.dep_ == "appos")]
    named = [child for child in head.children if child.dep_ in {"dobj", "nsubj"} and child is not noun]
    return _subject(head) if linked or _is_passive(head) else named[-1:]


def _opened(noun: "Token") -> list["Token"]:
    """Return the name after a description that opens a sentence: "A native of Oslo, Ada Blum paints"."""
    if noun.dep_ not in {"nsubj", "advcl"} or noun.left_edge.lower_ not in {"a", "an"}:
        return []
    named = [one for one in (*noun.head.children, *noun.subtree) if one.tag_ in _NAMED and one.i > noun.i and (
        (one.dep_ == "nsubj" and one.head == noun.head) or (one.dep_ == "appos" and one.i + 1 == noun.head.i))]
    return named[:1]


def _holder(noun: "Token") -> "Token | None":
    """Return the verb or the name that a noun belongs to as "forms part" or "in charge"."""
    head = noun.head
    if noun.lemma_ == "charge" and head.lower_ == "in":
        return head.head
    return head if noun.lemma_ == "part" and noun.dep_ == "dobj" and head.lemma_ == "form" else None


def _posted(verb: "Token", found: dict[str, list["Token"]]) -> list["Token"]:
    """Return who has a post after "as", and add the body that was joined: "Blum joined Acme as head"."""
    _add_prepositions(verb, found)
    given = [child for child in verb.children if child.dep_ == "dobj"]
    if verb.lemma_ in _APPOINTING and not _is_passive(verb):
        return given
    found["at"] += given
    return _subject(verb)


def _add_prepositions(token: "Token", found: dict[str, list["Token"]], but: str = "") -> None:
    for child in token.children:
        if (child.dep_ == "prep" or (child.dep_ == "dative" and child.pos_ == "ADP")) and child.lower_ != but:
            objects = _objects(child)
            found[child.lower_] += [one for one in objects if one not in found[child.lower_]]
            # "from 1907 to 1919", "on 3 May in Oslo"
            for inner in [child, *(one for one in objects if one.lower_ in CALENDAR or one.is_digit or (
                    child.lower_ == "in" and token.dep_ == "dobj"))]:  # "a degree in physics from Oslo"
                _add_prepositions(inner, found)


def _objects(preposition: "Token") -> list["Token"]:
    return [child for child in preposition.children if child.dep_ in {"pobj", "pcomp"}]


def _subject(verb: "Token") -> list["Token"]:
    """Return the subject of a verb as it stands, of the clause around a participle, or of the verb it is joined to."""
    own = [child for child in verb.children if child.dep_ in {"nsubj", "nsubjpass"}]
    if not own and verb.lemma_ == "be" and verb.dep_ == "ROOT":
        own = [child for child in verb.children if child.dep_ == "attr"]  # "In charge of sales is Ada Blum"
    if own or verb.dep_ == "ROOT":
        return own[:1]
    if verb.tag_ == "VBN" and verb.i > 1 and verb.nbor(-1).text == "(":  # "the Oslo Bank (founded in 1970) sold"
        return [verb.nbor(-2)]
    if verb.dep_ == "acl":
        return [_restricted(verb, verb)] if verb.tag_ in {"VBN", "VBG", "VBD"} else []
    going_on = verb.dep_ == "xcomp" and verb.head.lemma_ in _GOING_ON
    if verb.dep_ == "conj" or going_on or (verb.dep_ == "advcl" and verb.tag_ in {"VBN", "VBG"}):
        return _subject(verb.head) if verb.head.pos_ in {"VERB", "AUX"} else []
    return []


def _is_passive(verb: "Token") -> bool:
    dependents = {child.dep_ for child in verb.children}
    if dependents & {"nsubjpass", "auxpass"}:
        return True
    if dependents & {"nsubj", "aux", "dobj"} or verb.tag_ not in {"VBN", "VBD"}:
        return False
    return (verb.dep_ in {"acl", "advcl"} and verb.tag_ == "VBN") or "agent" in dependents or (
        verb.dep_ == "conj" and verb.tag_ == "VBN" and verb.head.pos_ in {"VERB", "AUX"} and _is_passive(verb.head))


def _antecedent(token: "Token") -> "Token":
    """Return what a relative pronoun refers to, or the token."""
    if token.tag_ not in {"WDT", "WP", "WP$"}:
        return token
    clause = next((one for one in token.ancestors if one.dep_ == "relcl"), None)
    return _restricted(clause, token) if clause is not None else token


def _restricted(clause: "Token", first: "Token") -> "Token":
    """Return what a clause is about, a noun before the name that it follows without a comma.

    It tells one of several, which no name needs: "a hotel in Oslo, Norway that opened in 1911".
    """
    held = clause.head
    apart = first.i == 0 or (first.nbor(-1).is_punct and first.lemma_ not in _PLACED)
    if first.tag_ == "WP" or apart:
        return held
    return next((one for one in held.ancestors if one.dep_ in {"attr", "appos"} and one.tag_ == "NN"
                 and one.lemma_ != "part"), held) if not held.text.islower() and held.i < first.i else held


def all_joined(token: "Token") -> Iterator["Token"]:
    """Yield a token and those joined to it by commas and "and"."""
    yield token
    yield from token.conjuncts
