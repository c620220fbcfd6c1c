"""The scripted brain of the test server: it answers every step's prompt by simple rules over its text.

Enough for a build and a question to run end to end over a real endpoint; no measure of quality.
"""

import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from banyan.schemas.formats.schema_loading import load_schema

FENCED = re.compile(r"<data>\n(.*?)\n</data>", re.DOTALL)
ITEM = re.compile(r"^\[(\d+)\] (.*?)(?=\n\n\[\d+\] |\Z)", re.DOTALL | re.MULTILINE)
_NUMBERED = re.compile(r"(\d+) ")
_ABOVE = re.compile(r"\[(>(?= )|.*?)(?=$| > |: |\]$)")
_EVIDENCE = re.compile(r"^\[(\d+)\] (.*?)(?=\n\[\d+\] |(?:\n\([^\n]*\))*(?:\n## |\Z))", re.DOTALL | re.MULTILINE)
_SENTENCE = re.compile(r"[^\s.!?。！？][^.!?。！？\n]*[.!?。！？]?")
_NAME = re.compile(r"\b[A-Z][\w'-]*(?: (?:of |de |the )?[A-Z][\w'-]*)*")
_PRONOUN = re.compile(r"^(?:He|She|It)\b")
_RELATION = re.compile(r"(\w+)(?:\(([^()]*)->([^()]*)\)| ([A-Z*]+)->([A-Z*]+))")
_SMALL = frozenset(re.findall(r"\w+", """
    a after an and are as at by did do does for from has have he how in is it its of on or she that the their
    they this to was were what when where which who whom whose why with january february march april may june
    july august september october november december"""))
# The steps by a field that only they ask for: known without response_format, too.
_FIELDS = {"triples": "extraction", "pairs": "verdicts", "communities": "summaries", "lookups": "judgement",
           "types": "schema", "same": "same", "question": "question"}

_OPEN_WORDS, _MOST_NAMES = 3, 2
_FIRST_CALL = 2
"""Blocks of an agent's first prompt: the question, and the first look."""
_LAST = ("No lookups are left", "不能再查找了")

Json = dict[str, Any]


def reply(request: Json) -> str:
    contents = [message["content"] for message in request["messages"]]
    system, user = contents[0], contents[min(1, len(contents) - 1)]  # one, where the instructions are the user's
    steps: dict[str, Callable[[str, list[str]], Json]] = {
        "extraction": _extract, "summaries": _summarise, "verdicts": _resolve, "decompose": _judge,
        "reflect": _judge, "answer": _judge, "question": _condense, "schema": _propose, "same": _group}
    return json.dumps(steps[step(request)](system, FENCED.findall(user)), ensure_ascii=False)


def _propose(_: str, __: list[str]) -> Json:
    general = load_schema("general")
    return {"thought": "Documents of any kind.",
            "types": [[t.name, "", t.description, t.label("zh")] for t in general.entity_types],
            "relations": [[r.name, "|".join(r.domain), "|".join(r.range), r.label("zh")]
                          for r in general.relation_types],
            "attributes": [[a.name, "|".join(a.owners), a.kind, a.label("zh")] for a in general.attribute_types]}


def _group(_: str, __: list[str]) -> Json:
    return {"same": []}


def step(request: Json) -> str:
    """What is asked for: by the name of the response format, else by the fields that the prompt shows.

    The agent's calls, whose prompts have one form, are told apart as Banyan accounts for them.
    """
    named = request.get("response_format", {}).get("json_schema", {}).get("name")
    prompt = "".join(message["content"] for message in request["messages"][:2])
    if '"lookups":' in prompt:
        user = request["messages"][1]["content"]
        later = len(FENCED.findall(user)) > _FIRST_CALL
        return "answer" if user.rstrip().rpartition("\n")[2].startswith(_LAST) else "reflect" if later else "decompose"
    return named or next(step for marker, step in _FIELDS.items() if f'"{marker}":' in prompt)


class Part(NamedTuple):
    """What an extraction's prompt has of a chunk: the document's name, and its lines by their numbers."""

    document: str
    lines: dict[int, str]

    def text(self) -> str:
        return "\n".join(self.lines.values())


def parts(block: str) -> list[Part]:
    """The chunks of an extraction's prompt: below a line in brackets each, on numbered lines."""
    found, document = list[Part](), ""
    for line in block.split("\n"):
        if numbered := _NUMBERED.match(line):
            found[-1].lines[int(numbered[1])] = line[numbered.end():]
        elif above := _ABOVE.match(line):
            document = document if above[1] == ">" else above[1]
            found.append(Part(document, {}))
    return found


def _extract(system: str, blocks: list[str]) -> Json:
    # A list of types cut short to `*`: any may do, and schemas name persons first, who mostly do not.
    listed = _line(system, "Types, by letter|类型（前为代号）").split(", ")
    letters = dict(item.split(" ", 1) for item in listed if item)
    any_type = (_line(system, "Types|类型").split(", ")[1:] or [*letters.values()][1:])[:1]
    relations = [(name, head or letters.get(head_letters[0], "*"), tail or letters.get(tail_letters[0], "*"))
                 for name, head, tail, head_letters, tail_letters
                 in _RELATION.findall(_line(system, "Relations|关系")) if head or head_letters]
    types: dict[str, str] = {}
    triples: list[list[str]] = []
    for document, number, sentence in ((part.document, number, sentence) for part in parts(blocks[0])
                                       for number, line in part.lines.items() for sentence in _SENTENCE.findall(line)):
        for head, between, tail in _neighbours(sentence, document.partition(" (")[0]):
            words = [word for word in re.findall(r"\w+", between) if word not in {"was", "is", "the", "a"}]
            if not relations and 0 < len(words) <= _OPEN_WORDS:  # an open schema: the words between, as they stand
                types |= dict.fromkeys((head, tail), "Thing")
                triples.append([str(number), head, " ".join(words), tail])
            for relation, head_type, tail_type in relations:
                if not _says(between, relation):
                    continue
                swapped = relation.endswith("_by") and not re.search(r"\bby\b", between)
                pair = (tail, head) if swapped else (head, tail)
                for name, allowed in zip(pair, (head_type, tail_type), strict=True):
                    types.setdefault(name, any_type[0] if allowed == "*" else allowed.split("|")[0])
                triples.append([str(number), pair[0], relation, pair[1]])
                break
    return {"entities": [[kind, *(name for name, own in types.items() if own == kind)]
                         for kind in dict.fromkeys(types.values())],
            "triples": triples, "attributes": [], "new": []}


def _line(system: str, heading: str) -> str:
    found = re.search(rf"^(?:{heading}): (.*)$", system, re.MULTILINE)
    return found[1] if found else ""


def _neighbours(sentence: str, topic: str) -> Iterator[tuple[str, str, str]]:
    """Names that follow each other, and the words between; a pronoun stands for the document's topic."""
    names = [m for m in _NAME.finditer(sentence) if m[0].lower() not in _SMALL]
    names = [*_PRONOUN.finditer(sentence), *names]
    for first, second in pairwise(names):
        head = topic if _PRONOUN.match(first[0]) else first[0]
        yield head, sentence[first.end():second.start()], second[0]


def _says(between: str, relation: str) -> bool:
    stems = [word[:5].lower() for word in re.split(r"[_\s]+", relation) if word.lower() not in _SMALL]
    return bool(stems) and all(re.search(rf"\b{re.escape(stem)}", between.lower()) for stem in stems)


def _resolve(_: str, blocks: list[str]) -> Json:
    """The same where one name's letters are among the other's."""
    pairs = []
    for number, text in ITEM.findall(blocks[0]):
        names = [line.partition(" (")[0].lower() for line in text.splitlines() if not line.startswith("- ")]
        pairs.append({"id": int(number), "thought": "",
                      "same": set(names[0]) <= set(names[1]) or set(names[1]) <= set(names[0]),
                      "confidence": 0.9})
    return {"pairs": pairs}


def _summarise(_: str, blocks: list[str]) -> Json:
    return {"communities": [
        {"id": int(number), "name": text.partition("\n")[0][:60] or f"community {number}",
         "summary": " ".join(line.partition(". ")[2] for line in text.splitlines()[1:4]) or text[:60],
         "findings": [{"text": "The first fact matters.", "facts": [1, 99]}, {"text": "Without a fact.", "facts": []}]}
        for number, text in ITEM.findall(blocks[0])]}


def _judge(system: str, blocks: list[str]) -> Json:
    """Answer where the evidence does; else look for the question and its names once."""
    found = _answer(blocks)
    if found["claims"] or len(blocks) > _FIRST_CALL:
        return found
    names = [name for name in _NAME.findall(blocks[0]) if name.lower() not in _SMALL]
    return {**found, "thought": "Nothing answers it yet.", "lookups": [
        *({"tool": "entity_search", "entity": name} for name in names[:_MOST_NAMES] if "entity_search" in system),
        *([{"tool": "passage_search", "query": blocks[0]}] if "passage_search" in system else [])]}


def _answer(blocks: list[str]) -> Json:
    asked = _words(blocks[0])
    best: tuple[int, int, str] = (0, 0, "")
    for number, passage in items(blocks).items():
        for sentence in _SENTENCE.findall(passage.partition("\n")[2]):
            shared = len(asked & _words(sentence))
            if shared > best[0]:
                best = (shared, number, sentence)
    answerable = bool(best[0]) and 2 * best[0] >= len(asked)
    claim = {"text": best[2], "quotes": [{"item": best[1], "words": best[2]}], "unstated": ""}
    return {"thought": "", "lookups": [], "answerable": answerable, "claims": [claim] * answerable,
            "short": "", "confidence": 0.9 * answerable}


def items(blocks: list[str]) -> dict[int, str]:
    """The numbered items of an agent's prompt, whose first block is the question; a passage's first line is its title.
    """
    return {int(number): text for number, text in _EVIDENCE.findall("\n## \n".join(blocks[1:]))}


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower())) - _SMALL


def _condense(_: str, blocks: list[str]) -> Json:
    """The last name of the conversation in the place of a pronoun."""
    names = [name for name in _NAME.findall(blocks[0]) if name.lower() not in _SMALL]
    name = names[-1] if names else "it"
    return {"question": re.sub(r"\b(he|she|it|they)\b", name, blocks[1])}
