"""Rich text (rtf)."""

from striprtf.striprtf import rtf_to_text

from ..content import Content
from ..failures import UnreadableError
from ..limits import Limits


def read_rtf(data: bytes, _: Limits) -> Content:
    """The text of a file, without its marks.

    Raises:
        UnreadableError: it does not begin as rich text does.
    """
    if not data.startswith(b"{\\rtf"):
        raise UnreadableError("not a rich text file: save it again as RTF")
    return Content(rtf_to_text(data.decode("latin-1"), errors="replace"))  # type: ignore[no-untyped-call]
