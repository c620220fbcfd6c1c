"""The facts in Chinese clauses of reliable forms, and in English brackets, which the parser reads badly.

The forms are data in `sentence_forms.json` and `chinese_forms.json`: regular expressions with placeholders for names:
`<person>`, `<location|organization>`, `<award>` for the name of a prize, and `<name>` for a name of any kind. `<date>`
and `<number>` match values, `<PART>` is a part of several forms. `<... head>` and `<... tail>` are the ends of the
fact; a group `tail` is a text. A Chinese form begins with the subject of a clause; a list in place of a name gives a
fact for each, and adverbs and a date may follow the first name. The examples are run as tests: each gives the one fact
that it states.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import label_key
from ...text.scripts import has_han
from .chinese_clauses import Cell, ClauseSplitter
from .recognition.spans import VALUES

_FILES = ("sentence_forms.json", "chinese_forms.json")
_KINDS = ("person", "organization", "location", "event", "work", "product", "date", "number", "name", "award")
_ALL_KINDS = frozenset(_KINDS)
_CHARACTERS = {kind: chr(0xE000 + number) for number, kind in enumerate(_KINDS)}
_OPENED, _CLOSED = frozenset("\"“«《"), frozenset("\"”»》")
_ANY_NAME = "".join(character for kind, character in _CHARACTERS.items() if kind not in VALUES)
_PLACEHOLDER = re.compile(r"(?<!\?P)<(?P<kinds>[a-z|]+)(?: (?P<end>head|tail))?>")
_THEN = re.compile(rf",? (?P<word>since|in|on|from|until) (?P<date>{_CHARACTERS['date']})(?! (?:to|until|and|or) )")
_SUBJECT = re.compile(r"(?:Its|The(?= population))(?= )")
_CLAUSES = ClauseSplitter(_ANY_NAME, _CHARACTERS["date"])
_WHEN = f"[{_CHARACTERS['date']}]?"
_ADVERBS = "(?:曾经?|现|正式|共同|联合|成功|先后|已经?|便|又|还|也|均|都|主要|开始|如今|一直|长期|才|再)*"
_PRIZE = "(?P<tail>[^，的了《》、和]{1,20}(?:奖|奖章|勋章|奖项))"


class Mention(NamedTuple):
    """A name or value at characters `start` to `end`; `name` is the full name or the value's wording."""

    start: int
    end: int
    kind: str
    name: str


class Stated(NamedTuple):
    """A fact and its sentence; `label` is the schema's, `time` the words that say when it holds.

    The kinds of the ends are given where the words of the fact tell them.
    """

    head: str
    label: str
    tail: str
    time: str
    start: int
    end: int
    head_kind: str = ""
    tail_kind: str = ""


class Pattern(NamedTuple):
    """A form of sentences, and the fact that they state.

    `says` lists the names that schemas use for a relation or attribute; the first one in the current schema counts, and
    without any the form is not used. `examples` are (sentence, head, tail or value). What is said `aside` is not the
    fact to which a date that follows belongs: "born in Bergen, Norway, in 1901". The form is of a sentence or of a
    `clause`.
    """

    says: tuple[str, ...]
    form: str
    examples: tuple[tuple[str, str, str], ...]
    aside: bool = False
    clause: bool = False


def load_forms() -> tuple[Pattern, ...]:
    """Return the forms of sentences."""
    found = list[Pattern]()
    for file in _FILES:
        listed = json.loads(Path(__file__).with_name(file).read_text("utf-8"))
        for entry in listed["forms"]:
            for part, words in [*listed["parts"].items()] * 2:  # parts may have parts
                entry["form"] = entry["form"].replace(f"<{part}>", words)
            found.append(Pattern(tuple(entry["says"]), entry["form"], tuple(map(tuple, entry["examples"])),
                                 "aside" in entry, file == _FILES[-1]))
    return tuple(found)


class Says(Protocol):
    """A pattern: `says` lists the names that schemas use for what it states."""

    @property
    def says(self) -> tuple[str, ...]:
        """Return the names, the most specific one first."""


P = TypeVar("P", bound=Says)


def labelled(schema: GraphSchema, patterns: Iterable[P]) -> Iterator[tuple[str, P]]:
    """Yield the patterns whose relation or attribute a schema has, with its name; an open schema has all."""
    elements = (*schema.relation_types, *schema.attribute_types)
    known = {label_key(name): element.name for element in reversed(elements) for name in element.all_names()}
    for pattern in patterns:
        label = next((known[key] for says in pattern.says if (key := label_key(says)) in known),
                     pattern.says[0] if schema.open else "")
        if label:
            yield label, pattern


class FactForms:
    """The forms of a schema's relations and attributes."""

    def __init__(self, schema: GraphSchema, patterns: Sequence[Pattern]) -> None:
        """Compile the patterns whose relation or attribute the schema has; an open schema uses all."""
        listed = list(labelled(schema, patterns))
        self._forms = [(label, re.compile(_PLACEHOLDER.sub(_character_class, pattern.form)), pattern.aside)
                       for label, pattern in listed if not pattern.clause]
        self._clause_forms = [(label, *_compile(pattern.form, aside=pattern.aside), pattern.aside)
                              for label, pattern in listed if pattern.clause]

    def find(self, text: str, mentions: Sequence[Mention], sentences: Sequence[tuple[int, int]],
             subject: Mention | None) -> Iterator[Stated]:
        """Find the facts of a text.

        Args:
            text: the text.
            mentions: the names and values of the text, ascending.
            sentences: (start, end) of the sentences of the text.
            subject: the subject of the text; pronouns and "the company" at the beginning of a sentence refer to it.
        """
        for start, end in sentences:
            if text[end - 1] in "?？":
                continue
            if has_han(text[start:end]):
                yield from self._of_clauses(_mark_mentions(text, start, end, mentions), subject, start, end)
                continue
            cells = _mark_mentions(text, start, end, mentions, subject)
            typed = "".join(character for character, _ in cells)
            for label, form, aside in self._forms:
                for match in form.finditer(typed):
                    tail = "".join(words for _, words in cells[slice(*match.span("tail"))])
                    yield Stated(cells[match.start("head")][1], label, tail,
                                 "" if aside else _time(typed, match, cells), start, end)

    def _of_clauses(self, cells: Sequence[Cell], subject: Mention | None, start: int, end: int) -> Iterator[Stated]:
        kind = subject.kind if subject else ""
        referent = (_CHARACTERS[kind], subject.name) if subject and kind in _ALL_KINDS else None
        for clause in _CLAUSES.split(cells, referent, kind):
            typed = "".join(character for character, _ in clause)
            dates = [words for character, words in clause if character == _CHARACTERS["date"]]
            for label, form, kinds, aside in self._clause_forms:
                match = form.match(typed)
                if match is None:
                    continue
                states_time = len(dates) == 1 and kinds.get("tail") != "date" and not aside
                time = dates[0] if states_time else ""
                for head, head_kind in _ends(clause, match, "head", kinds):
                    for tail, tail_kind in _ends(clause, match, "tail", kinds):
                        yield Stated(head, label, tail, time, start, end, head_kind, tail_kind)


def _ends(clause: Sequence[Cell], match: re.Match[str], end: str,
          kinds: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the names of an end with the kinds that the form tells, or its text."""
    found = clause[slice(*match.span(end))]
    if kinds.get(end, "award") == "award":
        yield "".join(words for _, words in found), kinds.get(end, "")
        return
    for character, words in found:
        if character in _CHARACTERS.values():
            told = kinds[end] if character == _CHARACTERS["name"] and kinds[end] != "name" else ""
            yield words, told


def _time(typed: str, match: re.Match[str], cells: Sequence[Cell]) -> str:
    """Return when a fact holds: what its form says, or a date that follows it at once; "" where there is none."""
    follows = _THEN.match(typed, match.end())
    return f"{follows['word']} {cells[follows.start('date')][1]}" if follows is not None else ""


def _compile(form: str, *, aside: bool) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return the expression of a clause, and the first kind of each of its ends that is a name or a value."""
    kinds = {match["end"]: match["kinds"].split("|")[0] for match in _PLACEHOLDER.finditer(form) if match["end"]}
    first = _PLACEHOLDER.search(form)
    cut = first.end() if first else 0
    when = "" if form.startswith("<date tail>", cut) else _WHEN
    form = f"{form[:cut]}{when}{_ADVERBS}{form[cut:]}".replace("<date tail>", f"<date tail>{_ADVERBS}")
    one = _character_class if aside else _list_class
    return re.compile(_PLACEHOLDER.sub(one, form.replace("<WHEN>", _WHEN))), kinds


def _list_class(match: re.Match[str]) -> str:
    """Return the expression of a name of some kinds or of unknown kind, or of a list of these."""
    if match["kinds"] == "award":
        return _PRIZE
    one = _character_class(match)
    if not match["end"] or match["kinds"] in VALUES:
        return one
    # 《》 tells works: the "GNU" of "发表了 GNU 宣言" is none.
    unknown = "" if match["kinds"] == "work" else _CHARACTERS["name"]
    named = f"[{one[one.index('[') + 1 : one.index(']')]}{unknown}]"
    return f"(?P<{match['end']}>{named}(?:[、和与及]{named})*)等?"


def _character_class(match: re.Match[str]) -> str:
    kinds = match["kinds"].split("|")
    found = f"[{''.join(_ANY_NAME if kind == 'name' else _CHARACTERS[kind] for kind in kinds)}]"
    return f"(?P<{match['end']}>{found})" if match["end"] else found


def _mark_mentions(text: str, start: int, end: int, mentions: Sequence[Mention],
                   subject: Mention | None = None) -> list[Cell]:
    """Return a sentence with one character for each mention, and what each character stands for."""
    cells = list[Cell]()
    at = start
    opening = _SUBJECT.match(text, start, end)
    if opening is not None and subject is not None and subject.kind in _ALL_KINDS - {"person"}:
        cells += [(_CHARACTERS[subject.kind], subject.name), ("'", "'"), ("s", "s")]
        at = opening.end()
    # Quotation marks around a name are not part of the form.
    for mention in mentions:
        if at <= mention.start and mention.end <= end:
            before, after = text[mention.start - 1 : mention.start], text[mention.end : mention.end + 1]
            quoted = before in _OPENED and after in _CLOSED
            cells += [(c, c) for c in text[at : mention.start - quoted].replace("\n", " ")]
            cells.append((_CHARACTERS[mention.kind], mention.name))
            at = mention.end + quoted
    return [*cells, *((c, c) for c in text[at:end].replace("\n", " "))]
