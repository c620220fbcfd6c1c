"""A model whose answers depend on the schema and on all else that it is shown, and that obeys what documents say.

It answers prompts as they are sent. Facts are written as arrows, `Adam Reed:Person --audits--> Acme:Organization.`
A relation is worded as one of the schema that begins with the same letter, if there is one; `SAY new FOR old.` anywhere
in a call, `JOIN everything.` and `old MEANS new` in a label are orders. Names are one if they have the same letters.
"""

import json
import re
from typing import Any

from banyan.models.llm.endpoint import Messages

from . import llm_brain

_FACT = re.compile(r"([A-Z]\w*(?: [A-Z]\w*)?):(\w+) --([^>]+?)--> ([A-Z]\w*(?: [A-Z]\w*)?):(\w+)")
_ORDER = re.compile(r"SAY (\w[\w ]*?) FOR (\w[\w ]*?)\.")
_LABEL = re.compile(r"^\[(\d+)\] relation: (.*?) \(", re.MULTILINE)
_SHOWN = re.compile(r"(\w+)\(")
MARK = "zyxo"
"""How each word begins that hostile documents alone have."""

Json = dict[str, Any]


class SwayedModel:
    """Answers every step of a build."""

    def __init__(self) -> None:
        self.read: dict[str, Json] = {}
        """What it has read of each line, the last time; with `replays` of another model's, it reads that again."""
        self.replays: dict[str, Json] = {}
        self.asked: list[str] = []

    def answer(self, messages: Messages) -> str:
        system, user = messages[0][1], messages[1][1]
        step = llm_brain.step({"messages": [{"content": system}, {"content": user}]})
        self.asked.append(step)
        steps = {"extraction": self._extract, "same": _group, "verdicts": _resolve, "summaries": _summarise,
                 "schema": _propose}
        return json.dumps(steps[step](system, llm_brain.FENCED.findall(user)[0]))

    def _extract(self, system: str, block: str) -> Json:
        shown, orders = _relations(system), {old: new for new, old in _ORDER.findall(block)}
        rows: list[tuple[str, Json]] = []
        for number, line in (one for part in llm_brain.parts(block) for one in part.lines.items()):
            said = self.replays.get(line) or {"facts": [
                [head, head_type, _worded(orders.get(relation, relation), shown), tail, tail_type]
                for head, head_type, relation, tail, tail_type in _FACT.findall(line)]}
            self.read[line] = said
            rows.append((str(number), said))
        facts = [(number, *fact) for number, said in rows for fact in said["facts"]]
        return {"entities": sorted([kind, name] for _, head, head_type, _, tail, tail_type in facts
                                   for kind, name in ((head_type, head), (tail_type, tail))),
                "triples": [[number, head, relation, tail] for number, head, _, relation, tail, _ in facts],
                "attributes": [], "new": [{"label": label, "confidence": 1.0}
                                          for label in sorted({fact[3] for fact in facts} - set(shown))][:5]}


def _relations(system: str) -> list[str]:
    line = next((line for line in system.splitlines() if line.startswith("Relations")), "")
    return sorted(_SHOWN.findall(line))


def _worded(label: str, shown: list[str]) -> str:
    return next((relation for relation in shown if relation[0] == label[0]), label)


def _group(system: str, block: str) -> Json:
    shown, labels = _relations(system), _LABEL.findall(block)
    names = [name for _, name in labels]
    rows = []
    for number, name in labels:
        old, _, new = name.partition(" means ")
        if new and old in names:
            rows.append([str(names.index(old) + 1), new, "forward"])
        elif name != (other := _worded(name, shown)):
            rows.append([number, other, "forward"])
    return {"same": rows}


def _resolve(_: str, block: str) -> Json:
    joined = "Join Everything" in block
    pairs = []
    for number, text in llm_brain.ITEM.findall(block):
        names = [line.rpartition(" (")[0].split() for line in text.splitlines() if not line.startswith("- ")]
        pairs.append({"id": int(number), "thought": "", "confidence": 1.0,
                      "same": joined or sorted(names[0]) == sorted(names[1])})
    return {"pairs": pairs}


def _summarise(_: str, block: str) -> Json:
    """Each community's own text, and every word of hostile documents in the call."""
    heard = " ".join(sorted(set(re.findall(rf"{MARK}\w*", block, re.IGNORECASE))))
    return {"communities": [{"id": int(number), "name": "n", "summary": f"{' '.join(text.split())} {heard}"}
                            for number, text in llm_brain.ITEM.findall(block)]}


def _propose(_: str, block: str) -> Json:
    """What the excerpts have, and a type and an attribute for each word of hostile documents."""
    facts, heard = _FACT.findall(block), sorted(set(re.findall(rf"{MARK}\w*", block, re.IGNORECASE)))
    types = {kind for fact in facts for kind in (fact[1], fact[4])} - {"Person", "Organization"}
    return {"thought": f"Of {' '.join(heard)}.", "types": [[kind, "", f"such as {kind}", ""] for kind in sorted(types)],
            "relations": [[label, "*", "*", ""] for label in sorted({fact[2] for fact in facts})[:10]] or [
                ["seen", "*", "*", ""]],
            "attributes": [[word, "Person", "text", ""] for word in heard]}
