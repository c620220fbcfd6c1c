"""Every regular expression of the package, and what is done with it."""

import ast
import builtins
import importlib.util
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import banyan

_ALL = frozenset({"finditer", "fullmatch"})
_METHODS = {"search": "search", "match": "match", "fullmatch": "fullmatch", "sub": "finditer", "subn": "finditer",
            "split": "finditer", "findall": "finditer", "finditer": "finditer"}
"""What each method costs, by one that costs as much."""
_USES = re.compile(rf"\.(?:{'|'.join(_METHODS)}|compile)\b")
"""What a module has that makes or uses a pattern."""
_DEPTH = 3
"""Containers and objects within each other in which patterns are looked for."""


@dataclass(frozen=True)
class Used:
    """A pattern: where it stands, and how it is used."""

    at: str
    pattern: "re.Pattern[Any]"
    methods: frozenset[str]


def used_patterns() -> list[Used]:
    """All of them, each once: of modules, classes, containers and objects there, and those written in calls."""
    trees = {importlib.import_module(name): ast.parse(text) for name, text in _sources()}
    called: dict[int, set[str]] = defaultdict(set)
    for module, tree in trees.items():
        for owner, method in _calls(tree):
            called[id(vars(module).get(owner))].add(_METHODS[method])
    found: dict[int, Used] = {}
    for module in trees:
        for name, value in vars(module).items():
            for at, pattern in _within(value, f"{module.__name__}.{name}", module.__name__, _DEPTH):
                # In a container, or handed on, anything may be done with it.
                methods = frozenset(called.get(id(pattern), ())) or _ALL
                found.setdefault(id(pattern), Used(at, pattern, methods))
    written = (one for module, tree in trees.items() for one in _written(tree, module))
    return [*found.values(), *written]


def _sources() -> Iterator[tuple[str, str]]:
    """The modules that make or use patterns, each with its text; some of the others take seconds to import."""
    for found in pkgutil.walk_packages(banyan.__path__, "banyan."):
        spec = importlib.util.find_spec(found.name)
        text = Path(str(spec and spec.origin)).read_text("utf-8")
        if _USES.search(text) and not found.name.endswith("__main__"):
            yield found.name, text


def _calls(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _METHODS and isinstance(node.value, ast.Name):
            yield node.value.id, node.attr


def _within(value: object, at: str, module: str, depth: int) -> Iterator[tuple[str, "re.Pattern[Any]"]]:
    if isinstance(value, re.Pattern):
        yield at, value
        return
    parts: list[tuple[object, Any]] = []
    if isinstance(value, Mapping):
        parts = list(value.items())
    elif isinstance(value, tuple | list | set | frozenset):
        parts = list(enumerate(value))
    elif (isinstance(value, type) and value.__module__ == module) or type(value).__module__.startswith("banyan."):
        parts = list(getattr(value, "__dict__", {}).items())
    for key, one in parts if depth else ():
        yield from _within(one, f"{at}[{key!r}]", module, depth - 1)


class _Word(str):
    def __getattr__(self, _: str) -> "_Word":
        return self


class _Variables(dict[str, Any]):
    """What a function's own variables are in an expression that is written there: words."""

    def __init__(self, module: ModuleType):
        super().__init__()
        self._known = {*vars(module), *vars(builtins)}

    def __missing__(self, name: str) -> str:
        if name in self._known:
            raise KeyError(name)
        return _Word("word")


def _in_functions(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield from ast.walk(child) if isinstance(child, ast.FunctionDef) else _in_functions(child)


def _written(tree: ast.AST, module: ModuleType) -> Iterator[Used]:
    """Patterns that stand in calls within functions: `re.search(r"\\s", text)`, `re.compile(f"{word}")`."""
    for node in _in_functions(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        owner, method = node.func.value, node.func.attr
        if isinstance(owner, ast.Name) and owner.id == "re" and method in {*_METHODS, "compile"}:
            source = eval(compile(ast.Expression(node.args[0]), "<pattern>", "eval"), vars(module), _Variables(module))
            methods = _ALL if method == "compile" else frozenset({_METHODS[method]})
            yield Used(f"{module.__name__}:{node.lineno}", re.compile(source), methods)
