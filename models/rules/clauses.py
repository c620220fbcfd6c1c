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

_LINKING_VERBS = words("be become remain")
_POST_NOUNS = words("position post role office job title")
_APPOINTMENT_VERBS = words("appoint elect name make hire serve work act join return start begin succeed replace follow "
                           "take employ promote bear")
"""Verbs that say who gets or has a post: "was appointed head"."""
_COMPLETING_VERBS = words("complete finalize finalise close announce finish make")
_CONTINUING_VERBS = words("begin start continue")
_LOCATING_PARTICIPLES = words("locate situate base headquarter")
"""Participles about the main noun even directly after a comma and another name: "a museum of Acme, located in Oslo"."""
_VERBS_WITH_APPOINTEE = words("appoint elect hire name")
_DOUBT_WORDS = words(
    "deny doubt dispute suggest propose recommend require request hope fear expect assume suppose if unless "
    "whether think believe claim allege rumour rumor imagine pretend wonder speculate guess deem "
    "intend want offer decline refuse reject seek consider plan block oppose cancel abandon prevent forbid "
    "mistake myth misconception belief rumors rumours allegation suggestion speculation theory legend lie "
    "help false untrue wrong incorrect unlikely doubtful possible unclear uncertain likely probable "
    "allegedly supposedly reportedly possibly perhaps maybe probably hardly proposed planned alleged "
    "attempted supposed potential rumoured rumored hypothetical failed possibility idea risk chance")
"""Words around what a text does not state as true: "the claim that", "the proposed takeover of"."""
_FARTHEST_JOINED_VERB = 5  # the distance in words, exclusive, up to which a joined passive verb shares its agent
_NEGATIVE_SUBJECTS = words("nobody none neither no")
"""Words that deny a statement as its subject ("nobody founded") or before the subject ("no company founded")."""
_PROPER_NOUN_TAGS = frozenset({"NNP", "NNPS"})


def roles(predicate: "Token") -> Roles:
    """Return the head tokens of the phrases that belong to a verb, a noun or an adjective, by role.

    The roles are described at the top of the module. A relative pronoun is replaced by the noun that it refers to.
    """
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
    """Return True if the text states what a predicate says as true: not as denied, wished, possible or conditional.

    With `planned`, what "will" or "shall" be counts as stated.
    """
    verb = predicate if predicate.pos_ in {"VERB", "AUX"} else _post_of(predicate).head
    doubt_roles = {"mark", "advmod"} if predicate.dep_ == "attr" else {"mark", "advmod", "amod"}
    for token in {predicate, verb}:
        for child in token.children:
            is_modal = child.tag_ == "MD" and not (planned and child.lemma_ in {"will", "shall"})
            is_infinitive = child.tag_ == "TO" and child.dep_ == "aux"
            is_nobody = child.dep_ in {"nsubj", "nsubjpass"} and any(map(_is_negative, (child, *child.children)))
            is_doubt = child.dep_ in doubt_roles and child.lower_ in _DOUBT_WORDS
            if child.dep_ == "neg" or is_modal or is_nobody or is_infinitive or is_doubt:
                return False
    # A verb that is joined to another one and has no subject of its own is as certain as that one.
    if verb.dep_ == "conj" and verb.head.pos_ in {"VERB", "AUX"} and not any(c.dep_ == "nsubj" for c in verb.children):
        return is_stated(verb.head, planned=planned)
    is_object = predicate is not verb and _post_of(predicate).dep_ in {"dobj", "nsubjpass", "oprd"}
    return not (is_object and verb.lemma_ in _DOUBT_WORDS) and not any(map(_is_doubtful, _governors(verb)))


def _is_negative(token: "Token") -> bool:
    return token.lower_ in _NEGATIVE_SUBJECTS and token.pos_ not in {"NOUN", "PROPN"}  # not the "No" of "Sonata No. 3"


def _post_of(noun: "Token") -> "Token":
    """Return the word "post" for the "director" of "the post of director", and any other noun unchanged."""
    follows_of = noun.dep_ == "pobj" and noun.head.lower_ == "of"
    return noun.head.head if follows_of and noun.head.head.lemma_ in _POST_NOUNS else noun


def _governors(verb: "Token") -> Iterator["Token"]:
    """Yield the words whose content the verb's clause is, innermost first: "think" for "think that Ada Blum died"."""
    while True:
        is_that_clause = verb.dep_ == "acl" and any(child.dep_ == "mark" for child in verb.children)  # "the claim that"
        if verb.dep_ not in {"ccomp", "xcomp"} and not is_that_clause:
            return
        verb = verb.head
        yield verb


def _is_doubtful(governor: "Token") -> bool:
    """Return True if a word such as "claim", or a negation or doubt beside it, leaves its clause unconfirmed."""
    doubting_roles = {"mark", "attr", "acomp", "advmod"}
    return governor.lemma_ in _DOUBT_WORDS or any(
        child.dep_ == "neg" or (child.dep_ in doubting_roles and child.lemma_.lower() in _DOUBT_WORDS)
        for child in governor.children)


def _add_verb(verb: "Token", found: dict[str, list["Token"]]) -> None:
    """Add the subject, the objects and the agent of a verb to `found`; the subject of a passive verb is its object."""
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
    verbs = [verb]
    if passive:  # "was written and produced by"
        verbs += [token for token in verb.conjuncts
                  if token.pos_ == "VERB" and 0 < token.i - verb.i < _FARTHEST_JOINED_VERB]
    agents = next(filter(None, (_objects(child) for token in verbs for child in token.children
                                if child.dep_ == "agent")), [])
    found["subj"] += agents
    found["by"] += agents


def _add_noun(noun: "Token", found: dict[str, list["Token"]]) -> None:
    """Add what a noun describes as "subj", its possessors as "poss" and "of", and the phrases around it to `found`."""
    appositions = [child for child in noun.children if child.dep_ == "appos" and child.i > noun.i]
    found["subj"] += _find_described(noun, found) or appositions or _find_name_after_opening(noun)
    found["poss"] += [child for child in noun.children if child.dep_ == "poss"]
    # The name before these is no possessor: "Quiet Harbour director Ada Blum", (the "Oslo Fund").
    is_short_form = noun.tag_ in _PROPER_NOUN_TAGS and noun.dep_ == "appos" and any(
        child.lower_ == "the" for child in noun.children)
    compound_owns = noun.lemma_ != "director" and not is_short_form
    found["of"] += [child for child in noun.children if child.dep_ == "poss" or (
        compound_owns and child.dep_ == "compound" and child.tag_ in _PROPER_NOUN_TAGS and child.text[0].isupper())]
    if noun.dep_ == "nsubj" and noun.head.lemma_ == "be":
        found["is"] += [child for child in noun.head.children if child.dep_ == "attr"]
    if noun.dep_ == "dobj" and noun.head.lemma_ in _COMPLETING_VERBS:  # "completed the acquisition of"
        found["doer"] += _subject(noun.head)
    if noun.dep_ != "conj" and not any(child.lower_ == "of" for child in noun.children):
        for other in noun.conjuncts[:1]:  # "the capital and largest city of Norway"
            _add_prepositions(other, found)


def _find_described(noun: "Token", found: dict[str, list["Token"]]) -> list["Token"]:
    """Return who or what a noun describes, and add the phrases of the verb that links the two to `found`."""
    head = noun.head
    if noun.dep_ == "conj" and head.pos_ in {"NOUN", "PROPN"}:  # "a physicist and winner of ..."
        return _find_described(head, found)
    if noun.dep_ == "appos":
        is_enumerated = noun.left_edge.lower_ == "the" and any(
            child.dep_ == "conj" and child.i > noun.i for child in head.children)  # "Skye, the north of Lewis and Mull"
        if head.dep_ == "appos" or is_enumerated:
            return []  # "a river in Perm, Russia, a tributary of": the tributary is not Russia
    if noun.dep_ == "appos" or (noun.dep_ == "compound" and head.tag_ in _PROPER_NOUN_TAGS and head.i > noun.i):
        return [head]
    if noun.dep_ == "pobj" and head.head.lemma_ in _APPOINTMENT_VERBS and (
            head.lower_ == "as" or (head.lower_ == "to" and head.head.lemma_ == "promote")):
        return _find_appointee(head.head, found)
    if holder := _find_holder(noun):
        return _subject(holder) if holder.pos_ in {"VERB", "AUX"} else [holder]
    is_linked = noun.dep_ == "attr" and head.lemma_ in _LINKING_VERBS
    is_appointed = noun.dep_ in {"oprd", "attr"} and head.lemma_ in _APPOINTMENT_VERBS
    precedes_name = noun.dep_ == "nsubj" and head.lemma_ == "be"  # "the head of Acme is Ada Blum"
    if not (is_linked or is_appointed or precedes_name):
        return []
    _add_prepositions(head, found)
    if noun.dep_ == "nsubj":
        return [one for child in head.children if child.dep_ == "attr" for one in (child, *child.children)
                if one.tag_ in _PROPER_NOUN_TAGS and (one is child or one.dep_ == "appos")]
    appointees = [child for child in head.children if child.dep_ in {"dobj", "nsubj"} and child is not noun]
    return _subject(head) if is_linked or _is_passive(head) else appointees[-1:]


def _find_name_after_opening(noun: "Token") -> list["Token"]:
    """Return the name that follows a description at the start of a sentence: "A native of Oslo, Ada Blum paints"."""
    if noun.dep_ not in {"nsubj", "advcl"} or noun.left_edge.lower_ not in {"a", "an"}:
        return []
    later_names = (one for one in (*noun.head.children, *noun.subtree)
                   if one.tag_ in _PROPER_NOUN_TAGS and one.i > noun.i)
    # The parser takes either the name or the description for the subject, and then the name for its apposition.
    described = [one for one in later_names if (one.dep_ == "nsubj" and one.head == noun.head) or (
        one.dep_ == "appos" and one.i + 1 == noun.head.i)]
    return described[:1]


def _find_holder(noun: "Token") -> "Token | None":
    """Return "form" for the "part" of "forms part of", what "in charge" depends on for "charge", and else None."""
    head = noun.head
    if noun.lemma_ == "charge" and head.lower_ == "in":
        return head.head
    return head if noun.lemma_ == "part" and noun.dep_ == "dobj" and head.lemma_ == "form" else None


def _find_appointee(verb: "Token", found: dict[str, list["Token"]]) -> list["Token"]:
    """Return who has the post that follows "as", and add the verb's phrases to `found`."""
    _add_prepositions(verb, found)
    objects = [child for child in verb.children if child.dep_ == "dobj"]
    if verb.lemma_ in _VERBS_WITH_APPOINTEE and not _is_passive(verb):
        return objects
    found["at"] += objects
    return _subject(verb)


def _add_prepositions(token: "Token", found: dict[str, list["Token"]], but: str = "") -> None:
    """Add the objects of a token's prepositions to `found`, by preposition, except those of the preposition `but`."""
    for child in token.children:
        is_preposition = child.dep_ == "prep" or (child.dep_ == "dative" and child.pos_ == "ADP")
        if is_preposition and child.lower_ != but:
            objects = _objects(child)
            found[child.lower_] += [one for one in objects if one not in found[child.lower_]]
            qualifies_object = child.lower_ == "in" and token.dep_ == "dobj"  # "a degree in physics from Oslo"
            _add_prepositions(child, found)
            for one in objects:
                if one.lower_ in CALENDAR or one.is_digit or qualifies_object:
                    _add_prepositions(one, found)


def _objects(preposition: "Token") -> list["Token"]:
    return [child for child in preposition.children if child.dep_ in {"pobj", "pcomp"}]


def _subject(verb: "Token") -> list["Token"]:
    """Return the grammatical subject of a verb, or nothing."""
    subjects = [child for child in verb.children if child.dep_ in {"nsubj", "nsubjpass"}]
    if not subjects and verb.lemma_ == "be" and verb.dep_ == "ROOT":
        subjects = [child for child in verb.children if child.dep_ == "attr"]  # "In charge of sales is Ada Blum"
    if subjects or verb.dep_ == "ROOT":
        return subjects[:1]
    if verb.tag_ == "VBN" and verb.i > 1 and verb.nbor(-1).text == "(":  # "the Oslo Bank (founded in 1970) sold"
        return [verb.nbor(-2)]
    if verb.dep_ == "acl":
        return [_find_noun_of_clause(verb, verb)] if verb.tag_ in {"VBN", "VBG", "VBD"} else []
    is_continued = verb.dep_ == "xcomp" and verb.head.lemma_ in _CONTINUING_VERBS  # "began to paint"
    is_participle_clause = verb.dep_ == "advcl" and verb.tag_ in {"VBN", "VBG"}
    if verb.dep_ == "conj" or is_continued or is_participle_clause:
        return _subject(verb.head) if verb.head.pos_ in {"VERB", "AUX"} else []
    return []


def _is_passive(verb: "Token") -> bool:
    """Return True for a verb in the passive, and for a participle with a passive meaning: "founded by"."""
    dependents = {child.dep_ for child in verb.children}
    if dependents & {"nsubjpass", "auxpass"}:
        return True
    # The tagger often takes a participle for a past tense (VBD).
    if dependents & {"nsubj", "aux", "dobj"} or verb.tag_ not in {"VBN", "VBD"}:
        return False
    if "agent" in dependents or (verb.dep_ in {"acl", "advcl"} and verb.tag_ == "VBN"):
        return True
    # "was founded and led"
    return verb.dep_ == "conj" and verb.tag_ == "VBN" and verb.head.pos_ in {"VERB", "AUX"} and _is_passive(verb.head)


def _antecedent(token: "Token") -> "Token":
    """Return the noun that a relative pronoun refers to, and any other token unchanged."""
    if token.tag_ not in {"WDT", "WP", "WP$"}:
        return token
    clause = next((one for one in token.ancestors if one.dep_ == "relcl"), None)
    return _find_noun_of_clause(clause, token) if clause is not None else token


def _find_noun_of_clause(clause: "Token", first: "Token") -> "Token":
    """Return the noun that a relative or participle clause describes."""
    parsed_noun = clause.head
    follows_comma = first.i == 0 or (first.nbor(-1).is_punct and first.lemma_ not in _LOCATING_PARTICIPLES)
    if first.tag_ == "WP" or follows_comma:
        return parsed_noun
    if parsed_noun.text.islower() or parsed_noun.i >= first.i:  # not a name before the clause
        return parsed_noun
    common_nouns = (one for one in parsed_noun.ancestors if one.dep_ in {"attr", "appos"} and one.tag_ == "NN")
    return next((one for one in common_nouns if one.lemma_ != "part"), parsed_noun)  # not in "is part of Norway"


def all_joined(token: "Token") -> Iterator["Token"]:
    """Yield a token and those joined to it by commas and "and"."""
    yield token
    yield from token.conjuncts
