"""The formats of files that are read whole, and the reader of each."""

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path, PurePath

from .decoding import begins_as_text, decode
from .markdown_files import read_markdown
from .reading import Content, Limits, UnreadableError, list_counts
from .subtitles import read_subtitles

Reader = Callable[[bytes, Limits], Content]


def _read_text(data: bytes, _: Limits) -> Content:
    return Content(decode(data))


def _read_notebook(data: bytes, limits: Limits) -> Content:
    """Read a Jupyter notebook: Markdown cells as they are, and other cells as fenced code, without output."""
    try:
        cells = json.loads(decode(data))["cells"]
        outputs = sum(len(cell.get("outputs", ())) for cell in cells)
        parts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableError(f"not a Jupyter notebook of format 4 ({error!r}): save it again in Jupyter") from error
    texts = (text if kind == "markdown" else f"```\n{text}\n```" for kind, text in parts if text.strip())
    read = read_markdown("\n\n".join(texts).encode(errors="replace"), limits)
    omitted = (read.omitted, list_counts({"code output": outputs}))
    return read._replace(omitted=", ".join(filter(None, omitted)))


CODE = (".py", ".js", ".ts", ".java", ".c", ".h", ".cpp", ".hpp", ".cs", ".go", ".rs", ".rb", ".php", ".swift", ".kt",
        ".scala", ".sh", ".sql", ".r", ".css", ".yaml", ".yml", ".toml", ".ini", ".tex", ".log", ".adoc", ".asciidoc")
PLAIN: dict[str, Reader] = {".txt": _read_text,
                            **dict.fromkeys((".md", ".markdown", ".qmd", ".rmd"), read_markdown),
                            ".ipynb": _read_notebook, ".srt": read_subtitles, ".vtt": read_subtitles,
                            **dict.fromkeys(CODE, _read_text)}
"""Formats read in this process: plain text, in time proportional to its length."""

PARSED = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), "web_pages.read_html"),
    ".pdf": "pdf_files.read_pdf", ".docx": "word_files.read_docx", ".pptx": "slides.read_pptx",
    ".xlsx": "spreadsheets.read_spreadsheet", ".xlsm": "spreadsheets.read_spreadsheet",
    ".xls": "spreadsheets.read_spreadsheet", ".ods": "spreadsheets.read_spreadsheet", ".epub": "web_pages.read_epub",
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp"), "scans.read_image"),
    ".json": "json_files.read_json", ".eml": "mails.read_eml", ".rtf": "word_files.read_rtf",
    **dict.fromkeys((".odt", ".odp"), "open_documents.read_open_document"), ".xml": "xml_files.read_xml",
    ".rst": "restructured_text.read_rst", ".org": "org_files.read_org"}
"""Formats with a parser whose time and memory depend on the file's structure: read in a process that can be killed."""


def suffix_of(path: Path) -> str:
    """Return the ending that decides how a file is read: its own, or ".txt" for a text without one, such as README."""
    return path.suffix.lower() or (".txt" if begins_as_text(path) else "")


def load_reader(path: PurePath) -> Reader:
    """Return the reader of a format of `PARSED` and import its libraries."""
    module, name = PARSED[path.suffix.lower()].split(".")
    reader: Reader = getattr(import_module(f".readers.{module}", __package__), name)
    return reader
