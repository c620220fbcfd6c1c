"""Limits on how much of a file is read."""

from typing import Literal

from pydantic import Field

from ..schemas.documents import Frozen

Fetch = Literal["off", "public", "any"]
Ocr = Literal["auto", "off"]
MEGABYTE = 1024 * 1024
LONGEST_LINE = 20_000
"""Characters of a line for parsers of markup: orgparse takes the square of it, docutils bounds substitutions by it."""


class Limits(Frozen):
    """Limits on the work that one file or folder can cause; see the settings of the same names."""

    file_bytes: int = Field(100 * MEGABYTE, ge=1, description="a file or record, unpacked and as text too: it is held "
                            "in memory several times over while it is parsed, and is a hundred thousand chunks then")
    documents: int = Field(1_000_000, ge=1, description="documents of one run, tiny ones included")
    json_depth: int = Field(64, ge=1, description="nesting of a JSON record")
    table_columns: int = Field(1000, ge=1, description="columns of a table: each row is written with all headers")
    seconds: float = Field(120.0, gt=0, description="reading one file that is no plain text")
    memory_mb: int = Field(4096, ge=256, description="address space of the process that reads it, with its libraries")
    title: int = Field(500, ge=1, description="characters of a title: it is embedded and shown with each of its chunks")
    failures: int = Field(100, ge=1, description="bad records of a file that are told one by one; the rest are counted")
    folder_depth: int = Field(64, ge=1, description="nesting of folders")
    ocr: Ocr = Field("auto", description="whether text in pictures is read, where Tesseract is installed")
    fetch: Fetch = Field("off", description="which addresses of the web are read: none, those of public networks, any")

    def size(self) -> str:
        """Return the limit on file sizes for messages."""
        mega = self.file_bytes / MEGABYTE
        return f"{mega:g} MB (BANYAN_MAX_FILE_MB)" if mega >= 1 else f"{self.file_bytes} bytes"


DEFAULT_LIMITS = Limits()


def explain_long_line(text: str) -> str:
    """Return why the markup of a text is not read, or "" if no line is too long for its parser."""
    if all(len(line) <= LONGEST_LINE for line in text.splitlines()):
        return ""
    return f"a line is longer than {LONGEST_LINE:,} characters, so its markup was not read: break the line"
