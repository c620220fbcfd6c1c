"""Closed word lists by which names are told from other words, and sorted, in English and Chinese.

They are general knowledge of the two languages, short on purpose. What is not listed is decided by
the text itself: by where a word stands, how it is written elsewhere, and the schema's cues.
"""

import re

from .lexicon import words

MONTHS = words(
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
CALENDAR = MONTHS | words(
    "monday tuesday wednesday thursday friday saturday sunday bc bce ad ce"
)
"""Capitalised words of time: never a name by themselves."""

PARTICLES = words(
    "de van von der den da di du la le los las del della dos das bin ibn al el y ten ter zu am an auf af av st do d'"
)
"""Small words inside names: 'Ludwig van Beethoven', 'Rio de Janeiro'."""

OPENERS = words(
    "a an the this that these those there here it its it's he she they we i you his her their our your my "
    "who whom whose which what when where why how in on at by for from with without within into onto of off "
    "to as if and or but nor so yet not no yes after before during since until while although though because "
    "unless despite under over between among amid against through throughout across along around behind below "
    "beneath beside besides beyond near upon via per than then thus hence also too however moreover therefore "
    "meanwhile instead indeed perhaps maybe often sometimes always never again once twice first second third "
    "fourth fifth finally lastly next later earlier soon today now currently recently originally formerly "
    "initially historically generally usually typically together both either neither each every all any some "
    "many much most more several few other others another such same one two three four five six seven eight "
    "nine ten hundreds thousands about above according following including like unlike just only even still "
    "is was are were be been being has have had do does did can could will would shall should may might must "
    "born died located situated based founded known see note let there's due early late mid modern former "
    "overall namely until whether whereas wherever whenever whatever no-one nobody everyone nothing half part "
    "different various certain numerous new old little great large small long high low"
)
"""Words that begin a sentence with a capital letter and are no name for it."""

SUBORDINATORS = words(
    "in on at by for from with without within after before during since until while although though because "
    "despite under over between among amid against through throughout across along as upon when where if once "
    "following according unlike like both besides beyond near inside outside around toward towards"
)
"""Words that begin a lead-in before the subject: 'After the war, ...'."""

LEAD_NOUNS = words(
    "university college school institute academy faculty bank battle republic kingdom empire duke duchess earl "
    "count countess king queen prince princess ministry department church museum house order treaty siege gulf "
    "bay isle island islands lord lady lake mount cape strait straits river valley bishop archbishop court "
    "board council commission committee association society federation league union hall city town village "
    "province state states district county port tower temple palace castle constitution declaration act bill "
    "law laws theory history book art journal games game legend tale war wars age night day children heart "
    "master bachelor doctor office bureau center centre cathedral parliament senate assembly congress statue "
    "national royal dominion commonwealth free territory sea ocean peninsula mountains hills falls lords "
    "confederation organisation organization institution academy conservatory observatory hospital abbey"
    " knight knights legion sons daughters queen kings rise fall return birth death end edge song songs"
)
"""Capitalised nouns that take 'of ...' into the name: 'University of Paris', 'Battle of Hastings'."""

BODY_NOUNS = words(
    "institute ministry department school faculty board commission college academy association society office "
    "bureau council committee center centre secretary minister federation organization organisation museum "
    "conference journal foundation agency union laboratory"
)
"""Of these, the ones whose names run on with 'for ...' and '... and ...'."""

FIELD_NOUNS = words("prize prizes award medal bachelor master doctor diploma")
"""Nouns whose names run on with 'in ...' and 'for ...': 'Nobel Prize in Physics'."""

FIELDS = words(
    "technology science sciences engineering arts letters industry trade commerce culture health education sport "
    "sports tourism techniques welfare development agriculture economics research telecommunications mechanics "
    "medicine history archaeology mathematics physics chemistry technologies electronics"
)
"""Fields that '... and ...' joins inside the name of a body: 'University of Science and Technology'."""

ROLES = words(
    "president chairman chairwoman chancellor premier minister governor mayor secretary ambassador director "
    "ceo cfo cto coo chief head captain coach general senator representative professor dean emperor king queen "
    "pope vice deputy prime sir dr mr mrs ms prof lord lady prince princess saint judge justice sergeant "
    "lieutenant colonel major admiral commander bishop cardinal rabbi father brother sister"
)
"""Titles: before a name they say that it is a person's, alone they are no name."""

PRONOUNS = {"he": "person", "she": "person", "they": "", "it": "thing", "who": "", "which": "thing"}
"""Subject pronouns that are resolved, with what they stand for."""

POSSESSIVES = {"his": "person", "her": "person", "its": "thing", "their": ""}

AUXILIARIES = words("is was are were be been being has had have became becomes remains remained")

VERB_FORMS = words(
    "wrote won led built became made took ran sold bought held met taught sang drew fought left lost gave began "
    "beat shot sent spoke grew fell rose kept knew saw said told found put set cut hit got came went stood "
    "overthrew overcame rode bore broke chose drove flew forgot hid lay laid paid read rang sat sought slept "
    "spent struck swam swore threw wore wound succeeded preceded replaced defeated married stars features "
    "contains covers includes borders crosses serves connects links operates runs plays represents"
)
"""Verbs by form, where the ending '-ed' does not show them."""

PREPOSITIONS = words(
    "of in on at by for from with to into through under over against after before between during near within "
    "along across about as via onto upon toward towards behind around"
)
DETERMINERS = words(
    "the a an his her its their this that these those several many some all both two three"
)

NATIONALITIES = words(
    "afghan albanian algerian american andorran angolan arab argentine argentinian armenian australian austrian "
    "azerbaijani bahraini bangladeshi barbadian belarusian belgian bolivian bosnian brazilian british bulgarian "
    "burmese cambodian cameroonian canadian catalan chadian chilean chinese colombian congolese croatian cuban "
    "cypriot czech danish dominican dutch ecuadorian egyptian english eritrean estonian ethiopian european "
    "fijian filipino finnish flemish french gabonese georgian german ghanaian greek guatemalan guinean guyanese "
    "haitian honduran hungarian icelandic indian indonesian iranian iraqi irish israeli italian ivorian "
    "jamaican japanese jewish jordanian kazakh kenyan korean kuwaiti kyrgyz lao latvian lebanese liberian libyan "
    "lithuanian luxembourgish macedonian malagasy malaysian maltese mauritian mexican moldovan mongolian "
    "montenegrin moroccan mozambican namibian nepalese nepali nicaraguan nigerian norwegian omani ottoman "
    "pakistani palestinian panamanian paraguayan persian peruvian polish portuguese prussian qatari romanian "
    "russian rwandan salvadoran samoan saudi scottish senegalese serbian singaporean slovak slovene slovenian "
    "somali soviet spanish sri-lankan sudanese surinamese swedish swiss syrian taiwanese tanzanian thai tibetan "
    "tunisian turkish ugandan ukrainian uruguayan uzbek venezuelan vietnamese welsh yemeni yugoslav zambian "
    "zimbabwean african asian scandinavian roman byzantine bavarian sicilian cornish basque hawaiian"
)
"""Words for belonging to a people: adjectives, not names."""

COUNTRIES = frozenset(re.split(",",
    "afghanistan,albania,algeria,angola,argentina,armenia,australia,austria,azerbaijan,bahrain,bangladesh,"
    "belarus,belgium,bolivia,bosnia,botswana,brazil,britain,great britain,bulgaria,burma,cambodia,cameroon,"
    "canada,chad,chile,china,colombia,congo,costa rica,croatia,cuba,cyprus,czech republic,czechoslovakia,"
    "denmark,ecuador,egypt,england,estonia,ethiopia,fiji,finland,france,gabon,georgia,germany,ghana,greece,"
    "guatemala,haiti,honduras,hungary,iceland,india,indonesia,iran,iraq,ireland,israel,italy,jamaica,japan,"
    "jordan,kazakhstan,kenya,korea,kuwait,laos,latvia,lebanon,liberia,libya,lithuania,luxembourg,madagascar,"
    "malawi,malaysia,mali,malta,mexico,moldova,mongolia,morocco,mozambique,myanmar,namibia,nepal,netherlands,"
    "new zealand,nicaragua,niger,nigeria,north korea,northern ireland,norway,oman,pakistan,palestine,panama,"
    "paraguay,peru,philippines,poland,portugal,prussia,qatar,romania,russia,rwanda,saudi arabia,scotland,"
    "senegal,serbia,sierra leone,singapore,slovakia,slovenia,somalia,south africa,south korea,soviet union,"
    "spain,sri lanka,sudan,sweden,switzerland,syria,taiwan,tanzania,thailand,tunisia,turkey,uganda,ukraine,"
    "united arab emirates,united kingdom,united states,united states of america,uruguay,us,usa,u.s.,u.s.a.,uk,"
    "u.k.,ussr,uzbekistan,venezuela,vietnam,wales,yemen,yugoslavia,zambia,zimbabwe,europe,asia,africa,"
    "north america,south america,antarctica,oceania,alabama,alaska,arizona,arkansas,california,colorado,"
    "connecticut,delaware,florida,hawaii,idaho,illinois,indiana,iowa,kansas,kentucky,louisiana,maine,maryland,"
    "massachusetts,michigan,minnesota,mississippi,missouri,montana,nebraska,nevada,new hampshire,new jersey,"
    "new mexico,new york,new york city,north carolina,north dakota,ohio,oklahoma,oregon,pennsylvania,"
    "rhode island,south carolina,south dakota,tennessee,texas,utah,vermont,virginia,west virginia,wisconsin,"
    "wyoming,ontario,quebec,london,paris,berlin,rome,madrid,vienna,moscow,tokyo,beijing,shanghai,chicago,"
    "los angeles,boston,washington d.c.,hong kong,amsterdam,brussels,copenhagen,stockholm,oslo,warsaw,prague,"
    "budapest,athens,lisbon,dublin,cairo,istanbul,delhi,mumbai,sydney,melbourne,toronto,montreal"
))
"""Countries, continents, states and some of the best-known cities, folded."""

GIVEN_NAMES = words(
    "aaron adam adrian alan albert alberto alex alexander alexandra alfred alice alison allan allen amanda amy "
    "andrea andreas andrei andrew andy angela ann anna anne anthony antoine antonio arnold arthur barbara barry "
    "ben benjamin bernard betty bill billy bob bobby brian bruce carl carlos carol caroline catherine charles "
    "charlie charlotte chris christian christina christine christopher claude colin craig dan daniel danny dave "
    "david dean deborah dennis diana diane dick dmitri don donald dorothy douglas edgar edith edmund eduardo "
    "edward eleanor elena eli elizabeth ellen emily emma emmanuel enrico eric erik ernest ernst eugene eva evan "
    "evelyn felix ferdinand fernando florence frances francesco francis francisco frank franz fred frederic "
    "frederick friedrich gabriel gary gene geoffrey george georg gerald gerard gilbert giovanni giuseppe glenn "
    "gordon grace graham greg gregory guy hans harold harriet harry harvey heinrich helen helena henri henry "
    "herbert herman hermann howard hugh hugo ian igor irene isaac isabel ivan jack jacob jacques jake james jan "
    "jane janet jason jean jeff jeffrey jennifer jenny jeremy jerome jerry jessica jim jimmy joan joanna joe "
    "johan johann john johnny jon jonathan jordan jorge jose joseph joshua juan judith julia julian julie "
    "julius karen karl kate katherine kathleen keith kelly ken kenneth kevin kim konrad larry laura lauren "
    "lawrence lee leo leon leonard leonardo lewis linda lisa lise liz louis louise lucas lucy ludwig luis luke "
    "lynn marco marcus margaret maria marie marion mario mark marshall martha martin mary matt matthew maurice "
    "max maximilian maxwell megan michael michel michelle miguel mike mikhail milton mohammed morris muhammad "
    "nancy nathan neil nelson nicholas nick nicolas nicole niels nikolai norman oliver oscar oskar otto pablo "
    "pamela patricia patrick paul paula pedro peter philip philippe pierre rachel ralph ray raymond rebecca "
    "rené ricardo richard rick robert roberto robin rodney roger roland ronald rosa rose ross roy rudolf rudolph "
    "russell ruth ryan sally sam samuel sandra sara sarah scott sean sebastian sergei seth sharon shirley sidney "
    "simon sofia sophie stanley stefan stella stephen steve steven stuart susan sylvia ted teresa theodore "
    "theresa thomas tim timothy todd tom tommy tony victor victoria vincent virginia vladimir walter warren "
    "wayne werner wilhelm will william winston wolfgang yuri zoe"
)
"""Common given names: a name of several words that begins with one is likely a person's."""

CHINESE_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩邓冯曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟"
    "姜崔谭陆范汪廖石金韦贾夏付方邹熊白孟秦邱侯江尹薛闫段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔向常汤葛屠鲁萧"
    "庄詹温康施牛樊安邢颜倪章季岳齐梅霍尚殷翁阮柳俞裴鲍关骆祝焦纪舒柯耿毕聂祁费晏蒲项柴饶蒙喻诸司欧阮华凌苗窦"
)
"""One-character Chinese surnames."""

CHINESE_PRONOUNS = {"他": "person", "她": "person", "它": "thing", "他们": "person", "她们": "person", "其": "",
                    "该": "", "本": "", "这": "", "此": "", "这座": "", "这所": "", "这家": "", "这部": "", "这位": ""}
"""Pronouns, and the demonstratives that make a definite description with a noun ('该公司')."""

CHINESE_MARKERS = frozenset("与和同跟对向由被从在将把为于给及")
"""Words before an object that stands before its verb ('与乙公司签署')."""

CHINESE_AGENT_MARKERS = frozenset("由被")
"""Of these, the ones that mark who does it."""

GENERIC_ACRONYMS = words("ceo cfo cto coo ai it pr hr ipo esg kpi pdf faq ok tv vs dna rna erp crm b2b b2c")
"""Acronyms that name no single thing."""
