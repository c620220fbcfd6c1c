"""Rich text (rtf)."""

from striprtf.striprtf import rtf_to_text

from ..content import Content
from ..reading_errors import UnreadableError
from ..reading_limits import Limits


def read_rtf(data: bytes, _: Limits) -> Content:
    """Read the text of an RTF file without its control words.

    Raises:
        UnreadableError: the file does not begin like RTF.
    """
    if not data.startswith(b"{\\rtf"):
        raise UnreadableError("not a rich text file: save it again as RTF")
    return Content(rtf_to_text(data.decode("latin-1"), errors="replace"))  # type: ignore[no-untyped-call]
