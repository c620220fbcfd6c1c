"""Closed word lists that separate and classify names in English and Chinese.

They contain general knowledge of the two languages and are short on purpose. The parse and the schema's cues decide the
rest.
"""

from ....text.lexicon import word_set

CALENDAR = word_set("january february march april may june july august september october november december jan feb mar "
                    "apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday bc "
                    "bce ad ce")
"""Capitalised words of time, which are not names."""

ROLES = word_set("president chairman chairwoman chancellor premier minister governor mayor secretary ambassador "
                 "director ceo cfo cto coo chief head captain coach general senator representative professor dean "
                 "emperor king queen pope vice deputy prime sir dr mr mrs ms prof lord lady prince princess saint "
                 "judge justice sergeant lieutenant colonel major admiral commander bishop cardinal rabbi father "
                 "brother sister congressman congresswoman senator democrat republican")
"""Titles: they mark the following name as a person's, and are not names themselves."""

POSTS = word_set("director directors chairperson chairman chairwoman chair officer officers secretary treasurer "
                 "president manager managers editor editors maintainer maintainers contributor contributors developer "
                 "developers member members coordinator representative commissioner employee employees supplier "
                 "suppliers vendor")
"""The last words of posts, which no person is called."""

THINGS = word_set("projects procedures procedure lifecycle list badge identifier playbook playbooks certification "
                  "self-certification template templates questions questionnaire draft date checklist guideline "
                  "guidelines")
"""The last words of what bodies and people have, which none is called."""

OF_ANY_KIND = word_set("member members founder owner leader winner model partner participant host supplier")
"""Nouns for persons that are also said of other things: "Norway is a member of"."""

PREPOSITIONS = word_set("of in on at by for from with to into through under over against after before between during "
                        "near within along across about as via onto upon toward towards behind around")
CHINESE_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩邓冯曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟"
    "姜崔谭陆范汪廖石金韦贾夏付方邹熊白孟秦邱侯江尹薛闫段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔向常汤葛屠鲁萧"
    "庄詹温康施牛樊安邢颜倪章季岳齐梅霍尚殷翁阮柳俞裴鲍关骆祝焦纪舒柯耿毕聂祁费晏蒲项柴饶蒙喻诸司欧阮华凌苗窦"
    "桑朴谷简卜艾蓝冷麦甘童左单燕宫隋盛涂邬褚卫楚屈庞阳仇巫申古栾游阎阙伍荣兰宁曲丛岑佟匡鞠甄仲苑敖桂卞谌储靳辛容冉戚"
)
"""One-character Chinese surnames."""

HONOURS = word_set("mbe obe cbe kbe dbe mvo cvo frs phd dso qc")
"""Honours and degrees after the name of a person."""
GENERIC_ACRONYMS = word_set("ceo cfo cto coo ai it pr hr ipo esg kpi pdf faq ok tv vs dna rna erp crm b2b "
                            "b2c eur usd gbp chf cny rmb vat am pm mon tue wed thu fri sat sun cd lp ep dvd "
                            "mw kw gw kwh ltd inc llc d.c") | HONOURS
"""Acronyms that are not names of a single thing."""

PRONOUNS = {"he": "male", "him": "male", "his": "male", "she": "female", "her": "female", "hers": "female",
            "it": "thing", "its": "thing", "they": "group", "them": "group", "their": "group"}
"""Third-person pronouns and what they can refer to."""
