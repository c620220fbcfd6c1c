"""The command line: `banyan COMMAND`. A command's module is imported when the command is chosen."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from .errors import CommandError, explained

_COMMANDS = {
    "build": ("build", "Read documents into a knowledge base; what is unchanged costs nothing."),
    "import": ("build", "Import triples that an LLM extracted earlier, with their passages; no LLM is asked."),
    "ask": ("ask", "Answer a question from a knowledge base, with citations, or abstain."),
    "chat": ("ask", "Ask one question after another; follow-ups are understood."),
    "documents": ("knowledge_base", "List the documents of a knowledge base."),
    "status": ("knowledge_base", "Show what a knowledge base holds, what failed, and what was spent."),
    "verify": ("knowledge_base", "Check a knowledge base against its invariants; exits 1 if something is wrong."),
    "delete": ("knowledge_base", "Delete a document with all that only it supports."),
    "reindex": ("knowledge_base", "Rebuild graph, vectors and tree from the ledger, with the current embedding model."),
    "schema": ("schema", "Show the schema and its history, decide on candidates, or infer a seed schema."),
    "entities": ("entities", "List entities that have several names; merge and split them."),
    "tree": ("tree", "Print the knowledge tree: communities, their keywords, the facts about those, and attributes."),
    "export": ("transfer", "Write a knowledge base with its tree as GraphML, JSON, Cypher statements or an HTML page."),
    "backup": ("transfer", "Write a knowledge base to one file, also while a build runs."),
    "restore": ("transfer", "Make a knowledge base from a backup, under any name, without a call to an LLM."),
    "eval": ("evaluation", "Measure a knowledge base, or the extraction of facts."),
    "serve": ("serve", "Serve the knowledge bases: a web page, REST, chat and MCP, on one port."),
    "key": ("keys", "Make, list or revoke API keys of the server."),
    "mcp": ("mcp", "Serve search, ask, documents and schema to an agent over MCP, on standard input and output."),
}
"""The module and the short help of each command. Importing all modules takes seconds, which `--help` does not wait."""


class _Commands(TyperGroup):
    """Replaces the entry of the chosen command with the command itself."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments name; see Click."""
        if args[0] in _COMMANDS:
            self.commands[args[0]] = command(args[0])
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=_Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
                  help="Knowledge graphs from documents, and answers with checked citations.")


def command(name: str) -> Any:
    """A command, from the module that has it.

    Raises:
        CommandError: packages that it needs are not installed.
    """
    module, _ = _COMMANDS[name]
    try:
        commands = typer.main.get_command(import_module(f".{module}", __package__).app)
    except ModuleNotFoundError as error:
        if (error.name or "banyan").startswith("banyan"):
            raise
        raise CommandError(f"the packages of `banyan {name}` are not installed ({error.name} is missing): run "
                           "`pip install 'banyan-graphrag[server]'`") from error
    return commands.commands[name] if isinstance(commands, TyperGroup) else commands


for _name, (_, _help) in _COMMANDS.items():
    app.command(_name, help=_help)(lambda: None)


def main() -> None:
    """The entry point: errors that the user can fix are shown in a sentence, without a traceback."""
    with explained():
        app()
