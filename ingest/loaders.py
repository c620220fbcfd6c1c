"""Read files and folders as documents."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, tee
from pathlib import Path, PurePath

from ..runtime.threads import check_cancelled
from ..schemas.documents import Document, SourceTable
from ..text.cleaning import clean_text
from ..text.section_lines import UNREAD, document_title
from .field_sections import all_tables, split_head
from .folder_files import PUBLISHED, FoundFile, OnFailure, distinct_files, report_failure, walk_folder, why_unreadable
from .formats import FORMATS, MARKDOWN, PARSED, PLAIN, suffix_of
from .metadata import check_id, clean_metadata, record_id, with_date, with_metadata, with_unread
from .reading import DEFAULT_LIMITS, Content, IngestError, Limits, UnreadableError, open_file, read_bytes, read_content
from .reading_process import ReadingProcess
from .records import RECORD_READERS, Record
from .reference_lists import Works
from .source_tables import collected_tables, place_tables, without_marks
from .table_lines import with_rows

Reading = Callable[[], Content]
"""A function that returns the content of a file of the formats `PARSED`; it raises UnreadableError or OSError."""
ReadAhead = Callable[[Iterator[Path]], Iterator[Reading]]
"""A function that yields a `Reading` for each file, in order; it decides how many files to read ahead."""
# Formats without fields of their own, whose texts often begin with lines such as "Author: Ida Lang".
_WITH_HEAD = frozenset({".txt", ".pod", ".md", ".markdown", ".qmd", ".rmd", ".org", ".mediawiki", ".wiki", ".adoc",
                        ".docx", ".odt", ".rtf"})
_EMPHASISED = re.compile(r"(?<!\w)([*_`]{1,3})(?=[^\s*_`])([^*`\n]{1,200}?)(?<=\S)\1(?!\w)")
"""Words of a title with the same marks on both sides: `ostir`, _fellingdater_."""
_WIKI = frozenset({".mediawiki", ".wiki", ".textile"})  # their bars and dashes are not Markdown's tables
_NEEDING_TEXT = PARSED.keys() - {".rst", ".json"}  # have fields even without any text, and are no documents then
_OF_RECORDS = frozenset({".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".cff", ".toml"})
"""Formats in which a title is the value of a field, even if it is "Untitled"."""
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_BETWEEN = "\n\n"  # pages
LICENCE = "Project Gutenberg license"
_WORK_BEGINS = re.compile(r"^[ \t]*+\*\*\*[ \t]?START OF (?:THE|THIS) PROJECT GUTENBERG EBOOK[^\n]*+"
                          r"(?:\s++(?:Produced|E-?text prepared|Transcribed) by[^\n]*+(?:\n[^\n]++)*+)?", re.MULTILINE)
"""The line above an e-book's work, with the credits that may follow it."""
_WORK_ENDS = re.compile(r"^[ \t]*+(?:\*\*\*[ \t]?)?END OF (?:THE |THIS )?PROJECT GUTENBERG[^\n]*+",
                        re.MULTILINE | re.IGNORECASE)
_FENCE = re.compile(r"^```[ \t]*+$", re.MULTILINE)
_FRAME_FIELD = re.compile(r"^(?P<name>Title|Author|Translator|Editor|Illustrator|Language|Release Date):[ \t]*+"
                          r"(?P<value>[^\r\n]{1,300})", re.MULTILINE)
_LONGEST_FRAME = 20_000  # the characters within which the work of an e-book begins


def load_documents(paths: Sequence[Path], *, on_failure: OnFailure,
                   limits: Limits = DEFAULT_LIMITS, read_ahead: ReadAhead | None = None,
                   on_file: Callable[[str], None] = lambda _: None) -> Iterator[Document]:
    """Read documents from files and folders, one at a time, each with a unique id.

    Folders are read recursively, sorted by name, without hidden entries, links that lead out of the folder, and what
    `IGNORE_FILE` names. The id of a file is its path relative to the given folder, its name if the file itself is
    given; that of a record is the file's id, then `/` and the record's id, or `#` and its number.

    `on_failure` is called for each file or record that gives no document, and `on_file` with the id of each file before
    it is read. A path that does not exist is an IngestError before any is read.
    """
    for path in paths:
        if not path.exists():
            raise IngestError(f"{path} does not exist: check its spelling and the folder you are in")
    return _load(paths, on_failure, limits, read_ahead, on_file)


def files_in(folder: Path, limits: Limits = DEFAULT_LIMITS) -> Iterator[tuple[Path, list[str]]]:
    """Yield the files of a known format in a folder, each with the ids of its documents; only records are read."""
    with ReadingProcess(limits) as process:
        for file in distinct_files(walk_folder(folder, lambda _: None, limits), lambda _: None):
            suffix = suffix_of(file.path)
            if suffix in RECORD_READERS or suffix == ".json":  # which may have several documents
                documents = _documents(file, partial(process.read, file.real), lambda _: None, limits)
                yield file.path, [document.id for document in documents]
            elif suffix in FORMATS:
                yield file.path, [file.id]


def _load(paths: Sequence[Path], on_failure: OnFailure, limits: Limits,
          read_ahead: ReadAhead | None, on_file: Callable[[str], None]) -> Iterator[Document]:
    """Yield the documents of all files, each id once, up to the limit."""
    sources: dict[str, str] = {}  # by the documents' ids
    with ReadingProcess(limits) as process:
        # The bibliographies among the files come first; one that cannot be read is reported in its turn.
        tables: list[SourceTable] = []
        files = chain.from_iterable(walk_folder(path, lambda _: None, limits) for path in paths)
        for bibliography in sorted(file.real for file in files if file.path.suffix.lower() in {".bib", ".ris"}):
            with suppress(UnreadableError, OSError):
                tables += process.read(bibliography).tables
        works = Works(tables)
        for file, reading in _readings(paths, on_failure, limits, process, read_ahead):
            check_cancelled()
            on_file(file.id)
            for document in _documents(file, reading, on_failure, limits, works):
                if document.id in sources:
                    report_failure(on_failure, document.source, f"the id {document.id!r} was already given by "
                                   f"{sources[document.id]}: rename one, or load them into two knowledge bases")
                elif len(sources) == limits.documents:
                    report_failure(on_failure, file.place, f"more than {limits.documents:,} documents: "
                                   "build the rest in another run; nothing from here on was read")
                    return
                else:
                    sources[document.id] = document.source
                    yield document


def _readings(paths: Sequence[Path], on_failure: OnFailure, limits: Limits, process: ReadingProcess,
              read_ahead: ReadAhead | None) -> Iterator[tuple[FoundFile, Reading]]:
    """Yield each file with the function that reads it if it needs a parser."""
    for path in paths:
        if path.is_dir():
            files = distinct_files(walk_folder(path, on_failure, limits), on_failure)
        else:
            files = iter([FoundFile(path, path.name, named=True, real=path.resolve())])
        if read_ahead is None:
            yield from ((file, partial(process.read, file.real)) for file in files)
        else:  # the folders are walked once, for both
            files, ahead = tee(files)
            yield from zip(files, read_ahead(file.real for file in ahead), strict=True)


def _documents(file: FoundFile, reading: Reading, on_failure: OnFailure, limits: Limits,
               works: Works | None = None) -> Iterator[Document]:
    """Yield the documents of one file, with what `works` tells of it; a failure is reported and ends only this file."""
    report = partial(report_failure, on_failure, str(file.path))  # takes the reason
    suffix = suffix_of(file.path)
    try:
        if reason := _why_unusable(file, suffix):
            report(reason)
            return
        content = _read_content(file, suffix, reading, limits)
        if content.records is not None:
            yield from _records(file, content, limits, report)
            return
        content = without_frame(content)
        fields = clean_metadata(content.metadata)
        for reason in filter(None, (content.unread, fields.get(UNREAD))):
            report(reason)
        title = " ".join(clean_text(content.title).split())[:limits.title]
        if suffix in MARKDOWN:
            title = _EMPHASISED.sub(r"\2", title)
        if not title or suffix not in _OF_RECORDS:
            title = document_title(title, file.path.stem)
        if works is not None and suffix in PUBLISHED:
            fields |= works.fields_of(title, content.text)
        yield make_document(check_id(file.id), title, content.text, file.place,
                            with_unread(fields, content.unread, content.omitted), tables=content.tables,
                            paged=content.paged)
    except UnreadableError as error:
        report(str(error))
    except OSError as error:
        report(why_unreadable(error))


def _why_unusable(file: FoundFile, suffix: str) -> str:
    """Return why a file has no content to read, and what to do; "" if it may have some."""
    if suffix not in FORMATS:
        skipped = "" if file.named else "skipped: "
        return (f"{skipped}{suffix or 'no file ending'} is not a known format: convert it to one of "
                f"{', '.join(FORMATS)}")
    # `ReadingProcess` opens the target of a link, and chooses the reader by the ending of that.
    if file.real.is_file() and suffix_of(file.real) != suffix:
        return "a link to a file with another ending: name its target"
    with open_file(file.real) as stream:
        is_pointer = stream.read(len(_LFS_POINTER)) == _LFS_POINTER
    return "only a pointer of Git LFS: run `git lfs pull` in its clone, and build again" if is_pointer else ""


def _read_content(file: FoundFile, suffix: str, reading: Reading, limits: Limits) -> Content:
    """Return the content of a file, without the fields at its head, which are metadata."""
    if suffix in PARSED:
        content = reading()
    else:
        reader = PLAIN.get(suffix) or (lambda data, limits: RECORD_READERS[suffix](data, limits, file.path.stem))
        content = read_content(reader, read_bytes(file.real, limits), limits)
    has_front_matter = suffix in PLAIN and bool(content.metadata)  # the lines below it are text
    if suffix not in _WITH_HEAD or has_front_matter:
        return content
    fields, text = split_head(clean_text(content.text))
    title = fields.pop("title", content.title)
    return content._replace(text=text, title=title, metadata={**content.metadata, **fields})


def without_frame(content: Content) -> Content:
    """Return an e-book's content with the work first, its fields as metadata; any other content as it is.

    Project Gutenberg's fields and licence stay searchable behind the work. Pages, which are cited, keep their order.
    """
    begin = None if content.paged else _WORK_BEGINS.search(content.text[:_LONGEST_FRAME])
    if begin is None:
        return content
    before, rest = content.text[:begin.end()], content.text[begin.end():]
    end = _WORK_ENDS.search(rest)
    work, after = (rest[:end.start()], rest[end.start():]) if end else (rest, "")
    fields = {found["name"].lower(): found["value"].strip() for found in _FRAME_FIELD.finditer(before)}
    title = fields.pop("title", content.title)
    if released := fields.pop("release date", ""):  # of the e-book, and not of the work
        fields["e-book release date"] = released
    # Web pages have the frame in blocks of code, and the work is between the end of one and the beginning of another.
    text = _FENCE.sub("", f"{work.strip()}\n\n## {LICENCE}\n\n{before.strip()}\n\n{after.strip()}\n")
    return content._replace(text=text, title=title, metadata={**content.metadata, **fields})


def _records(file: FoundFile, content: Content, limits: Limits, report: Callable[[str], None]) -> Iterator[Document]:
    """Yield the documents of a file of records; of the records that cannot be used, the first are reported."""
    count, failures = 0, list[str]()
    for item in content.records or ():
        count += 1
        check_cancelled()
        if isinstance(item, str):  # why there is no record
            failures.append(item)
        else:
            record = Record(*item)  # from the reading process, which sends JSON, it is a list
            try:
                yield make_document(record_id(file.id, record.id, record.number), record.title, record.text,
                                    f"{file.place}, record {record.number}",
                                    with_unread(clean_metadata(record.metadata), content.omitted))
                continue
            except UnreadableError as error:
                failures.append(f"record {record.number}: {error}")
        if len(failures) <= limits.failures:
            report(failures[-1])
    if len(failures) > limits.failures:
        report(f"{len(failures) - limits.failures:,} more records cannot be used: the first {limits.failures} say why")
    if not count:
        report("no records in it: add records or remove it")


def make_document(document_id: str, title: str, text: str, source: str, metadata: Mapping[str, str], *,
                  tables: Sequence[SourceTable] = (), stored: Sequence[SourceTable] = (),
                  paged: bool = False) -> Document:
    """Return a document with its tables as rows and its metadata above the text; raise UnreadableError without text.

    The rows of `tables` are marked in the text. Those of `stored` have their places in it, and then it is not searched
    for further tables. A form feed ends a page if the text is `paged`.
    """
    suffix = PurePath(document_id).suffix.lower()
    with collected_tables(tables) as collected:
        pages = [clean_text(page) for page in (text.split("\f") if paged else [text])]
        if not stored and suffix not in _WIKI:
            pages = [with_rows(page, title) for page in pages]
    text, starts = _join_pages(pages) if paged else (pages[0], [])
    dated = with_date(metadata, document_id)
    whole = with_metadata(text, document_id, title, dated)
    needed = text if suffix in _NEEDING_TEXT else whole
    if not needed.strip():
        unread = metadata.get(UNREAD)
        raise UnreadableError(f"no text in it{f' except what is not read ({unread})' if unread else ''}: add text or "
                              "remove it")
    above = len(whole) - len(text)  # the metadata row precedes the text
    whole, placed = place_tables(whole, collected)
    placed += [table.model_copy(update={"spans": tuple((above + start, above + end) for start, end in table.spans)})
               for table in stored]
    # The lines "name: value" of YAML are the fields of its document.
    found = placed if suffix in _OF_RECORDS else all_tables(whole, title, placed)
    return Document(id=document_id, title=title, text=whole, source=clean_text(source), metadata=dated,
                    pages=tuple(above + start for start in starts), tables=tuple(found))


def _join_pages(pages: Sequence[str]) -> tuple[str, list[int]]:
    """Join the texts of pages, with a blank line between those that have text; and return where each page begins."""
    parts, starts, next_start = list[str](), list[int](), 0
    for page in pages:
        page_text = page.strip()
        starts.append(next_start)
        if page_text:
            parts.append(page_text)
            next_start += len(without_marks(page_text)) + len(_BETWEEN)  # marks of rows are no part of the final text
    end = max(0, next_start - len(_BETWEEN))  # where blank pages behind the last text begin
    return _BETWEEN.join(parts), [min(start, end) for start in starts]
