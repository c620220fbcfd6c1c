"""The sentence forms that state a fact: in Chinese, and in English brackets and apposition, which the parser reads badly.

A form is a regular expression with placeholders for names: `<person>`, `<location|organization>`, `<award>` for the
name of a prize, and `<name>` for a name of any kind. `<date>` and `<number>` match values. `<... head>` and
`<... tail>` are the ends of the fact. The examples are run as tests: each gives the one fact that its form states.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pattern:
    """A form of sentences, and the fact that they state.

    `says` lists the names that schemas use for a relation or attribute; the first one in the current schema counts, and
    without any the form is not used. A group `time` has words that say when the fact holds. `examples` are (sentence,
    head, tail or value).
    """

    says: tuple[str, ...]
    form: str
    examples: tuple[tuple[str, str, str], ...]
    aside: bool = False
    """The fact is said beside another one, to which a date that follows belongs: "born in Bergen, Norway, in 1901"."""


_BIRTH = ("born_in", "birthplace", "place_of_birth")
_BIRTH_DATE, _DEATH_DATE = ("birth_date", "date_of_birth"), ("death_date", "date_of_death")
_FOUNDING = ("founding_date", "founded", "inception")
_PLACE, _CAPITAL = ("located_in", "based_in", "location"), ("capital_of", "capital")
_AUTHOR = ("written_by", "created_by", "author")
_RELEASE = ("release_date", "publication_date")

_OPEN = r"(?:^|^The |; (?:the )?|, (?:and|but|while) (?:the )?)"
"""The beginning of a clause with its subject."""
_ASIDE = r"(?: \([^()]{0,80}\))?"
_IS = rf"{_ASIDE},? (?:is|was|are|were) (?:an?|the|one of the) "
_LIFE = (r"<person head>(?:, [A-Z]{2,4})? \((?:[^()–-]{0,40}[,;] )?BORN(?:,? (?:in )?<location>(?:, <location>){0,2})?"
         r" (?:[–—-]|--) (?:<location>, )?DIED")

ENGLISH = (
    Pattern(_BIRTH, r"<person head> \((?:[^()]{0,40}[,;] )?born (?:on )?<date>,? (?:in )?<location tail>",
            (("Ada Blum (born 3 May 1901 in Oslo) is a painter.", "Ada Blum", "Oslo"),)),
    Pattern(_BIRTH_DATE, r"<person head>(?:, [A-Z]{2,4})?(?:, [^,()]{0,40},)? \((?:[^()]{0,60}[,;] )?(?:born|b\.) "
            r"(?:on )?<date tail>",
            (("Ada Blum (born 3 May 1901) is a painter.", "Ada Blum", "3 May 1901"),)),
    Pattern(_BIRTH_DATE, _LIFE.replace("BORN", "<date tail>").replace("DIED", "<date>"),
            (("Ada Blum (3 May 1901 – 4 June 1980) was a painter.", "Ada Blum", "3 May 1901"),)),
    Pattern(_DEATH_DATE, _LIFE.replace("BORN", "<date>").replace("DIED", "<date tail>"),
            (("Ada Blum (3 May 1901 – 4 June 1980) was a painter.", "Ada Blum", "4 June 1980"),)),
    Pattern(_RELEASE, rf"{_OPEN}<work head>{_IS}<date tail> (?:[A-Za-z-]+ ){{0,5}}"
            r"(?:film|album|song|novel|single|book|game|movie|comedy|drama)",
            (("\"The Rivers of Oslo\" is a 1950 Norwegian film.", "The Rivers of Oslo", "1950"),)),
    Pattern(_PLACE, r" (?:in|at|near) <location head>, <location tail>"
            r"(?!,? (?:and|or) |,? <location>,? and|, <location>, <location>)",
            (("She lived in Bergen, Norway.", "Bergen", "Norway"),), aside=True),
    Pattern(("population",), r"<location head>(?:'s population| had a population| has a population)"
            r"(?: was| is| of| stood at){1,2} (?:about |approximately |around |estimated at )?<number tail>",
            (("Germany had a population of 83,000,000 in 2020.", "Germany", "83,000,000"),)),
    Pattern(("alias",), rf"(?<!, )<name head>{_ASIDE},? (?:(?:is |was )?"
            r"(?:also|better|commonly|formerly|colloquially) )(?:known|called) as (?:the )?<name tail>",
            (("Delta Valves Ltd, formerly known as Nile Valves Ltd, makes valves.", "Delta Valves Ltd",
              "Nile Valves Ltd"),)),
)

_ESTABLISHED = "(?:成立|创立|创建)"
_NUMBERS = (("revenue", "营业收入|营业总收入|营收|总收入"), ("net_profit", "净利润"),
            ("total_assets", "总资产|资产总额"), ("total_liabilities", "总负债|负债总额"),
            ("equity", "股东权益|净资产"))

CHINESE = (
    Pattern(_FOUNDING, f"<organization head>[^。；，]{{0,30}}?{_ESTABLISHED}于<date tail>",
            (("北方泵业公司成立于2000年5月，总部在北京市。", "北方泵业公司", "2000年5月"),
             ("北方泵业公司是一家成立于2000年的制造企业。", "北方泵业公司", "2000年"))),
    Pattern(_FOUNDING, f"<organization head>(?:是一家)?(?:于|在)<date tail>(?:在<location>{{1,2}})?"
            f"(?:注册)?{_ESTABLISHED}",
            (("北方泵业公司是一家在2005年3月成立的供应商。", "北方泵业公司", "2005年3月"),)),
    Pattern(("based_in", "located_in"), "<organization head>[^。；]{0,60}?"
            "总部(?:位于|设在|坐落于|设于|在)<location>?<location tail>",
            (("北方泵业公司成立于2000年，总部位于北京市。", "北方泵业公司", "北京市"),)),
    Pattern(("listed_on",), "<organization head>[^。；]{0,60}?"
            "在<organization|location tail>(?:主板|创业板|科创板)?(?:挂牌)?上市",
            (("北方泵业公司于2010年在香港交易所上市。", "北方泵业公司", "香港交易所"),)),
    Pattern(("acquired",), "<organization head>[^，。；]{0,20}?(?:收购了|完成了?对)<organization tail>"
            "(?=$|[，。；]|的[^，。；的]{0,6}收购)",
            (("北方泵业公司于2019年1月收购了南方阀门公司。", "北方泵业公司", "南方阀门公司"),
             ("北方泵业公司于2019年1月完成了对南方阀门公司的股权收购。", "北方泵业公司", "南方阀门公司"))),
    Pattern(("invests_in",), "<organization head>[^，。；]{0,20}?投资了<organization tail>",
            (("北方泵业公司在2019年2月投资了华南医药公司。", "北方泵业公司", "华南医药公司"),)),
    *(Pattern((name,), f"<organization head>[^，。；]{{0,16}}?(?:的|实现了?)(?:{words})"
              "(?:为|达到了?|达|是|总额为|合计)?约?<number tail>",
              ((f"北方泵业公司的{words.partition('|')[0]}为20亿元。", "北方泵业公司", "20亿元"),))
      for name, words in _NUMBERS),
    Pattern(_BIRTH, "<person head>[^。；]{0,20}?(?:出生于|生于)(?:<date>)?<location>?<location tail>",
            (("王小明1930年出生于浙江省宁波市。", "王小明", "浙江省宁波市"),)),
    Pattern(_BIRTH_DATE, "<person head>[^。；]{0,8}?<date tail>(?:出生|生于)",
            (("王小明1930年12月30日出生于浙江省宁波市。", "王小明", "1930年12月30日"),)),
    Pattern(_CAPITAL, "<location head>是<location tail>的首都", (("北京市是中国的首都。", "北京市", "中国"),)),
    Pattern(_AUTHOR, "《<work head>》是[^，。；]{0,20}?<person tail>(?:所|于<date>)?(?:创作|写|著|撰写|编写)的",
            (("《故乡的河》是作家王小明创作的小说。", "故乡的河", "王小明"),)),
    Pattern(_AUTHOR, "<person tail>(?:创作|写|著|撰写|编写|发表)了?[^，。；]{0,8}?《<work head>》",
            (("王小明写了小说《故乡的河》。", "故乡的河", "王小明"),)),
)
