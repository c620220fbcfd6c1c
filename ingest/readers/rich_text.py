"""Rich text (rtf)."""

from striprtf.striprtf import rtf_to_text

from ..reading import Content, Limits, UnreadableError, list_counts

_LEFT_OUT = {"picture": b"{\\pict", "header": b"{\\header", "footer": b"{\\footer", "footnote": b"{\\footnote",
             "comment": b"\\annotation"}
"""What striprtf leaves out, and the mark with which it begins."""


def read_rtf(data: bytes, _: Limits) -> Content:
    """Read the text of an RTF file without its control words.

    Raises:
        UnreadableError: the file does not begin like RTF.
    """
    if not data.startswith(b"{\\rtf"):
        raise UnreadableError("not a rich text file: save it again as RTF")
    text = rtf_to_text(data.decode("latin-1"), errors="replace")  # type: ignore[no-untyped-call]
    return Content(text, omitted=list_counts({name: data.count(mark) for name, mark in _LEFT_OUT.items()}))
