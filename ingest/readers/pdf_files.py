"""PDF files to plain text."""

import logging
import re
from io import BytesIO

from pypdf import PasswordType, PdfReader

from ..content import Content
from ..failures import UnreadableError
from ..limits import Limits
from ..metadata import CREATED

# It logs what is broken in the file's own words, which would go to the terminal where nobody listens.
logging.getLogger("pypdf").addHandler(logging.NullHandler())

# What programs put there instead of a title: a file's name, or nothing.
_NO_TITLE = re.compile(
    r"(untitled.*|microsoft \w+ - .*|.*\.(docx?|odt|rtf|tex|dvi|indd|qxd|pptx?|xlsx?|pdf|html?))?", re.IGNORECASE)
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)")
_MAX_TITLE = 300
_MAX_PAGES = 20_000  # the longest printed works have a few thousand


def read_pdf(data: bytes, limits: Limits) -> Content:
    """The text of a PDF file.

    Args:
        data: the file's bytes.
        limits: the largest size of its text.

    Returns:
        The text of its pages with a form feed between them, as far as the file holds text rather
        than pictures of it; and the title in its metadata where that is one, else an empty string.

    Raises:
        UnreadableError: the file is broken, protected by a password, too large as text, or holds only
            pictures.
    """
    try:
        reader = PdfReader(BytesIO(data))
        locked = reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED
        pages = [] if locked else _pages(reader, limits)
        said = None if locked else reader.metadata
        title = (said and said.title) or ""
        made = _DATE.match(str(said and said.creation_date_raw))
        about = {"author": said and said.author, CREATED: made and "-".join(made.groups()),
                 "subject": said and said.subject}
    except UnreadableError:
        raise
    except Exception as error:  # pypdf lets through whatever a broken structure makes its code raise
        raise UnreadableError(f"a broken PDF file ({error}): print it to a new PDF") from error
    if locked:
        raise UnreadableError("protected by a password: save it without one")
    text = "\f".join(page.replace("\f", "\n") for page in pages)
    if not text.strip():
        raise UnreadableError("no text in it, perhaps only pictures of pages: run text recognition (OCR) on it")
    title = title.strip()
    return Content(text, "" if len(title) > _MAX_TITLE or _NO_TITLE.fullmatch(title) else title, about,
                   paged=True)


def _pages(reader: PdfReader, limits: Limits) -> list[str]:
    """The text of each page; a small file can show one page a million times, which is read once."""
    pages: list[str] = []
    known: dict[object, str] = {}
    left = limits.file_bytes
    for number, page in enumerate(reader.pages, 1):
        place = page.indirect_reference
        key = (place.idnum, place.generation) if place else number
        if key not in known:
            known[key] = page.extract_text()
        pages.append(known[key])
        left -= len(pages[-1])
        if left < 0:
            raise UnreadableError(f"its first {number} pages have more text than {limits.size()}: split it")
        if number > _MAX_PAGES:
            raise UnreadableError(f"more than {_MAX_PAGES:,} pages: split it")
    return pages
