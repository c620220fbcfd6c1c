"""Add to the site what is not in docs/: pages at the repository's root, and references made from the code.

MkDocs calls the functions named `on_...`. Links between pages are written for GitHub; here they are changed to the
site's paths, and a link to a file that is no page becomes plain text.
"""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args, get_origin

from banyan.cli import main as command_line
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
PAGES = ("README.zh.md", "AGENTS.md", "ARCHITECTURE.md", "THREAT_MODEL.md", "CONTRIBUTING.md", "CHANGELOG.md",
         "benchmarks/README.md")
"""Pages elsewhere in the repository; README.md is the site's home page."""
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)")
_MERMAID = re.compile(r"^```mermaid\n.*?^```\n", re.MULTILINE | re.DOTALL)
"""Diagrams that GitHub draws; the site shows the picture before each, because it cannot draw them."""
_COMMANDS, _NAMES = "<!-- commands -->", "<!-- reference -->"
"""Where the site inserts what is made from the code."""
_NAME = re.compile(r"^\| `(banyan\.[\w.]+)` \|", re.MULTILINE)
_OF_THE_SHELL = {"install_completion", "show_completion"}


def on_startup(command: str, dirty: bool) -> None:  # noqa: ARG001  (MkDocs gives both by name)
    """Lay the package out as it is imported: the repository's root is `banyan`.

    mkdocstrings reads it, and leaves out a folder that is not there when it is configured.
    """
    package = ROOT / "build" / "package" / "banyan"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.suffix == ".py" or (entry / "__init__.py").is_file():
            (package / entry.name).symlink_to(entry)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from elsewhere in the repository."""
    for source in PAGES:
        files.append(File.generated(config, source, abs_src_path=str(ROOT / source)))
    files.append(File.generated(config, "index.md", abs_src_path=str(ROOT / "README.md")))
    return files


def on_page_markdown(
    markdown: str, page: Page, config: MkDocsConfig, files: Files,  # noqa: ARG001  (MkDocs gives all by name)
) -> str:
    """Rewrite a page's links, remove its Mermaid diagrams, and insert the references."""
    place = "README.md" if page.file.src_uri == "index.md" else (
        page.file.src_uri if page.file.src_uri in PAGES else f"docs/{page.file.src_uri}")
    linked = _LINK.sub(lambda link: _rewrite_link(link, PurePosixPath(place), page, files), _MERMAID.sub("", markdown))
    names = "\n".join(f"::: {name}" for name in _NAME.findall(markdown))
    return linked.replace(_COMMANDS, "\n".join(_reference())).replace(_NAMES, names)


def _rewrite_link(link: re.Match[str], place: PurePosixPath, page: Page, files: Files) -> str:
    """Rewrite a link between files of the repository for the page on the site."""
    image, words, target, anchor = link[1], link[2], link[3], link[4] or ""
    file = os.path.normpath(place.parent / target)
    if not (ROOT / file).exists():
        return link[0]  # MkDocs reports the broken link
    there = "index.md" if file == "README.md" else file.removeprefix("docs/")
    if files.get_file_from_path(there) is None:
        return words
    return f"{image}[{words}]({os.path.relpath(there, PurePosixPath(page.file.src_uri).parent)}{anchor})"


def _reference() -> Iterator[str]:
    """Yield every command with its arguments and options, as Markdown."""
    for name in command_line.COMMANDS:
        yield from _describe_command(command_line.command(name), name)


def _describe_command(command: Any, name: str) -> Iterator[str]:
    yield f"\n## banyan {name}\n\n{_words(command.help)}\n"
    parts = getattr(command, "commands", {})
    shown = [one for one in command.params if one.name not in _OF_THE_SHELL]
    if shown:
        arguments = [one.name.upper() + ("..." if one.nargs != 1 else "") for one in shown
                     if one.param_type_name == "argument"]
        yield f"```sh\nbanyan {' '.join([name, *arguments])} [OPTIONS]\n```\n"
        yield "| | default | |\n|---|---|---|"
        yield from map(_row, shown)
    if command.epilog:
        lines = [line.replace(r"\[", "[") for line in command.epilog.split("\n\n")[1:]]
        yield "\nExamples:\n\n```sh\n" + "\n".join(lines) + "\n```\n"
    for part, of_group in parts.items():
        yield from _describe_command(of_group, f"{name} {part}")


def _row(one: Any) -> str:
    """Return a table row for an argument or option, with its default and its choices."""
    named = one.param_type_name == "argument"
    names = f"`{one.name.upper()}`" if named else ", ".join(f"`{name}`" for name in (*one.opts, *one.secondary_opts))
    if isinstance(one.show_default, str):
        default = one.show_default
    elif one.required:
        default = "required"
    else:
        default = "" if one.default in (None, False, (), [], "") or callable(one.default) else f"`{one.default}`"
    annotation = one.type_descriptor.annotation
    choices = ", ".join(f"`{choice}`" for choice in get_args(annotation) if get_origin(annotation) is Literal)
    return f"| {names} | {default} | {_words(one.help)}{f' ({choices})' if choices else ''} |"


def _words(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", r"\|").replace("<", "&lt;")


__all__ = ["on_files", "on_page_markdown", "on_startup"]
