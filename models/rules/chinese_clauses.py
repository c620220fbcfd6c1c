"""The clauses of Chinese sentences, each with its subject first and its date next, as the forms of facts read them.

"2021年3月，赵倩在东海银行工作，2023年出任行长" has the clauses "赵倩 2021年3月 在东海银行工作" and "赵倩 2023年 出任行长".
"""

import re
from collections.abc import Iterator, Sequence

Cell = tuple[str, str]
"""A character of a sentence, which may stand for a name or a value, and the words it stands for."""

_END = frozenset("，,；;。！!：:")
_OPENING = re.compile(r"(?:[•*#>-]|第[^条，]{1,8}条|[（(]?[\d一二三四五六七八九十]{1,3}[)、）]|同[年月日]|后来|随后|此后|之后|其后|次年|不久|于是|其中|"
                      r"目前|现在|据悉|另外|此外|同时|并且|以及|并|又|还|也|曾|后|而)*")
_DOUBT = re.compile(r"如果|假如|假设|倘若|若|一旦|是否|否认|传[闻说]|谣言|[据相]传|有望|可能|也许|或许|[拟应须](?=[当该由在将收设成])|计划|打算|建议|"
                    r"希望|预[计期]|考虑|除非|要求|准备|申请|谈判|曾想|试图|将(?![军领士])")
_DENIED = re.compile(r"不(?![久仅但断同])|[未没]|并非|无")
_PRONOUNS = re.compile(
    r"(?P<person>[他她](?![们的]))|(?P<thing>它(?![们的]))|"
    r"(?P<organization>(?:[本该我](?:公司|集团|校|行|院|馆)|公司|集团|这[家所][^，。]{0,2}(?:公司|企业|机构|大学|学校))(?![股司团的治员]))|"
    r"(?P<work>[本该](?:法|条例|办法|规定|通知|细则|协议|合同|制度|规范|标准|书))")


def split_clauses(cells: Sequence[Cell], names: str, date: str, subject: Cell | None, kind: str) -> Iterator[list[Cell]]:
    """Yield the clauses that are said to hold, until one is denied, wished or possible.

    Args:
        cells: a sentence.
        names: the characters that stand for names.
        date: the one that stands for dates.
        subject: what pronouns refer to, of a `kind`.
    """
    joined = re.compile(rf"(?:[^{names}{date}的在由于]{{0,8}}[人家师员授官生])?(?P<own>[{names}](?:[、和与及同][{names}])*)")
    made = re.compile(rf"成[{names}]$")
    dated = re.compile(rf"[于在自从]?{date}(?:起|以[后来]|之后|[中初末底前后]|[春夏秋冬]天?)?")
    headed = re.compile(rf"[{names}]的?[^{names}{date}的在由于与和是]{{0,7}}[长监理裁任席官记授员家人](?P<person>[{names[0]}])(?![的和、与])")
    topic, standing = list[Cell](), list[Cell]()
    ruled = kind == "work" and cells[0][0] == date  # a line under a rule's title: "2007年12月14日 国务院令第514号公布"
    for clause in _split(cells):
        text = "".join(character for character, _ in clause)
        if _DOUBT.search(text):
            return
        if _DENIED.search(text):
            continue
        dates = list(dated.finditer(text))
        own = [clause[found.start() + found[0].index(date)] for found in dates]
        if len(dates) == 1 and text[dates[0].start() - 1 : dates[0].start()] not in {"至", "到"}:
            clause = [*clause[: dates[0].start()], *clause[dates[0].end() :]]
        at = _opening(clause)
        if at == len(clause):
            standing = own
            continue
        clause, when = clause[at:], (own or standing) if len(dates) < 2 else []  # noqa: PLR2004
        if ruled and subject is not None:
            yield [subject, *when, *clause]
        text = "".join(character for character, _ in clause)
        pronoun, named = _PRONOUNS.match(text), joined.match(text)
        if pronoun is not None:
            fits = subject is not None and (pronoun.lastgroup == kind or (
                pronoun.lastgroup == "thing" and kind != "person"))
            topic, clause = [subject] if fits and subject else [], clause[pronoun.end() :]
        elif named is not None:
            topic, clause = clause[named.start("own") : named.end()], clause[named.end() :]
        if topic:
            yield [*topic, *when, *clause]
        if named is not None and (person := headed.match(text)):  # "东海银行行长赵倩"
            topic, clause = [clause[person.end() - 1 - named.end()]], clause[person.end() - named.end() :]
            yield [*topic, *when, *clause]
        if made.search(text):  # "两江汇合成甬江，流入东海"
            topic = clause[-1:]


def _split(cells: Sequence[Cell]) -> Iterator[list[Cell]]:
    clause = list[Cell]()
    for cell in [*cells, ("。", "")]:
        if cell[0] not in _END:
            clause += [] if cell[0].isspace() else [cell]
        elif clause:
            yield clause
            clause = []


def _opening(clause: Sequence[Cell]) -> int:
    found = _OPENING.match("".join(character for character, _ in clause))
    return found.end() if found else 0
