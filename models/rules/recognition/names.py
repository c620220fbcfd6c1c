"""Names by their letters: by capitals, by LAC's tags in Chinese, in quotation marks; uncertain words are none."""

import re
from collections.abc import Iterator, Sequence

from ....schemas.naming import canonical_name
from ....text.lexicon import ENGLISH_STOP, WORDS, word_set
from ....text.scripts import FUNCTION_WORDS, language_of, phrase_language
from ...parsing.parser import Word, load_tagger
from .name_kinds import CALENDAR, CHINESE_SURNAMES, PREPOSITIONS, PRONOUNS, ROLES, Span, without_overlaps

Place = tuple[int, int]  # start and end in characters
KindedPlace = tuple[int, int, str]  # start, end and kind

_QUOTED = re.compile(r"《([^《》]+)》|「([^「」]+)」|“([^“”]+)”|\"([^\"]+)\"|『([^『』]+)』")
_WORD = re.compile(r"[^\W_]+(?:[.&'’-][^\W_]+)*\.?")
_LINK_WORDS = word_set("of the de la le du des von van der den da di del y bin al ibn")
_NOT_NAMES = ENGLISH_STOP | CALENDAR | WORDS["not names"]
LEGAL_FORMS = word_set("Inc Ltd LLC GmbH Corp Jr Sr")
"""What belongs to the name before it, also behind a comma, and is none alone: "RStudio, Inc"."""
_YEAR_DIGITS = 4  # "Ulm 2019" is a name with its year
_LONGEST_INITIAL = len("J.")  # a longer word with a full stop ends a sentence

_CAPITALS = "A-Z" + "".join(letter for letter in map(chr, range(0xC0, 0x180)) if letter.isupper())
_PART = (rf"(?:[{_CAPITALS}]\.|[{_CAPITALS}]\w*(?:-[{_CAPITALS}0-9]\w*)*(?:[’'](?!s\b)\w+)*"
         rf"(?:\.(?=[{_CAPITALS}]))?)")
_LONGEST_RUN = 15  # the most words of a run after the first one
_NICKNAME = r' \(?["“][A-Z][a-z]+["”]\)? '  # what may stand after a person's first name, as in Ronald ("Ron") Laird
_RUN = re.compile(rf"{_PART}(?:{_NICKNAME}{_PART})?(?:(?: | [-–] | & |–){_PART}){{0,{_LONGEST_RUN}}}")
_WORD_OF_RUN = re.compile(r"[\w’'.&-]+")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n\"“(*•]|-\s)\s{0,3}$")
_LOOK_BACK = 40  # characters before a name in which a sentence may begin
_ARTICLE = re.compile(r"(?:the|an?) ")
_NEVER_FIRST = ENGLISH_STOP | word_set("agenda minutes notes report summary")  # of a name of several words
_MIXED_CASE = re.compile(r"[A-Z][a-z]+[A-Z]\w*")
_NOT_IN_NAMES = CALENDAR | PREPOSITIONS | PRONOUNS | WORDS["not in names"]
_SELDOM_FIRST = _NOT_IN_NAMES | WORDS["openings of sentences"]
_NOT_AT_START = _NOT_IN_NAMES | ROLES | WORDS["not at start"]

_TAGGED_KINDS = {"PER": "person", "LOC": "location", "ORG": "organization"}
_TITLE = re.compile(r"《([^《》\n]{1,60})》")
_LATIN = re.compile(r"[A-Z][A-Za-z0-9.&'-]*(?: [A-Z][A-Za-z0-9.&'-]*)*(?<![.'-])")
_BODY_ENDINGS = tuple(WORDS["chinese body endings"])  # of the names of organizations
_SHORT_BODY_ENDINGS = tuple("院会处办所队社店行校")
_BETWEEN_TWO_NAMES = re.compile(r"[，,/→]|(?<=[^\x00-\x7f])\s|报经|会同")
_NOT_BODY_ENDINGS = (*"者人员利率量力性化度们金", "规定", "决定", "生效", "保障", "保险", "证书")
"""Endings of common nouns that the tagger labels as organizations."""
_NOUN_TAGS = frozenset({"n", "nz", "vn", "LOC", "ORG", "an", "s", "f"})
_LONGEST_CHINESE_NAME = 30
_LONGEST_PLAIN_PLACE = 3  # characters up to which a location with such an ending stays one, such as '大厂'
_LONGEST_ACRONYM = 2  # letters: 'CT' is no name


def find_names(text: str) -> list[Place]:
    """Return the (start, end) of the names in a text, ascending and without overlaps and quotation marks."""
    places = [match.span(match.lastindex) for match in _QUOTED.finditer(text) if match.lastindex]
    if phrase_language(text) == "zh":
        places.extend((start, end) for start, end, _ in find_chinese_names(text, [(0, len(text))], []))
    language = language_of(text)
    function_words_of_language = frozenset[str]() if language == "en" else FUNCTION_WORDS.get(language, frozenset())
    for start, end in _capital_runs(text, function_words_of_language):
        if language != "de" or " " in text[start:end]:  # every German noun has a capital
            places.append((start, end))
    return [(span.start, span.end) for span in without_overlaps([Span(*place, "name") for place in places])]


def names_in(text: str) -> tuple[str, ...]:
    """Return the names in a text in order, each once by its canonical form."""
    unique: dict[str, str] = {}
    for start, end in find_names(text):
        unique.setdefault(canonical_name(text[start:end]), text[start:end])
    return tuple(unique.values())


def _capital_runs(text: str, function_words_of_language: frozenset[str]) -> Iterator[Place]:
    """Yield the (start, end) of runs of capitalised words, which may contain 'of', 'de' and similar words."""
    # A function word of the text's language ("Der", "Les") is in no run, although it has a capital at the beginning of
    # a sentence; English ones are in `_NOT_NAMES`.
    runs = list[list[re.Match[str]]]()
    links: list[re.Match[str]] = []  # link words after the last run, which belong to it if a capitalised word follows
    end_of_last = 0  # of the last word of a run or of its link words
    for word in _WORD.finditer(text):
        form, between = word[0].rstrip("."), text[end_of_last : word.start()]
        is_adjacent = bool(runs) and (between.isspace() or (between == ", " and form in LEGAL_FORMS))
        is_name = (any(letter.isupper() for letter in form[:2]) and form.casefold() not in _NOT_NAMES
                   and word[0].casefold() not in function_words_of_language)
        # Numerals and "Inc" only continue a name: "Apollo 11".
        only_continues = form in LEGAL_FORMS or (word[0].isdigit() and len(form) < _YEAR_DIGITS)
        if is_adjacent and word[0] in _LINK_WORDS:
            links.append(word)
        elif is_adjacent and (is_name or only_continues):
            runs[-1] += [*links, word]
            links = []
        elif is_name and not only_continues:
            runs.append([word])
            links = []
        else:
            continue  # what follows is no longer adjacent
        end_of_last = word.end()
    for run in runs:
        last = run[-1]
        # Without a genitive, and without the full stop of the sentence.
        has_stop_of_sentence = last[0].endswith(".") and len(last[0]) > _LONGEST_INITIAL
        yield run[0].start(), last.end() - (len("'s") if last[0].endswith(("'s", "’s")) else has_stop_of_sentence)


class NameRuns:
    """The runs of capitalised words of a text."""

    def __init__(self, text: str, barriers: Sequence[tuple[int, int]], title: str = "") -> None:
        """Find the runs; `barriers` are places of words that no name has. The title's words are names at any place."""
        self._text = text
        self._title_words = frozenset(title.split())
        self._barred = {index for start, end in barriers for index in range(start, end)}
        # The run that each character is in.
        self._run_of = {index: match.span() for match in _RUN.finditer(text) for index in range(*match.span())}

    def of_several_words(self) -> Iterator[tuple[int, int]]:
        """Yield the (start, end) of runs of at least two words, cut where words do not begin or end names."""
        for start, end in sorted(set(self._run_of.values())):
            words = list(_WORD_OF_RUN.finditer(self._text, start, end))
            while words and (words[0][0].lower().rstrip(".") in _NOT_AT_START
                             or self.has_position_capital(words[0].start())):
                del words[0]
            while words and words[-1][0].lower() in _NOT_IN_NAMES:
                del words[-1]
            if len(words) > 1 and not any(word.start() in self._barred for word in words):
                yield words[0].start(), words[-1].end()

    def has_position_capital(self, at: int) -> bool:
        """Return True if the word at a place may have its capital only because it opens a sentence."""
        word = _WORD_OF_RUN.match(self._text, at)
        # A title's word and "OpenChain" are names even where a sentence may begin.
        opens_sentence = at == 0 or _SENTENCE_START.search(self._text[max(0, at - 4) : at]) is not None
        if not opens_sentence or (word and word[0] in self._title_words):
            return False
        return _MIXED_CASE.match(self._text, at) is None

    def extend(self, start: int, end: int) -> tuple[int, int]:
        """Return a fragment with the adjacent words of its run, or the fragment itself if it is in no run."""
        first_run, last_run = self._run_of.get(start), self._run_of.get(end - 1)
        if first_run is None or last_run is None:
            return start, end
        for word in reversed(list(_WORD_OF_RUN.finditer(self._text, first_run[0], start))):
            is_role = word[0].lower().rstrip(".") in ROLES
            if is_role or self._is_barred(word) or self.has_position_capital(word.start()):
                break
            start = word.start()
        for word in _WORD_OF_RUN.finditer(self._text, end, last_run[1]):
            if self._is_barred(word) or not word[0][0].isalnum():
                break
            end = word.end()
        return start, end

    def _is_barred(self, word: re.Match[str]) -> bool:
        """Return True for a word that is part of no name."""
        return word.start() in self._barred or word[0].lower() in _NOT_IN_NAMES


def cut_opening_word(text: str, start: int, name: str, kind: str) -> int:
    """Return the length of a word that has its capital from a sentence and is none of the name: "As Mill Club".

    Of words that names may have, such as "New", only if the rest of the name stands elsewhere in the text.
    """
    first, _, rest = name.partition(" ")
    rest = _ARTICLE.sub("", rest, count=1)
    opening, word = name.removesuffix(rest), first.lower()
    before = text[max(0, start - _LOOK_BACK):start].rstrip(" \t").rstrip("#")
    if kind in {"work", "person"} or " " not in rest or not rest[0].isupper() or not _SENTENCE_START.search(before):
        return 0
    is_common = word in _NEVER_FIRST or ((word in _SELDOM_FIRST or word.endswith("ly")) and re.search(
        rf"(?<!{re.escape(opening)})(?<!\w){re.escape(rest)}(?!\w)", text))
    return len(opening) if is_common else 0


def find_chinese_names(text: str, sentences: Sequence[tuple[int, int]],
                       masked: Sequence[tuple[int, int]]) -> list[KindedPlace]:
    """Return the names in Chinese sentences outside the `masked` parts, in order and without overlaps."""
    found: list[KindedPlace] = []
    for start, end in sentences:
        titles = [match.span(1) for match in _TITLE.finditer(text, start, end)]
        found += [(first, last, "work") for first, last in titles]
        words = load_tagger().tag(text, [(start, end)])[0]
        found += (place for place in _names_of_words(words, text) if is_outside(place, titles))
    return sorted(place for place in found if is_outside(place, masked))


def is_outside(place: KindedPlace, parts: Sequence[tuple[int, int]]) -> bool:
    """Return True if a place overlaps with none of some parts of the text."""
    first, last, _ = place
    return all(last <= start or first >= end for start, end in parts)


def _names_of_words(words: Sequence[Word], text: str) -> Iterator[KindedPlace]:
    """Yield the names among a sentence's words, with the adjacent parts of one name as one."""
    index = 0
    while index < len(words):
        first, after = words[index], _name_end(words, index, text)
        end, kind = words[after - 1].end, _kind_of_words(words[index:after])
        name = text[first.start : end]
        next_word = words[after] if after < len(words) and words[after].start == end else None
        is_before_noun = next_word is not None and next_word.tag in _NOUN_TAGS
        is_complete = name[-1].isascii() or name.endswith((*_BODY_ENDINGS, *_SHORT_BODY_ENDINGS))
        # 传媒 is part of another name in 传媒中心, unless it ends like a body's name.
        is_part = kind == "organization" and is_before_noun and not is_complete
        if kind and not is_part and _is_chinese_name(name, kind):
            yield first.start, end, kind
        index = after


def _name_end(words: Sequence[Word], begin: int, text: str) -> int:
    """Return the index after the last word of the name that begins at a word, or after the word itself."""
    first, end = words[begin], begin + 1
    latin = _LATIN.match(text, first.start)
    if first.tag == "PER":  # "珀西·勒巴朗" "·" "斯宾塞", whatever its tag
        while end < len(words) and words[end].start == words[end - 1].end and (
                words[end].text[0] in "·•" or words[end - 1].text[-1] in "·•"):
            end += 1
    if first.tag in {"PER", "LOC", "ORG", "nz"} and latin:  # 'Richard' 'Stallman'
        while end < len(words) and words[end].end <= latin.end():
            end += 1
    if first.tag not in {"LOC", "ORG", "nz"} or first.text.endswith(_BODY_ENDINGS):
        return end
    # Across nouns to the ending of a body's name: '青河县' '禾丰' '公司'.
    for index in range(end, len(words)):
        word, before = words[index], words[index - 1]
        # One space may stand between a Latin and a Chinese word.
        longest_gap = int(before.text[-1].isascii() and not word.text[0].isascii())
        is_too_long = word.end - first.start > _LONGEST_CHINESE_NAME
        if word.tag not in _NOUN_TAGS or is_too_long or word.start - before.end > longest_gap:
            break
        if word.text.endswith(_BODY_ENDINGS):
            end = index + 1
    return end


def _kind_of_words(words: Sequence[Word]) -> str:
    """Return the kind of the name that words form, by the first word's tag and by endings; "" if they form none."""
    text, tag = words[0].text, words[0].tag
    has_body_ending = words[-1].text.endswith(_BODY_ENDINGS)
    is_long_name = tag in _TAGGED_KINDS and len(text) > _LONGEST_PLAIN_PLACE
    if has_body_ending and (len(words) > 1 or text.endswith("庭") or is_long_name):
        return "organization"
    is_latin_name = text[0].isascii() and text[0].isupper() and len(text) > _LONGEST_ACRONYM
    return _TAGGED_KINDS.get(tag, "name" if tag == "nz" and is_latin_name else "")


def _is_chinese_name(name: str, kind: str) -> bool:
    """Return False for common nouns, fragments of sentences, and persons without a surname."""
    has_fitting_length = 1 < len(name) <= _LONGEST_CHINESE_NAME
    if not has_fitting_length or not any(c.isalpha() for c in name) or name in WORDS["common nouns"]:
        return False
    if _BETWEEN_TWO_NAMES.search(name) or "某" in name:  # 某科技公司, "some company"
        return False
    if kind == "organization" and name.endswith(_NOT_BODY_ENDINGS):
        return False
    is_foreign = "·" in name or name[0].isascii() or len(name) > 3  # noqa: PLR2004 - Chinese ones have at most three
    return kind != "person" or is_foreign or name[0] in CHINESE_SURNAMES
