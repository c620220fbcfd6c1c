"""All errors that a user can meet, by class, with their messages, as docs/errors.md lists them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "errors.md"
_ROOTS = {"BanyanError", "UnreadableError", "BadRecordError", "SizeError", "DateError"}
"""Their classes and those that derive from them; the last four follow the name of a file, record or field."""
_FACES = {"HTTPException": ("HTTPException", "What the server refuses before it reads a request to its end."),
          "Refusal": ("Auth.exceptions.HTTPException", "What LangGraph's server refuses."),
          "ToolError": ("ToolError", "What a tool over MCP refuses."),
          "BadParameter": ("BadParameter", "What the command line refuses before it begins.")}
"""What a face raises in its library's own way, with a message of Banyan's, by what the code calls."""
_NO_PACKAGE = {"tests", "benchmarks", "examples", "docs", "deploy", "build"}
_HEAD = """\
# Errors

Each error has a class, which Python raises, and a message that names the thing, the cause and the fix. On the command
line the message follows `error:`; over HTTP it is in `error.message`, and the class in `error.type`. `…` stands for
what differs. The messages of `UnreadableError`, `BadRecordError`, `SizeError` and `DateError` follow the name of a
file, record or field. What the server, LangGraph, MCP and the command line refuse in their libraries' own way comes
last. How endpoints fail is in [Endpoints](endpoints.md). `python -m tests.generated_pages` writes this page.
"""


class Error(NamedTuple):
    name: str
    says: str
    """The first line of its docstring."""
    messages: list[str]


def _trees() -> Iterator[ast.Module]:
    for file in sorted(ROOT.rglob("*.py")):
        place = file.relative_to(ROOT).parts
        if place[0] not in _NO_PACKAGE and not any(part.startswith(".") for part in place):
            yield ast.parse(file.read_text("utf-8"))


def _text(message: ast.expr) -> str:
    if isinstance(message, ast.Constant):
        return str(message.value)
    if isinstance(message, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "…" for part in message.values)
    return _text(message.left) + _text(message.right) if isinstance(message, ast.BinOp) else "…"


def _branches(message: ast.expr) -> list[ast.expr]:
    if isinstance(message, ast.IfExp):
        return _branches(message.body) + _branches(message.orelse)
    return [message]


def errors() -> list[Error]:
    nodes = [node for tree in _trees() for node in ast.walk(tree)]
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}

    def is_error(name: str) -> bool:
        return name in _ROOTS or any(is_error(ast.unparse(base)) for base in getattr(classes.get(name), "bases", ()))

    found = {name: Error(name, (ast.get_docstring(node) or "").partition("\n\n")[0].replace("\n", " "), [])
             for name, node in sorted(classes.items()) if is_error(name)}
    found |= {call: Error(name, says, []) for call, (name, says) in _FACES.items()}
    for node in nodes:
        if isinstance(node, ast.Call) and (name := ast.unparse(node.func).rpartition(".")[2]) in found and node.args:
            texts = map(_text, _branches(node.args[-1 if name in _FACES else 0]))
            found[name].messages.extend(text for text in texts if re.search(r"\w", text))
    return list(found.values())


def page() -> str:
    parts = [_HEAD]
    for error in errors():
        lines = [f"- {message}" for message in sorted({*error.messages})]
        parts.append("\n".join([f"## {error.name}\n\n{error.says}\n", *lines, ""]).rstrip("\n") + "\n")
    return "\n".join(parts)
