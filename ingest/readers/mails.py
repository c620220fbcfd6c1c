"""Mails (eml): their headers, and the body as text."""

from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

from ..content import Content
from ..reading_limits import Limits
from .web_pages import read_html


def read_eml(data: bytes, _: Limits) -> Content:
    """Read the plain text of a mail, else its HTML; the subject is the title, and attachments are only named."""
    mail = BytesParser(EmailMessage, policy=policy.default).parsebytes(data)
    body = mail.get_body(("plain", "html"))
    text = "" if body is None else str(body.get_content())
    if body is not None and body.get_content_subtype() == "html":
        text = read_html(f'<meta charset="utf-8">{text}'.encode(errors="replace")).text
    attached = ", ".join(name for part in mail.iter_attachments() if (name := part.get_filename()))
    sent = mail.get("date")
    date = getattr(sent, "datetime", None)
    about = {"author": mail.get("from"), "to": mail.get("to"), "cc": mail.get("cc"),
             "date": date.date().isoformat() if date else sent, "attachments": attached}
    return Content(text, str(mail.get("subject") or ""), {name: str(value) for name, value in about.items() if value})
