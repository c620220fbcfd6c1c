"""The formats of files and the reader of each, with those of notebooks, subtitles and LaTeX."""

import html
import json
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path, PurePath

from ..text.cleaning import clean_text, one_line
from .markdown_files import read_markdown
from .objects import read_toml, read_yaml
from .reading import Content, Limits, UnreadableError, begins_as_text, decode, list_counts
from .records import RECORD_READERS

Reader = Callable[[bytes, Limits], Content]
_TIME = r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_CUE = re.compile(rf"^[ \t]*+(?P<start>{_TIME})[ \t]*-->[ \t]*{_TIME}[^\n]*+"
                  r"(?P<words>(?:\n(?![^\n]*-->)[^\n]*\S[^\n]*)*+)", re.MULTILINE)
_SPEAKER = re.compile(r"\s*<v(?:\.[^\s<>]{1,100})?\s(?P<name>[^<>\n]{1,100})>")
_TAG = re.compile(r"<[^<>\n]{0,200}>|\{\\[^{}\n]{0,100}\}")
# Ends of sentences, and of sounds in brackets: "[bell]".
_SPEECH_ENDS = (".", "!", "?", "…", "。", "！", "？", '."', '!"', '?"', ".”", "!”", "?”", "]", ")")
_LONGEST_LINE = 600  # characters from which a line ends inside a sentence, for subtitles without punctuation
_LATEX_COMMENT = re.compile(r"(?<!\\)%[^\n]*+(?:\n[ \t]*+)?")
_LATEX_ARGUMENT = r"\*?(?:\[[^\[\]]*+\])?\{(?P<words>(?:[^{}]|\{[^{}]{0,300}+\}){1,2000}+)\}"
_LATEX_FIELD = re.compile(rf"\\(?P<name>title|author|date){_LATEX_ARGUMENT}")
_LATEX_HEADING = re.compile(rf"\\(?P<name>part|chapter|section|subsection|subsubsection){_LATEX_ARGUMENT}")
_LATEX_LEVELS = {"part": "#", "chapter": "#", "section": "##", "subsection": "###", "subsubsection": "####"}
_LATEX_MARKUP = re.compile(r"\\(?:thanks|footnote|inst|textsuperscript|label)\{[^{}]*+\}|\\[A-Za-z]++\*?|[{}]")


def _read_notebook(data: bytes, limits: Limits) -> Content:
    """Read a Jupyter notebook: Markdown cells as they are, and code and the texts of its outputs fenced."""
    texts, unread_outputs = list[str](), 0
    try:
        for cell in json.loads(decode(data))["cells"]:
            source = "".join(cell["source"])
            texts.append(source if cell["cell_type"] == "markdown" else _fenced(source))
            for output in cell.get("outputs", ()):
                # The plain text of a picture only names it, and an error has none.
                data_by_type = output.get("data", {})
                plain = "" if "image/png" in data_by_type else data_by_type.get("text/plain", "")
                texts.append(_fenced("".join(output.get("text", "") or plain)))
                unread_outputs += not texts[-1]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableError(f"not a Jupyter notebook of format 4 ({error!r}): save it again in Jupyter") from error
    read = read_markdown("\n\n".join(filter(str.strip, texts)).encode(errors="replace"), limits)
    omitted = [read.omitted, list_counts({"code output": unread_outputs})]
    return read._replace(omitted=", ".join(filter(None, omitted)))


def _fenced(text: str) -> str:
    """Return a text as a block of code, "" for a blank one."""
    return f"```\n{text.rstrip()}\n```" if text.strip() else ""


def _read_subtitles(data: bytes, _: Limits) -> Content:
    """Read subtitles as lines such as "[00:01:02] Ida Lang: The bell rings."."""
    text = clean_text(decode(data))
    if text.strip() and not _CUE.search(text):
        raise UnreadableError("no line with the times of a subtitle (00:01:02,000 --> 00:01:04,000): save it again as "
                              "srt or vtt, or rename it to .txt")
    first = text.partition("\n")[0]
    title = first.removeprefix("WEBVTT").strip(" \t-") if first.startswith("WEBVTT") else ""
    return Content("\n".join(_join_cues(text)), title)


def _join_cues(text: str) -> Iterator[str]:
    """Join the words of cues to lines, each of which ends with a sentence, before another speaker, or when long."""
    line = speaker = ""
    shown_before: set[str] = set()  # captions that roll up repeat the lines of the cue before
    for cue in _CUE.finditer(text):
        shown: set[str] = set()
        name = ""  # of who speaks, if the file tells
        for written in cue["words"].split("\n"):
            if found := _SPEAKER.match(written):
                name = one_line(html.unescape(found["name"]))
            words = one_line(html.unescape(_TAG.sub("", written)))
            shown.add(words)
            is_complete = name != speaker or len(line) > _LONGEST_LINE or line.endswith(_SPEECH_ENDS)
            if line and words and is_complete:
                yield line
                line = ""
            if words and words not in shown_before:
                if not line:
                    # Many times have no hours.
                    *_, hours, minutes, seconds = ["0", *re.split("[.,:]", cue["start"])[:-1]]  # no milliseconds
                    line = f"[{hours.zfill(2)}:{minutes.zfill(2)}:{seconds.zfill(2)}]{f' {name}:' if name else ''}"
                line += f" {words}"
                speaker = name
        shown_before = shown
    if line:
        yield line


def _read_latex(data: bytes, _: Limits) -> Content:
    r"""Read a LaTeX file without its preamble; one without `\begin{document}`, such as a chapter, is all text."""
    source = _LATEX_COMMENT.sub("", clean_text(decode(data)))
    preamble, begin, body = source.partition("\\begin{document}")
    fields: dict[str, list[str]] = {"title": [], "author": [], "date": []}
    for found in _LATEX_FIELD.finditer(source) if begin else ():  # a chapter alone has no fields
        for value in found["words"].split(r"\and"):
            # An author's address stands in the lines below the name.
            words = value.partition(r"\\")[0] if found["name"] == "author" else value
            fields[found["name"]].append(_plain_latex(words))
    shown = (body if begin else preamble).partition("\\end{document}")[0]
    text = _LATEX_HEADING.sub(lambda found: f"\n{_LATEX_LEVELS[found['name']]} {_plain_latex(found['words'])}\n", shown)
    return Content(text, " ".join(fields.pop("title")), fields)


def _plain_latex(words: str) -> str:
    return one_line(_LATEX_MARKUP.sub("", words.replace(r"\\", " ").replace("~", " ")))


MARKDOWN = frozenset({".md", ".markdown", ".qmd", ".rmd"})
PLAIN: dict[str, Reader] = {
    **dict.fromkeys((
        ".txt", ".pod", ".mediawiki", ".wiki", ".textile", ".py", ".js", ".ts", ".java", ".c", ".h", ".cpp", ".hpp",
        ".cs", ".go", ".rs", ".rb", ".php", ".swift", ".kt", ".scala", ".sh", ".sql", ".r", ".css", ".ini",
        ".log", ".adoc", ".asciidoc", ".org"), lambda data, _: Content(decode(data))),
    **dict.fromkeys(MARKDOWN, read_markdown), ".ipynb": _read_notebook,
    **dict.fromkeys((".srt", ".vtt"), _read_subtitles), ".tex": _read_latex,
    **dict.fromkeys((".yaml", ".yml", ".cff"), read_yaml), ".toml": read_toml}
"""Formats read in this process: plain text, in time proportional to its length."""
PARSED = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), "web_pages.read_html"), ".epub": "office_files.read_epub",
    ".pdf": "pdf_files.read_pdf", ".docx": "office_files.read_docx", ".pptx": "office_files.read_pptx",
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".ods"), "spreadsheets.read_spreadsheet"),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp"), "scans.read_image"),
    ".json": "data_files.read_json", ".eml": "mails.read_eml", ".rtf": "office_files.read_rtf",
    **dict.fromkeys((".odt", ".odp"), "office_files.read_open_document"), ".xml": "xml_files.read_xml",
    ".rst": "markup_files.read_rst", ".bib": "data_files.read_bib", ".ris": "data_files.read_ris"}
"""Formats with a parser whose time and memory depend on the file's structure: read in a process that can be killed."""
FORMATS = tuple(sorted([*PLAIN, *PARSED, *RECORD_READERS]))  # the file endings that have a reader; case does not matter
_NO_TEXTS = frozenset({".svg", ".eps", ".ps", ".pem", ".key", ".crt"})  # drawings and keys, which are written as text


def suffix_of(path: Path) -> str:
    """Return the ending that decides how a file is read: its own, or ".txt" for a text whose ending has no reader."""
    suffix = path.suffix.lower()
    if suffix in FORMATS or suffix in _NO_TEXTS or not begins_as_text(path):
        return suffix
    return ".txt"


def load_reader(path: PurePath) -> Reader:
    """Return the reader of a format of `PARSED` and import its libraries."""
    module, name = PARSED[path.suffix.lower()].split(".")
    reader: Reader = getattr(import_module(f".readers.{module}", __package__), name)
    return reader
