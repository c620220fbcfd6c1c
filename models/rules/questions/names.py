"""Names in questions, sentences and chat messages: where they stand, without any model.

English (and other scripts with case) by capital letters, Chinese by quotation marks, endings of
organisations and places, and the part-of-speech tags of jieba. Precision before recall: a word
that is not surely a name is left to the content words.
"""

import functools
import re
from collections.abc import Iterator, Sequence

from ....schemas.naming import canonical_name, normalise
from ..content_words import language_of
from ..lexicon import ENGLISH_STOP, words
from ..name_words import CHINESE_SURNAMES

Place = tuple[int, int]

_QUOTED = re.compile(r"《([^《》]+)》|「([^「」]+)」|“([^“”]+)”|\"([^\"]+)\"|『([^『』]+)』")
_WORD = re.compile(r"[^\W_]+(?:[.&'’-][^\W_]+)*\.?")
_LINKS = words("of the de la le du des von van der den da di del y bin al ibn")
_NOT_NAMES = ENGLISH_STOP | words(
    "together after before during since until while although though because however between among both either each "
    "all some most many several such other another no yes one two three four five six seven eight nine ten "
    "compare describe explain list today later earlier born according under over through when whether "
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday "
    "in at on for by from to of and or but as its his her their our my ceo cfo cto coo"
)
_CHINESE_TAGS = frozenset({"nr", "ns", "nt", "nz", "nrt", "nrfg", "eng"})
_GENERIC_CHINESE = words("城市 国家 省份 地区 首都 省会 大陆 海洋 大海 江河 河流 湖泊 山区 大桥 中外 古代")
_ORGANISATION_END = re.compile(
    r"(?:有限公司|公司|集团|大学|学院|研究所|研究院|实验室|银行|医院|中心|基金会|协会|学会|委员会|图书馆|博物馆|"
    r"天文台|出版社|杂志社|中学|小学|乐团|乐队|俱乐部)$"
)
_ORGANISATION_PART = frozenset({"n", "nz", "ns", "nr", "nt", "nrt", "vn", "a", "an", "j", "eng", "b", "l"})
_LONGEST_ORGANISATION = 6
_SURNAME_END = 3
_GENERIC_LENGTH = 2
_SHORTEST_SURNAME = 3
_LONGEST_WORD = 30
_WORD_BEFORE = re.compile(rf"([^\W\d_][\w.’'-]{{0,{_LONGEST_WORD}}})\s$")
_HONOURS = words("Mr Mr. Mrs Mrs. Ms Dr Dr. Sir Lord Lady Professor Prof. President The In But And For By")
_JOINING = frozenset("-_")
_DOTS = frozenset("·・•")
_PLACE_END = re.compile(r"[省市县区州国江河湖山岛洋海]$")


def find_names(text: str, known: Sequence[str] = ()) -> list[Place]:
    """Where names stand in a text.

    Args:
        text: a question, a sentence or a message, in any script.
        known: names known from elsewhere, such as titles; found wherever they stand as written.

    Returns:
        (start, end) of each name, ascending, not overlapping; quotation marks are left outside.
    """
    spans = [(start, start + len(name)) for name in known if len(name) > 1 for start in _whole(text, name)]
    for match in _QUOTED.finditer(text):
        group = match.lastindex or 0
        spans.append(match.span(group))
    if language_of(text) == "zh":
        spans.extend(_chinese_names(text))
    spans.extend(_capitalised(text))
    return _without_overlaps(spans)


def names_in(text: str) -> tuple[str, ...]:
    """The names in a text, in order, each once (by its canonical form)."""
    unique: dict[str, str] = {}
    for start, end in find_names(text):
        unique.setdefault(canonical_name(text[start:end]), text[start:end])
    return tuple(unique.values())


def mentions(text: str, name: str) -> bool:
    """Whether a text holds a name: as a whole, or a person's last name without another first name.

    Args:
        text: any text.
        name: a name; 'Marie Curie' is also said by 'Curie', but not by 'Pierre Curie'.
    """
    canonical, folded = canonical_name(name), _folded(text)
    if any(True for _ in _whole(folded, canonical)):
        return True
    parts = name.split()
    # 'University of Vienna' is no person of the name Vienna.
    if len(parts) < 2 or "of" in parts or len(parts[-1]) < _SHORTEST_SURNAME or not parts[-1][0].isupper():  # noqa: PLR2004 - two parts
        return False
    return any(_before(text, start) in {"", *parts[:-1], *_HONOURS} for start in _whole(text, parts[-1]))


@functools.lru_cache(maxsize=1024)
def _folded(text: str) -> str:
    """A text as names are looked for in it; each of a context's is asked about every name."""
    return normalise(text)


def _whole(text: str, word: str) -> Iterator[int]:
    """Where a word begins, not inside a longer one of Latin and like scripts; Chinese has no boundaries, and is none.

    A regular expression for each name would take longer to compile than the texts of a question to look through.
    """
    opens, closes = word[:1].isascii(), word[-1:].isascii()
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        inside = (opens and _joins(text[at - 1 : at])) or (closes and _joins(text[end : end + 1]))
        if not inside:
            yield at
        at = text.find(word, at + 1 if inside else max(end, at + 1))


def _joins(character: str) -> bool:
    """Whether a word goes on with a character, of which there may be none."""
    return character in _JOINING or (character.isalnum() and not "\u3400" <= character <= "\u9fff")


def _before(text: str, at: int) -> str:
    """The capitalised word right before a place, or nothing."""
    match = _WORD_BEFORE.search(text[max(0, at - _LONGEST_WORD) : at])
    return match.group(1) if match and match.group(1)[0].isupper() else ""


def _without_overlaps(places: list[Place]) -> list[Place]:
    """The places in order; of two that overlap the one found first by rule order stays."""
    taken = bytearray(max((end for _, end in places), default=0))
    kept: list[Place] = []
    for start, end in places:
        if not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            kept.append((start, end))
    return sorted(kept)


def _capitalised(text: str) -> Iterator[Place]:
    """Runs of capitalised words, with 'of', 'de' and the like between two of them."""
    run: list[re.Match[str]] = []
    links: list[re.Match[str]] = []
    for match in [*_WORD.finditer(text), None]:
        word = match.group() if match else ""
        adjacent = match is not None and (not run or text[(links or run)[-1].end() : match.start()].isspace())
        if match and adjacent and run and word in _LINKS:
            links.append(match)
            continue
        if match and adjacent and _may_be_name(match, run):
            run, links = [*run, *links, match], []
            continue
        if run:
            yield run[0].start(), _end(run, text)
        run, links = [], []
        if match and _may_be_name(match, run):
            run = [match]
    if run:
        yield run[0].start(), _end(run, text)


def _may_be_name(match: re.Match[str], run: list[re.Match[str]]) -> bool:
    """Whether a word starts or goes on with a name; numerals only go on ('Apollo 11', 'Louis XIV')."""
    word = match.group()
    if word.isdigit():
        return bool(run) and len(word) < 4  # noqa: PLR2004 - four digits are a year
    return any(letter.isupper() for letter in word[:2]) and word.rstrip(".").casefold() not in _NOT_NAMES


def _end(run: list[re.Match[str]], text: str) -> int:
    """Where the run ends, without a sentence's full stop (an initial keeps its own) or a genitive."""
    end = run[-1].end()
    last = run[-1].group()
    if last.endswith(("'s", "’s")):
        return end - 2
    return end - 1 if text[end - 1] == "." and len(last) > 2 else end  # noqa: PLR2004 - 'J.' is an initial


def _chinese_names(text: str) -> Iterator[Place]:
    """Names by part of speech: organisations by their ending, then people, places and other names."""
    import rjieba  # noqa: PLC0415  (its dictionary takes a fifth of a second, which only Chinese texts need)

    tokens: list[tuple[str, str, int]] = []
    offset = 0
    for word, tag in rjieba.tag(text):
        start = text.find(word, offset)
        if start >= 0:
            tokens.append((word, tag, start))
            offset = start + len(word)
    yield from _dotted(tokens)
    yield from _organisations(tokens)
    yield from _tagged(tokens)


def _dotted(tokens: list[tuple[str, str, int]]) -> Iterator[Place]:
    """Foreign names written with dots between their parts: 玛丽·居里."""
    i = 1
    while i < len(tokens) - 1:
        if tokens[i][0] not in _DOTS:
            i += 1
            continue
        first = i - 1
        while i + 1 < len(tokens) and tokens[i][0] in _DOTS:
            i += 2
        joined = len(tokens[first][0]) > _GENERIC_LENGTH and tokens[first][0][0] in "和与及"
        yield tokens[first][2] + joined, tokens[i - 1][2] + len(tokens[i - 1][0])


def _organisations(tokens: list[tuple[str, str, int]]) -> Iterator[Place]:
    for i, (word, _, start) in enumerate(tokens):
        if not _ORGANISATION_END.search(word):
            continue
        first = i
        while first > max(0, i - _LONGEST_ORGANISATION) and _is_part(tokens, first - 1):
            first -= 1
        if first < i or not _ORGANISATION_END.fullmatch(word):
            yield tokens[first][2], start + len(word)


def _is_part(tokens: list[tuple[str, str, int]], i: int) -> bool:
    """Whether a token may belong to an organisation's name; a verb only where a clause begins (创新科技公司)."""
    tag = tokens[i][1]
    return tag in _ORGANISATION_PART or (tag == "v" and (i == 0 or tokens[i - 1][1] == "x"))


def _tagged(tokens: list[tuple[str, str, int]]) -> Iterator[Place]:
    """Tokens tagged as names; a one-character surname takes the one-character words after it."""
    i = 0
    while i < len(tokens):
        word, tag, start = tokens[i]
        i += 1
        end = start + len(word)
        if tag not in _CHINESE_TAGS and not (tag == "n" and len(word) > _GENERIC_LENGTH and _PLACE_END.search(word)):
            continue
        if tag == "nr" and len(word) == 1:
            while i < len(tokens) and end - start < _SURNAME_END and len(tokens[i][0]) == 1 \
                    and tokens[i][1] not in {"x", "uj", "p", "c", "v", "m", "d", "r"}:
                end = tokens[i][2] + 1
                i += 1
        before = tokens[i - 2][0] if i > 1 else ""
        if tag == "nr" and word[:1] not in CHINESE_SURNAMES and before in CHINESE_SURNAMES:
            start -= 1  # 陆 and 志远 are two tokens
        if end - start > 1 and word not in _GENERIC_CHINESE:
            yield start, end
