"""The parts of the agent's prompt that depend on how a question is asked."""

from collections.abc import Collection

from ..schemas.retrieval import Mode
from .language import Language

_LOOKUPS: dict[Language, dict[str, str]] = {
    "en": {
        "passage_search": '{"tool":"passage_search","query":""}: passages; "documents":[""] to stay in some',
        "entity_search": '{"tool":"entity_search","entity":""}: all that the graph knows of a thing; "relations":[""] '
                         'to narrow it, "at" a date',
        "triple_search": '{"tool":"triple_search","relation":"","head":"","tail":""}: all rows of a relation or '
                         'attribute, narrowed by parts of names, "document" or "at"; best for lists, counts, '
                         "comparisons",
        "dfs_search": '{"tool":"dfs_search","start":"","end":""}: chains of facts between two things',
        "community_search": '{"tool":"community_search","theme":""}: reports; without a theme on the whole'},
    "zh": {
        "passage_search": '{"tool":"passage_search","query":""}：段落；"documents":[""] 限定文档',
        "entity_search": '{"tool":"entity_search","entity":""}：图谱中关于一个对象的全部内容；'
                         '"relations":[""] 限定关系，"at" 限定日期',
        "triple_search": '{"tool":"triple_search","relation":"","head":"","tail":""}：一种关系或属性的所有行，可按名'
                         '称的一部分、"document" 或 "at" 筛选；适合列举、计数和比较',
        "dfs_search": '{"tool":"dfs_search","start":"","end":""}：两个对象之间的事实链',
        "community_search": '{"tool":"community_search","theme":""}：报告；不写主题则为全部文档的报告'},
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
    """Return a line for each lookup that is switched on."""
    return "\n".join(f"- {text}" for tool, text in _LOOKUPS[language].items() if tool in tools) or "-"


def mode_text(mode: Mode, language: Language) -> str:
    """Return what may support an answer in a mode."""
    return _MODES[language][mode]


def last_text(language: Language, *, is_last: bool) -> str:
    """Return the line that ends a question's last prompt; empty for earlier ones."""
    return _LAST[language] if is_last else ""
