"""Questions about which documents cite one another, read without a model as a query of the relation `cites`."""

import re

from ..graph_store.graph.citations import CITES
from ..graph_store.graph_index import GraphIndex
from ..schemas.naming import normalise
from ..schemas.records import SqlResult
from ..text.content_words import content_words
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
_FEWEST_WORDS = 2
"""The fewest content words by which a part of a title names a document."""
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


def _find_document(index: GraphIndex, column: str, said: str) -> str:
    """Return the document in a column of `cites` that some words name: "" unless they are of its title alone.

    A single word is rather a subject than a title, unless it is a whole title.
    """
    said = _KIND.sub("", said.strip(_EDGES))
    words = _words_of(said)
    titles = [_words_of(title) for title in index.store.documents.titles().values()]
    if sum(words in title for title in titles) > 1 or (
            len(list(content_words(said))) < _FEWEST_WORDS and words not in titles):
        return ""
    names = [str(name) for (name,) in index.sql.run(f'SELECT DISTINCT "{column}" FROM {CITES}', most_cited=0).rows]  # noqa: S608
    fitting = [name for name in names if words in _words_of(name)]
    return fitting[0] if len(fitting) == 1 else ""


def _words_of(text: str) -> str:
    """Return the words of a text with a space around each."""
    return f" {' '.join(_WORD.findall(normalise(text)))} "
