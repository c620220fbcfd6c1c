"""Take the frame of a Project Gutenberg e-book off its text: the fields and the licence around the work.

The work is what the document is about. The frame stays searchable, behind it, under a heading of back matter.
"""

import re

from .reading import Content

LICENCE = "Project Gutenberg license"
_START = re.compile(r"^[ \t]*+\*\*\*[ \t]?START OF (?:THE|THIS) PROJECT GUTENBERG EBOOK[^\n]*+", re.MULTILINE)
_END = re.compile(r"^[ \t]*+(?:\*\*\*[ \t]?)?END OF (?:THE |THIS )?PROJECT GUTENBERG[^\n]*+",
                  re.MULTILINE | re.IGNORECASE)
_FIELD = re.compile(r"^(?P<name>Title|Author|Translator|Editor|Illustrator|Language|Release Date):[ \t]*+"
                    r"(?P<value>[^\r\n]{1,300})", re.MULTILINE)
_HEAD = 20_000  # the characters within which the work of an e-book begins


def without_frame(content: Content) -> Content:
    """Return an e-book's content with the work first, its fields as metadata; any other content as it is.

    Pages keep their order, by which they are cited.
    """
    start = None if content.paged else _START.search(content.text[:_HEAD])
    if start is None:
        return content
    before, rest = content.text[:start.end()], content.text[start.end():]
    end = _END.search(rest)
    work, after = (rest[:end.start()], rest[end.start():]) if end else (rest, "")
    fields = {found["name"].lower(): found["value"].strip() for found in _FIELD.finditer(before)}
    title = fields.pop("title", content.title)
    text = f"{work.strip()}\n\n## {LICENCE}\n\n{before.strip()}\n\n{after.strip()}\n"
    return content._replace(text=text, title=title, metadata={**content.metadata, **fields})
