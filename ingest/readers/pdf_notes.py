"""What lies on a page of a PDF file beside its text: filled-in fields, comments and pictures."""

from collections.abc import Iterator

from pypdf import PageObject
from pypdf.generic import DictionaryObject, IndirectObject

_UNSAID = frozenset({"/Popup", "/Link"})
"""Annotations whose contents repeat others, or describe a link."""
_LONGEST_CHAIN = 20
_TEXT_FIELDS = frozenset({"/Tx", "/Ch"})
_PASSWORD_FLAG = 1 << 13


def page_notes(page: PageObject) -> str:
    """Return the fields of a form on a page with their values, and the comments on it, a line each."""
    annotations = (entry.get_object() for entry in page.get("/Annots") or ())
    lines = (_field(found) if found.get("/Subtype") == "/Widget" else _comment(found)
             for found in annotations if isinstance(found, DictionaryObject))
    return "\n".join(dict.fromkeys(filter(None, lines)))


def find_pictures(page: PageObject) -> frozenset[int]:
    """Return keys of the pictures that a page can paint; a picture on several pages has one key."""
    return frozenset(_pictures(page))


def _pictures(page: PageObject) -> Iterator[int]:
    resources = page.get("/Resources")
    drawn = resources.get_object().get("/XObject") if resources is not None else None
    for entry in drawn.get_object().values() if drawn is not None else ():
        found = entry.get_object()
        if isinstance(found, DictionaryObject) and found.get("/Subtype") == "/Image":
            yield entry.idnum if isinstance(entry, IndirectObject) else id(found)


def _comment(annotation: DictionaryObject) -> str:
    text = _words(annotation.get("/Contents"))
    author = _words(annotation.get("/T"))
    if not text or annotation.get("/Subtype") in _UNSAID:
        return ""
    return f"Comment{f' by {author}' if author else ''}: {text}"


def _field(annotation: DictionaryObject) -> str:
    """Return the name and the value of a field with text; a password is left out."""
    chain = list(_ancestors(annotation))
    kind, value, flags = (next((part[key] for part in chain if key in part), None) for key in ("/FT", "/V", "/Ff"))
    name = next(filter(None, (_words(part.get("/TU") or part.get("/T")) for part in chain)), "")
    is_text = str(kind) in _TEXT_FIELDS and not (isinstance(flags, int) and flags & _PASSWORD_FLAG)
    return f"{name}: {_words(value)}" if is_text and name and _words(value) else ""


def _ancestors(annotation: DictionaryObject) -> Iterator[DictionaryObject]:
    found: object = annotation
    for _ in range(_LONGEST_CHAIN):
        if not isinstance(found, DictionaryObject):
            return
        yield found
        found = found["/Parent"].get_object() if "/Parent" in found else None


def _words(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
