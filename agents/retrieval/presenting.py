"""The text of an answer that quotes: the short answer, the quotes, and hints where no short answer was found."""

from collections.abc import Sequence

from ...graph_store.ledger.document_rows import Documents
from ...models.rules.recognition.names import names_in
from ...schemas.retrieval import Answer, DraftAnswer, Passage
from ...text.languages import Language, phrase_language
from ...tools.entity_names import unknown_names_near
from ...tools.retriever import Retriever
from .citing import NOT_FOUND, cite
from .shown_text import without_marks

_LONGEST_QUESTION = 300
"""Characters of a question in which names are looked for."""
_NEAR_NAMES = 3
CLOSEST = "No short answer was found; these passages come closest."
_WORDS: dict[Language, dict[str, str]] = {
    "en": {"found": "Found: {}", "none": NOT_FOUND,
           "closest": CLOSEST,
           "near": "Names in the documents with a similar spelling: {}.", "joint": ", ",
           "hint": "No language model is configured, so Banyan finds and quotes; with one it also reasons "
                   "(set BANYAN_LLM_BASE_URL)."},
    "zh": {"found": "找到：{}", "none": "没有找到答案。", "closest": "没有找到简短的答案；引用的段落最为接近。",
           "near": "文档中写法相近的名称：{}。", "joint": "、",
           "hint": "目前没有配置语言模型，Banyan 只查找并引用原文；配置后还能推理（设置 BANYAN_LLM_BASE_URL）。"},
}


def present_quotes(question: str, draft: DraftAnswer, passages: Sequence[Passage], documents: Documents,
                   abstain_below: float) -> Answer:
    """Return an answer that shows the short answer, if there is one, and below it the quotes."""
    phrases = _WORDS[phrase_language(question)]
    # `cite` shows no quotes of a draft that it does not trust, so it is given full confidence.
    quoted = cite(draft.model_copy(update={"confidence": 1.0}), passages, documents, "reject")
    if not quoted.citations:
        return quoted.model_copy(update={"answer": phrases["none"], "confidence": 0.0})
    if draft.confidence < abstain_below:
        return quoted.model_copy(update={"answer": f"{quoted.answer}\n{phrases['closest']}", "abstained": True,
                                         "confidence": draft.confidence, "short": "", "grade": "none"})
    lines = [_show_short(phrases["found"], quoted.short), quoted.answer] if quoted.short else [quoted.answer]
    return quoted.model_copy(update={"answer": "\n".join(lines), "confidence": draft.confidence})


def _show_short(template: str, short: str) -> str:
    """Return the line of a short answer; it is quoted if it ends like a citation mark, such as "[1]"."""
    line = template.format(short)
    return line if without_marks(line) == line else template.format(f"“{short}”")


def with_notes(answer: Answer, question: str, retriever: Retriever, *, hint: bool) -> Answer:
    """Return an abstaining answer with similar names of the documents and, if `hint`, the hint to set up a model."""
    phrases = _WORDS[phrase_language(question)]
    lines = [answer.answer]
    near = unknown_names_near(retriever.index, names_in(question[:_LONGEST_QUESTION]), _NEAR_NAMES)
    if near:
        lines.append(phrases["near"].format(phrases["joint"].join(near)))
    if hint:
        lines.append(phrases["hint"])
    return answer.model_copy(update={"answer": "\n".join(lines)})


def with_spelling(answer: Answer, replaced: Sequence[tuple[str, str]], question: str) -> Answer:
    """Return an answer with a line, in the question's language, for each misspelt word, given as (asked, meant)."""
    if not replaced:
        return answer
    template = "“{}”按“{}”理解。" if phrase_language(question) == "zh" else "(“{}” was read as “{}”.)"
    notes = [template.format(asked, meant) for asked, meant in replaced]
    return answer.model_copy(update={"answer": "\n".join([answer.answer, *notes])})


def has_model_hint(messages: Sequence[tuple[str, str]]) -> bool:
    """Return True if a conversation already has the hint that a model would help."""
    return any(phrases["hint"] in text for phrases in _WORDS.values() for _, text in messages)
