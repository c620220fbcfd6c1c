"""Read bibliographies (BibTeX, RIS and CSL-JSON) as records."""

import re
from collections.abc import Sequence

from pybtex.database import parse_string
from pybtex.errors import capture
from pybtex.richtext import Text

from ...text.cleaning import one_line
from ..decoding import decode
from ..reading import Content, Limits, UnreadableError
from ..records import Fields, record_lines

_VENUES = ("journal", "journaltitle", "booktitle", "publisher", "school", "institution", "howpublished")
_FIELDS = ("doi", "volume", "number", "pages", "keywords", "abstract", "url")
_RIS = re.compile(r"^(?P<tag>[A-Z][A-Z0-9])  - ?(?P<value>[^\n]*)$", re.MULTILINE)
_RIS_FIELDS = {"TI": "title", "T1": "title", "PY": "year", "Y1": "year", "JO": "venue", "JF": "venue", "T2": "venue",
               "PB": "venue", "DO": "doi", "VL": "volume", "IS": "number", "AB": "abstract", "UR": "url"}
_RIS_LISTS = {"AU": "author", "A1": "author", "KW": "keywords"}
_COMMENT = re.compile(r"^[ \t]*+%[^\n]*+", re.MULTILINE)  # for BibTeX it is no comment if it has an "@"
_STYLE = re.compile(r"\\(?:text[a-z]{2}|emph|underline)\{([^{}]{0,300})\}")  # such as of one's own name
_DOI_ADDRESS = re.compile(r"https?://(?:dx\.)?doi\.org/")
_YEAR = re.compile(r"\d{4}")


def read_bib(data: bytes, limits: Limits) -> Content:
    """Read a BibTeX file: each entry is a row with title, author, year and venue.

    Raises:
        UnreadableError: no entry of it can be read.
    """
    with capture() as errors:
        read = parse_string(_STYLE.sub(r"\1", _COMMENT.sub("", decode(data))), "bibtex").entries
    entries = {key: entry for key, entry in read.items() if entry.fields or entry.persons}
    if not entries:
        raise UnreadableError(f"not BibTeX that can be read ({errors[0] if errors else 'no entry'}): mend the entry")
    works: list[Fields] = []
    for key, entry in entries.items():
        fields = {name.lower(): _without_latex(value) for name, value in entry.fields.items()}
        venue = next((fields[name] for name in _VENUES if fields.get(name)), "")
        people = entry.persons.get("author") or entry.persons.get("editor") or []
        names = (_without_latex(" ".join(name for names in (
            person.first_names, person.middle_names, person.prelast_names, person.last_names, person.lineage_names)
            for name in names)) for person in people)
        works.append({"title": fields.get("title", ""), "author": "; ".join(names),
                      "year": fields.get("year", "") or fields.get("date", "")[:4], "venue": venue, "type": entry.type,
                      "key": key, **{name: fields.get(name, "") for name in _FIELDS}})
    unread = f"{len(errors)} of its entries ({errors[0]}): mend them" if errors else ""
    return _content(works, limits)._replace(unread=unread)


def _without_latex(latex: str) -> str:
    return one_line(str(Text.from_latex(latex)))


def read_ris(data: bytes, limits: Limits) -> Content:
    """Read a RIS file, as EndNote and Zotero write it; UnreadableError if it has no entry."""
    works: list[dict[str, str]] = []
    for found in _RIS.finditer(decode(data).replace("\r\n", "\n")):
        tag, value = found["tag"], one_line(found["value"])
        if tag == "TY":
            works.append({"title": "", "author": "", "year": "", "venue": "", "type": value})
        elif works and tag in _RIS_LISTS:
            name = _RIS_LISTS[tag]
            person = " ".join(reversed([part.strip() for part in value.split(",", 1)])) if name == "author" else value
            works[-1][name] = "; ".join(filter(None, [works[-1].get(name, ""), person]))
        elif works and tag in _RIS_FIELDS and not works[-1].get(_RIS_FIELDS[tag]):
            works[-1][_RIS_FIELDS[tag]] = value[:4] if _RIS_FIELDS[tag] == "year" else value
    if not works:
        raise UnreadableError("no entry of a bibliography in it (TY  - ...): export it again")
    return _content(works, limits)


def csl_works(records: Sequence[object]) -> list[Fields]:
    """Return the works of a CSL-JSON file; an empty list if the records are something else."""
    works: list[Fields] = []
    for record in records:
        if not isinstance(record, dict) or not {"title", "type"} <= record.keys() or not {
                "issued", "author"} & record.keys():
            return []
        people = (person for person in record.get("author") or () if isinstance(person, dict))
        names = [person.get("literal") or f"{person.get('given', '')} {person.get('family', '')}" for person in people]
        year = _YEAR.search(str(record.get("issued") or ""))
        works.append({"title": one_line(str(record["title"])), "author": "; ".join(map(one_line, names)),
                      "year": year[0] if year else "", "venue": one_line(str(record.get("container-title") or "")),
                      "type": str(record["type"]), "doi": str(record.get("DOI") or ""),
                      "abstract": one_line(str(record.get("abstract") or ""))})
    return works


def _content(works: Sequence[Fields], limits: Limits) -> Content:
    plain = [{**work, "doi": _DOI_ADDRESS.sub("", work.get("doi", ""))} for work in works]
    return Content(record_lines(plain, "", limits))
