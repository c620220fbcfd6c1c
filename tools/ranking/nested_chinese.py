"""Decomposition of nested Chinese questions.

发现青蒿素的人出生在哪个省？ has two steps: 谁发现了青蒿素？ and {answer 1}出生在哪个省？
"""

import re

from ...models.rules.lexicon import words
from ...schemas.references import reference

_NOUNS = (
    "城市|省份|省|国家|国|大学|学校|学院|公司|机构|地方|地区|县|市|河流|河|江|湖|山|岛|医院|研究所|书|小说|电影|歌曲|"
    "作品|奖项|奖|组织|协会|出版社|期刊|杂志|研究小组|小组|团队|人|科学家|作家|诗人|导演|学者|化学家|物理学家|数学家|医生|工程师|建筑师|演员|歌手"
)
_PEOPLE = words("人 科学家 作家 诗人 导演 学者 化学家 物理学家 数学家 医生 工程师 建筑师 演员 歌手")
_ORGANISATIONS = words("大学 学校 学院 公司 机构 医院 研究所 出版社 组织 协会")
_WORKS = words("书 小说 电影 歌曲 作品 期刊 杂志")
_RELATIONS = (
    "作者|导演|编剧|主演|首都|省会|创始人|创办人|创立者|发现者|发明者|发明人|设计者|建造者|领导者|丈夫|妻子|父亲|母亲|"
    "儿子|女儿|哥哥|弟弟|姐姐|妹妹|出生地|故乡|家乡|母校|老师|导师|学生|校长|院长|董事长|总经理|首席执行官|主席|总统|总理|"
    "市长|省长|总部所在地|出版社|继任者|前任"
)
_PLACE_RELATIONS = words("首都 省会 出生地 故乡 家乡 母校 总部所在地 出版社")
_VERBS = (
    "发现|发明|创办|创立|创建|写|撰写|创作|执导|设计|建造|"
    "提出|出版|主演|导演|编写|收购|领导|建立|获得|提取|制造|研制|开发"
)
_STATES = "出生|所在|位于|毕业|就读|考入|任教|工作|去世|逝世|成立|流经|属于"
_AGENT = re.compile(rf"^(?P<verb>{_VERBS})了?(?P<object>[^，,？?的]+)的(?P<noun>{_NOUNS})(?P<rest>.+)$")
_STATE = re.compile(rf"^(?P<owner>[^，,？?的]+?)(?P<state>{_STATES})的(?P<noun>{_NOUNS})[，,]?(?P<rest>.+)$")
_CHAIN = re.compile(rf"^(?P<owner>[^，,？?的了]+)的(?P<noun>(?:首任|现任|第一任|前)?(?:{_RELATIONS}))"
                    r"(?P<rest>[^，,。、和与及或].*)$")
_ANAPHOR = re.compile(rf"^(?P<first>[^，,]*哪(?:个|座|所|家|条|位|一个|一座)(?P<noun>{_NOUNS}))[，,]"
                      r"(?:而?(?:这|该|那)[个座所家条位]?(?P=noun)|它|其)(?P<rest>.+)$")
_TOPIC = re.compile(r"^(?P<topic>[^，,？?哪谁什]+的[^，,？?的]{1,8})[，,](?P<pronoun>它|他|她|其)的?(?P<rest>.+)$")
_ASKS_NAME = re.compile(r"在(?:哪里|哪儿|什么地方)[？?]*|"
                        r"(?:叫|是|为)?(?:谁|什么|什么名字|哪里|哪儿|什么地方|哪位|哪一位|哪个人|"
                        r"哪(?:座|个|家|所|条|本|部)?\w{1,3})?[？?]*")


def unfold_chinese(question: str, limit: int) -> list[str]:
    """Decompose a nested question into steps, in the order in which they can be answered.

    Args:
        question: one Chinese question.
        limit: the most steps.

    Returns:
        The steps, which may refer to earlier answers; only the question itself if it is not nested, or if it would need
        more than `limit`.
    """
    steps: list[str] = []
    rest = question.strip()
    while step := _anaphor(rest, len(steps) + 1) or _topic(rest, len(steps) + 1) or _outermost(rest, len(steps) + 1):
        asked, rest = step
        steps.append(asked)
    return [*steps, rest] if len(steps) < limit else [question]


def _anaphor(text: str, number: int) -> tuple[str, str] | None:
    """Split '……在哪个省，这个省的……', whose second half is about the first half's answer."""
    match = _ANAPHOR.match(text)
    if match is None or _outermost(match["first"] + "？", number):
        return None
    return f"{match['first']}？", f"{reference(number)}{match['rest']}"


def _topic(text: str, number: int) -> tuple[str, str] | None:
    """Split '带来启发的医书，它的作者……', a topic and a question about it by a pronoun."""
    match = _TOPIC.match(text)
    if match is None:
        return None
    asks = "谁" if match["pronoun"] in "他她" else "什么"
    return f"{match['topic']}是{asks}？", f"{reference(number)}的{match['rest']}"


def _outermost(text: str, number: int) -> tuple[str, str] | None:
    """Return the described noun at the beginning as a question, and the rest of the question."""
    for pattern, ask in ((_AGENT, _ask_agent), (_STATE, _ask_state), (_CHAIN, _ask_chain)):
        match = pattern.match(text)
        if match and not _ASKS_NAME.fullmatch(match["rest"]):
            return ask(match), f"{reference(number)}{_attach_rest(match)}"
    return None


def _attach_rest(match: re.Match[str]) -> str:
    """Return the text after the described noun; after a comma it is an attribute of that noun."""
    rest = match["rest"]
    if match.string[match.start("rest") - 1] not in "，,":
        return rest
    return f"的{re.sub(r'^(?:它|其|他|她)的?', '', rest)}"


def _ask_agent(match: re.Match[str]) -> str:
    noun = match["noun"]
    who = "谁" if noun in _PEOPLE else f"{_which(noun)}"
    return f"{who}{match['verb']}了{match['object']}？"


def _ask_state(match: re.Match[str]) -> str:
    state = "" if match["state"] == "所在" else match["state"]
    joint = "" if state in {"考入", "流经", "属于", "就读", "位于"} else "于" if state == "毕业" else "在"
    return f"{match['owner']}{state}{joint}{_which(match['noun'])}？"


def _ask_chain(match: re.Match[str]) -> str:
    what = "什么" if match["noun"] in _PLACE_RELATIONS else "谁"
    return f"{match['owner']}的{match['noun']}是{what}？"


def _which(noun: str) -> str:
    measure = "所" if noun in {"大学", "学校", "学院"} else "家" if noun in _ORGANISATIONS else \
        "部" if noun in _WORKS else "座" if noun in {"城市", "山", "岛"} else "个"
    return f"哪{measure}{noun}"
