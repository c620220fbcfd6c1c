"""The words with which people ask about the rows of a table, in English and Chinese."""

import re

from ...schemas.lookups import Calculation
from ...text.content_words import stem
from ...text.lexicon import ENGLISH_STOP, word_set


def _form(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
ASIDE = _form(
    r"\([^()]*\)", r"（[^（）]*）", r",? (?:whatever|regardless of|no matter|irrespective of)\b[^,.?!;]*",
    r"(?<=[.?!]) (?:give|state|name|list|show)? ?(?:me )?(?:both|the|all|their)? ?(?:numbers?|counts?|names?)"
    r"(?: (?:of each|for each|please))?[^.?!]*[.?!]?$",
    r"(?<=[.?!]) (?:also )?includ(?:e|ing) (?:also |even )?(?:ones|those|any|all)\b[^.?!]*[.?!]?$")
"""Remarks that do not limit the rows: brackets, "whatever the status", "Give both numbers.", "Include those ..."."""

# What to do with the rows.
COUNT = _form(r"\bhow many\b", r"\bnumber of\b(?! (?:every|each)\b)", r"\bhow often\b", "多少(?![钱元块米])", "数量",
              "总数", "共有几", "几[个位名家人本件部种项条份只张篇台款座所次期]")
SUM = _form(r"\b(?:total|sum|altogether|in all|combined)\b", "总[共计额和]", "合计", "一共")
MEAN = _form(r"\b(?:average|mean)\b", "平均")
TIME = re.compile(r"\b(?:which|what) (?:year|month|day|date|decade|century)\b|哪一?年", re.IGNORECASE)
"""What asks for a time."""
LISTED = _form(r"\b(?:which|what|list|name all|name every|give me all|show|all|every|who)\b", "哪|列出|所有|谁")
MOST = _form(r"\b(?:most|largest number|greatest number|highest number|longest|largest|biggest|more|top)\b",
             "[最更]多", "最长")
FEWEST = _form(r"\b(?:fewest|least|smallest number|lowest number|shortest|fewer)\b", "[最更]少")
FIRST = _form(r"\b(?:first|earliest|oldest|longest[- ]serving|older|earlier)\b", "最早|最先|最老|最年长|更早|最久")
LAST = _form(r"\b(?:latest|newest|most recent(?:ly)?|youngest|last|younger|later|newer)\b",
             "最晚|最新|最近|最年轻|最后|更晚")
LARGE = _form(
    r"\b(?:largest|biggest|highest|most expensive|dearest|costliest|heaviest|longest|greatest|tallest|widest|fastest|"
    r"deepest|most|more|larger|bigger|higher|dearer|heavier|longer|taller|faster|more expensive)\b",
    "[最更][高大贵重长多快深]")
SMALL = _form(
    r"\b(?:smallest|lowest|cheapest|least expensive|lightest|shortest|least|fewest|slowest|smaller|lower|cheaper|less|"
    r"lighter|shorter)\b", "最[低小轻短少慢]", "最便宜", "更[低小轻短少]", "更?便宜")
CALCULATED: dict[Calculation, re.Pattern[str]] = {
    "first": FIRST, "last": LAST, "smallest": SMALL, "largest": LARGE, "mean": MEAN, "sum": SUM}
DEGREE = _form(LARGE.pattern, SMALL.pattern, FIRST.pattern, LAST.pattern)
HAN_DEGREES = {"贵便宜": "price", "轻重": "weight", "高": "height", "长短": "length", "大小": "size"}
"""What a Chinese degree is of, as a concept of the lexicon."""

# What the rows are grouped by, and how many groups are asked for.
GROUP = _form(r"\b(?:by|per|each|every) $", "(?:按|各|每[个种年月]?)$")
PERIOD = _form(r"\b(?:which|what|top|three|by|per|each|every)\s+(?:\w+\s+){0,2}(?P<period>year|month|decade)s?\b",
               "哪(?:一|几)?个?(?P<asked>年|月)", "[按每](?P<each>年|月)")
HAN_PERIODS = {"年": "year", "月": "month"}
_NUMBERS = "two|three|four|five|six|seven|eight|nine|ten"
TOP = _form(rf"\b(?:top|first|which|what|the)\s+(?P<first>\d{{1,2}}|{_NUMBERS})\b",
            rf"\b(?P<second>\d{{1,2}}|{_NUMBERS})\s+(?:most|largest|biggest|highest|lowest|cheapest|oldest|newest|latest|"
            r"earliest)\b", r"前(?P<zh>[一二三四五六七八九十\d])")
NUMERALS = {word: number for number, word in enumerate(("one", *_NUMBERS.split("|")), 1)} | {
    word: number for number, word in enumerate("一二三四五六七八九十", 1)}

# Conditions.
COMPARED = _form(
    r"(?P<over>more than|over|above|exceed\w*|(?:greater|higher|longer|later) than|超过|大于|高于|多于|以上)",
    r"(?P<under>less than|fewer than|under|below|(?:cheaper|lower|shorter|earlier) than|不到|低于|少于|小于|以下)",
    r"(?P<least>at least|no less than|minimum of|不少于|至少|不低于)",
    r"(?P<cap>at most|no more than|up to|不超过|至多|最多)", r"(?P<after>after|晚于|之后)",
    "(?P<since>since|自从|以来)",
    r"(?P<before>before|until|早于|之前)")
SIGNS = {"over": ">", "under": "<", "least": ">=", "cap": "<=", "after": ">", "since": ">=", "before": "<"}
BETWEEN = _form(r"\b(?:between|from)\s+$", "(?:从|介于)$")
AND = _form(r"\s{0,3}(?:and|to|-|–|到|至|和)\s{0,3}")
BOUNDS = _form(COMPARED.pattern, r"\bbetween\b", r"\bor (?:more|less|fewer|later|earlier|above|below|in|over|under)\b",
               "之间|以内")
"""Bounds of a number or date. A question with a bound that was not read would get the wrong rows."""
NOT = _form(r"\b(?:not|n't|never|without|no|isn't|aren't|other than|except)\s+(?:\w+\s+){0,1}$", "(?:不是|没有|非|无)$")
NEGATION = _form(r"\b(?:not|never|without|no|nor|neither|but|except|other than|lacks?|lacking)\b", r"n['’]t\b",
                 "不|没|无|非|除|未")
"""Negations. A question with a negation that was not read would get the opposite answer."""
BOTH = _form(r"\bboth\b(?! numbers| counts)", "同时|既")
NONE = _form(r"\b(?:no|without(?: an?| any)?|lacks?|lacking)\s+$", "(?:没有|无|缺)$")
CONTAINS = _form(r"\b(?:mention|contain|include|say|name|cite|refer|begin|start)\w*\b", "提到|包含|含有")
QUOTED = re.compile(r"[\"“”「『]([^\"“”「」『』]{1,60})[\"“”」』]")
IN_FIELD = _form(r"\b(?:in|among|under|as|to|by) (?:\w+ ){0,3}$")
OR = _form(r"\bor\b", r"\bthan\b", "还是|比|哪|和")
WHO = re.compile(r"(?:who|whom|whose)\b|谁", re.IGNORECASE)
WHICH_BEFORE = _form(r"\b(?:which|what|whose)\s+(?:\w+\s+)?$", "哪(?:一|几)?[位个本家名种]?$")
ASKED = _form(r"\b(?:how many(?: different| distinct)?|which|what|of the|list(?: all| every)?|name(?: all| every)?|all|"
              r"every|each|are there more)\s+(?:of the |the )?(?=\w)")
"""What stands before the noun that a question calls the rows."""
HAN_ASKED = re.compile("哪[一几些]?[个位名家部本件种项条份只张篇台款座所次期道间]?"
                       r"(?P<noun>[\u4e00-\u9fff]{1,2}?)(?=[的最是有在，,、？?\s]|$)")
"""The same in Chinese, with the noun: 哪道菜. What 多少 counts may be a number that a thing has: 有多少会员."""
IN_TURN = _form(r"\bdirectly or (?:indirectly|through)\b", r"\bindirectly\b", r"\bin turn\b", r"\bchain\b",
                r"\ball that (?:follow|depend)", r"\b(?:followed|came|resulted) from\b", "间接|依次|由此")

# Words that say nothing of which rows are meant.
PREPOSITIONS = word_set("by in at of to on from for with")
NO_FIELD = word_set("count number name value total list field row record item entry")
"""Fields of these names are in every question about rows, and asked for by none."""
ENDINGS = frozenset(stem(word) for word in ("date", "year", "name", "number", "time", "place", "day"))
"""Words at the end of a field's name that questions leave out: "date" in "birth date"."""
FLAGS = word_set("yes no true false y n 0 1 是 否 有 无")
"""The values of fields that say yes or no, of which nobody asks how many there are."""
GENERIC = word_set("go gone here reach reaches reached be become became been turn turned stand stands end ended up "
                   "still now today yet currently present moment time field fields value values entry entries row rows "
                   "record records item items thing things one ones each both list lists listed listing name names "
                   "named show shows give gives given count counts number numbers total different distinct various "
                   "other others another else own directly direct themselves itself himself herself respectively state "
                   "stated states header word words text file files document documents among within during into whole "
                   "altogether all any every some exactly just only also please have has had make made get got fall "
                   "falls fell date dates dated common frequent frequently often prolific top most more less least "
                   "fewer fewest largest smallest highest lowest longest shortest biggest greatest latest earliest "
                   "oldest newest recent recently first last older younger youngest cheapest dearest expensive kind "
                   "sort kinds sorts look turns split divide group grouped break down compared compare between going "
                   "according based out there exist exists appear appears set sets produce produced contain contains "
                   "mention mentions mentioning include includes would could people person who much worth than over "
                   "under above below since after before until at per cent in of to by two three four five six seven "
                   "eight nine ten year years month months decade decades so far as well ever belong belongs belonging "
                   "hold holds held carry carries cost costs priced price")
SAYS_NOTHING = GENERIC | ENGLISH_STOP
HAN_GENERIC = re.compile(
    "请|列出|给出|所有|全部|哪些|哪几|哪一|哪|几|个|位|名|家|人|本|件|部|种|项|条|份|只|张|篇|台|款|座|所|次|期|是|的|了|有|在|于|"
    "和|与|及|或者|还是|或|被|由|为|中|里|内|共有|共|一共|总共|多少|数量|总数|什么|谁|最|更|多|少|高|低|大|小|早|晚|新|老|贵|便宜|"
    "长|短|分别|各|按|每|年|月|日|期间|以来|之前|之后|以前|以后|都|其|其中|属于|叫|吗|呢|？|超过|不到|以上|以下|元|不|没|没有|价格|"
    "时候|时间|出|来|它|他|她|们|这|那|些|上|下|需要|排|前|后|名单|记录|条目|个数|人数|同时|比较|平均|合计|总计|总和|年份")
