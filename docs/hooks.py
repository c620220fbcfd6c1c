"""What the site has beyond the files of docs/: pages at the repository's root, and what is made from the code.

MkDocs calls the functions named `on_...`. Links between pages are written as GitHub needs them; here they are changed
to where a page stands on the site, and a link to a file that is no page becomes its words.
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
PAGES = ("README.zh.md", "ARCHITECTURE.md", "THREAT_MODEL.md", "CONTRIBUTING.md", "CHANGELOG.md",
         "benchmarks/README.md")
"""Pages that stand elsewhere in the repository; README.md is the site's first."""
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)")
_MERMAID = re.compile(r"^```mermaid\n.*?^```\n", re.MULTILINE | re.DOTALL)
"""GitHub draws it; the site shows the picture before it, because no program that draws comes with it."""
_COMMANDS = "<!-- commands -->"
_OF_THE_SHELL = {"install_completion", "show_completion"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Lay the package out as it is imported, which mkdocstrings reads: the repository's root is `banyan`."""
    package = ROOT / "build" / "package" / "banyan"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.suffix == ".py" or (entry / "__init__.py").is_file():
            (package / entry.name).symlink_to(entry)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that stand elsewhere."""
    for source in PAGES:
        files.append(File.generated(config, source, abs_src_path=str(ROOT / source)))
    files.append(File.generated(config, "index.md", abs_src_path=str(ROOT / "README.md")))
    return files


def on_page_markdown(
    markdown: str, page: Page, config: MkDocsConfig, files: Files,  # noqa: ARG001  (MkDocs gives all by name)
) -> str:
    """The page with its links changed, without what is not drawn here, and with the command line's reference."""
    place = "README.md" if page.file.src_uri == "index.md" else (
        page.file.src_uri if page.file.src_uri in PAGES else f"docs/{page.file.src_uri}")
    linked = _LINK.sub(lambda link: _changed(link, PurePosixPath(place), page, files), _MERMAID.sub("", markdown))
    return linked.replace(_COMMANDS, "\n".join(_reference()))


def _changed(link: re.Match[str], place: PurePosixPath, page: Page, files: Files) -> str:
    """A link of a file in the repository, as its page on the site has it."""
    image, words, target, anchor = link[1], link[2], link[3], link[4] or ""
    file = os.path.normpath(place.parent / target)
    if not (ROOT / file).exists():
        return link[0]  # MkDocs says so
    there = "index.md" if file == "README.md" else file.removeprefix("docs/")
    if files.get_file_from_path(there) is None:
        return words
    return f"{image}[{words}]({os.path.relpath(there, PurePosixPath(page.file.src_uri).parent)}{anchor})"


def _reference() -> Iterator[str]:
    """Every command with its arguments and options, as Markdown."""
    for name in command_line._COMMANDS:  # noqa: SLF001  (in the order in which they are needed)
        yield from _described(command_line.command(name), name)


def _described(command: Any, name: str) -> Iterator[str]:
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
        yield from _described(of_group, f"{name} {part}")


def _row(one: Any) -> str:
    """An argument or option, with its default and its choices."""
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


__all__ = ["on_config", "on_files", "on_page_markdown"]
