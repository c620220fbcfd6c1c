"""What is said where no answer was found: the closest passages, names near in spelling, and what would help."""

from collections.abc import Sequence

from ...graph_store.ledger.documents import Documents
from ...models.rules.content_words import Language, language_of
from ...models.rules.questions.names import names_in
from ...schemas.retrieval import Answer, Passage
from ...tools.retriever import Retriever
from .citing import NOT_FOUND
from .closest import closest
from .spelling import names_near

_LONGEST_QUESTION = 300
"""Characters of a question in which names are looked for."""
_WORDS: dict[Language, dict[str, str]] = {
    "en": {"none": NOT_FOUND, "closest": "These passages come closest:", "quote": "“{}” [{}]",
           "near": "Names in the documents that are spelt like it: {}.", "joint": ", ",
           "hint": "Questions are answered by rules here; a language model may find more (set BANYAN_LLM_BASE_URL)."},
    "zh": {"none": "没有找到答案。", "closest": "最接近的段落：", "quote": "“{}” [{}]",
           "near": "文档中写法相近的名称：{}。", "joint": "、",
           "hint": "目前由规则回答问题；接入语言模型可能会找到更多（设置 BANYAN_LLM_BASE_URL）。"},
}


def declined(question: str, answer: Answer, passages: Sequence[Passage], documents: Documents,
             retriever: Retriever, *, hint: bool) -> Answer:
    """An abstaining answer with what may help whoever asked.

    Args:
        question: the question.
        answer: an answer that abstains.
        passages: the context, best first.
        documents: the sources.
        retriever: of the knowledge base, for its names.
        hint: whether to say that a model would help.

    Returns:
        The answer in the question's language. Its citations are the closest passages.
    """
    said = _WORDS[language_of(question)]
    citations = closest(question, passages, documents)
    lines = [said["none"]]
    if citations:
        lines += [said["closest"], *(said["quote"].format(" ".join(c.quote.split()), c.id) for c in citations)]
    near = names_near(names_in(question[:_LONGEST_QUESTION]), retriever.index)
    if near:
        lines.append(said["near"].format(said["joint"].join(near)))
    if hint:
        lines.append(said["hint"])
    return answer.model_copy(update={"answer": "\n".join(lines), "citations": tuple(citations)})


def with_spelling(answer: Answer, replaced: Sequence[tuple[str, str]], question: str) -> Answer:
    """An answer that says which words of its question were taken for others."""
    if not replaced:
        return answer
    said = "“{}”按“{}”理解。" if language_of(question) == "zh" else "(“{}” was read as “{}”.)"
    notes = [said.format(asked, meant) for asked, meant in replaced]
    return answer.model_copy(update={"answer": "\n".join([answer.answer, *notes])})


def is_hinted(messages: Sequence[tuple[str, str]]) -> bool:
    """Whether a conversation was told already that a model would help."""
    return any(said["hint"] in text for said in _WORDS.values() for _, text in messages)
