"""The sentence forms that state a fact: a short list with examples, each form right nine times in ten.

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


_BIRTH, _DEATH = ("born_in", "birthplace", "place_of_birth"), ("died_in", "place_of_death")
_BIRTH_DATE, _DEATH_DATE = ("birth_date", "date_of_birth"), ("death_date", "date_of_death")
_FOUNDER, _FOUNDING = ("founded_by", "founder"), ("founding_date", "founded", "inception")
_PLACE, _CAPITAL = ("located_in", "based_in", "location"), ("capital_of", "capital")
_AUTHOR, _PERFORMER = ("written_by", "created_by", "author"), ("performed_by", "performer")
_RELEASE = ("release_date", "publication_date")

_OPEN = r"(?:^|^The |; (?:the )?|, (?:and|but|while) (?:the )?)"
"""The beginning of a clause with its subject."""
_ASIDE = r"(?: \([^()]{0,80}\))?"
_IS = rf"{_ASIDE},? (?:is|was|are|were) (?:an?|the|one of the) "
_WORDS = r"(?:(?:the )?[A-Za-z-]+ ){0,5}?"
"""Words between 'by' and a name: 'by the Norwegian writer'."""
_NOUNS = r"(?:(?!(?:for|to|of|that|which|by|with|from|used|who) )[\w'’-]+ ){1,7}?"
"""A noun phrase without a clause in it."""
_IN_PLACE = r"in <location>(?:, <location>){0,2}"
_LIFE = (r"<person head>(?:, [A-Z]{2,4})? \((?:[^()–-]{0,40}[,;] )?BORN(?:,? (?:in )?<location>(?:, <location>){0,2})?"
         r" (?:[–—-]|--) (?:<location>, )?DIED")

ENGLISH = (
    Pattern(_BIRTH, rf"<person head>{_ASIDE}(?:,[^,]{{0,40}},)? was born (?:as [^,;]{{0,40}} )?(?:on <date>,? )?"
            r"(?:in|at) (?:the (?:\w+ ){1,4}of )?<location tail>",
            (("Ada Blum was born on 3 May 1901 in Oslo.", "Ada Blum", "Oslo"),
             ("Ada Blum, the painter, was born in Bergen, Norway.", "Ada Blum", "Bergen"))),
    Pattern(_BIRTH, r"<person head> \((?:[^()]{0,40}[,;] )?born (?:on )?<date>,? (?:in )?<location tail>",
            (("Ada Blum (born 3 May 1901 in Oslo) is a painter.", "Ada Blum", "Oslo"),)),
    Pattern(_BIRTH, r"^Born (?:on <date>,? )?in <location tail>(?:, <location>){0,2}(?:,? (?:on|in) <date>)?,"
            r" <person head>",
            (("Born in Oslo, Norway, Ada Blum studied art.", "Ada Blum", "Oslo"),)),
    Pattern(_BIRTH_DATE, r"<person head>(?:, [A-Z]{2,4})?(?:, [^,()]{0,40},)? \((?:[^()]{0,60}[,;] )?(?:born|b\.) "
            r"(?:on )?<date tail>",
            (("Ada Blum (born 3 May 1901) is a painter.", "Ada Blum", "3 May 1901"),)),
    Pattern(_BIRTH_DATE, rf"<person head>{_ASIDE} was born (?:{_IN_PLACE},? )?(?:on|in) <date tail>",
            (("Ada Blum was born on 3 May 1901 in Oslo.", "Ada Blum", "3 May 1901"),
             ("Ada Blum was born in Oslo, Norway, in 1901.", "Ada Blum", "1901"))),
    Pattern(_BIRTH_DATE, _LIFE.replace("BORN", "<date tail>").replace("DIED", "<date>"),
            (("Ada Blum (3 May 1901 – 4 June 1980) was a painter.", "Ada Blum", "3 May 1901"),)),
    Pattern(_DEATH_DATE, _LIFE.replace("BORN", "<date>").replace("DIED", "<date tail>"),
            (("Ada Blum (3 May 1901 – 4 June 1980) was a painter.", "Ada Blum", "4 June 1980"),)),
    Pattern(_DEATH_DATE, rf"<person head>{_ASIDE} died (?:{_IN_PLACE},? )?(?:on|in) <date tail>",
            (("Ada Blum died in Bergen on 4 June 1980.", "Ada Blum", "4 June 1980"),)),
    Pattern(_DEATH, rf"<person head>{_ASIDE} died (?:on <date>,? )?(?:in|at) (?:(?:his|her) home in )?<location tail>",
            (("Ada Blum died in Bergen on 4 June 1980.", "Ada Blum", "Bergen"),)),
    Pattern(("spouse",), r"<person head> (?:was )?married (?:to )?(?:(?:the|his|her|fellow|an?) )?(?:[a-z-]+ ){0,3}"
            r"<person tail>",
            (("Ada Blum married the sculptor Paul Weiss in 1925.", "Ada Blum", "Paul Weiss"),)),
    Pattern(("child_of", "parent"), r"<person head>,? (?:is |was )?(?:the )?"
            r"(?:(?:eldest|elder|oldest|youngest|younger|only|first|second|third) )?(?:son|daughter|child) of "
            r"(?:(?:the )?[a-z]+ ){0,3}<person tail>",
            (("Ada Blum was the daughter of the merchant Karl Blum.", "Ada Blum", "Karl Blum"),)),
    Pattern(("educated_at",), r"<person head> (?:(?:later|also|then|first) )?"
            r"(?:graduated from|studied (?:[a-z]+ ){0,4}at|attended|was educated at) (?:the )?<organization tail>",
            (("Ada Blum studied painting at the University of Oslo.", "Ada Blum", "University of Oslo"),)),
    Pattern(("ceo_of", "works_for"), r"<person head>,? (?:(?:is|was|became) )?(?:the )?"
            r"(?:(?:current|(?P<time>former)|first) )?(?:CEO|chief executive(?: officer)?|chair(?:man|woman)?|"
            r"president|managing director) of (?:the )?<organization tail>",
            (("Ada Blum is the chief executive of Acme Corporation.", "Ada Blum", "Acme Corporation"),)),
    Pattern(("received_award",), r"<person|organization|work head> (?:(?:has|had) )?"
            r"(?:won|received|was awarded|is (?:a|the) (?:winner|recipient) of) (?:(?:the|a|an|her|his) )?(?:<date> )?"
            r"<award tail>",
            (("In 1931 Ada Blum received the Oslo Art Prize.", "Ada Blum", "Oslo Art Prize"),)),
    Pattern(("discovered_by",), r"<name head> was (?:first )?discovered (?:(?:on|in) <date> )?by (?:[A-Za-z-]+ ){0,4}"
            r"<person tail>",
            (("Asteroid Oslona was discovered in 1931 by the astronomer Ada Blum.", "Asteroid Oslona", "Ada Blum"),)),
    Pattern(("named_after",), r"<name head> (?:is|was) named (?:after|for|in honou?r of) (?:(?:the )?[a-z]+ ){0,3}"
            r"<name tail>",
            (("Blum Island was named after the painter Ada Blum.", "Blum Island", "Ada Blum"),)),
    Pattern(_FOUNDER, r"<organization head> was (?:co-)?(?:founded|established|formed|started) (?:(?:in|on) <date> )?"
            r"(?:in <location> )?(?:in <date> )?by (?:(?!of )[a-z-]+ ){0,4}<person|organization tail>",
            (("Acme Corporation was founded in 1970 by Karl Blum.", "Acme Corporation", "Karl Blum"),)),
    Pattern(_FOUNDER, rf"{_OPEN}<organization head>{_IS}[^.;()]{{0,80}}?,? (?:co-)?founded (?:in <date> )?by "
            r"(?:[a-z-]+ ){0,3}<person tail>",
            (("Acme Corporation is a maker of pumps founded in 1970 by Karl Blum.", "Acme Corporation", "Karl Blum"),)),
    Pattern(_FOUNDER, r"<person tail> (?:co-)?founded (?:the )?<organization head>",
            (("Karl Blum founded Acme Corporation in 1970.", "Acme Corporation", "Karl Blum"),)),
    Pattern(_FOUNDING, r"<organization|location head> was (?:co-)?(?:founded|established|formed|incorporated|created) "
            r"(?:by <person|organization> )?(?:in <location> )?(?:on|in) <date tail>",
            (("Acme Corporation was founded by Karl Blum in 1970.", "Acme Corporation", "1970"),)),
    Pattern(_FOUNDING, rf"{_OPEN}<organization head>{_IS}[^.;()]{{0,80}}?,? (?:founded|established|formed) (?:on|in) "
            r"<date tail>",
            (("Acme Corporation is a maker of pumps, founded in 1970.", "Acme Corporation", "1970"),)),
    Pattern(("directed_by",), rf"{_OPEN}<work head>{_IS}[^.;,()]{{0,80}}?(?:written and |produced and |co-)?directed "
            r"(?:and (?:co-)?(?:written|produced|edited) )?by (?:[A-Za-z-]+ ){0,3}<person tail>",
            (("\"The Rivers of Oslo\" is a 1950 drama film directed by Ada Blum.", "The Rivers of Oslo", "Ada Blum"),)),
    Pattern(("directed_by",), r"<person tail> directed (?:the )?(?:[a-z]+ ){0,3}<work head>",
            (("Ada Blum directed the film \"The Rivers of Oslo\".", "The Rivers of Oslo", "Ada Blum"),)),
    Pattern(_AUTHOR, rf"{_OPEN}<work head>{_IS}[^.;,()]{{0,60}}?"
            r"(?:novel|book|poem|play|story|opera|symphony|essay|memoir|novella|painting|musical|comedy)"
            rf"(?: (?:written|composed|painted|created))? by {_WORDS}<person tail>",
            (("\"The Rivers of Oslo\" is a novel by the Norwegian writer Ada Blum.", "The Rivers of Oslo",
              "Ada Blum"),)),
    Pattern(_AUTHOR, r"<person tail> wrote (?:the |a )?(?:[a-z]+ ){0,3}<work head>",
            (("Ada Blum wrote the novel \"The Rivers of Oslo\".", "The Rivers of Oslo", "Ada Blum"),)),
    Pattern((*_PERFORMER, "created_by"), rf"{_OPEN}<work head>{_IS}[^.;,()]{{0,60}}?(?:song|single|album|mixtape|EP)"
            rf"(?: (?:recorded|performed|released))? by {_WORDS}<person|organization tail>",
            (("\"Quiet Harbour\" is a song by the Norwegian singer Ada Blum.", "Quiet Harbour", "Ada Blum"),)),
    Pattern(_PERFORMER, rf"{_OPEN}<work head>{_IS}[^.;()]{{0,120}}?(?:starring|stars) <person tail>",
            (("\"The Rivers of Oslo\" is a 1950 drama film starring Ada Blum.", "The Rivers of Oslo", "Ada Blum"),)),
    Pattern(("published_by", "produced_by"), rf"{_OPEN}<work head>{_IS}[^.;()]{{0,80}}?published (?:[a-z]+ )?by "
            r"(?:the )?<organization tail>",
            (("\"Quiet Harbour\" is a magazine published monthly by Acme Corporation.", "Quiet Harbour",
              "Acme Corporation"),)),
    Pattern(_RELEASE, rf"{_OPEN}<work head>{_IS}<date tail> (?:[A-Za-z-]+ ){{0,5}}"
            r"(?:film|album|song|novel|single|book|game|movie|comedy|drama)",
            (("\"The Rivers of Oslo\" is a 1950 Norwegian film.", "The Rivers of Oslo", "1950"),)),
    Pattern(_RELEASE, r"<work|product head> was (?:first )?(?:released|published) (?:[a-z]+ )?(?:on|in) <date tail>",
            (("\"Quiet Harbour\" was released on 3 May 1950.", "Quiet Harbour", "3 May 1950"),)),
    Pattern(_PLACE, rf"{_OPEN}<location|organization head>{_IS}{_NOUNS}(?:located |situated |based |headquartered )?in "
            r"(?:the (?:[a-z-]+ ){0,3}(?:of )?)?<location tail>",
            (("Blum Island is a small island in Lake Geneva.", "Blum Island", "Lake Geneva"),
             ("Acme Corporation is a pump maker based in Cairo.", "Acme Corporation", "Cairo"))),
    Pattern(_PLACE, r"(?<! of )(?<! of the )<location|organization head>(?:,[^,]{0,40},)? (?:is|was|lies) "
            r"(?:(?:located|situated|based|headquartered) )?in (?:the )?<location tail>",
            (("Acme Corporation is headquartered in Cairo.", "Acme Corporation", "Cairo"),)),
    Pattern(_PLACE, r" (?:in|at|near) <location head>, <location tail>"
            r"(?!,? (?:and|or) |,? <location>,? and|, <location>, <location>)",
            (("She lived in Bergen, Norway.", "Bergen", "Norway"),), aside=True),
    Pattern(_CAPITAL, r"<location head>,? (?:is |was |became )?the (?:[a-z]+ (?:and [a-z]+ )?)?capital (?:city )?"
            r"(?:and [a-z ]{0,30})?of (?:the )?(?:[a-z]+ of )?<location tail>"
            r"(?! (?:state|province|region|county|district))",
            (("Oslo is the capital and largest city of Norway.", "Oslo", "Norway"),)),
    Pattern(("flows_into",), r"<location head> (?:flows|empties|drains|discharges) into (?:the )?<location tail>",
            (("The Blum River flows into Lake Geneva.", "Blum River", "Lake Geneva"),)),
    Pattern(("flows_into",), rf"{_OPEN}<location head>{_IS}(?:[a-z-]+ ){{0,3}}tributary of (?:the )?<location tail>",
            (("The Blum River is a left tributary of the Akerselva River.", "Blum River", "Akerselva River"),)),
    Pattern(("population",), r"<location head>(?:'s population| had a population| has a population)"
            r"(?: was| is| of| stood at){1,2} (?:about |approximately |around |estimated at )?<number tail>",
            (("Germany had a population of 83,000,000 in 2020.", "Germany", "83,000,000"),)),
    Pattern(("subsidiary_of", "part_of"), rf"{_OPEN}<organization head>{_IS}[^.;()]{{0,60}}?"
            r"(?:subsidiary|division|unit) of (?:the )?<organization tail>",
            (("Delta Valves Ltd is a subsidiary of Acme Corporation.", "Delta Valves Ltd", "Acme Corporation"),)),
    Pattern(("acquired",), r"<organization head> (?:has )?(?:acquired|bought|purchased|took over) (?:the )?"
            r"<organization tail>",
            (("Acme Corporation acquired Delta Valves Ltd in 2001.", "Acme Corporation", "Delta Valves Ltd"),)),
    Pattern(("event_date",), r"<event head> (?:was held|took place|was fought|occurred) (?:on|in) <date tail>",
            (("The Battle of Oslo was fought on 3 May 1801.", "Battle of Oslo", "3 May 1801"),)),
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
