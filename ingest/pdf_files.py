"""PDF files to plain text."""

import logging
import re
from io import BytesIO

from pypdf import PasswordType, PdfReader

from .failures import UnreadableError
from .limits import DEFAULT_LIMITS, Limits

# It logs what is broken in the file's own words, which would go to the terminal where nobody listens.
logging.getLogger("pypdf").addHandler(logging.NullHandler())

# What programs put there instead of a title: a file's name, or nothing.
_NO_TITLE = re.compile(
    r"\s*(untitled.*|microsoft \w+ - .*|.*\.(docx?|odt|rtf|tex|dvi|indd|qxd|pptx?|xlsx?|pdf|html?))?\s*", re.IGNORECASE)
_MAX_TITLE = 300
_MAX_PAGES = 20_000  # the longest printed works have a few thousand


def read_pdf(data: bytes, limits: Limits = DEFAULT_LIMITS) -> tuple[str, str]:
    """The text of a PDF file.

    Args:
        data: the file's bytes.
        limits: the largest size of its text.

    Returns:
        The text of its pages with a blank line between them, as far as the file holds text rather
        than pictures of it; and the title in its metadata where that is one, else an empty string.

    Raises:
        UnreadableError: the file is broken, protected by a password, too large as text, or holds only
            pictures.
    """
    try:
        reader = PdfReader(BytesIO(data))
        locked = reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED
        pages = [] if locked else _pages(reader, limits)
        title = "" if locked else (reader.metadata and reader.metadata.title) or ""
    except UnreadableError:
        raise
    except Exception as error:  # pypdf lets through whatever a broken structure makes its code raise
        raise UnreadableError(f"a broken PDF file ({error}): print it to a new PDF") from error
    if locked:
        raise UnreadableError("protected by a password: save it without one")
    text = "\n\n".join(page.strip() for page in pages if page.strip())
    if not text:
        raise UnreadableError("no text in it, perhaps only pictures of pages: run text recognition (OCR) on it")
    return text, "" if len(title) > _MAX_TITLE or _NO_TITLE.fullmatch(title) else title.strip()


def _pages(reader: PdfReader, limits: Limits) -> list[str]:
    """The text of each page; a small file can show one page a million times."""
    pages: list[str] = []
    left = limits.file_bytes
    for number, page in enumerate(reader.pages, 1):
        pages.append(page.extract_text())
        left -= len(pages[-1])
        if left < 0:
            raise UnreadableError(f"its first {number} pages have more text than {limits.size()}: split it")
        if number > _MAX_PAGES:
            raise UnreadableError(f"more than {_MAX_PAGES:,} pages: split it")
    return pages
