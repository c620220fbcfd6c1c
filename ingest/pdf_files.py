"""PDF files to plain text."""

import re
from io import BytesIO

from pypdf import PasswordType, PdfReader

from .failures import UnreadableError

# What programs put there instead of a title: a file's name, or nothing.
_NO_TITLE = re.compile(
    r"\s*(untitled.*|microsoft \w+ - .*|.*\.(docx?|odt|rtf|tex|dvi|indd|qxd|pptx?|xlsx?|pdf|html?))?\s*", re.IGNORECASE)
_MAX_TITLE = 300


def read_pdf(data: bytes) -> tuple[str, str]:
    """The text of a PDF file.

    Args:
        data: the file's bytes.

    Returns:
        The text of its pages with a blank line between them, as far as the file holds text rather
        than pictures of it; and the title in its metadata where that is one, else an empty string.

    Raises:
        UnreadableError: the file is broken, protected by a password, or holds only pictures.
    """
    try:
        reader = PdfReader(BytesIO(data))
        locked = reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED
        pages = [] if locked else [page.extract_text() for page in reader.pages]
        title = "" if locked else (reader.metadata and reader.metadata.title) or ""
    except Exception as error:  # pypdf lets through whatever a broken structure makes its code raise
        raise UnreadableError(f"a broken PDF file ({error}): print it to a new PDF") from error
    if locked:
        raise UnreadableError("protected by a password: save it without one")
    text = "\n\n".join(page.strip() for page in pages if page.strip())
    if not text:
        raise UnreadableError("no text in it, perhaps only pictures of pages: run text recognition (OCR) on it")
    return text, "" if len(title) > _MAX_TITLE or _NO_TITLE.fullmatch(title) else title.strip()
