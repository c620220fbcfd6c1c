"""Read JSON files and bibliographies (BibTeX, RIS, CSL-JSON) as records."""

import re
from typing import Any

from pybtex.database import Entry, parse_string
from pybtex.database.input.bibtex import DuplicateField, month_names
from pybtex.errors import capture
from pybtex.richtext import Text

from ...schemas.formats.small_files import check_depth
from ...text.cleaning import one_line
from ..objects import Fields, is_row, read_fields, read_object, record_lines
from ..reading import Content, Limits, UnreadableError, decode
from ..records import BadRecordError, parse, read_jsonl, read_records

_VENUES = ("journal", "journaltitle", "booktitle", "publisher", "school", "institution", "howpublished")
_FURTHER_FIELDS = ("volume", "number", "pages", "keywords", "abstract", "url")
_RIS = re.compile(r"^(?P<tag>[A-Z][A-Z0-9])  - ?(?P<value>[^\n]*)$", re.MULTILINE)
_RIS_FIELDS = {"TI": "title", "T1": "title", "PY": "year", "Y1": "year", "JO": "venue", "JF": "venue", "T2": "venue",
               "PB": "venue", "DO": "doi", "VL": "volume", "IS": "number", "AB": "abstract", "UR": "url",
               "AU": "author", "A1": "author", "KW": "keywords"}
_COMMENT = re.compile(r"^[ \t]*+%[^\n]*+", re.MULTILINE)  # for BibTeX it is no comment if it has an "@"
_STYLE = re.compile(r"\\(?:text[a-z]{2}|emph|underline)\{([^{}]{0,300})\}")  # such as of one's own name
_BARE_WORD = re.compile(r"=[ \t]{0,20}([A-Za-z]{1,40})[ \t]{0,20}(?=[,}\r\n])")
_DOI_ADDRESS = re.compile(r"https?://(?:dx\.)?doi\.org/")
_YEAR = re.compile(r"\d{4}")


def read_json(data: bytes, limits: Limits) -> Content:
    """Read the records of a list, of an object with a list in `documents` or `data`, or of a single record."""
    text = decode(data)
    if _is_of_lines(text):
        return read_jsonl(data, limits, "")
    try:
        value = parse(text) if text.strip() else []
        if not isinstance(value, list | dict):
            raise BadRecordError("neither a list of records nor an object: write "
                                 '[{"text": "...", "id": "...", "title": "..."}, ...]')
        records = value if isinstance(value, list) else [value]
        if isinstance(value, dict) and "text" not in value:
            lists = (value[key] for key in ("documents", "data") if isinstance(value.get(key), list))
            records = next(lists, records)
        if not records or not all(map(is_row, records)):  # each is a document
            numbered = ((f"record {number}", record) for number, record in enumerate(records))
            return Content("", records=list(read_records(numbered, limits)))
        check_depth(value, limits.json_depth)
    except ValueError as error:  # not JSON, or nested too deeply
        raise UnreadableError(str(error)) from error
    if isinstance(value, dict):
        return read_object(value, limits)
    are_works = all({"title", "type"} <= row.keys() and {"issued", "author"} & row.keys() for row in records)
    rows = [_csl_work(record) if are_works else read_fields(record) for record in records]
    return Content(record_lines(rows, "", limits))


def _is_of_lines(text: str) -> bool:
    """Return True if the first two lines of a text are an object each, as databases export them."""
    first_lines = text.lstrip().split("\n", 2)[:2]
    try:
        return len(first_lines) > 1 and all(isinstance(parse(line), dict) for line in first_lines)
    except BadRecordError:
        return False


def _csl_work(record: dict[str, Any]) -> Fields:
    """Return a work of a CSL-JSON file, as Zotero writes it, with the names that its fields have in other formats."""
    people = [person.get("literal") or f"{person.get('given', '')} {person.get('family', '')}"
              for person in record.get("author") or () if isinstance(person, dict)]
    year = _YEAR.search(str(record.get("issued") or ""))
    return read_fields({"title": record["title"], "author": people, "year": year and year[0],
                        "venue": record.get("container-title"), "type": record["type"], "doi": record.get("DOI"),
                        "abstract": record.get("abstract")})


def read_bib(data: bytes, limits: Limits) -> Content:
    """Read a BibTeX file: each entry is a row with title, author, year and venue; UnreadableError if it has none."""
    text = _STYLE.sub(r"\1", _COMMENT.sub("", decode(data)))
    words = {word: word for word in _BARE_WORD.findall(text)}  # an abbreviation that nothing defines means itself
    with capture() as problems:
        entries = parse_string(text, "bibtex", macros=words | month_names).entries
    errors = [problem for problem in problems if not isinstance(problem, DuplicateField)]  # the first field is read
    works = [_bibtex_work(key, entry) for key, entry in entries.items() if entry.fields or entry.persons]
    if not works:
        raise UnreadableError(f"not BibTeX that can be read ({errors[0] if errors else 'no entry'}): mend the entry")
    unread = f"{len(errors)} of its entries ({errors[0]}): mend them" if errors else ""
    return Content(record_lines(works, "", limits), unread=unread)


def _bibtex_work(key: str, entry: Entry) -> Fields:
    """Return a work of a BibTeX file, with the names that its fields have in other formats, and without LaTeX."""
    fields = {name.lower(): one_line(str(Text.from_latex(value))) for name, value in entry.fields.items()}
    authors: list[str] = []
    for person in entry.persons.get("author") or entry.persons.get("editor") or ():
        parts = (*person.first_names, *person.middle_names, *person.prelast_names, *person.last_names,
                 *person.lineage_names)
        authors.append(one_line(str(Text.from_latex(" ".join(parts)))))
    return {"title": fields.get("title", ""), "author": "; ".join(authors),
            "year": fields.get("year", "") or fields.get("date", "")[:4],
            "venue": next((fields[name] for name in _VENUES if fields.get(name)), ""), "type": entry.type, "key": key,
            "doi": _DOI_ADDRESS.sub("", fields.get("doi", "")),
            **{name: fields.get(name, "") for name in _FURTHER_FIELDS}}


def read_ris(data: bytes, limits: Limits) -> Content:
    """Read a RIS file, as EndNote and Zotero write it; UnreadableError if it has no entry."""
    works: list[dict[str, str]] = []
    for line in _RIS.finditer(decode(data).replace("\r\n", "\n")):
        name, value = _RIS_FIELDS.get(line["tag"], ""), one_line(line["value"])
        if line["tag"] == "TY":  # the first line of a work
            works.append({"title": "", "author": "", "year": "", "venue": "", "doi": "", "type": value})
        elif works and name in {"author", "keywords"}:  # which have a line for each of them
            if name == "author":  # "Blum, Ada"
                value = " ".join(reversed([part.strip() for part in value.split(",", 1)]))
            works[-1][name] = "; ".join(filter(None, [works[-1].get(name, ""), value]))
        elif works and name and not works[-1].get(name):  # of several venues and the like, the first counts
            works[-1][name] = value[:4] if name == "year" else _DOI_ADDRESS.sub("", value)
    if not works:
        raise UnreadableError("no entry of a bibliography in it (TY  - ...): export it again")
    return Content(record_lines(works, "", limits))
