"""An answer as text that is safe to show, its citation marks, and as a chat message that carries its sources.

An answer's citation marks `[n]` are at the ends of its lines, after a space: brackets anywhere else are a document's
own. `server/web/ask/answer.js` finds them in the same way. Many clients read nothing but the message, so it ends with a
list of its sources, and has LangChain's annotation for each mark. Chat pages show its text as Markdown.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.content import Citation as CitationAnnotation

from ...schemas.naming import UNSEEN
from ...text.dates import MEANT
from ...text.scripts import phrase_language

# The beginning of the list that `sources_text` appends, by its heading in each language of `phrases.toml`.
_SOURCES = re.compile(r"\n\n(?:Sources:|来源：) *+\n(?=\[\d++\] )")
_LINE_END = re.compile(r"(?<=[^\n])\n(?=[^\n])")  # of a line that another line follows, not an empty one
_LINE_BREAK = "  \n"  # Markdown joins lines that end otherwise
WITHDRAWN = "\n\n(The text above is withdrawn; the answer follows.)\n\n"  # for streams of text, which take nothing back
_ADDRESS = re.compile(r"https?://\S++")
_ADDRESS_FIELDS = ("url", "source_url", "link")  # the metadata fields in which documents give their own address
# A model's own marks are passage numbers or invented: an answer's marks are set by `citing`.
_INVENTED = re.compile(r"(?:(?<!\s)\s++)?+[\[［【]\s*+\d++(?:\s*+[,，、–-]\s*+\d++)*+\s*+[\]］】]")
_BRACKETS = dict.fromkeys(map(ord, "[]［］【】"))
# Where an answer is shown as Markdown, an image would be fetched as soon as it is shown, words and all in its address.
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_LINK = re.compile(r"\](?=[(\[:])")
_MARKS = re.compile(r"(?<=\S) ((?:\[\d++\])++)$", re.MULTILINE)  # all citation marks at the end of a line
_MARK = re.compile(r"\[(\d++)\]")


def phrases_for(text: str) -> dict[str, str]:
    """Return what answers say in the language of a text, by the names in `phrases.toml`."""
    return _load_phrases()[phrase_language(text)]


@cache
def _load_phrases() -> dict[str, dict[str, str]]:
    return tomllib.loads((resources.files(__package__) / "phrases.toml").read_text("utf-8"))


def source_text(text: str) -> str:
    """Return a document's words on a line, with HTML tags and Markdown links made harmless for viewers."""
    return _LINK.sub("] ", _TAG.sub("‹", " ".join(UNSEEN.sub("", text).split())))


def plain_text(text: str) -> str:
    """Return a model's words as `source_text` does, without citation marks, which only `citing` sets."""
    plain = MEANT.sub(r" (\g<meant>)", " ".join(UNSEEN.sub("", text).split()))  # "yesterday [2024-03-04]"
    plain = _INVENTED.sub("", plain)
    # Removing "[1]" from "[[1]2]" leaves another mark, "[2]".
    return source_text(plain.translate(_BRACKETS) if _INVENTED.search(plain) else plain)


def find_marks(answer: str, start: int = 0) -> Iterator[re.Match[str]]:
    """Yield the citation marks of an answer from character `start` on; group 1 is the number of the citation."""
    for marks in _MARKS.finditer(answer, start):
        yield from _MARK.finditer(answer, marks.start(1), marks.end(1))


def without_marks(answer: str) -> str:
    """Return an answer without its citation marks."""
    return _MARKS.sub("", answer)


def answer_message(answer: str, citations: Sequence[Mapping[str, Any]], name: str | None = None,
                   message_id: str | None = None) -> AIMessage:
    """Return an answer as a message from `name`, with an annotation for each mark and, if it cites, its sources."""
    if not citations:
        return AIMessage(_in_markdown(answer), name=name, id=message_id)
    return AIMessage([
        {"type": "text", "text": _in_markdown(answer), "annotations": [*_make_annotations(answer, citations)]},
        {"type": "text", "text": _in_markdown(sources_text(answer, citations))}], name=name, id=message_id)


def answer_chunk(answer: str, shown: str, citations: Sequence[Mapping[str, Any]], message_id: str, *,
                 is_last: bool = False) -> AIMessageChunk:
    """Return the part of an answer's message that follows the text `shown` before; the last has the sources, too."""
    start = len(_in_markdown(shown))
    new_annotations = [note for note in _make_annotations(answer, citations) if note["start_index"] >= start]
    # Whoever reads the stream joins blocks of the same index, to the content of `answer_message`.
    blocks: list[str | dict[str, Any]] = [
        {"type": "text", "text": _in_markdown(answer)[start:], "annotations": new_annotations, "index": 0}]
    if is_last and citations:
        blocks.append({"type": "text", "text": _in_markdown(sources_text(answer, citations)), "index": 1})
    return AIMessageChunk(content=blocks, id=message_id, chunk_position="last" if is_last else None)


def sources_text(answer: str, citations: Sequence[Mapping[str, Any]]) -> str:
    """Return the list of sources to append to an answer, with quotes as JSON strings, so none can pass for a line."""
    if not citations:
        return ""
    lines = ["", "", phrases_for(answer)["sources"]]
    for cited in citations:
        place = [" ".join(cited["document"].split())]
        if cited.get("status"):  # whether the document is superseded
            place.append(cited["status"])
        if cited.get("page"):
            place.append(f"page {cited['page']}")
        place.append(f"characters {cited['start']}-{cited['end']}")
        quote = json.dumps(source_text(cited["quote"]), ensure_ascii=False)
        # The days that relative dates of the quote mean, such as "yesterday [2024-03-04]".
        meant_dates = f" ({'; '.join(cited['meant'])})" if cited.get("meant") else ""
        lines.append(f"[{cited['id']}] {', '.join(place)}: {quote}{meant_dates}")
    return "\n".join(lines)


def _in_markdown(text: str) -> str:
    """Return a text as Markdown that keeps its lines, and shows "$" instead of beginning a formula with it."""
    return _LINE_END.sub(_LINE_BREAK, text).replace("$", r"\$")


def answer_in(text: str) -> str:
    """Return the answer in the text of a message, as it was before `answer_message` added sources and Markdown."""
    return _SOURCES.split(text, maxsplit=1)[0].replace(_LINE_BREAK, "\n").replace(r"\$", "$")


def _make_annotations(answer: str, citations: Sequence[Mapping[str, Any]]) -> list[CitationAnnotation]:
    """Return an annotation for each mark; its indices are those of the mark in the answer as Markdown."""
    by_id, annotations = {cited["id"]: cited for cited in citations}, list[CitationAnnotation]()
    for mark in find_marks(answer):
        number = int(mark[1])
        if number not in by_id:  # a line of a document may end like a mark
            continue
        cited, start = by_id[number], len(_in_markdown(answer[:mark.start()]))
        metadata = cited.get("metadata") or {}
        annotation = CitationAnnotation(
            type="citation", title=metadata.get("title") or cited["document"], start_index=start,
            end_index=start + len(mark[0]), cited_text=cited["quote"],
            extras={key: cited[key] for key in ("document", "start", "end", "page") if cited.get(key) is not None})
        # A document that was read from the web has its address as its id.
        addresses = [*(metadata.get(field, "") for field in _ADDRESS_FIELDS), cited["document"]]
        if address := next(filter(_ADDRESS.fullmatch, addresses), ""):
            annotation["url"] = address
        annotations.append(annotation)
    return annotations
