"""The thing that a sentence opens with, where its name holds small words: 'A Trip to the Moon is a 1902 film'.

Titles of works, events and teams run through words that end other names. What stands between the
beginning of a sentence and its verb is one name if the verb's complement or the cue after it shows
an entity of such a type.
"""

import re

from ..lexicon import words as word_set
from ..name_words import (
    AUXILIARIES,
    DETERMINERS,
    OPENERS,
    PARTICLES,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    SUBORDINATORS,
    VERB_FORMS,
)
from .cues import CompiledSchema, Hit
from .entity_typing import head_noun_type
from .mentions import Mention, Sentence, Source

_IS = re.compile(r"(?P<verb>is|was)\s+(?:an?|the|one\sof\sthe)\s+(?P<noun>[^.;:()]{3,140})")
_ASIDE = re.compile(
    r"\s*(?:[(（\[](?:[^()（）]|\([^()]*\))*[)）\]])?"
    r"(?:,\s+(?:also|originally|or|known|stylised|stylized|subtitled|released)\b[^,]{0,90},)?\s+")
_WORD = re.compile(r"\S+")
_ENDS = re.compile(r"\s*[(（\[,]|\s+(?=[^\W\d_a-zß-öø-ÿ])|\s+(?P<word>[a-z]+)\b")
_ARTICLE = re.compile(r"(?:The|A|An)\s+")
_YEAR = re.compile(r"(?:The\s+)?(?:1\d|20)\d\d\s")
_EDITION = re.compile(r"\b(?:1\d|20)\d\d(?:[-–/]\d\d)?(?:\s[A-Z][\w.&'’-]*)+(?:\s[a-z]+){0,2}?\s(?P<noun>[a-z]+)\b")
_RUNS_ON = re.compile(r"\s[a-z\d&+]|[:!?,]|^(?:The|A|An)\s|\d|\s['’]")
_FUNCTION = PREPOSITIONS | PARTICLES | word_set(
    "a an the and or nor but not is be no n't 's '' ' i you me my your we us it so if than when where what &")
_NO_TITLE = frozenset(PRONOUNS) | frozenset(POSSESSIVES) | frozenset({"this", "that", "these", "those", "there"})
_LONGEST = 90
_MOST_WORDS = 14
_CUE_NEAR = 24


def opening_mention(source: Source, sentence: Sentence) -> list[Mention]:
    """The title that a sentence opens with, as a mention; none where it opens with something else.

    Args:
        source: the chunk.
        sentence: not in Han script; its `hits` are read, its mentions are not.
    """
    start = sentence.start
    while start < sentence.end and source.text[start] in " \n\t\"“'‘*":
        start += 1
    start = _past_lead_in(source, start, sentence.end)
    for end in _ends(source, start, min(sentence.end, start + _LONGEST)):
        kind = _kind(source, sentence, end)
        if kind == "" and not _RUNS_ON.search(source.text, start, end):
            continue
        if kind is not None and _is_name(source, start, end, known=bool(kind)):
            article = _ARTICLE.match(source.text, start, end)
            works = source.compiled.types.works
            begin = start if not article or kind in works or (works and not kind) else article.end()
            name = source.text[begin:end].rstrip("\"”'’ ")
            hint = kind or source.compiled.types.roles.get("work", "")
            return [Mention(begin, begin + len(name), name, "name", hint)]
    return []


def edition_mentions(source: Source, sentence: Sentence) -> list[Mention]:
    """'1966 Eastern Suburbs season': a year, a name, and the noun of an event in small letters."""
    types = source.compiled.types
    if sentence.han or not types.titled & source.compiled.bare:
        return []
    return [Mention(m.start(), m.end(), m.group(), "name", kind)
            for m in _EDITION.finditer(source.text, sentence.start, sentence.end)
            if (kind := types.of_word(m["noun"])) in types.titled and kind not in types.works]


def _past_lead_in(source: Source, start: int, limit: int) -> int:
    """Where the subject begins: after the last comma of 'Directed by A, B and C, ' or 'With United, '."""
    words = _WORD.findall(source.folded, start, min(limit, start + _LONGEST))[:2]
    leads = len(words) > 1 and (words[0] in SUBORDINATORS or (
        words[1] in PREPOSITIONS | {"by"} and (is_verb(words[0]) or words[0].endswith(("ed", "en", "ing")))))
    if not leads:
        return start
    comma = source.text.find(", ", start, min(limit, start + 2 * _LONGEST))
    if comma < 0:
        return start
    while (later := source.text.find(", ", comma + 1, min(limit, start + 2 * _LONGEST))) > 0 and not any(
            is_verb(word) for word in source.folded[comma:later].split()):
        comma = later
    return comma + 2


def _ends(source: Source, start: int, limit: int) -> list[int]:
    """The places where the opening name may end: before a verb, a bracket or a comma; nearest first."""
    ends = []
    for word in _WORD.finditer(source.text, start, limit):
        after = source.text[word.end() : word.end() + 2].strip()
        following = _WORD.search(source.folded, word.end(), limit)
        if following is None:
            break
        if word.group().startswith(("(", "[")):
            break
        bare = word.group().rstrip(",")
        verb = source.text[following.start() : following.end()].islower() and is_verb(following.group())
        if word.group().endswith(("'s", "’s")) and following.group().islower():
            ends.append(word.end() - 2)
        if verb or after[:1] in {"(", "["} or bare != word.group():
            ends.append(word.start() + len(bare))
    return ends


def _kind(source: Source, sentence: Sentence, end: int) -> str | None:
    """The titled type that the words after the name show; "" for a guess at one, None where it is no title."""
    types = source.compiled.types
    if source.text[end : end + 2] in {"'s", "’s"}:
        opens = _WORD.match(source.folded, sentence.start)
        return "" if _may_guess(source, end, sentence) and opens and opens.group() not in OPENERS else None
    aside = _ASIDE.match(source.text, end, sentence.end)
    if aside is None:
        return None
    copula = _IS.match(source.folded, aside.end(), sentence.end)
    if copula:
        kind = head_noun_type(copula["noun"], types)
        guess = "" if kind is None and _may_guess(source, end, sentence) else None
        return kind if kind in types.titled else guess
    if source.text[aside.end() : aside.end() + 1].isupper():
        return None
    word = source.text[source.text.rfind(" ", 0, end) + 1 : end]
    named = types.of_word(word) if word.islower() else None
    if named in source.compiled.bare:
        return named
    near = [hit for group in sentence.hits for hit in group if 0 <= hit.start - aside.end() <= _CUE_NEAR]
    said = next((kind for hit in near if (kind := _domain(source.compiled, hit)) is not None), None)
    lists = re.search(r"\sand\s", source.folded[sentence.start : end]) is not None
    return said or ("" if _may_guess(source, end, sentence) and not lists else None)


def _may_guess(source: Source, end: int, sentence: Sentence) -> bool:
    """Whether a title may be assumed where nothing shows one: the schema's works are bare, or a year opens it."""
    types, bare = source.compiled.types, source.compiled.bare
    opens = _YEAR.match(source.text, sentence.start, end) is not None
    return bool(types.works & bare) or (opens and bool(types.titled & bare))


def _domain(compiled: CompiledSchema, hit: Hit) -> str | None:
    """The titled type that a cue's subject must have; None where it may have another."""
    for name, inverse in hit.elements:
        relation = compiled.relation_of[name]
        allowed = relation.range if inverse else relation.domain
        if not inverse and allowed and all(kind in compiled.types.titled for kind in allowed):
            return allowed[0]
    return None


def _is_name(source: Source, start: int, end: int, *, known: bool) -> bool:
    """Whether the words look like one title: capitals but for small words, or no English phrase at all."""
    words = source.text[start:end].split()
    if not 0 < len(words) <= _MOST_WORDS or not (words[0][0].isupper() or words[0][0].isdigit()):
        return False
    if not known and "," in source.text[start:end]:
        return False
    folded = [word.lower().strip("\"“”,:!?") for word in words]
    if folded[0] in _NO_TITLE or (len(words) == 1 and folded[0] in OPENERS | source.compiled.types.words.keys()):
        return False
    if any(word in {"who", "which", "that", "whose"} or (small and is_verb(word)) for word, small in
           zip(folded, (w.islower() for w in words), strict=True)):
        return False
    small = [word for word, own in zip(folded, words, strict=True) if own.islower() and word not in _FUNCTION]
    if not small:
        return any((own[0].isupper() and word not in DETERMINERS) or own[0].isdigit()
                   for own, word in zip(words, folded, strict=True))
    if not known or (len(words) > 1 and words[0] in {"The", "A", "An"} and words[1].islower()):
        return False
    types = source.compiled.types
    person = types.roles.get("person", "")
    plain = DETERMINERS & {word for word, own in zip(folded, words, strict=True) if own.islower()}
    return not plain and not any(types.of_word(word) == person for word in small[:-1])


def is_verb(word: str) -> bool:
    """Whether a folded word is likely a finite verb, by its form."""
    return word in AUXILIARIES or word in VERB_FORMS or (word.endswith("ed") and len(word) > 4)  # noqa: PLR2004
