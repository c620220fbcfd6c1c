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
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import label_key
from ...text.scripts import has_han
from .chinese_clauses import ANY_NAME, CHARACTERS, Cell, marked_text, split_clauses
from .recognition.spans import VALUES

_ENGLISH_FILE, _CHINESE_FILE = map(Path(__file__).with_name, ("sentence_forms.json", "chinese_forms.json"))
_OPENING_QUOTES, _CLOSING_QUOTES = frozenset("\"“«《"), frozenset("\"”»》")
_PLACEHOLDER = re.compile(r"(?<!\?P)<(?P<kinds>[a-z|]+)(?: (?P<end>head|tail))?>")
_SUBJECT_OPENING = re.compile(r"(?:Its|The(?= population))(?= )")
_OPTIONAL_DATE = f"[{CHARACTERS['date']}]?"
_ADVERBS = "(?:曾经?|现|正式|共同|联合|成功|先后|已经?|便|又|还|也|均|都|主要|开始|如今|一直|长期|才|再|终于|最终)*"

_CERTAIN_KINDS = {CHARACTERS[kind]: kind for kind in ("organization", "event")}
_LETTERS = {"H": "[一-鿿]", "P": CHARACTERS["person"], "L": CHARACTERS["location"], "O": CHARACTERS["organization"],
            "A": ANY_NAME, "D": CHARACTERS["date"], "N": CHARACTERS["number"]}
"""What the letters in angle brackets stand for in the forms of names."""
_UNTAGGED_NAMES = tuple((kind, re.compile(re.sub("<([A-Z])>", lambda match: _LETTERS[match[1]], form)))
                        for kind, form in json.loads(_CHINESE_FILE.read_text("utf-8"))["names"])
"""The names in clauses that no tagger finds: companies without "公司", and what somebody makes, heads or receives."""
_HONORIFIC = re.compile(f"(?<={CHARACTERS['person']})(?:教授|院士|博士|先生|女士|同志|医生|老师|律师)")
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

    `says` lists the names that schemas use for the relation or attribute. The first one in the current schema is used;
    if the schema has none of them, the form is not used. `examples` are (sentence, head, tail or value). With `aside`,
    a date in the clause is not the time of the fact. `clause` tells whether the form is matched with a Chinese clause
    or with an English sentence.
    """

    says: tuple[str, ...]
    form: str
    examples: tuple[tuple[str, str, str], ...]
    aside: bool = False
    clause: bool = False


def load_forms() -> tuple[Pattern, ...]:
    """Return the forms of both files, with their parts inserted."""
    patterns = list[Pattern]()
    for file, is_clause in ((_ENGLISH_FILE, False), (_CHINESE_FILE, True)):
        content = json.loads(file.read_text("utf-8"))
        for entry in content["forms"]:
            form = entry["form"]
            for _ in range(2):  # parts may contain parts
                for part, expression in content["parts"].items():
                    form = form.replace(f"<{part}>", expression)
            patterns.append(Pattern(tuple(entry["says"]), form, tuple(map(tuple, entry["examples"])),
                                    aside="aside" in entry, clause=is_clause))
    return tuple(patterns)


def labels_of(schema: GraphSchema) -> Callable[[Sequence[str]], str]:
    """Return a function from the names that a pattern `says` to the schema's name for its relation or attribute.

    The function returns "" if the schema has none of the names, or the first one if the schema is open.
    """
    elements = (*schema.relation_types, *schema.attribute_types)
    label_by_key = {label_key(name): element.name for element in reversed(elements) for name in element.all_names()}

    def label_of(says: Sequence[str]) -> str:
        default = says[0] if schema.open else ""
        return next((label_by_key[key] for key in map(label_key, says) if key in label_by_key), default)

    return label_of


class FactForms:
    """The forms of a schema's relations and attributes."""

    def __init__(self, schema: GraphSchema, patterns: Sequence[Pattern]) -> None:
        """Compile the patterns whose relation or attribute the schema has; an open schema uses all."""
        label_of = labels_of(schema)
        listed = [(label, pattern) for pattern in patterns if (label := label_of(pattern.says))]
        self._forms = [(label, re.compile(_PLACEHOLDER.sub(_name_form, pattern.form)))
                       for label, pattern in listed if not pattern.clause]
        self._clause_forms = [(label, *_compile(pattern.form, aside=pattern.aside), pattern.aside)
                              for label, pattern in listed if pattern.clause]

    def find(self, text: str, mentions: Sequence[Mention], sentences: Sequence[tuple[int, int]],
             subject: Mention | None) -> Iterator[Stated]:
        """Yield the facts of a text's sentences, given as (start, end); its names and values are ascending.

        Pronouns and "the company" at the beginning of a sentence refer to the `subject` of the text.
        """
        for start, end in sentences:
            if text[end - 1] in "?？":
                continue
            if has_han(text[start:end]):
                cells = _mark_untagged(_mark_mentions(text, start, end, mentions))
                yield from self._facts_of_clauses(cells, subject, start, end)
                continue
            cells = _mark_mentions(text, start, end, mentions, subject)
            marked = marked_text(cells)
            for label, form in self._forms:
                for match in form.finditer(marked):
                    head, tail = ("".join(words for _, words in cells[slice(*match.span(group))])
                                  for group in ("head", "tail"))
                    yield Stated(head, label, tail, "", start, end)

    def _facts_of_clauses(self, cells: Sequence[Cell], subject: Mention | None, start: int,
                          end: int) -> Iterator[Stated]:
        """Yield the facts of a Chinese sentence's clauses; `subject` is the text's, which pronouns refer to."""
        kind = subject.kind if subject else ""
        referent = (CHARACTERS[kind], subject.name) if subject and kind in CHARACTERS else None
        for clause in split_clauses(cells, referent, kind):
            marked = marked_text(clause)
            dates = [words for character, words in clause if character == CHARACTERS["date"]]
            for label, form, kinds, aside in self._clause_forms:
                match = form.match(marked)
                if match is None:
                    continue
                states_time = len(dates) == 1 and kinds.get("tail") != "date" and not aside
                time = dates[0] if states_time else ""
                for head, head_kind in _end_names(clause, match, "head", kinds):
                    for tail, tail_kind in _end_names(clause, match, "tail", kinds):
                        yield Stated(head, label, tail, time, start, end, head_kind, tail_kind)


def _end_names(clause: Sequence[Cell], match: re.Match[str], end: str,
          kinds: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the names at the "head" or "tail" of a fact, each with the kind that the form gives it, or "" for none."""
    end_cells = clause[slice(*match.span(end))]
    if kinds.get(end, "award") == "award":
        yield "".join(words for _, words in end_cells), kinds.get(end, "")
        return
    for character, words in end_cells:
        if character in CHARACTERS.values():
            is_unknown = character == CHARACTERS["name"] and kinds[end] != "name"
            yield words, _CERTAIN_KINDS.get(character, kinds[end] if is_unknown else "")


def _compile(form: str, *, aside: bool) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return the regular expression of a clause's form, and the first kind of each end that is a name or a value."""
    kinds = {match["end"]: match["kinds"].split("|")[0] for match in _PLACEHOLDER.finditer(form) if match["end"]}
    first_name = _PLACEHOLDER.search(form)
    cut = first_name.end() if first_name else 0
    date = "" if form.startswith("<date tail>", cut) else _OPTIONAL_DATE
    form = f"{form[:cut]}{date}{_ADVERBS}{form[cut:]}".replace("<date tail>", f"<date tail>{_ADVERBS}")
    placeholder_form = _name_form if aside else _list_form
    return re.compile(_PLACEHOLDER.sub(placeholder_form, form.replace("<WHEN>", _OPTIONAL_DATE))), kinds


def _list_form(match: re.Match[str]) -> str:
    """Return the regular expression for a placeholder, which also matches names of unknown kind and lists of names."""
    if match["kinds"] == "award":
        return _PRIZE
    single = _name_form(match)
    if not match["end"] or match["kinds"] in VALUES:
        return single
    # Works stand in 《》, so a name of unknown kind is none: the "GNU" of "发表了 GNU 宣言".
    unknown = "" if match["kinds"] == "work" else CHARACTERS["name"]
    name = f"[{single[single.index('[') + 1 : single.index(']')]}{unknown}]"
    return f"(?P<{match['end']}>{name}(?:[、和与及]{name})*)等?"


def _name_form(match: re.Match[str]) -> str:
    """Return the regular expression for a placeholder: one of the characters that stand for names of its kinds."""
    kinds = match["kinds"].split("|")
    characters = f"[{''.join(ANY_NAME if kind == 'name' else CHARACTERS[kind] for kind in kinds)}]"
    return f"(?P<{match['end']}>{characters})" if match["end"] else characters


def _mark_untagged(cells: list[Cell]) -> list[Cell]:
    """Mark the names in a Chinese sentence that no tagger finds, by the words around them; drop persons' titles."""
    # Replacements shift what follows, so the last match of a form is replaced first.
    for kind, form in _UNTAGGED_NAMES:
        for match in reversed([*form.finditer(marked_text(cells))]):
            name_cells = slice(*match.span(match.lastindex or 0))
            cells[name_cells] = [(CHARACTERS[kind], "".join(words for _, words in cells[name_cells]))]
    for match in reversed([*_HONORIFIC.finditer(marked_text(cells))]):
        del cells[slice(*match.span())]
    return cells


def _mark_mentions(text: str, start: int, end: int, mentions: Sequence[Mention],
                   subject: Mention | None = None) -> list[Cell]:
    """Return the cells of `text[start:end]`: one for each mention, and one for each other character."""
    cells = list[Cell]()
    at = start
    opening = _SUBJECT_OPENING.match(text, start, end)
    if opening is not None and subject is not None and subject.kind in CHARACTERS.keys() - {"person"}:
        cells += [(CHARACTERS[subject.kind], subject.name), ("'", "'"), ("s", "s")]
        at = opening.end()
    # Quotation marks around a name are left out, so that forms need not provide for them.
    for mention in mentions:
        if at <= mention.start and mention.end <= end:
            before, after = text[mention.start - 1 : mention.start], text[mention.end : mention.end + 1]
            quote_width = int(before in _OPENING_QUOTES and after in _CLOSING_QUOTES)
            cells += [(c, c) for c in text[at : mention.start - quote_width].replace("\n", " ")]
            cells.append((CHARACTERS[mention.kind], mention.name))
            at = mention.end + quote_width
    return [*cells, *((c, c) for c in text[at:end].replace("\n", " "))]
