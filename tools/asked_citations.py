"""Questions about which documents cite one another, read without a model as a query of the relation `cites`."""

import re

from ..graph_store.graph.citations import CITES
from ..graph_store.graph_index import GraphIndex
from ..schemas.naming import normalise
from ..schemas.records import SqlResult
from .asked_parts import literal

_WORKS = (r"(?:[ ](?:of[ ](?:these|the)|the|other|papers?|documents?|articles?|works?|studies|publications?|files?))"
          r"{0,4}+")
_ASKS = rf"(?:which|what|who|how many|list|show|name){_WORKS}"
_CITING = re.compile(
    rf"{_ASKS}(?:[ ](?:that|which))?[ ](?:cites?|cited|citing|refers?[ ]to|references?)[ ]([^\n]{{1,300}})|"
    r"(?:哪些|哪几篇|哪篇)(?:论文|文章|文献|文档)?引用[了过]?([^\n]{1,300})", re.IGNORECASE)
_CITED = re.compile(
    rf"{_ASKS}[ ](?:(?:does|do|did)[ ]([^\n]{{1,300}}?)[ ](?:cite|refer[ ]to|reference)|"
    r"(?:(?:that|which)[ ])?(?:is|are|was|were)[ ]cited[ ](?:by|in)[ ]([^\n]{1,300}))|"
    r"([^\n]{1,300}?)引用[了过]?(?:哪些|哪几篇|哪篇)(?:论文|文章|文献|文档)?", re.IGNORECASE)
_KIND = re.compile(r"\A(?:the[ ])?(?:paper|document|article|work|study)[ ](?:(?:called|titled|named|on)[ ])?",
                   re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_COUNTS = re.compile(r"how many", re.IGNORECASE)
_EDGES = " \"'“”‘’«»?？.。"


def ask_citations(index: GraphIndex, question: str) -> tuple[str, str, SqlResult, str] | None:
    """Return the query that a question about citations is, what it asks in words, its result, and the short answer.

    None if it is not about citations, if the document that it names is not certain, or if no list of references has it.
    """
    asked = question.strip(_EDGES)
    citing, cited = _CITING.fullmatch(asked), _CITED.fullmatch(asked)
    found = citing or cited
    if found is None or not any(table.title == CITES for table in index.sql.tables()):
        return None
    known, wanted, words = ("tail", "head", "cite") if citing else ("head", "tail", "are cited by")
    if not (name := _find_document(index, known, next(filter(None, found.groups())))):
        return None
    sql = f'SELECT "{wanted}" AS document FROM {CITES} WHERE "{known}" = {literal(name)} ORDER BY "{wanted}"'  # noqa: S608
    result = index.sql.run(sql)
    shown = dict.fromkeys(str(row[0]) for row in result.rows)
    short = str(len(shown)) if _COUNTS.match(asked) else "; ".join(shown)
    return sql, f"documents that {words} {name}", result, short


def _find_document(index: GraphIndex, column: str, title: str) -> str:
    """Return the only document in a column of `cites` whose name has the words of a title in a row; "" if none has."""
    words = f" {' '.join(_WORD.findall(normalise(_KIND.sub('', title.strip(_EDGES)))))} "
    names = [str(name) for (name,) in index.sql.run(f'SELECT DISTINCT "{column}" FROM {CITES}', most_cited=0).rows]  # noqa: S608
    fitting = [name for name in names if words in f" {' '.join(_WORD.findall(normalise(name)))} "]
    return fitting[0] if len(fitting) == 1 and words.strip() else ""
