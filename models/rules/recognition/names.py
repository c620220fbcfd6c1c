"""Names by their letters: by capitals in scripts that have them, by LAC's tags in Chinese, and in quotation marks.

`find_names` reads questions and messages, `NameRuns` and `find_chinese_names` sentences of documents. Precision comes
before recall: uncertain words are left to the content words.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ....schemas.naming import canonical_name
from ....text.languages import function_words, language_of, phrase_language
from ....text.lexicon import ENGLISH_STOP, WORDS, word_set
from ...parsing.chinese import Word, load_tagger
from .name_kinds import CALENDAR, CHINESE_SURNAMES, PREPOSITIONS, PRONOUNS, ROLES

Place = tuple[int, int]
"""Start and end in characters."""
KindedPlace = tuple[int, int, str]
"""Start, end and kind."""

_QUOTED = re.compile(r"《([^《》]+)》|「([^「」]+)」|“([^“”]+)”|\"([^\"]+)\"|『([^『』]+)』")
_WORD = re.compile(r"[^\W_]+(?:[.&'’-][^\W_]+)*\.?")
_LINK_WORDS = word_set("of the de la le du des von van der den da di del y bin al ibn")
_NOT_NAMES = ENGLISH_STOP | CALENDAR | WORDS["not names"]
_YEAR_DIGITS = 4
_LONGEST_INITIAL = len("J.")
"""A longer word with a full stop ends a sentence."""

_CAPITALS = "A-Z" + "".join(letter for letter in map(chr, range(0xC0, 0x180)) if letter.isupper())
_PART = (rf"(?:[{_CAPITALS}]\.|[{_CAPITALS}]\w*(?:-[{_CAPITALS}0-9]\w*)*(?:[’'](?!s\b)\w+)*"
         rf"(?:\.(?=[{_CAPITALS}]))?)")
_LONGEST_RUN = 15  # the most words of a run after the first one
_NICKNAME = r' \(?["“][A-Z][a-z]+["”]\)? '
"""What may stand after a person's first name, as in Ronald ("Ron") Laird."""
_RUN = re.compile(rf"{_PART}(?:{_NICKNAME}{_PART})?(?:(?: | [-–] | & |–){_PART}){{0,{_LONGEST_RUN}}}")
_WORD_OF_RUN = re.compile(r"[\w’'.&-]+")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n\"“(*•]|-\s)\s{0,3}$")
_ITEM_START = re.compile(r"(?:[-*•][ \t]{1,4})?\Z", re.MULTILINE)
_ITEM_END = re.compile(r"[ \t]{0,4}(?:$| \([A-Z]|,? v(?:ersion|\.)? ?\d|, wh(?:ich|o|ose)\b)", re.MULTILINE)
"""What stands before and after a name that is an item of a list or a line of its own."""
_MIXED_CASE = re.compile(r"[A-Z][a-z]+[A-Z]\w*")
_NOT_IN_NAMES = CALENDAR | PREPOSITIONS | PRONOUNS | WORDS["not in names"]
_NOT_AT_START = _NOT_IN_NAMES | ROLES | WORDS["not at start"]

_KINDS = {"PER": "person", "LOC": "location", "ORG": "organization"}
_TITLE = re.compile(r"《([^《》\n]{1,60})》")
_QUOTED_PRODUCT = re.compile(
    r"“([^“”\n]{1,12})”(?=[^“”，。的由]{0,6}?(?:系统|平台|软件|芯片|手机|产品|卫星|火箭|飞船))|"
    r"(?<=系统|平台|软件|芯片|手机|疫苗|新药|游戏|品牌|卫星)“([^“”\n]{1,12})”")
_QUOTED_BODY = re.compile(r"“([^“”\n]{1,12})”(?=乐队|乐团|公司|集团|俱乐部|的(?:联合)?(?:创始人|创办人|创立者)|"
                          r"由[^，。“”]{1,12}创[办立建])|"
                          r"(?<=工作室|俱乐部)“([^“”\n]{1,12})”|(?<=乐队)“([^“”\n]{1,12})”")
"""Titles in 《》, and products and bodies in “”."""
_LATIN = re.compile(r"[A-Z][A-Za-z0-9.&'-]*(?: [A-Z][A-Za-z0-9.&'-]*)*(?<![.'-])")
_BODY_ENDINGS = (
    "公司", "集团", "银行", "大学", "学院", "研究院", "研究所", "医院", "协会", "学会", "基金会", "委员会", "法院",
    "合作社", "事务所", "出版社", "乐团", "俱乐部", "博物馆", "图书馆", "中学", "小学", "政府", "局", "厂",
    "学校", "剧院", "剧团", "工作室", "工坊", "报社", "电视台", "商会", "联合会")
"""Endings of the names of organizations."""
_SHORT_BODY_ENDINGS = tuple("部院会厅署处办所队社店行校")
_TRADES = WORDS["trades"]
"""Words that end the short name of a company: 瑞达包装."""
_PLACE_ENDINGS = ("省", "市", "县", "区", "镇", "乡", "村", "州", "路", "街", "号", "岛", "河", "江", "湖", "山")
_SITE_ENDINGS = frozenset("阁寺塔楼桥江河湖山庙宫陵")
_SITE_NOUNS = frozenset({"遗址", "大桥", "半岛", "群岛", "山脉", "高原", "机场", "故居", "大街", "水库", "运河"})
_SIDE_OF_PLACE = re.compile(r"(?<=[^东南西北中])[东南西北中]{1,2}部$")  # 东部 in 浙江省东部
_BETWEEN_TWO_NAMES = re.compile(r"[，,/→]|(?<=[^\x00-\x7f])\s|报经|会同")
_NUMERALS = frozenset("一二两三四五六七八九十各全")
_NOT_BODY_ENDINGS = (*"者人员利率量力性化度们金", "规定", "决定", "生效", "保障", "保险", "证书")
"""Endings of common nouns that the tagger labels as organizations."""
_NOUN_TAGS = frozenset({"n", "nz", "vn", "LOC", "ORG", "an", "s", "f"})
_LONGEST_CHINESE_NAME = 30
_LONGEST_PLAIN_PLACE = 3
"""The length in characters up to which a location with such an ending stays a location, such as '大厂'."""


def find_names(text: str) -> list[Place]:
    """Return the (start, end) of the names in a text, ascending and without overlaps and quotation marks."""
    places = [match.span(match.lastindex or 0) for match in _QUOTED.finditer(text)]
    if phrase_language(text) == "zh":
        places.extend((start, end) for start, end, _ in find_chinese_names(text, [(0, len(text))], []))
    language = language_of(text)
    function_words_of_language = frozenset[str]() if language == "en" else function_words(language)
    for start, end in _capital_runs(text, function_words_of_language):
        if language != "de" or " " in text[start:end]:  # every German noun has a capital
            places.append((start, end))
    names: list[Place] = []
    for start, end in places:  # of places that overlap, the first one counts
        if all(end <= other_start or start >= other_end for other_start, other_end in names):
            names.append((start, end))
    return sorted(names)


def names_in(text: str) -> tuple[str, ...]:
    """Return the names in a text in order, each once by its canonical form."""
    unique: dict[str, str] = {}
    for start, end in find_names(text):
        unique.setdefault(canonical_name(text[start:end]), text[start:end])
    return tuple(unique.values())


def _capital_runs(text: str, function_words_of_language: frozenset[str]) -> Iterator[Place]:
    """Yield the (start, end) of runs of capitalised words, which may contain 'of', 'de' and similar words.

    A function word of the text's language ("Der", "Les") is in no run, although it has a capital at the beginning of a
    sentence; English ones are in `_NOT_NAMES`.
    """
    run: list[re.Match[str]] = []
    links: list[re.Match[str]] = []  # link words after the run, which belong to it if a capitalised word follows
    for word in _WORD.finditer(text):
        is_adjacent = bool(run) and text[(links or run)[-1].end() : word.start()].isspace()
        is_function_word = word[0].casefold() in function_words_of_language
        if is_adjacent and word[0] in _LINK_WORDS:
            links.append(word)
        elif is_adjacent and not is_function_word and _may_be_name(word, begins_name=False):
            run, links = [*run, *links, word], []
        else:
            if run:
                yield run[0].start(), _end_of_name(run[-1])
            begins_run = not is_function_word and _may_be_name(word, begins_name=True)
            run, links = ([word] if begins_run else []), []
    if run:
        yield run[0].start(), _end_of_name(run[-1])


def _may_be_name(match: re.Match[str], *, begins_name: bool) -> bool:
    """Return True if a word begins or continues a name; numerals can only continue one ('Apollo 11', 'Louis XIV')."""
    word = match[0]
    if word.isdigit():
        return not begins_name and len(word) < _YEAR_DIGITS
    return any(letter.isupper() for letter in word[:2]) and word.rstrip(".").casefold() not in _NOT_NAMES


def _end_of_name(last: re.Match[str]) -> int:
    """Return the end of a name by its last word, without a genitive and without the full stop of the sentence."""
    word = last[0]
    if word.endswith(("'s", "’s")):
        return last.end() - len("'s")
    has_stop_of_sentence = word.endswith(".") and len(word) > _LONGEST_INITIAL
    return last.end() - has_stop_of_sentence


class NameRuns:
    """The runs of capitalised words of a text."""

    def __init__(self, text: str, barriers: Sequence[tuple[int, int]], title: str = "") -> None:
        """Find the runs; `barriers` are (start, end) of words that are not part of names, such as peoples and dates.

        The words of the title are names even at the beginning of a sentence, where any word has a capital.
        """
        self._text = text
        self._title_words = frozenset(title.split())
        self._barred = {index for start, end in barriers for index in range(start, end)}
        # The run that each character is in.
        self._run_of = {index: match.span() for match in _RUN.finditer(text) for index in range(*match.span())}

    def of_several_words(self) -> Iterator[tuple[int, int]]:
        """Yield the (start, end) of runs of at least two words.

        The first word of a sentence is cut off, and so are words that do not begin or end names, such as roles.
        """
        for start, end in sorted(set(self._run_of.values())):
            parts = list(_WORD_OF_RUN.finditer(self._text, start, end))
            while parts and (parts[0][0].lower().rstrip(".") in _NOT_AT_START
                             or self.has_position_capital(parts[0].start())):
                del parts[0]
            while parts and parts[-1][0].lower() in _NOT_IN_NAMES:
                del parts[-1]
            if len(parts) > 1 and not any(part.start() in self._barred for part in parts):
                yield parts[0].start(), parts[-1].end()

    def has_position_capital(self, at: int) -> bool:
        """Return True if a word may have its capital only because it opens a sentence."""
        word = _WORD_OF_RUN.match(self._text, at)
        # A title's word, a line of its own and "OpenChain" are names even where a sentence may begin.
        opens_sentence = at == 0 or _SENTENCE_START.search(self._text[max(0, at - 4) : at]) is not None
        if not opens_sentence or (word and word[0] in self._title_words):
            return False
        start, end = self._run_of.get(at, (at, at))
        line_start = self._text.rfind("\n", 0, at) + 1
        opens_line = start == at and "\n" in self._text and _ITEM_START.fullmatch(self._text[line_start:at].lstrip())
        is_whole_line = opens_line and _ITEM_END.match(self._text, end)
        return not (is_whole_line or _MIXED_CASE.match(self._text, at))

    def extend(self, start: int, end: int) -> tuple[int, int]:
        """Return a fragment with the adjacent words of its run, or the fragment itself if it is in no run."""
        first_run, last_run = self._run_of.get(start), self._run_of.get(end - 1)
        if first_run is None or last_run is None or self._text[start - 1 : start] == "-":
            return start, end
        for word in reversed(list(_WORD_OF_RUN.finditer(self._text, first_run[0], start))):
            is_role = word[0].lower().rstrip(".") in ROLES and word[0] != "General"  # GNU General Public License
            is_possessive = word[0].endswith(("'s", "’s"))
            if is_role or is_possessive or self._is_barred(word) or self.has_position_capital(word.start()):
                break
            start = word.start()
        for word in _WORD_OF_RUN.finditer(self._text, end, last_run[1]):
            if self._is_barred(word) or not word[0][0].isalnum():
                break
            end = word.end()
            if word[0].endswith(("'s", "’s")):
                break
        return start, end

    def _is_barred(self, word: re.Match[str]) -> bool:
        return word.start() in self._barred or word[0].lower() in _NOT_IN_NAMES


def find_chinese_names(text: str, sentences: Sequence[tuple[int, int]],
                       masked: Sequence[tuple[int, int]]) -> list[KindedPlace]:
    """Return the names in Chinese sentences outside the `masked` parts, in order and without overlaps."""
    if not sentences:
        return []
    found: list[KindedPlace] = []
    for tagged in load_tagger().tag(text, sentences):
        start, end = (tagged[0].start, tagged[-1].end) if tagged else (0, 0)
        quoted = [(*match.span(match.lastindex or 0), kind)
                  for form, kind in ((_TITLE, "work"), (_QUOTED_PRODUCT, "product"), (_QUOTED_BODY, "organization"))
                  for match in form.finditer(text, start, end)]
        found += quoted
        quoted_places = [(first, last) for first, last, _ in quoted]
        names = _join_names(list(_join_latin(tagged, text)), text)
        found += (place for place in names if is_outside(place, quoted_places))
    return sorted(place for place in found if is_outside(place, masked))


def is_outside(place: KindedPlace, parts: Sequence[tuple[int, int]]) -> bool:
    """Return True if a place overlaps with none of some parts of the text."""
    return all(place[1] <= start or place[0] >= end for start, end in parts)


def _join_latin(words: Sequence[Word], text: str) -> Iterator[Word]:
    """Yield the words of a sentence, with the Latin words of one name joined into one word: 'Richard' 'Stallman'."""
    joined_end = 0  # words before it are part of the last joined word
    for word in words:
        if word.start < joined_end:
            continue
        run = _LATIN.match(text, word.start)
        if run is not None and run.end() > word.end and word.tag in {"PER", "LOC", "ORG", "nz"}:
            joined_end = run.end()
            yield replace(word, end=joined_end, text=run[0])
        else:
            yield word


def _join_names(words: Sequence[Word], text: str) -> Iterator[KindedPlace]:
    """Yield the names among a sentence's words, with adjacent parts of one name joined."""
    index = 0
    while index < len(words):
        end = _name_end(words, index)
        first, last = words[index], words[end - 1]
        kind = _kind_of_words(words[index:end])
        name = text[first.start : last.end]
        next_tag = words[end].tag if end < len(words) and words[end].start == last.end else ""
        is_whole = name[-1].isascii() or name.endswith((*_BODY_ENDINGS, *_SHORT_BODY_ENDINGS))
        is_part = kind == "organization" and next_tag in {"n", "nz", "vn", "ORG", "LOC"} and not is_whole  # 传媒中心
        if kind and _is_chinese_name(name, kind) and not is_part:
            side = _SIDE_OF_PLACE.search(name) if kind == "location" else None
            yield first.start, last.end - (len(side[0]) if side else 0), kind
        index = end


def _name_end(words: Sequence[Word], begin: int) -> int:
    """Return the index after the last word of the name that begins at a word, or after the word itself."""
    end = begin + 1
    if words[begin].tag == "PER":  # "珀西·勒巴朗" "·" "斯宾塞", whatever its tag
        while end < len(words) and words[end].start == words[end - 1].end and (
                words[end].text[0] in "·•" or words[end - 1].text[-1] in "·•"):
            end += 1
        return end
    if words[begin].tag in {"LOC", "ORG", "nz"}:
        end = _body_end(words, begin)
    if end == begin + 1 and words[begin].tag == "LOC":  # '湖北省' '武汉市'
        while end < len(words) and words[end].tag == "LOC" and words[end].start == words[end - 1].end and (
                words[end - 1].text.endswith(_PLACE_ENDINGS)):
            end += 1
    return end


def _body_end(words: Sequence[Word], begin: int) -> int:
    """Return the index after a body's or site's name, across nouns to its ending: '青河县' '禾丰' '公司'."""
    first, end = words[begin], begin + 1
    if first.text.endswith((*_BODY_ENDINGS, "厅", "部", "署")):  # it is complete
        return end
    for index in range(begin + 1, len(words)):
        word, before = words[index], words[index - 1]
        # One space may stand between a Latin and a Chinese word.
        longest_gap = int(before.text[-1].isascii() and not word.text[0].isascii())
        is_noun = word.tag in _NOUN_TAGS or word.text.endswith(_BODY_ENDINGS)
        if not is_noun or word.end - first.start > _LONGEST_CHINESE_NAME or word.start - before.end > longest_gap:
            break
        is_before_noun = index + 1 < len(words) and words[index + 1].tag in _NOUN_TAGS  # 国务院教育行政部门
        ends_in_trade = first.tag == "ORG" and index == end and word.text in _TRADES and not is_before_noun
        if word.text.endswith(_BODY_ENDINGS) or word.text in _SITE_NOUNS or ends_in_trade:
            end = index + 1
    return end


def _kind_of_words(words: Sequence[Word]) -> str:
    """Return the kind of the name that words form, by the first word's tag and by endings; "" if they form none."""
    if len(words) > 1 and (words[-1].text.endswith(_BODY_ENDINGS) or words[-1].text in _TRADES):
        return "organization"
    text, tag = words[0].text, words[0].tag
    kind = _KINDS.get(tag, "")
    if kind == "person" and len(words) == 1 and text[0] not in CHINESE_SURNAMES and text[-1] in _SITE_ENDINGS:
        return "location"  # '天一阁'
    if kind == "person" and text.endswith(("仲裁庭", "法庭", "合议庭")):
        return "organization"
    if kind:
        has_body_ending = len(text) > _LONGEST_PLAIN_PLACE and text.endswith(_BODY_ENDINGS)
        return "organization" if has_body_ending else kind
    is_latin_name = text[0].isascii() and text[0].isupper() and len(text) > 2  # noqa: PLR2004 - 'CT' is no name
    return "name" if tag == "nz" and is_latin_name else ""


def _is_chinese_name(name: str, kind: str) -> bool:
    """Return False for common nouns, fragments of sentences, and persons without a surname."""
    if not 2 <= len(name) <= _LONGEST_CHINESE_NAME or not any(c.isalpha() for c in name):  # noqa: PLR2004
        return False
    if _BETWEEN_TWO_NAMES.search(name) or name in WORDS["common nouns"] | _SITE_NOUNS:
        return False
    if "某" in name or (len(name) == 2 and name[0] in _NUMERALS):  # noqa: PLR2004 - 某科技公司, 三校
        return False
    if kind == "organization" and name.endswith(_NOT_BODY_ENDINGS):
        return False
    is_foreign = "·" in name or name[0].isascii() or len(name) > 3  # noqa: PLR2004
    return kind != "person" or is_foreign or name[0] in CHINESE_SURNAMES
