"""Questions about an anonymised corpus from the facts of its graph, without a model, in AnonyRAG's form."""

from collections.abc import Callable, Sequence

from ...graph_store.graph.resolved_graph import ResolvedGraph
from ...prompts import language_of
from ...schemas.documents import Frozen
from .replacing import MARK, Key

_FACTS = 6
_OPTIONS = 4
_REVERT = {
    "en": "Read the statements below. For every anonymised person and place in them, find out from the texts which "
          "name was replaced, and give each id with its name, as in PERSON#1——Ishmael.",
    "zh": "请阅读下列陈述，结合文本推断其中所有被匿名化的人名和地名原本的内容，"
          "逐一给出编号与名称，形如 PERSON#1——鲁智深。"}
_CHOOSE = {"en": "Which is right? {head}, {relation}:", "zh": "下列哪一项正确？{head}，{relation}："}
Anonymised = Callable[[str], str]


class Task(Frozen):
    """A question and its answer, as AnonyRAG's files have them."""

    question: str
    answer: str


def tasks_from_facts(graph: ResolvedGraph, key: Key, anonymised: Anonymised) -> list[Task]:
    """One task of reversion for each entity with facts, and one of multiple choice for each of its relations.

    Args:
        graph: whose facts are stated.
        key: which ids there are.
        anonymised: replaces the names in a text.
    """
    names = {identifier: all_names[0] for identifier, all_names in key.entities.items()}
    stated: dict[str, list[tuple[str, str, str]]] = {}
    tails: dict[str, list[str]] = {}
    for head, relation, tail in graph.edges():
        ends = [MARK.fullmatch(anonymised(graph.name(end))) for end in (head, tail)]
        if ends[0] and ends[1] and ends[0][1] != ends[1][1] and all(end and end[1] in names for end in ends):
            stated.setdefault(ends[0][1], []).append((ends[0][1], relation.replace("_", " "), ends[1][1]))
            tails.setdefault(ends[1][1].partition("#")[0], []).append(ends[1][1])
    return [task for identifier in sorted(stated, key=_number) for task in (
        _reversion(stated[identifier][:_FACTS], names), *_choices(stated[identifier][:1], stated, tails, names))]


def _number(identifier: str) -> tuple[str, int]:
    kind, _, number = identifier.partition("#")
    return kind, int(number)


def _reversion(facts: Sequence[tuple[str, str, str]], names: dict[str, str]) -> Task:
    lines = [f"- [{head}] {relation} [{tail}]" for head, relation, tail in facts]
    ids = dict.fromkeys(end for head, _, tail in facts for end in (head, tail))
    language = language_of("".join(names[identifier] for identifier in ids))
    return Task(question="\n".join([_REVERT[language], *lines]),
                answer="\n".join(f"{identifier}——{names[identifier]}" for identifier in ids))


def _choices(facts: Sequence[tuple[str, str, str]], stated: dict[str, list[tuple[str, str, str]]],
             tails: dict[str, list[str]], names: dict[str, str]) -> list[Task]:
    made = []
    for head, relation, tail in facts:
        true = {other for _, same, other in stated[head] if same == relation}
        others = [other for other in dict.fromkeys(tails[tail.partition("#")[0]]) if other not in true | {head}]
        if len(others) < _OPTIONS - 1:
            continue
        place = _number(tail)[1] % _OPTIONS  # spread over the letters, and the same every time
        options = others[:_OPTIONS - 1]
        options.insert(place, tail)
        lines = [f"{chr(ord('A') + number)}. [{option}]" for number, option in enumerate(options)]
        asked = _CHOOSE[language_of(names[tail])].format(head=f"[{head}]", relation=relation)
        made.append(Task(question="\n".join([asked, *lines]),
                         answer=f"{chr(ord('A') + place)}. [{tail}]"))
    return made
