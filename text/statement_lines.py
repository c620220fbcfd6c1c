"""Which lines of a text may state something: not headings, navigation and page numbers."""

import re

_HEADING = re.compile(r"\s*#{1,6}\s")
_FURNITURE = re.compile(r"\W*(?:(?:page|seite|第)?\W*\d*\W*(?:(?:of|von|/)\W*\d+|页)?|(?:©|\(c\)|copyright\b).*|"
                        r"(?:skip to (?:main )?content|back to top|table of contents|contents|menu|home))\W*",
                        re.IGNORECASE)
_BETWEEN_LINKS = re.compile(r"(?<!\s)\s++[|›»·>/]\s")
_LONGEST_LINK, _FEWEST_LINKS = 3, 2


def has_statement(text: str) -> bool:
    """Return True if a line of a text may state something; in doubt it does."""
    return any(line.strip() and not _HEADING.match(line) and not _FURNITURE.fullmatch(line) and not _is_navigation(line)
               for line in text.splitlines())


def _is_navigation(line: str) -> bool:
    """Return True for short links in a row, such as "Home | Tickets | Bar"."""
    links = _BETWEEN_LINKS.split(line.strip())
    return (len(links) >= _FEWEST_LINKS and not line.lstrip().startswith("|")
            and not any(character.isdigit() or character in ":：=" for character in line)
            and all(len(link.split()) <= _LONGEST_LINK for link in links))
