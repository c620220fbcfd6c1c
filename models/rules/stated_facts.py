"""The facts in Chinese sentences of reliable forms, and in English brackets, which the parser reads badly.

The forms are data in `sentence_forms.json`: regular expressions with placeholders for names: `<person>`,
`<location|organization>`, `<award>` for the name of a prize, and `<name>` for a name of any kind. `<date>` and
`<number>` match values, `<PART>` is a part of several forms. `<... head>` and `<... tail>` are the ends of the fact; a
group `time` has words that say when it holds. The examples are run as tests: each gives the one fact that it states.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import label_key
from .recognition.spans import VALUES

_FILE = Path(__file__).with_name("sentence_forms.json")
_KINDS = ("person", "organization", "location", "event", "work", "product", "date", "number", "name", "award")
_ALL_KINDS = frozenset(_KINDS)
_CHARACTERS = {kind: chr(0xE000 + number) for number, kind in enumerate(_KINDS)}
_OPENED, _CLOSED = frozenset("\"“«"), frozenset("\"”»")
_ANY_NAME = "".join(character for kind, character in _CHARACTERS.items() if kind not in VALUES)
_PLACEHOLDER = re.compile(r"(?<!\?P)<(?P<kinds>[a-z|]+)(?: (?P<end>head|tail))?>")
_THEN = re.compile(rf",? (?P<word>since|in|on|from|until) (?P<date>{_CHARACTERS['date']})(?! (?:to|until|and|or) )")
_SUBJECT = re.compile(r"(?P<owner>Its|The(?= population))(?= )|(?:本|该)?(?:公司|集团)")


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
    fact to which a date that follows belongs: "born in Bergen, Norway, in 1901".
    """

    says: tuple[str, ...]
    form: str
    examples: tuple[tuple[str, str, str], ...]
    aside: bool = False


def load_forms() -> tuple[Pattern, ...]:
    """Return the forms of sentences."""
    listed = json.loads(_FILE.read_text("utf-8"))
    for part, pattern in reversed(listed["parts"].items()):
        for entry in listed["forms"]:
            entry["form"] = entry["form"].replace(f"<{part}>", pattern.replace("<ASIDE>", listed["parts"]["ASIDE"]))
    return tuple(Pattern(tuple(entry["says"]), entry["form"], tuple(
        (sentence, head, tail) for sentence, head, tail in entry["examples"]), "aside" in entry)
        for entry in listed["forms"])


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
        self._forms = [(label, _compile(pattern.form), pattern.aside) for label, pattern in labelled(schema, patterns)]

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
            typed, names = _mark_mentions(text, start, end, mentions, subject)
            for label, form, aside in self._forms:
                for match in form.finditer(typed):
                    yield Stated(names[match.start("head")], label, names[match.start("tail")],
                                 "" if aside else _time(typed, match, names), start, end)


def _time(typed: str, match: re.Match[str], names: Mapping[int, str]) -> str:
    """Return when a fact holds: what its form says, or a date that follows it at once; "" where there is none."""
    follows = _THEN.match(typed, match.end())
    if follows is not None:
        return f"{follows['word']} {names[follows.start('date')]}"
    return match.groupdict().get("time") or ""


def _compile(form: str) -> re.Pattern[str]:
    return re.compile(_PLACEHOLDER.sub(_character_class, form))


def _character_class(match: re.Match[str]) -> str:
    kinds = match["kinds"].split("|")
    found = f"[{''.join(_ANY_NAME if kind == 'name' else _CHARACTERS[kind] for kind in kinds)}]"
    return f"(?P<{match['end']}>{found})" if match["end"] else found


def _mark_mentions(text: str, start: int, end: int, mentions: Sequence[Mention],
           subject: Mention | None) -> tuple[str, Mapping[int, str]]:
    """Return a sentence with one character for each mention, and the name at each of these places."""
    parts: list[str] = []
    names: dict[int, str] = {}
    at = start
    opening = _SUBJECT.match(text, start, end) if subject is not None else None
    kinds = _ALL_KINDS - {"person"} if opening and opening["owner"] else {"organization"}
    if opening is not None and subject is not None and subject.kind in kinds:
        names[0] = subject.name
        parts += [_CHARACTERS[subject.kind], *("'s" if opening["owner"] else "")]
        at = opening.end()
    # Quotation marks around a name are not part of the form.
    for mention in mentions:
        if at <= mention.start and mention.end <= end:
            before, after = text[mention.start - 1 : mention.start], text[mention.end : mention.end + 1]
            quoted = before in _OPENED and after in _CLOSED
            parts += [*text[at : mention.start - quoted].replace("\n", " "), _CHARACTERS[mention.kind]]
            names[len(parts) - 1] = mention.name
            at = mention.end + quoted
    return "".join([*parts, text[at:end].replace("\n", " ")]), names
