"""The parts of the agent's prompt that depend on how a question is asked."""

from collections.abc import Collection

from ..schemas.retrieval import Mode
from .language import Language

_LOOKUPS: dict[Language, dict[str, str]] = {
    "en": {
        "passage_search": '{"tool":"passage_search","query":""}: passages; "documents":[""] to stay in some',
        "entity_search": '{"tool":"entity_search","entity":""}: what the graph knows of a thing; "relations":[""] and '
                         '"at", a date, narrow it',
        "triple_search": '{"tool":"triple_search","relation":"","head":"","tail":""}: all rows of a relation or '
                         'attribute, to list, count, compare. Ends: parts of names, A|B, !=A, >=2020. '
                         '"where":["FIELD=A|B","FIELD=" (none),"tail.FIELD!=A"]; "by": tail, head, FIELD, year, '
                         'FIELD.year: counted groups; "do": count, sum, mean, smallest, largest, first, last; '
                         '"show":["FIELD"]; "document"; "at"',
        "dfs_search": '{"tool":"dfs_search","start":"","end":""}: chains of facts; "along":["RELATION"] narrows them',
        "community_search": '{"tool":"community_search","theme":""}: reports; no theme: on the whole; "by":"FIELD" or '
                            '"FIELD.year": groups; "along":"RELATION -> *": all reached from the theme, '
                            '"<RELATION -> *": all leading to it'},
    "zh": {
        "passage_search": '{"tool":"passage_search","query":""}：段落；"documents":[""] 限定文档',
        "entity_search": '{"tool":"entity_search","entity":""}：一个对象的全部；'
                         '"relations":[""] 限定关系，"at" 限定日期',
        "triple_search": '{"tool":"triple_search","relation":"","head":"","tail":""}：关系或属性的所有行。'
                         '"head"、"tail"：名称的一部分、A|B、!=A、>=2020；"where":["字段=A|B","字段=",'
                         '"tail.字段!=A"]：主体或 tail 的其他字段（字段=：没有）；"by":"tail"、"head"、"字段"、"year"、'
                         '"字段.year" 分组计数；"do":"count"、"sum"、"mean"、"smallest"、"largest"、"first"、"last"；'
                         '"show":["字段"]；"document"、"at"。用于列举、计数、最值',
        "dfs_search": '{"tool":"dfs_search","start":"","end":""}：两个对象之间的事实链；"along":["关系"]',
        "community_search": '{"tool":"community_search","theme":""}：报告；不写主题则为全部文档；"by":"字段" 或 '
                            '"字段.year" 分组；"along":"关系 -> *"：从主题出发所及，"<关系" 反向'},
}
_MODES: dict[Language, dict[Mode, str]] = {
    "en": {"reject": "Never use other knowledge.",
           "strict": 'Never use other knowledge; "unstated" must be empty: what is not stated is not answered.',
           "open": "Where no item helps, a claim may come from your own knowledge: it has no quotes."},
    "zh": {"reject": "不得使用其他知识。",
           "strict": '不得使用其他知识；"unstated" 必须为空：没有说明的不作回答。',
           "open": "没有条目可用时，结论可以来自你自己的知识：这样的结论没有引用。"},
}
_LAST: dict[Language, str] = {"en": "No lookups are left: answer now.", "zh": "不能再查找了：请现在回答。"}


def lookups_text(tools: Collection[str], language: Language) -> str:
    """Return a line for each lookup that is switched on, with its form in JSON; "-" if none is."""
    return "\n".join(f"- {text}" for tool, text in _LOOKUPS[language].items() if tool in tools) or "-"


def mode_text(mode: Mode, language: Language) -> str:
    """Return the rule on what may support an answer in a mode."""
    return _MODES[language][mode]


def last_text(language: Language, *, is_last: bool) -> str:
    """Return the line that asks for an answer in a question's last prompt; "" for earlier prompts."""
    return _LAST[language] if is_last else ""
