"""One label for a relation or attribute however a text words it: what recurs must be called the same."""

import re
from typing import NamedTuple

from ..lexicon import ENGLISH_STOP, words
from ..name_words import AUXILIARIES, DETERMINERS, NATIONALITIES, PREPOSITIONS, VERB_FORMS
from .mentions import Mention

_IRREGULAR = (
    "write wrote written,win won won,lead led led,build built built,make made made,take took taken,run ran run,"
    "sell sold sold,buy bought bought,hold held held,meet met met,teach taught taught,sing sang sung,"
    "draw drew drawn,fight fought fought,leave left left,lose lost lost,give gave given,begin began begun,"
    "beat beat beaten,shoot shot shot,send sent sent,speak spoke spoken,grow grew grown,fall fell fallen,"
    "rise rose risen,keep kept kept,know knew known,see saw seen,say said said,tell told told,find found found,"
    "put put put,set set set,cut cut cut,hit hit hit,get got got,come came come,go went gone,stand stood stood,"
    "overthrow overthrew overthrown,ride rode ridden,bear bore borne,break broke broken,choose chose chosen,"
    "drive drove driven,fly flew flown,lay laid laid,pay paid paid,seek sought sought,spend spent spent,"
    "strike struck struck,wear wore worn,throw threw thrown,become became become,have had had,lend lent lent,"
    "bring brought brought,catch caught caught,show showed shown,feed fed fed,lie lay lain,steal stole stolen,"
    "read read read"
)
_FORMS = {form: past for verb in _IRREGULAR.split(",") for base, past, participle in (verb.split(),)
          for form in (base, f"{base}s", f"{base}es", past, participle)}
_ES = re.compile(r"(?<=ss|sh|ch|.x|zz)es$")
_Y = re.compile(r"(?<=[^aeiou])ies$")
_DOUBLED = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
_GENERIC_VERBS = words(
    "said told had was did got went came became saw knew put kept made gave took found set used called known "
    "named included contained followed wanted asked thought tried started continued remained seemed appeared "
    "described mentioned stated noted reported claimed meant showed considered regarded related stood fell "
    "represented ended left added brought referred reached born died "
    "helped allowed believed expected decided announced agreed forced caused enabled moved rose turned faced let "
    "defined cited felt needed ordered proposed suggested argued noticed remembered loved liked hoped planned "
    "ruled intended attempted sought managed failed asserted provided offered lost"
)
"""Verbs that by themselves say too little of how two things are related."""

_GENERIC_HAN_VERBS = words(
    "表示 进行 认为 包括 包含 成为 作为 具有 拥有 没有 可以 能够 使得 导致 存在 出现 发生 得到 取得 采取 实现 "
    "完成 开始 继续 得益于 有助于 提到 指出 强调 希望 计划 需要 应该 属于 分为 称为 来自 关于 通过 根据 由于 "
    "为了 受到 取决于 起到 做出 作出 影响 变化 说明 显示 表明 确保 保证 用于 位于 面临 经历 产生 带来 造成 "
    "引起 涉及 相关 有关 以及 使用 利用 提供 给予 看到 知道 说道 还有 就是 不是 只有 要求 促进 提升 提高 增强 "
    "加强 改善 保障 维护 支持 推动 确定 决定")

_MODIFIERS = NATIONALITIES | words(
    "annual yearly quarterly monthly daily current recent latest previous estimated approximate projected "
    "expected reported recorded official overall new first second third fourth fifth sixth seventh eighth ninth "
    "tenth last final full former fiscal consolidated combined record same own respective initial whole entire "
    "high low higher lower highest lowest large small larger smaller huge strong mere miles kilometres kilometers"
)
"""Adjectives of time, rank and guess before a noun: they do not name another attribute."""

_PLURALS = words(
    "sales assets liabilities earnings proceeds savings reserves goods headquarters series species means odds "
    "securities receivables payables")
"""Nouns that name an attribute in the plural."""

_GENERIC_NOUNS = words(
    "number total average amount figure value sum rate percentage share level rest maximum minimum record most one "
    "majority minority part half third quarter result group list set series period thing time way kind type name "
    "ones percent range factor lot pair answer term rank rating ranking position place increase decrease growth rise "
    "fall drop decline change difference distance age")
_BOUNDARY = ENGLISH_STOP | AUXILIARIES | DETERMINERS | PREPOSITIONS | (VERB_FORMS - {"cost", "cut"}) | words(
    "not only more less least up out off down each every per other another while because although where when there "
    "here now still just even too very so said that own include included including reported posted recorded "
    "earned generated reached made having using making being between both either than then such")
_ENGLISH_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*$")
_MOST_WORDS = 3

_HAN_LEAD = re.compile(
    r"^(?:其中|其|该|本|公司|企业|集团|我们|截至|今年|去年|当年|全年|年度|计划|本年度?|上年度?|本期|上期|期末|期初|年末|年底|报告期内?|当期|同期|"
    r"上半年|下半年|第[一二三四]季度|前[一二三]季度|末|底|度|总体|整体|累计|预计|平均每年|最终|首次|的)+")
GENERIC_HAN_NOUNS = words(
    "金额 总额 价值 总价值 比例 数量 水平 人数 总数 时间 数字 数值 规模 价格 指标 方面 情况 结果 目标 原因 影响 其中 "
    "分别 总计 合计 总量 占比 幅度 公司 企业 集团 日期 部分 资金 成本 数据 报告 年度 项目 事件 变化 活动")
"""Chinese nouns that name no attribute by themselves."""

_LONGEST_HAN_LABEL = 10


class Found(NamedTuple):
    """A noun phrase beside a value before it becomes a label, its owner (None: what is spoken of), and the evidence."""

    owner: Mention | None
    said: str
    pattern: str


def relation_label(phrase: str) -> tuple[str, bool] | None:
    """The label of a verb phrase between two mentions, and whether it reads from right to left.

    Args:
        phrase: folded words without auxiliaries, as `verb_phrase` leaves them, or a Chinese verb.

    Returns:
        ("acquired", True) for 'acquired by', ("acquired", False) for 'acquires' and 'acquired',
        ("connected to", False) for 'connects to': the past form, under which texts mostly say it.
        None for a phrase that says too little ('had', '进行').
    """
    said = phrase.split()
    if not said:
        return None
    if not said[0].isascii():
        return None if phrase in _GENERIC_HAN_VERBS else (phrase, False)
    passive = len(said) == 2 and said[1] == "by"  # noqa: PLR2004 - participle and 'by'
    if said[-1] == "between":
        return None
    if said[-1] == "of":
        label = attribute_label(said[:-1])
        return (f"{label} of", False) if label else None
    verb = _past(said[0])
    if verb in _GENERIC_VERBS:
        return None
    return (verb, True) if passive else (" ".join([verb, *said[1:]]), False)


def _past(verb: str) -> str:
    """The past form of a finite verb or participle."""
    if verb in _FORMS:
        return _FORMS[verb]
    if not verb.endswith("s") or verb.endswith("ss"):
        return verb
    stem = _Y.sub("y", _ES.sub("", verb))
    stem = stem.removesuffix("s") if stem == verb else stem
    if stem.endswith("y") and verb.endswith("ies"):
        return f"{stem[:-1]}ied"
    if _DOUBLED.fullmatch(stem):
        stem += stem[-1]
    return f"{stem}d" if stem.endswith("e") else f"{stem}ed"


def noun_phrase(said: list[str]) -> list[str]:
    """The words at the end of a list that make a noun phrase; empty where there is none.

    Args:
        said: folded English words, in order.
    """
    found: list[str] = []
    for word in reversed(said):
        ends = word in _BOUNDARY or word.endswith("ly") or not _ENGLISH_WORD.match(word)
        if ends or (word.endswith("ed") and word not in _MODIFIERS):
            break
        found.insert(0, word)
    return found


def attribute_label(said: list[str]) -> str:
    """The label of an English noun phrase: 'net profit' for 'annual net profits'; "" for none."""
    kept = list(said)
    while kept and kept[0] in _MODIFIERS:
        kept = kept[1:]
    if not 0 < len(kept) <= _MOST_WORDS:
        return ""
    kept[-1] = _singular(kept[-1])
    return "" if len(kept) == 1 and (kept[0] in _GENERIC_NOUNS or len(kept[0]) < 3) else " ".join(kept)  # noqa: PLR2004


def _singular(noun: str) -> str:
    if noun in _PLURALS or not noun.endswith("s") or noun.endswith(("ss", "us", "is")):
        return noun
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    return _ES.sub("", noun) if _ES.search(noun) else noun[:-1]


def han_attribute_label(nouns: str) -> str:
    """The label of a Chinese noun phrase: 净利润 for 公司本年度净利润; "" for none."""
    label = _HAN_LEAD.sub("", nouns)
    return label if 1 < len(label) <= _LONGEST_HAN_LABEL and label not in GENERIC_HAN_NOUNS else ""
