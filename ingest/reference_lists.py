"""Read lists of references as records: the text, year and DOI of each work that a document cites."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from ..schemas.documents import SourceTable
from ..schemas.naming import label_key
from ..text.cleaning import one_line
from ..text.section_lines import Line, headings, is_reference_list, lines_under

TITLE = "reference list"
COLUMNS = ("reference", "year", "doi")
_FEWEST, _LONGEST = 2, 3_000  # works in a list, and characters of a work
_NUMBER = re.compile(r"\s*+(?:[-*+•]\s++)?(?:\[(?P<brackets>\d{1,4})\]|\((?P<round>\d{1,4})\)|(?P<bare>\d{1,4})[.)]?\s)"
                     r"\s*+(?=[^\W\d_]|[“\"‘'(])")
_LABEL = re.compile(r"\s*+(?:[-*•]\s++|\[[^\W\d_][\w+ .,&-]{1,40}+\]\s*+)(?=\S)")
_ENDED = re.compile(r"(?:[.)\]”\"/]|\d[a-z]?|\bpress|https?://\S++)\s*+\Z")
_CAPITAL = r"(?![a-zß-öø-ÿ])[^\W\d_]"
_PARTICLE = r"(?:van|von|der?|den|d[aiu]|del|la|le|te[nr]?|zu|el)"
_SURNAME = rf"(?:{_PARTICLE}[ ]){{0,2}}+{_CAPITAL}[\w'’-]{{1,40}}+(?:[ ]{_CAPITAL}[\w'’-]{{1,40}}+)?"
_AUTHOR = re.compile(
    rf"\s*+(?:{_SURNAME},?[ ]{_CAPITAL}\.?(?:[ -]?{_CAPITAL}\.?){{0,3}}+|(?:{_CAPITAL}\.[ -]?){{1,4}}+{_SURNAME}|"
    rf"{_CAPITAL}[\w'’-]{{1,40}}+[ ](?:{_CAPITAL}\.?[ ]){{0,3}}+{_SURNAME})"
    r"(?=[,.;:]|[ ](?:and|&|et|\(?\d{4})|$)(?![,.]?[ ]\(?\d{1,3}(?!\d))")
_YEAR = re.compile(r"(?<![\d–./-])(?<![–-] )(?:1[89]|20)\d\d(?![\d–/-]|[ ]?[–-][ ]?\d)")
_SURE_YEAR = re.compile(r"\((?:[A-Z][a-z]{2,8}\.?[ ])?((?:1[89]|20)\d\d)[a-z]?[,)]|((?:1[89]|20)\d\d)(?=;[ ]?\d)")
_NO_YEAR = re.compile(r"https?://\S++|\b(?:doi|arxiv):[ ]?\S++|\b10\.\d{4,9}/\S++|"
                      r"(?:last )?(?:accessed|retrieved)\b.*+", re.IGNORECASE)
_DOI = re.compile(r"\b10\.\d{4,9}/(?:(?!doi:)[^\s\"<>|{}]|(?<=[-/_.])\n(?=[a-z\d])){1,200}")
_FIRST_PAGE = 6_000  # the characters of a document in which its own DOI stands


def reference_tables(text: str) -> list[SourceTable]:
    """Return each list of references of a text as a table with the columns `COLUMNS`, one row for each work."""
    tables: list[SourceTable] = []
    if not is_reference_list(heading.title for heading in headings(text)):
        return tables
    for is_list, lines in groupby(lines_under(text, ""), lambda line: is_reference_list(line.above[-1:])):
        entries = _split_entries([line for line in lines if not line.text.startswith(("#", "|"))]) if is_list else {}
        if sum(_YEAR.search(entry) is not None for entry in entries.values()) >= _FEWEST:
            rows = ((one_line(entry), _year_of(one_line(entry)), find_doi(entry)) for entry in entries.values())
            tables.append(SourceTable(title=TITLE, columns=COLUMNS, rows=tuple(rows),
                                      spans=tuple(entries)))
    return tables


def _split_entries(lines: Sequence[Line]) -> dict[tuple[int, int], str]:
    """Return the entries of a list by their places, told by numbers, else by marks or where authors begin a line."""
    starts: list[int] = []  # the lines with the numbers of a list, from 1, each one more than the number before
    for at, line in enumerate(lines):
        found = _NUMBER.match(line.text)
        if found and int(found["brackets"] or found["round"] or found["bare"]) == len(starts) + 1:
            starts.append(at)
    if len(starts) < _FEWEST:
        starts = [at for at, line in enumerate(lines) if _LABEL.match(line.text)]
    if len(starts) < _FEWEST:
        starts = list(_unmarked_starts(lines))
    entries: dict[tuple[int, int], str] = {}
    for start, end in pairwise([*starts, len(lines)]):
        text, last = "", lines[start]
        for line in lines[start:end]:
            if line.text.strip():
                text, last = f"{text}\n{line.text.strip()}".strip(), line
            elif _is_complete(text):
                break  # what follows is the text behind the list, or what stands in the middle of a page
        if len(text) <= _LONGEST:
            entries[lines[start].start, last.start + len(last.text.rstrip())] = text
    return entries


def _is_complete(entry: str) -> bool:
    """Return True if the text of an entry so far has a year, and ends as entries do."""
    return _ENDED.search(entry) is not None and _YEAR.search(entry) is not None


def _unmarked_starts(lines: Sequence[Line]) -> Iterator[int]:
    """Yield the lines that begin an entry: with an author, where the entry before has a year and has ended."""
    before = ""
    for at, line in enumerate(lines):
        if not line.text.strip():
            continue
        if (not before or _is_complete(before)) and _AUTHOR.match(line.text):
            yield at
            before = ""
        before = f"{before} {line.text.strip()}"[-_LONGEST:]


def _year_of(text: str) -> str:
    """Return the first year in brackets or before a volume, or the only one; "" for none or several that differ."""
    plain = _NO_YEAR.sub(" ", text)
    if found := _SURE_YEAR.search(plain):
        return found[1] or found[2]
    years = _YEAR.findall(plain)
    return years[-1] if len(set(years)) == 1 or (years and plain.rstrip(" .").endswith(years[-1])) else ""


class Works:
    """The works of the bibliographies in a folder, by DOI and by title."""

    def __init__(self, tables: Iterable[SourceTable]) -> None:
        """Take the tables of bibliographies, as `readers.data_files` writes them."""
        self._by_doi: dict[str, Mapping[str, str]] = {}
        self._by_title: dict[str, Mapping[str, str]] = {}
        for row in (dict(zip(table.columns, cells, strict=True)) for table in tables for cells in table.rows):
            self._by_doi.setdefault(find_doi(row.get("doi", "")), row)
            self._by_title.setdefault(label_key(row.get("title", "")), row)

    def fields_of(self, title: str, text: str) -> dict[str, str]:
        """Return author, year and the like of a document, by a DOI on its first page or by its title."""
        dois = [find_doi(part) for doi in _DOI.findall(text[:_FIRST_PAGE]) for part in (doi, doi.partition("\n")[0])]
        row = next((self._by_doi[doi] for doi in dois if doi and doi in self._by_doi),
                   self._by_title.get(label_key(title), {}) if title else {})
        return {name: row[name] for name in ("author", "year", "venue", "doi") if row.get(name)}


def find_doi(text: str) -> str:
    """Return the first DOI in a text, in lower case as DOIs are compared; "" if it has none."""
    found = _DOI.search(text)
    return found[0].replace("\n", "").rstrip(".,;)").casefold() if found else ""
