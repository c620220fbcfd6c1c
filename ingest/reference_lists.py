"""Read lists of references as records: the author, year, title, venue and DOI of each work that a document cites.

The forms are those of numbered lists (Vancouver, IEEE, ACM, Springer) and of lists by author and year (APA, Harvard).
What does not have such a form is left empty: a wrong author or title is worse than none.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from ..schemas.documents import SourceTable
from ..schemas.naming import label_key
from ..text.cleaning import one_line
from ..text.section_lines import Line, headings, is_reference_list, lines_under

TITLE = "reference list"
COLUMNS = ("reference", "author", "year", "title", "venue", "doi")
_FEWEST, _LONGEST = 2, 3_000  # the fewest works of a list, and the most characters of a work
_HEAD, _HEAD_LINES = 1_500, 12  # the characters and the lines at the beginning of a work in which its authors are
_NUMBER = re.compile(r"\s*+(?:[-*+•]\s++)?(?:\[(?P<brackets>\d{1,4})\]|\((?P<round>\d{1,4})\)|(?P<bare>\d{1,4})[.)]?\s)"
                     r"\s*+(?=[^\W\d_]|[“\"‘'(])")
_LABEL = re.compile(r"\s*+(?:[-*•]\s++|\[[^\W\d_][\w+ .,&-]{1,40}+\]\s*+)(?=\S)")
_ENDED = re.compile(r"(?:[.)\]”\"/]|\d[a-z]?|\bpress|https?://\S++)\s*+\Z")
_CAPITAL = r"(?![a-zß-öø-ÿ])[^\W\d_]"
_WORD = r"[\w'’´`¨˘-]{1,40}+"
_PARTICLES = r"(?<!\w)(?:(?:[Vv]an|[Vv]on|[Dd]e|[Dd]er|den|du|da|di|dos|del|la|le|te|ten|ter|zu|al|el)[ ]){0,3}+"
_SURNAME = rf"{_PARTICLES}(?:[dDOL]['’])?{_CAPITAL}{_WORD}(?:[ ]{_CAPITAL}{_WORD})?(?:[ ](?:Jr|Sr|II|III)\.?)?"
_INITIALS = rf"{_CAPITAL}[a-z]?\.(?:[ -]?-?{_CAPITAL}\.){{0,3}}+"
_VANCOUVER = rf"{_SURNAME}(?:[ ]{_CAPITAL}(?:-?{_CAPITAL}){{0,3}}+){{1,3}}+(?![\w'’-])(?:[ ](?:Jr|Sr|\dnd|\drd))?"
_INVERTED = rf"{_SURNAME},[ ]?{_INITIALS}"
_INITIALS_FIRST = rf"{_INITIALS}[ ]?{_SURNAME}"
_FULL = rf"(?<!\w){_CAPITAL}{_WORD}(?:[ ](?:{_CAPITAL}\.)){{0,3}}+[ ]{_SURNAME}(?!:)"
_PERSONS = ((_VANCOUVER, _VANCOUVER), (_INVERTED, rf"(?:{_INVERTED}|{_INITIALS_FIRST})"),
            (_INITIALS_FIRST, _INITIALS_FIRST), (_FULL, _FULL))
"""How a list writes its first author and the others: "Blum AB", "Blum, A. B.", "A. B. Blum" or "Ada B. Blum"."""
_BETWEEN = r"(?:[,;][ ]?(?:(?:and|&|und|et)[ ]|(?:…|\.[ ]?\.[ ]?\.)[ ])?|[ ](?:and|&|und|et|y)[ ])"
_AND_OTHERS = r"(?:[,;]?[ ](?:and[ ])?(?:et[ ]al|others)\b\.?)?"
_AUTHORS = [(re.compile(rf"{person}(?:{_BETWEEN}{other}){{0,80}}+{_AND_OTHERS}"), re.compile(other))
            for person, other in _PERSONS]
_GROUP = re.compile(rf"{_CAPITAL}{_WORD}(?:[ ](?:{_CAPITAL}{_WORD}|of|for|and|the|on|&)){{0,9}}+"
                    r"\.?(?=[ ]\((?:1[89]|20)\d\d[a-z]?\))")
"""An organization as an author, which is certain only in front of a year in brackets."""
_YEAR_NEXT = re.compile(r"[,.]?[ ]?(?:\([Ee]ds?\.\),?[ ]?)?[(\[]?(?P<year>(?:1[89]|20)\d\d)[a-z]?"
                        r"(?:,[ ][A-Z][a-z]{2,8}[^()]{0,12})?[)\]]?[.,:;]?[ ]")
_TITLE_NEXT = re.compile(r"(?::[ ]|(?<=\.)[ ]|\.[ ])(?!\d)")
_REST_NEXT = re.compile(r",[ ](?=[^\W\d])(?!(?:[\w'’-]+[ ]){0,2}+(?:[A-Z]\.|[A-Z]{1,3}\b[,.]))")
"""What follows the last author, and no further author whose name has another form."""
_UNQUOTED = re.compile(rf",[ ](?P<title>[^\n]{{16,400}}?),[ ](?={_CAPITAL}[^,\d()]{{2,90}}+\d{{1,4}}[ ](?:\(\d+\)[ ])?"
                       r"\((?:1[89]|20)\d\d\))")
"""A title between commas, which is certain in front of "Journal 12 (2011)"."""
_QUOTED = re.compile(r"[,.:]?[ ]?(?:[“\"„](?P<title>[^“”\"„]{8,400})[”\"“]|‘(?P<single>[^‘“”]{8,400}?)’(?=[,.]))")
_SENTENCE = re.compile(r"(?P<title>[^\n]{8,400}?)(?<!\b[A-Z])(?<!\bvs)(?<!\bSt)(?<!\bNo)"
                       r"(?P<end>[.?!](?=[ ](?![a-z]{3}))|,(?=[ ]in[ ][‘“A-Z]))")
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")  # an abbreviated journal has none or one in front of its first full stop
_IN_NO_TITLE = re.compile(r"\d[ ]?[:(][ ]?\d|, \d+, \d|\d, \d+[–-]|https?:|\A[‘“]|, vol\Z|\bet al\b|\bpp?\.|"
                          r"\b(?:1[89]|20)\d\d[;,]|\Ain[: ]", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d–./-])(?<![–-] )(?:1[89]|20)\d\d(?![\d–/-]|[ ]?[–-][ ]?\d)")
_SURE_YEAR = re.compile(r"\((?:[A-Z][a-z]{2,8}\.?[ ])?((?:1[89]|20)\d\d)\)|((?:1[89]|20)\d\d)(?=;[ ]?\d)")
# Parts of addresses and the like have figures as years have.
_NO_YEAR = re.compile(r"https?://\S++|\b(?:doi|arxiv):[ ]?\S++|\b10\.\d{4,9}/\S++|"
                      r"(?:last )?(?:accessed|retrieved)\b.*+", re.IGNORECASE)
_VENUE = re.compile(rf"[”\",. ]{{0,3}}+(?:[Ii]n:?[ ](?:\d{{4}}[ ])?)?(?P<venue>(?:{_CAPITAL}|arXiv)"
                    r"(?:(?![.]? (?:https?|doi|URL)\b)[^\d,;:()\[\]“”\"]){2,150}+)"
                    r"(?!:[ ]?[^\W\d])")  # "London: Press"
_NO_VENUE = re.compile(r"\A(?:In|Proc|Abstract|Part|Series|Vol)[. ]*\Z|\b(?:[Nn]o|of|the|and|on|in|for)[. ]*\Z")
_EDITED = re.compile(r"\b(?:[Ee]ds?|[Ee]ditors?)\b")
_DOI = re.compile(r"\b10\.\d{4,9}/(?:(?!doi:)[^\s\"<>|{}]|(?<=[-/_.])\n(?=[a-z\d])){1,200}")
_FIRST_PAGE = 6_000  # the characters of a document in which its own DOI stands


def reference_tables(text: str) -> list[SourceTable]:
    """Return each list of references of a text as a table with the columns `COLUMNS`, one row for each work."""
    tables: list[SourceTable] = []
    if not is_reference_list(heading.title for heading in headings(text)):
        return tables
    for is_list, lines in groupby(lines_under(text, ""), lambda line: is_reference_list(line.above[-1:])):
        entries = _split_entries([line for line in lines if not line.text.startswith(("#", "|"))]) if is_list else {}
        with_year = sum(_YEAR.search(entry) is not None for entry in entries.values())
        if with_year >= _FEWEST:  # lists of links and the like have none
            tables.append(SourceTable(title=TITLE, columns=COLUMNS, rows=tuple(map(_read_fields, entries.values())),
                                      spans=tuple(entries)))
    return tables


def _split_entries(lines: Sequence[Line]) -> dict[tuple[int, int], str]:
    """Return a list's entries by their places; they begin with numbers, or else with marks, or else with authors."""
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
        text, last_line = "", lines[start]
        for line in lines[start:end]:
            if line.text.strip():
                text, last_line = f"{text}\n{line.text.strip()}".strip(), line
            elif _is_complete(text):
                break  # what follows is the text behind the list, or what stands in the middle of a page
        if len(text) <= _LONGEST:
            entries[lines[start].start, last_line.start + len(last_line.text.rstrip())] = text
    return entries


def _is_complete(entry: str) -> bool:
    """Return True if the text of an entry so far has a year, and ends as entries do."""
    return _ENDED.search(entry) is not None and _YEAR.search(entry) is not None


def _unmarked_starts(lines: Sequence[Line]) -> Iterator[int]:
    """Yield the lines that begin an entry: with authors, where the entry before has a year and has ended."""
    before = ""
    for at, line in enumerate(lines):
        if not line.text.strip():
            continue
        if not before or _is_complete(before):
            head = " ".join(further.text.strip() for further in lines[at:at + _HEAD_LINES])[:_HEAD]
            authors, end = _read_authors(head)
            # Their year or title follows, because names of journals are like names, too.
            if authors and (_YEAR_NEXT.match(head, end) is not None or _read_title(head, end)[0]):
                yield at
                before = ""
        before = f"{before} {line.text.strip()}"[-_HEAD:]


def _read_authors(text: str) -> tuple[str, int]:
    """Return the authors with whom a text begins, "; " between them, and where they end; ("", 0) without any."""
    # Of the forms of names, that which takes in the most of the text counts.
    authors, end = "", 0
    for all_authors, one_author in _AUTHORS:
        found = None if text.startswith("In ") else all_authors.match(text)  # "In" is in front of a venue
        if found is None or found.end() <= end:
            continue
        # Only what may stand behind authors shows that these are all of them.
        if any(form.match(text, found.end()) for form in (_YEAR_NEXT, _QUOTED, _TITLE_NEXT, _REST_NEXT)):
            authors, end = "; ".join(name.strip(" ,;") for name in one_author.findall(found[0])), found.end()
    if not end and (group := _GROUP.match(text)):
        return group[0].rstrip("."), group.end()
    return authors, end


def _read_fields(entry: str) -> tuple[str, ...]:
    """Return the cells of `COLUMNS` for an entry; fields without a certain form are empty."""
    text = one_line(entry)
    mark = _NUMBER.match(text) or _LABEL.match(text)
    body = text[mark.end():] if mark else text
    authors, end = _read_authors(body[:_HEAD])
    year = _YEAR_NEXT.match(body, end) if authors else None  # in front of the title
    title, end_of_title = "", 0
    if authors:
        title, end_of_title = _read_title(body, year.end() if year else end, is_after_year=year is not None)
    # Where editors are named, they may stand in the place of the venue.
    venue = _VENUE.match(body, end_of_title) if title and not _EDITED.search(body, end_of_title) else None
    name_of_venue = venue["venue"] if venue and not _NO_VENUE.search(venue["venue"]) else ""
    return (text, authors, year["year"] if year else _last_year(body[end_of_title:]), title,
            name_of_venue.strip(" .").replace(" preprint arXiv", ""), find_doi(entry))  # "arXiv preprint arXiv:1706"


def _read_title(text: str, start: int, *, is_after_year: bool = False) -> tuple[str, int]:
    """Return the title that begins at or behind a place, and where it ends; "" and that place without a certain one."""
    if found := _QUOTED.match(text, start) or _UNQUOTED.match(text, start):
        return next(filter(None, found.groups())).strip(" ,."), found.end()
    begin = start
    if not is_after_year:  # then a full stop or a colon must divide it from the authors
        mark = _TITLE_NEXT.match(text, start)
        begin = mark.end() if mark else len(text)
    sentence = _SENTENCE.match(text, begin)
    title = sentence["title"].strip() + sentence["end"].strip(".,") if sentence else ""
    is_title = len(_LONG_WORD.findall(title)) > 1 and not _IN_NO_TITLE.search(title)
    return (title, sentence.end()) if sentence and is_title else ("", start)


def _last_year(text: str) -> str:
    """Return the last year in brackets or before a volume, else the only year or the one at the end; "" without one."""
    plain = _NO_YEAR.sub(" ", text)
    if sure_years := ["".join(groups) for groups in _SURE_YEAR.findall(plain)]:  # one of its two groups has it
        return sure_years[-1]
    *_, last = _YEAR.findall(plain) or [""]
    is_certain = set(_YEAR.findall(plain)) == {last} or plain.rstrip(" .").endswith(last)
    return last if is_certain else ""


class Works:
    """The works of the bibliographies in a folder, by DOI and by title."""

    def __init__(self, tables: Iterable[SourceTable]) -> None:
        """Take the tables of bibliographies, as `readers.data_files` writes them."""
        self._by_doi: dict[str, Mapping[str, str]] = {}
        self._by_title: dict[str, Mapping[str, str]] = {}
        for table in tables:
            for cells in table.rows:
                row = dict(zip(table.columns, cells, strict=True))
                self._by_doi.setdefault(find_doi(row.get("doi", "")), row)
                self._by_title.setdefault(label_key(row.get("title", "")), row)

    def fields_of(self, title: str, text: str) -> dict[str, str]:
        """Return author, year and the like of a document, by a DOI on its first page or else by its title."""
        row = self._by_title.get(label_key(title), {}) if title else {}
        for found in reversed(_DOI.findall(text[:_FIRST_PAGE])):  # the first one that is known counts
            for doi in (find_doi(found.partition("\n")[0]), find_doi(found)):  # which a line break may end or divide
                row = self._by_doi.get(doi, row) if doi else row  # "" is the key of works without one
        return {name: row[name] for name in ("author", "year", "venue", "doi") if row.get(name)}


def find_doi(text: str) -> str:
    """Return the first DOI in a text, in lower case as DOIs are compared; "" if it has none."""
    found = _DOI.search(text)
    return found[0].replace("\n", "").rstrip(".,;)").casefold() if found else ""
