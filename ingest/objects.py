"""Read objects of JSON, YAML and TOML: one alone is the record of its document, and a list of them is a table."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import yaml

from ..schemas.formats.small_files import check_depth
from ..schemas.naming import label_key
from ..text.cleaning import clean_text, one_line
from ..text.lexicon import WORDS
from ..text.table_rows import LIST_MARK
from .markdown_files import read_head_fields
from .reading import Content, Limits, UnreadableError, decode
from .table_lines import table_lines

Fields = Mapping[str, str]
MOST_FIELDS, LONGEST_FIELD = 200, 10_000
"""The most fields of a document and the longest value of one, because metadata is embedded and shown with citations."""
_LONGEST_LIST, _MOST_NAMES = 2_000, 100
"""The most items of a list that is a single cell, and the most objects of a table whose names are a field, too."""
_FEWEST_KEYED = 3  # the fewest objects alike in an object that are the rows of a table; two may be parts of it
_NAMES = tuple(dict.fromkeys(["title", "name", "label", "headline", "heading", "displayname", "fullname", *sorted(
    WORDS["headers of names"])]))  # the names of fields that say what an object is called, the surest first
_LONGEST_PARSED = 200_000  # characters of a file that is parsed, which takes seconds; a longer one is text alone
_LANGUAGE_CODE = len("en")  # an object with such keys alone holds one text in several languages


def read_object(value: Mapping[str, object], limits: Limits, source: str = "") -> Content:
    """Return an object as the record of its document: its fields as metadata, and its lists of objects as tables.

    `source` is the file's own text, if people can read it as it is. It stands above the tables; and an object that is
    mostly nested, such as a program's settings, is that text alone.
    """
    tables: dict[str, list[Fields]] = {}  # by their names
    if not source and (rows_of_all := _keyed_rows(value)):
        value, tables = {}, {"": rows_of_all}
    texts = read_fields(name_objects(_take_tables(value, "", tables)))
    is_flat = sum(map(_is_flat, value.values())) > len(value) / 2 and len(texts) <= MOST_FIELDS
    if source and not is_flat:
        return Content(source)
    title_field = next((name for name in _names_of(value) if 0 < len(texts.get(name, "")) <= limits.title), "")
    title = texts.get(title_field, "")
    if label_key(title_field) == "title":  # others are fields beside it
        texts.pop(title_field)
    if len(texts) > MOST_FIELDS:  # no object has so many: its keys are names of things, as in a dictionary
        too_much = record_lines([{"name": name, "value": text} for name, text in texts.items()], "", limits)
        texts.clear()
    else:
        long_fields = [name for name, text in texts.items() if len(text) > LONGEST_FIELD]
        too_much = "\n\n".join(f"## {name}\n\n{texts.pop(name)}" for name in long_fields)
    headings = {name: f"## {name}\n\n" if name else "" for name in tables}
    sections = (headings[name] + record_lines(rows, name, limits) for name, rows in tables.items())
    return Content("\n\n".join(filter(None, [source.rstrip("\n") or too_much, *sections])), one_line(title), texts)


def _is_flat(field: object) -> bool:
    """Return True for a scalar, and for a list or mapping of scalars; a list may hold objects with a name."""
    if isinstance(field, Mapping):
        return not any(isinstance(value, list | Mapping) for value in field.values())
    if isinstance(field, list):
        return all(not isinstance(item, list | Mapping) or (isinstance(item, Mapping) and "name" in item)
                   for item in field)
    return True


def _take_tables(value: Mapping[str, Any], above: str, tables: dict[str, list[Fields]]) -> dict[str, object]:
    """Return an object without its lists that are tables; add these to `tables`, by the names that lead to them.

    A list is a table if its items are objects, or if it is too long for a cell. `above` are the names of outer objects.
    """
    rest = dict[str, object]()
    for name, item in value.items():
        path = f"{above} {name}".strip()
        if isinstance(item, Mapping) and (keyed := _keyed_rows(item)):
            tables.setdefault(path, []).extend(keyed)
        elif isinstance(item, Mapping):
            inner = _take_tables(item, path, tables)
            # What is beside a tree's branches is of its root, whose name is that of all of them.
            rest |= {f"{name} {field}": part for field, part in inner.items()} if path in tables else {name: inner}
        elif _are_objects(item):
            # The field of a tree's objects that holds objects like them is in itself: "children" in "children".
            lists = ((field, inner) for one in item for field, inner in one.items() if _are_objects(inner))
            branches = next((field for field, inner in lists
                             if field == name or any(field in below for below in inner)), "")
            rows = _tree_rows(item, branches) if branches else map(read_fields, item)
            tables.setdefault(above if above and branches == name else path, []).extend(rows)
            if not branches and len(item) <= _MOST_NAMES and all("name" in one for one in item):
                rest[name] = [one["name"] for one in item]
        elif isinstance(item, list) and len(item) > _LONGEST_LIST:
            tables.setdefault(path, []).extend({str(name): _value_text(inner)} for inner in item)
        else:
            rest[str(name)] = item
    return rest


def _keyed_rows(value: Mapping[str, Any]) -> list[Fields]:
    """Return a row for each of the objects alike that an object consists of, with its key in front; [] for others."""
    are_rows = len(value) >= _FEWEST_KEYED and _are_objects([*value.values()])
    return [read_fields({"key": key, **one}) for key, one in value.items()] if are_rows else []


def _are_objects(value: object) -> bool:
    """Return True for a list of objects that have a field in common, by more than half of them."""
    if not isinstance(value, list) or not value or not all(isinstance(item, Mapping) and item for item in value):
        return False
    return max(Counter(chain.from_iterable(value)).values()) > len(value) / 2


def _tree_rows(objects: Iterable[Mapping[str, Any]], branches: str, ancestors: Sequence[str] = ()) -> Iterator[Fields]:
    """Yield a row for each object of a tree, with the names of those above it."""
    for one in objects:
        below = one.get(branches)
        are_below = not below or _are_objects(below)
        own = read_fields({name: value for name, value in one.items() if name != branches or not are_below})
        yield {**own, "ancestors": LIST_MARK.join(ancestors)}
        if below and are_below:
            called = next(map(own.get, _names_of(one)), None) or next(filter(None, own.values()), "")
            yield from _tree_rows(below, branches, [*ancestors, called])


def _names_of(value: Mapping[str, object]) -> list[str]:
    """Return the fields that say what an object is called, surest first; "name en" of `{"name": {"en": "Cork"}}`."""
    folded = dict[str, str]()
    for name, field in value.items():
        if isinstance(field, str):
            folded[label_key(name).replace(" ", "")] = name
        elif isinstance(field, Mapping) and field and all(len(language) == _LANGUAGE_CODE for language in field):
            folded[label_key(name).replace(" ", "")] = f"{name} {'en' if 'en' in field else next(iter(field))}"
    return [folded[name] for name in _NAMES if name in folded]


def name_objects(fields: Mapping[str, object]) -> dict[str, object]:
    """Replace each object that has a `name` by that name; its other keys become fields such as "author email"."""
    named = dict[str, object]()
    for field, value in fields.items():
        items: list[Any] = value if isinstance(value, list) else [value]
        if not items or not all(isinstance(item, dict) and isinstance(item.get("name"), str) for item in items):
            named[field] = value
            continue
        names = [item["name"].strip(" ,;") for item in items]
        named[field] = names
        for key in [key for key in dict.fromkeys(chain(*items)) if key != "name"]:
            by_name = [{name: item[key]} for name, item in zip(names, items, strict=True) if item.get(key)]
            named[f"{field} {key}"] = by_name if len(items) > 1 else items[0][key]
    return named


def is_row(value: object) -> bool:
    """Return True if a JSON value can be the row of a table: an object with fields, but without `text`."""
    return isinstance(value, dict) and bool(value) and "text" not in value


def read_fields(value: Mapping[str, object]) -> dict[str, str]:
    """Return the fields of an object as texts, "" for an empty one, so that a table has the file's columns in order.

    A field of an inner object gets both names: `{"address": {"city": "Bern"}}` has the field "address city".
    """
    fields: dict[str, str] = {}
    for name, item in value.items():
        if isinstance(item, dict):
            fields |= {f"{name} {inner}": text for inner, text in read_fields(item).items()}
        else:
            fields[str(name)] = _value_text(item)
    return fields


def _value_text(value: object) -> str:
    """Return a JSON value as text: the items of a list joined, an object as "name: value, ...", null as ""."""
    if isinstance(value, list):
        return LIST_MARK.join(filter(None, map(_value_text, value)))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {text}" for name, text in read_fields(value).items() if text)
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else " ".join(str(value).split())


def record_lines(records: Sequence[Fields], title: str, limits: Limits) -> str:
    """Return records as the lines of a table of all their fields; raise UnreadableError if it is too large."""
    header = list(dict.fromkeys(name for record in records for name in record))
    if len(header) > limits.table_columns:
        raise UnreadableError(f"{len(header):,} fields in its records, at most {limits.table_columns:,} are read: "
                              "split it")
    rows = ([record.get(name, "") for name in header] for record in records)
    return join_lines(table_lines(header, rows, title), limits)


def join_lines(table: Iterable[str], limits: Limits) -> str:
    """Join the lines of a table; raise UnreadableError as soon as they are too large."""
    lines, room = list[str](), limits.file_bytes
    for line in table:
        lines.append(line)
        room -= len(line) + 1
        if room < 0:
            raise UnreadableError(f"larger than {limits.size()} with each value's name: split it into smaller files")
    return "\n".join(lines)


# --- YAML and TOML

def read_yaml(data: bytes, limits: Limits) -> Content:
    """Read a YAML file: one that lists objects as a table, an object as a record, and any other as its own text."""
    text = clean_text(decode(data))
    value = _parse("---", text, limits)
    if isinstance(value, list) and value and all(map(is_row, value)):
        comments = sum(line.lstrip().startswith("#") for line in text.splitlines())
        return Content(record_lines(list(map(read_fields, value)), "", limits),
                       omitted=f"{comments:,} comment{'s' * (comments > 1)}" if comments else "")
    return read_object(value, limits, text) if isinstance(value, Mapping) else Content(text)


def read_toml(data: bytes, limits: Limits) -> Content:
    """Read a TOML file as a record, or as its own text if it is mostly nested."""
    text = clean_text(decode(data))
    value = _parse("+++", text, limits)
    return read_object(value, limits, text) if isinstance(value, Mapping) else Content(text)


def _parse(fence: str, text: str, limits: Limits) -> object:
    """Return the value of YAML ("---"), whose scalars stay texts, or of TOML.

    None if it has none, is long or deep, is several documents, or refers to a part of itself.
    """
    if len(text) > _LONGEST_PARSED:
        return None
    try:
        if fence == "---":
            # What repeats a part by reference may say a lot in few words, and takes as much memory when written out.
            if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.BaseLoader)):
                return None
            # The loader makes texts, lists and mappings alone. A line of dashes at the end begins an empty document.
            values = [value for value in yaml.load_all(text, yaml.BaseLoader) if value]
            value = values[0] if len(values) == 1 else None
        else:
            value = read_head_fields(fence, text)
        check_depth(value, limits.json_depth)
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    return value
