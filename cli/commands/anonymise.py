"""`banyan anonymise`: replace names in texts and questions by ids, with a separate key, and back."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from ...evaluation.bench.anonymous_corpus import Corpus, Task, anonymise, as_rows
from ...evaluation.bench.anonymous_names import AnonymityKey, revert
from ...export.export_file import write_file
from ...schemas.formats.small_files import json_records, parse_json, validate_record
from ..console import err, on_a_line, out, print_json
from ..error_messages import CommandError
from ..session import AsJson, MaxTokens, open_resources

app = typer.Typer()
_ENDINGS = (".txt", ".md")


@app.command(name="anonymise")
def anonymise_texts(  # noqa: PLR0913  (its options)
    paths: Annotated[list[Path], typer.Argument(help="Texts (.txt, .md), or folders with texts.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the result; created if missing.")],
    key: Annotated[Path, typer.Option(help="File for the key to the ids; outside the result's folder.")],
    *,
    types: Annotated[str, typer.Option(help="Entity types that become ids.")] = "Person,Location",
    schema: Annotated[str, typer.Option(help="Seed schema, or a file.")] = "general",
    questions: Annotated[Path | None, typer.Option(help="Your own questions, JSON with `question` and `answer`; they "
                                                        "are anonymised as well.")] = None,
    write: Annotated[int, typer.Option(min=0, help="How many more questions the model writes.")] = 0,
    zero_shot_filter: Annotated[bool, typer.Option(help="Leave out tasks that the model solves without the "
                                                        "texts.")] = False,
    max_tokens: MaxTokens = None,
    back: Annotated[bool, typer.Option("--revert", help="The other way: PATHS are anonymised texts.")] = False,
    as_json: AsJson = False,
) -> None:
    """Replace persons and places in texts by ids such as [PERSON#1], in AnonyRAG's form, and back.

    Every name of an entity becomes the same id. The result consists of texts.json and questions.json, which
    `banyan bench anonyrag` reads, and of the texts themselves.
    """
    texts = _read(paths)
    if back:
        _revert(texts, output, key)
        return
    if key.resolve().is_relative_to(output.resolve()):
        raise CommandError(f"the key {key} would be in {output}, which is to be handed on: name another place (--key)")
    own = [validate_record(where, row, Task, CommandError) for where, row in json_records(questions, CommandError)
           ] if questions else []
    with open_resources() as resources:
        corpus = anonymise(resources, texts, _names(types), schema=schema, questions=own, written=write,
                           from_memory=not zero_shot_filter, max_tokens=max_tokens)
    _write(corpus, output, key)
    said = {"texts": len(corpus.texts), "ids": len(corpus.key.entities),
            "places": sum(map(len, corpus.key.places.values())), "tasks": len(corpus.tasks), "leaks": len(corpus.leaks)}
    if as_json:
        print_json(said)
    else:
        out.print(", ".join(f"{count} {what}" for what, count in said.items()))
    if corpus.leaks:
        err.print(f"[red]names are left[/red], the first: {on_a_line(corpus.leaks[0])}", soft_wrap=True)
        raise typer.Exit(1)


def _names(types: str) -> frozenset[str]:
    return frozenset(name for part in types.split(",") if (name := part.strip()))


def _read(paths: list[Path]) -> dict[str, str]:
    """Return the texts by name: the path within the given folder, or the file's name."""
    texts: dict[str, str] = {}
    for path in paths:
        files = sorted(file for file in path.rglob("*") if file.suffix in _ENDINGS) if path.is_dir() else [path]
        for file in files:
            name = file.relative_to(path).as_posix() if path.is_dir() else file.name
            if name in texts:
                raise CommandError(f"two texts are named {name}: rename one, or anonymise them separately")
            try:
                texts[name] = file.read_bytes().decode()  # line ends stay as they are, so reverting is exact
            except UnicodeDecodeError as error:
                raise CommandError(f"{file} is not UTF-8 text ({error}): save it as UTF-8") from error
    if not texts:
        raise CommandError(f"there is no text in {', '.join(map(str, paths))}: name files that end in .txt or .md")
    return texts


def _write(corpus: Corpus, output: Path, key: Path) -> None:
    for name, text in corpus.texts.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        write_file(output / name, [text])
    write_file(output / "texts.json", [_json(as_rows(corpus.texts))])
    write_file(output / "questions.json", [_json([task.model_dump() for task in (*corpus.questions, *corpus.tasks)])])
    write_file(key, [_json(corpus.key.model_dump())])
    os.chmod(key, 0o600)  # noqa: PTH101  (the key identifies people)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _revert(texts: dict[str, str], output: Path, key: Path) -> None:
    try:
        known = validate_record(str(key), parse_json(key.read_text("utf-8")), AnonymityKey, CommandError)
    except ValueError as error:
        raise CommandError(f"{key} is not a key file: {error}") from error
    for name, text in texts.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        write_file(output / name, [revert(name, text, known)])
    out.print(f"{len(texts)} texts written to {on_a_line(str(output))}")
