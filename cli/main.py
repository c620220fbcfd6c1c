"""The command line, `banyan COMMAND`: a command's module is imported when the command is chosen."""

from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..runtime.libraries import collect_rarely
from .console import CommandError, explain_errors

EXAMPLES: dict[str, tuple[str, ...]] = {
    "": ("banyan build ~/papers --kb papers", 'banyan ask "Who discovered polonium?"', "banyan serve"),
    "build": ("banyan build ~/papers --kb papers", "banyan build report.pdf prices.xlsx --kb papers --schema finance",
              "banyan build ~/papers --kb papers --dry-run", "banyan build ~/papers --kb papers --batch"),
    "sync": ("banyan sync ~/papers --kb papers --dry-run", "banyan sync ~/papers --kb papers --watch"),
    "import": ("banyan import openie_results.json --format hipporag --kb recorded",),
    "ask": ('banyan ask "Who discovered polonium?"', 'banyan ask "Who discovered polonium?" --kb papers --trace',
            'banyan ask "Summarise the reports." --mode open --json',
            'banyan ask "Who discovered polonium?" --instructions "One sentence, for children."'),
    "chat": ("banyan chat --kb papers",),
    "search": ('banyan search "discovery of polonium" --kb papers', 'banyan search polonium --kb papers -k 20 --json'),
    "serve": ("banyan serve", "banyan serve --port 9000 --no-browser", "banyan serve --workers 4"),
    "list": ("banyan list", "banyan list --json"),
    "status": ("banyan status --kb papers",),
    "instructions": ('banyan instructions "Answer in two sentences, in German." --kb papers',
                     "banyan instructions \"'The box' means Vex 3000.\" --kb papers --for extraction",
                     "banyan instructions --kb papers --clear"),
    "documents": ("banyan documents --kb papers", 'banyan documents --kb papers --trust "wiki/*" -1'),
    "delete": ("banyan delete report.pdf --kb papers",),
    "rename": ("banyan rename papers archive",),
    "drop": ("banyan drop papers", "banyan drop papers --yes"),
    "schema": ("banyan schema show --kb papers", "banyan schema review --kb papers"),
    "schema show": ("banyan schema show --kb papers",),
    "schema history": ("banyan schema history --kb papers",),
    "schema review": ("banyan schema review --kb papers",),
    "schema set": ("banyan schema set schema.json --kb papers --dry-run", "banyan schema set schema.json --kb papers"),
    "schema infer": ("banyan schema infer ~/papers -o schema.json",),
    "tables": ("banyan tables --kb prices", "banyan tables penguins --kb prices", "banyan tables --kb prices --json"),
    "sql": ('banyan sql "SELECT species, avg(body_mass) FROM penguins GROUP BY species" --kb prices',
            'banyan sql "SELECT * FROM penguins WHERE island = \'Dream\'" --kb prices --csv',
            'banyan sql "SELECT tail, count(*) FROM born_in GROUP BY tail" --kb papers --in "reports/*.pdf"'),
    "facts": ("banyan facts --kb papers", 'banyan facts --kb papers --of "Marie Curie"',
              "banyan facts --kb papers --relation received_award --at 1903"),
    "entities": ("banyan entities --kb papers --type Person", "banyan entities --kb papers --search curie",
                 "banyan entities --kb papers --merged"),
    "entities merge": ('banyan entities merge "Marie Curie" "Maria Skłodowska" --kb papers --why "her maiden name"',),
    "entities split": ('banyan entities split "Marie Curie" "Pierre Curie" --kb papers',),
    "entities rename": ('banyan entities rename "Curie" "Marie Curie" --kb papers',),
    "entities retype": ('banyan entities retype "Radium Institute" Organization --kb papers',),
    "entities reject": ('banyan entities reject "Marie Curie" born_in Paris --kb papers --why "misread"',),
    "entities correct": ('banyan entities correct "Marie Curie" born_in Paris --object Warsaw --kb papers',),
    "entities undo": ("banyan entities undo 3 --kb papers",),
    "entities decisions": ("banyan entities decisions --kb papers",),
    "tree": ("banyan tree --kb papers", "banyan tree --kb papers --by birth_date.decade"),
    "export": ("banyan export --kb papers --format html -o papers.html",
               "banyan export --kb papers --format graphml -o papers.graphml",
               "banyan export --kb papers --format wiki -o papers-wiki"),
    "verify": ("banyan verify --kb papers",),
    "reindex": ("banyan reindex --kb papers", "banyan reindex --kb papers --fresh-verdicts"),
    "backup": ("banyan backup --kb papers -o papers.zip",),
    "restore": ("banyan restore papers.zip --kb papers-again",),
    "doctor": ("banyan doctor", "banyan doctor --json"),
    "audit": ("banyan audit", "banyan audit --kb papers --json"),
    "key": ("banyan key alice --scope read --scope ask", "banyan key intern --scope ask --kb papers --per-minute 60",
            "banyan key alice --revoke", "banyan key"),
    "mcp": ("banyan mcp --kb papers --read-only",),
    "eval": ("banyan eval retrieval --kb papers --questions questions.jsonl --format generic",),
    "eval retrieval": ("banyan eval retrieval --kb papers --questions questions.jsonl --format generic --k 2,5",),
    "eval extraction": ("banyan eval extraction --ontology ontology.json --gold gold.jsonl",),
    "eval qa": ("banyan eval qa --kb papers --questions questions.jsonl --format generic",),
}
"""Examples by the command's name, with its group's name before it; "" is `banyan` itself."""
_FIRST, _BASES, _FOUND, _CARE, _OTHERS = (
    "Begin here", "Your knowledge bases", "What was found", "Care", "For other programs, and measuring")
_COMMANDS = {
    "build": ("build", _FIRST, "Read documents into a knowledge base; unchanged documents cost nothing."),
    "sync": ("build", _FIRST, "Let a knowledge base follow a folder: add what is new, delete what is gone."),
    "ask": ("ask", _FIRST, "Answer a question from a knowledge base, with citations, or abstain."),
    "chat": ("ask", _FIRST, "Ask one question after another, including follow-ups."),
    "serve": ("serve", _FIRST, "Serve the knowledge bases: a web page, REST, chat and MCP, on one port."),
    "list": ("home_commands", _BASES, "List all knowledge bases and where they are stored."),
    "status": ("home_commands", _BASES, "Show a knowledge base's contents, failures and spending."),
    "instructions": ("base_commands", _BASES, "Show or set what a model heeds when it answers or extracts."),
    "documents": ("base_commands", _BASES, "List the documents of a knowledge base."),
    "delete": ("base_commands", _BASES, "Delete a document, and everything that no other document supports."),
    "rename": ("home_commands", _BASES, "Give a knowledge base another name."),
    "drop": ("home_commands", _BASES, "Delete a knowledge base and everything stored in it; asks first."),
    "schema": ("schema_commands", _FOUND,
               "Show the schema and its history, decide on candidates, or infer a seed schema."),
    "tables": ("graph_commands", _FOUND, "List the tables of records, documents and facts, or the columns of one."),
    "sql": ("graph_commands", _FOUND,
            "Run a SELECT over these tables: lists, counts, sums, groups, with the records they rest on."),
    "facts": ("graph_commands", _FOUND, "List the facts of an entity, a relation or an attribute."),
    "search": ("ask", _FOUND, "List the passages that are most relevant to a query, without calling a model."),
    "entities": ("entities", _FOUND,
                 "List entities, or the names that were merged and why; change entities and their facts."),
    "tree": ("graph_commands", _FOUND,
             "Print the knowledge tree: communities, their keywords, the facts about those, and attributes."),
    "export": ("base_commands", _FOUND,
               "Write a knowledge base as GraphML, JSON, Cypher statements, an HTML page or a wiki of pages."),
    "verify": ("base_commands", _CARE, "Check a knowledge base against its invariants; exits 1 if something is wrong."),
    "reindex": ("base_commands", _CARE,
                "Rebuild graph, vectors and tree from the ledger, with the embedding model that the settings name."),
    "doctor": ("doctor", _CARE, "Check the installation, the folders and every endpoint that the settings name."),
    "backup": ("base_commands", _CARE, "Write a knowledge base to one file, even while a build runs."),
    "restore": ("base_commands", _CARE,
                "Create a knowledge base from a backup, under any name, without calling an LLM."),
    "audit": ("home_commands", _CARE, "List who changed which knowledge base, and who created and revoked keys."),
    "mcp": ("serve", _OTHERS,
            "Serve search, ask, documents and schema to an agent over MCP, on standard input and output."),
    "key": ("serve", _OTHERS, "Create, list or revoke API keys of the server."),
    "import": ("build", _OTHERS, "Import triples that an LLM extracted earlier, with their passages; no LLM is asked."),
    "eval": ("evaluation", _OTHERS, "Measure a knowledge base, or the extraction of facts."),
}
"""The module, the panel and the short help of each command, in the order of a user's first steps. They are listed
here because importing all modules takes seconds, which would delay `--help`."""


def epilogue(command: str) -> str:
    """Return the examples of a command as the last part of its help; empty if there are none."""
    examples = EXAMPLES.get(command, ())
    if not examples:
        return ""
    escaped = [example.replace("[", r"\[") for example in examples]  # brackets would be markup
    return "\n\n".join(["Examples:", *escaped])  # as paragraphs, because Typer joins the lines of one


class _Commands(TyperGroup):
    """The group of commands, which loads the chosen command on demand."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] in _COMMANDS:
            self.commands[args[0]] = command(args[0])
            collect_rarely()
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=_Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
                  help="Knowledge graphs from documents, and answers with checked citations.")


def command(name: str) -> Any:
    """Import a command from its module, and add examples to its help and to that of its subcommands.

    Raises:
        CommandError: packages that the command needs are not installed.
    """
    module, _, _ = _COMMANDS[name]
    try:
        commands = typer.main.get_command(import_module(f".commands.{module}", __package__).app)
    except ModuleNotFoundError as error:
        if (error.name or "banyan").startswith("banyan"):  # a module of Banyan itself is missing: a defect
            raise
        raise CommandError(f"the packages of `banyan {name}` are not installed ({error.name} is missing): run "
                           "`pip install 'banyan-graphrag[server]'`") from error
    # A module with only one command is that command rather than a group.
    chosen = commands.commands[name] if isinstance(commands, TyperGroup) else commands
    chosen.epilog = epilogue(name)
    for subcommand_name, subcommand in getattr(chosen, "commands", {}).items():
        subcommand.epilog = epilogue(f"{name} {subcommand_name}")
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
    pass  # the options of `banyan` itself; `--version` acts through its own callback


def main() -> None:
    """Run the command line, showing errors that the user can fix in one sentence, without a traceback."""
    with explain_errors():
        app()
