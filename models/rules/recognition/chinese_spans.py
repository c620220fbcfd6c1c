"""Names in Chinese sentences: LAC's persons, places and organizations with their parts joined, and titles in 《》."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ....text.lexicon import word_set
from ...parsing.chinese import Word, load_tagger
from .name_kinds import CHINESE_SURNAMES

Place = tuple[int, int, str]
"""Start, end and kind."""

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
_TRADES = word_set("包装 资本 网络 物流 传媒 乳业 药业 纸业 矿业 置业 纺织 服饰 家居 餐饮 酒店 制造 重工 科技 "
                   "电子 通信 软件 食品 能源 材料 生物 汽车 钢铁 化工 机械 电器 影业 证券 保险 信托 航空 地产 "
                   "实业 股份")
"""Words that end the short name of a company: 瑞达包装."""
_PLACE_ENDINGS = ("省", "市", "县", "区", "镇", "乡", "村", "州", "路", "街", "号", "岛", "河", "江", "湖", "山")
_COMMON_NOUNS = word_set("公司 集团 银行 大学 学院 医院 法院 政府 董事会 股东大会 监事会 委员会 企业 本公司 该公司 "
                         "我公司 贵公司 交易所 子公司 总公司 分公司 母公司 原告 被告 国家 夏朝 商朝 西周 东周 秦朝 "
                         "汉朝 西汉 东汉 西晋 东晋 隋朝 唐朝 唐代 北宋 南宋 宋代 宋朝 元代 元朝 明代 明朝 清代 "
                         "清朝 民国 社区 统筹地区 户籍地址 人民政府 市人民政府 自治区人民政府 直辖市人民政府 地区 城市 "
                         "全国 全球 世界 国内 国外 海外 当地")
_SITE_ENDINGS = frozenset("阁寺塔楼桥江河湖山庙宫陵")
_SITE_NOUNS = frozenset({"遗址", "大桥", "半岛", "群岛", "山脉", "高原", "机场", "故居", "大街", "水库", "运河"})
_SIDE_OF_PLACE = re.compile(r"(?<=[^东南西北中])[东南西北中]{1,2}部$")  # 东部 in 浙江省东部
_NUMERALS = frozenset("一二两三四五六七八九十各全")
_NOT_BODY_ENDINGS = (*"者人员利率量力性化度们金", "规定", "决定", "生效", "保障", "保险", "证书")
"""Endings of common nouns that the tagger labels as organizations."""
_NOUN_TAGS = frozenset({"n", "nz", "vn", "LOC", "ORG", "an", "s", "f"})
_LONGEST_NAME = 30
_LONGEST_PLAIN_PLACE = 3
"""The length in characters up to which a location with such an ending stays a location, such as '大厂'."""


def find_chinese_names(text: str, sentences: Sequence[tuple[int, int]],
                       masked: Sequence[tuple[int, int]]) -> list[Place]:
    """Return the names in Chinese sentences outside the `masked` parts, in order and without overlaps."""
    if not sentences:
        return []
    found: list[Place] = []
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


def is_outside(place: Place, parts: Sequence[tuple[int, int]]) -> bool:
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


def _join_names(words: Sequence[Word], text: str) -> Iterator[Place]:
    """Yield the names among a sentence's words, with adjacent parts of one name joined."""
    at = 0
    while at < len(words):
        end = _name_end(words, at)
        first, last = words[at], words[end - 1]
        kind = _kind_of_words(words[at:end])
        name = text[first.start : last.end]
        next_tag = words[end].tag if end < len(words) and words[end].start == last.end else ""
        is_whole = name[-1].isascii() or name.endswith((*_BODY_ENDINGS, *"部院会厅署处办所队社店行校"))
        is_part = kind == "organization" and next_tag in {"n", "nz", "vn", "ORG", "LOC"} and not is_whole  # 传媒中心
        if kind and _is_name(name, kind) and not is_part:
            side = _SIDE_OF_PLACE.search(name) if kind == "location" else None
            yield first.start, last.end - (len(side[0]) if side else 0), kind
        at = end


def _name_end(words: Sequence[Word], at: int) -> int:
    """Return the index after the last word of the name that begins at a word, or after the word itself."""
    end = at + 1
    if words[at].tag == "PER":  # "珀西·勒巴朗" "·" "斯宾塞", whatever its tag
        while end < len(words) and words[end].start == words[end - 1].end and (
                words[end].text[0] in "·•" or words[end - 1].text[-1] in "·•"):
            end += 1
        return end
    if words[at].tag not in {"LOC", "ORG", "nz"}:
        return end
    # '青河县' '禾丰' '公司': extend to the ending of an organization's name, across nouns only.
    stop = end
    is_complete = words[at].text.endswith((*_BODY_ENDINGS, "厅", "部", "署"))
    while stop < len(words) and words[stop].end - words[at].start <= _LONGEST_NAME and (
            words[stop].tag in _NOUN_TAGS or words[stop].text.endswith(_BODY_ENDINGS)):
        # One space may stand between a Latin and a Chinese word.
        may_be_apart = words[stop - 1].text[-1].isascii() and not words[stop].text[0].isascii()
        if words[stop].start - words[stop - 1].end > int(may_be_apart):
            break
        stop += 1
        last = words[stop - 1].text
        is_before_noun = any(word.tag in _NOUN_TAGS for word in words[stop : stop + 1])  # 国务院教育行政部门
        ends_in_trade = words[at].tag == "ORG" and stop == end + 1 and last in _TRADES and not is_before_noun
        if not is_complete and (last.endswith(_BODY_ENDINGS) or last in _SITE_NOUNS or ends_in_trade):
            end = stop
    if end == at + 1 and words[at].tag == "LOC":  # '湖北省' '武汉市'
        while end < len(words) and words[end].tag == "LOC" and words[end].start == words[end - 1].end and (
                words[end - 1].text.endswith(_PLACE_ENDINGS)):
            end += 1
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


def _is_name(name: str, kind: str) -> bool:
    """Return False for common nouns, fragments of sentences, and persons without a surname."""
    if not 2 <= len(name) <= _LONGEST_NAME or not any(c.isalpha() for c in name):  # noqa: PLR2004
        return False
    if re.search(r"[，,/→]|(?<=[^\x00-\x7f])\s|报经|会同", name):  # two names
        return False
    if name in _COMMON_NOUNS | _SITE_NOUNS:
        return False
    if "某" in name or (len(name) == 2 and name[0] in _NUMERALS):  # noqa: PLR2004 - 某科技公司, 三校
        return False
    if kind == "organization" and name.endswith(_NOT_BODY_ENDINGS):
        return False
    is_foreign = "·" in name or name[0].isascii() or len(name) > 3  # noqa: PLR2004
    return kind != "person" or is_foreign or name[0] in CHINESE_SURNAMES
