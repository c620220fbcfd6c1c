"""The command line, `banyan COMMAND`: a command's module is imported when the command is chosen."""

import tomllib
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..runtime.libraries import collect_rarely
from .console import CommandError, explain_errors

_LISTED: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "commands.toml").read_text("utf-8"))
_SHARED_OPTIONS = _LISTED.pop("options")
# Examples by the command's name, with its group's name before it; those of `banyan` itself under its own name.
EXAMPLES: dict[str, list[str]] = {name: listed["examples"].splitlines() for name, listed in _LISTED.items()}
# The module, the panel and the short help of each command.
COMMANDS = {name: listed for name, listed in _LISTED.items() if "module" in listed}


def _epilogue(command: str) -> str:
    """Return the examples of a command as the last part of its help."""
    escaped = [example.replace("[", r"\[") for example in EXAMPLES[command]]  # brackets would be markup
    return "\n\n".join(["Examples:", *escaped])  # as paragraphs, because Typer joins the lines of one


def _add_help(chosen: Any, name: str) -> None:
    """Add examples, details and the help of options to a command and its subcommands; remove flags' `--no-` forms."""
    chosen.epilog = _epilogue(name)
    if details := _LISTED[name].get("details"):
        chosen.help = f"{chosen.help}\n\n{details}"
    own_options = _LISTED[name].get("options", {})
    for parameter in chosen.params:
        parameter.help = own_options.get(parameter.name) or _SHARED_OPTIONS.get(parameter.name) or parameter.help
        parameter.secondary_opts = []  # click's name for the `--no-` form
    for subcommand_name, subcommand in getattr(chosen, "commands", {}).items():
        _add_help(subcommand, f"{name} {subcommand_name}")


def command(name: str) -> Any:
    """Import a command from its module, and add what `commands.toml` says of it and of its subcommands."""
    try:
        commands = typer.main.get_command(import_module(f".commands.{COMMANDS[name]['module']}", __package__).app)
    except ModuleNotFoundError as error:
        if (error.name or "banyan").startswith("banyan"):  # a module of Banyan itself is missing: a defect
            raise
        raise CommandError(f"the packages of `banyan {name}` are not installed ({error.name} is missing): run "
                           "`pip install 'banyan-graphrag[server]'`") from error
    # A module with only one command is that command rather than a group.
    chosen = commands.commands[name] if isinstance(commands, TyperGroup) else commands
    _add_help(chosen, name)
    return chosen


class _Commands(TyperGroup):
    """The group of commands, which loads the chosen command on demand."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Put the chosen command in the place of its empty function, then find it as click does."""
        if args[0] in COMMANDS:
            self.commands[args[0]] = command(args[0])
            collect_rarely()
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=_Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
                  help="Knowledge graphs from documents, and answers with checked citations.")
for _name, _entry in COMMANDS.items():
    # An empty function for the list of commands; `_Commands` puts the command in its place when it is chosen.
    app.command(_name, help=_entry["help"], rich_help_panel=_entry["panel"])(lambda: None)


def _show_version(is_wanted: bool) -> None:
    """Print the version and end the command if `--version` was given; Typer calls this in any case."""
    if is_wanted:
        typer.echo(f"banyan {version('banyan-graphrag')}")
        raise typer.Exit


@app.callback(epilog=_epilogue("banyan"))
def _options(*, shows_version: Annotated[bool, typer.Option(
        "--version", help="Show the version and exit.", is_eager=True, callback=_show_version)] = False) -> None:
    pass  # the options of `banyan` itself; `--version` acts through its own callback


def main() -> None:
    """Run the command line, showing errors that the user can fix in one sentence, without a traceback."""
    with explain_errors():
        app()
