"""The command line, `banyan COMMAND`: a command's module is imported when the command is chosen."""

from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..runtime.gc_pauses import gc_paused
from .error_messages import CommandError, explain_errors
from .examples import epilogue

_FIRST, _BASES, _FOUND, _CARE, _OTHERS = (
    "Begin here", "Your knowledge bases", "What was found", "Care", "For other programs, and measuring")
_COMMANDS = {
    "build": ("build", _FIRST, "Read documents into a knowledge base; unchanged documents cost nothing."),
    "sync": ("sync", _FIRST, "Let a knowledge base follow a folder: add what is new, delete what is gone."),
    "ask": ("ask", _FIRST, "Answer a question from a knowledge base, with citations, or abstain."),
    "chat": ("ask", _FIRST, "Ask one question after another, including follow-ups."),
    "serve": ("serve", _FIRST, "Serve the knowledge bases: a web page, REST, chat and MCP, on one port."),
    "list": ("home_commands", _BASES, "List all knowledge bases and where they are stored."),
    "status": ("status_command", _BASES, "Show a knowledge base's contents, failures and spending."),
    "instructions": ("base_commands", _BASES, "Show or set what a model heeds when it answers or extracts."),
    "documents": ("base_commands", _BASES, "List the documents of a knowledge base."),
    "delete": ("base_commands", _BASES, "Delete a document, and everything that no other document supports."),
    "forget": ("forget", _BASES, "Delete every document that mentions an entity; shows them and asks first."),
    "rename": ("home_commands", _BASES, "Give a knowledge base another name."),
    "drop": ("home_commands", _BASES, "Delete a knowledge base and everything stored in it; asks first."),
    "schema": ("schema_commands", _FOUND,
               "Show the schema and its history, decide on candidates, or infer a seed schema."),
    "facts": ("facts_command", _FOUND,
              "List or compute the rows of a relation or attribute, or the facts of an entity."),
    "entities": ("entities", _FOUND,
                 "List entities, or the names that were merged and why; change entities and their facts."),
    "tree": ("tree", _FOUND,
             "Print the knowledge tree: communities, their keywords, the facts about those, and attributes."),
    "export": ("transfer", _FOUND,
               "Write a knowledge base with its tree as GraphML, JSON, Cypher statements or an HTML page."),
    "verify": ("base_commands", _CARE,
               "Check a knowledge base against its invariants; exits 1 if something is wrong."),
    "reindex": ("base_commands", _CARE,
                "Rebuild graph, vectors and tree from the ledger, with the embedding model that the settings name."),
    "backup": ("transfer", _CARE, "Write a knowledge base to one file, even while a build runs."),
    "restore": ("transfer", _CARE, "Create a knowledge base from a backup, under any name, without calling an LLM."),
    "audit": ("home_commands", _CARE, "List who changed which knowledge base, and who created and revoked keys."),
    "mcp": ("mcp", _OTHERS,
            "Serve search, ask, documents and schema to an agent over MCP, on standard input and output."),
    "key": ("key_commands", _OTHERS, "Create, list or revoke API keys of the server."),
    "import": ("build", _OTHERS, "Import triples that an LLM extracted earlier, with their passages; no LLM is asked."),
    "bench": ("bench", _OTHERS, "Measure a published dataset with several arms, and write the papers' tables."),
    "anonymise": ("anonymise", _OTHERS,
                  "Replace persons and places in texts by ids such as [PERSON#1], in AnonyRAG's form, and back."),
    "eval": ("evaluation", _OTHERS, "Measure a knowledge base, or the extraction of facts."),
}
"""The module, the panel and the short help of each command, in the order of a user's first steps. They are listed
here because importing all modules takes seconds, which would delay `--help`."""


class _Commands(TyperGroup):
    """The group of commands, which loads the chosen command on demand."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name; see Click."""
        if args[0] in _COMMANDS:
            self.commands[args[0]] = command(args[0])
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=_Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
                  help="Knowledge graphs from documents, and answers with checked citations.")


def command(name: str) -> Any:
    """Load a command from its module.

    Raises:
        CommandError: packages that the command needs are not installed.
    """
    module, _, _ = _COMMANDS[name]
    try:
        with gc_paused(permanent=True):
            commands = typer.main.get_command(import_module(f".commands.{module}", __package__).app)
    except ModuleNotFoundError as error:
        if (error.name or "banyan").startswith("banyan"):
            raise
        raise CommandError(f"the packages of `banyan {name}` are not installed ({error.name} is missing): run "
                           "`pip install 'banyan-graphrag[server]'`") from error
    chosen = commands.commands[name] if isinstance(commands, TyperGroup) else commands
    chosen.epilog = epilogue(name)
    for part, of_group in getattr(chosen, "commands", {}).items():
        of_group.epilog = epilogue(f"{name} {part}")
    return chosen


for _name, (_, _panel, _help) in _COMMANDS.items():
    app.command(_name, help=_help, rich_help_panel=_panel)(lambda: None)


def _show_version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(f"banyan {version('banyan-graphrag')}")
        raise typer.Exit


@app.callback(epilog=epilogue(""))
def _options(
    *, shows_version: Annotated[bool, typer.Option("--version", help="Show the version and exit.", is_eager=True,
                                             callback=lambda value: _show_version(wanted=value))] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line, showing errors that the user can fix in one sentence, without a traceback."""
    with explain_errors():
        app()
