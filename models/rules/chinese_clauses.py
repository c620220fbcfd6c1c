"""Splits Chinese sentences into clauses with the subject first and the date next, as the forms of facts expect.

"2021年3月，赵倩在东海银行工作，2023年出任行长" has the clauses "赵倩 2021年3月 在东海银行工作" and "赵倩 2023年
出任行长".
"""

import re
from collections.abc import Iterator, Sequence

from .recognition.spans import VALUES

Cell = tuple[str, str]
"""A character of a sentence, which may stand for a name or a value, and the words it stands for."""
_KINDS = ("person", "organization", "location", "event", "work", "product", "date", "number", "name", "award")
CHARACTERS = {kind: chr(0xE000 + number) for number, kind in enumerate(_KINDS)}
"""The characters that stand for names and values of some kind."""
ANY_NAME = "".join(character for kind, character in CHARACTERS.items() if kind not in VALUES)

_CLAUSE_ENDS = frozenset("，,；;。！!：:")
# Words at the beginning of a clause that say nothing about its fact: 后来 ("later"), 第三条 ("article 3"), a number.
_OPENING = re.compile(
    r"(?:[•*#>-]|这[份部项](?!的)|第[^条，]{1,8}条|[（(]?[\d一二三四五六七八九十]{1,3}[)、）]|同[年月日]|后来|随后|此后|之后|其后|次年|不久|"
    r"于是|新款|其中|目前|现在|据悉|另外|此外|同时|并且|以及|并|又|还|也|曾|后|而)*")
# Words with which a clause does not state a fact: 据说 ("it is said"), 计划 ("plans to"), 如果 ("if").
_DOUBT = re.compile(
    r"如果|假如|假设|倘若|若|一旦|是否|否认|[以认]为|[谎声自宣]称|辟谣|[网误谣盛]传|据说|听说|传[闻说]|谣言|[据相]传|有望|可能|也许|或许|[拟应须](?=[当该由在将收设成])|计划|打算|"
    r"建议|希望|预[计期]|考虑|除非|要求|准备|申请|谈判|曾想|试图|将(?![军领士]|[于在自]?(?:[今明]年)?.?起?(?:正式)?(?:到期|届满|生效|施行|终止))")
_DENIED = re.compile(r"不(?![久仅但断同])|[未没]|并非|无")
_PRONOUNS = re.compile(
    r"(?P<person>[他她](?![们的]))|(?P<thing>它(?![们的]))|"
    r"(?P<organization>(?:[本该我](?:公司|集团|校|行|院|馆)|公司|集团|这[家所][^，。]{0,2}(?:公司|企业|机构|大学|学校))"
    r"(?![股司团治员]))|(?P<work>[本该](?:法|条例|办法|规定|通知|细则|协议|合同|制度|规范|标准|书))")
_DATE, _PERSON = CHARACTERS["date"], CHARACTERS["person"]
# A character of the words that describe a name: no name, date, preposition or linking word.
_PLAIN = f"[^{ANY_NAME}{_DATE}的在由于与和是接替向被对给把让请见访命]"
_DATED = re.compile(rf"[于在自从]?(?:[今去明]年)?{_DATE}(?:起|开始|以[后来]|之后|[中初末底前后]|[春夏秋冬]天?)?")
# A name, and a noun before it if there is one: 董事长赵倩 ("chairman Zhao Qian"), but not 担任 ("serves as") before it.
_NAMED_AFTER_NOUN = re.compile(
    rf"(?:{_PLAIN}{{0,8}}[人家师员授官生影说剧书集长理监裁任席记者手演士室司团队业牌](?<!^任)(?<![聘委选现历担出就兼升今曾]任)|"
    rf"{_PLAIN}{{1,7}}[部处科室系组]的)?(?P<name>[{ANY_NAME}](?:[、和与及同][{ANY_NAME}])*)")
_DESCRIBED_NAME = re.compile(
    rf"(?P<description>(?:总部)?(?:位于|设在|坐落[于在]|地处|在(?=.的))[{ANY_NAME}]+|(?:创建|成立|创[立办]|始建|设立)|"
    rf"(?:出?生于|毕业于|[就任供]职于|隶属于)[{ANY_NAME}]+[^，的]{{0,4}}|由[^，的{ANY_NAME}]{{0,8}}{_PERSON}[^，的]{{2,4}})的"
    rf"{_PLAIN}{{0,6}}?(?P<name>[{ANY_NAME}])")
_RESULTING_NAME = re.compile(rf"成[{ANY_NAME}]$")


def split_clauses(cells: Sequence[Cell], subject: Cell | None, kind: str) -> Iterator[list[Cell]]:
    """Yield the clauses of a Chinese sentence, each with what it is about first and its date next.

    Denied clauses are omitted. At the first clause that expresses doubt, the rest of the sentence is omitted too.
    `subject` is the text's, which pronouns refer to, and `kind` is its kind.
    """
    # `topic` is what the last clause was about, `standing_date` a date that is a clause of its own, and `pending` a
    # clause ending in 后 ("after") whose subject follows in the next one.
    topic, standing_date, pending = list[Cell](), list[Cell](), list[Cell]()
    # A line under a rule's title is about the rule: "2007年12月14日 国务院令第514号公布".
    rule = [subject] if subject is not None and kind == "work" and cells[0][0] == _DATE else []
    for clause in _split(cells):
        if _DOUBT.search(marked_text(clause)):
            return
        if _DENIED.search(marked_text(clause)):
            continue
        dates, undated = _take_date(clause)
        if not undated:
            standing_date = dates
            continue
        when = (dates or standing_date) if len(dates) < 2 else []  # noqa: PLR2004 - several dates stay in the clause
        if rule:
            yield [*rule, *when, *undated]
        if described := _DESCRIBED_NAME.match(marked_text(undated)):  # "创建于2005年的绿舟基金会"
            name = undated[described.start("name")]
            yield [name, *when, *undated[slice(*described.span("description"))]]
            undated, when = undated[described.start("name") :], []
        topic, rest = _subject(undated, topic, subject, kind)
        if pending and topic:  # "从复旦大学毕业后，郑洁加入东海银行"
            yield [*topic, *pending]
        pending = [] if topic or undated[-1][0] != "后" else [*when, *undated]
        yield [*topic, *when, *rest] if topic else [*undated, *when]  # "由法务部负责解释"
        if _RESULTING_NAME.search(marked_text(undated)):  # "两江汇合成甬江，流入东海"
            topic = undated[-1:]


def _take_date(clause: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
    """Return the dates of a clause, and the rest of the clause without opening words such as 后来 ("later")."""
    # `marked_text` has one character for each cell, so its positions are those of the cells.
    date_phrases = list(_DATED.finditer(marked_text(clause)))
    dates = [clause[match.start() + match[0].index(_DATE)] for match in date_phrases]
    rest = list(clause)
    if len(date_phrases) == 1:
        start, end = date_phrases[0].span()
        if marked_text(clause[start - 1 : start]) not in {"至", "到"}:
            rest[start:end] = []
    opening = _OPENING.match(marked_text(rest))
    return dates, rest[opening.end() if opening else 0 :]


def _subject(clause: list[Cell], topic: list[Cell], subject: Cell | None, kind: str) -> tuple[list[Cell], list[Cell]]:
    """Return what a clause is about, and the rest of the clause."""
    pronoun = _PRONOUNS.match(marked_text(clause))
    named = _NAMED_AFTER_NOUN.match(marked_text(clause))
    if pronoun is not None:
        fits = pronoun.lastgroup == kind or (pronoun.lastgroup == "thing" and kind != "person")
        return [subject] if subject is not None and fits else [], clause[pronoun.end() :]
    if named is not None:
        return clause[slice(*named.span("name"))], clause[named.end() :]
    return topic, clause


def marked_text(cells: Sequence[Cell]) -> str:
    """Return the characters of cells as a string, with one placeholder for each name or value."""
    return "".join(character for character, _ in cells)


def _split(cells: Sequence[Cell]) -> Iterator[list[Cell]]:
    """Yield the parts of a sentence between punctuation marks, without white space."""
    clause = list[Cell]()
    for cell in [*cells, ("。", "")]:  # the mark ends the last part
        if cell[0] not in _CLAUSE_ENDS:
            clause += [] if cell[0].isspace() else [cell]
        elif clause:
            yield clause
            clause = []
