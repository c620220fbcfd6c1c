"""Examples of each command, shown at the end of its help."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "": ("banyan build ~/papers --kb papers", 'banyan ask "Who discovered polonium?"', "banyan serve"),
    "build": ("banyan build ~/papers --kb papers", "banyan build report.pdf prices.xlsx --kb papers --schema finance",
              "banyan build ~/papers --kb papers --dry-run"),
    "import": ("banyan import openie_results.json --format hipporag --kb recorded",),
    "ask": ('banyan ask "Who discovered polonium?"', 'banyan ask "Who discovered polonium?" --kb papers --trace',
            'banyan ask "Summarise the reports." --mode open --json'),
    "chat": ("banyan chat --kb papers",),
    "serve": ("banyan serve", "banyan serve --port 9000 --no-browser", "banyan serve --workers 4"),
    "list": ("banyan list", "banyan list --json"),
    "status": ("banyan status --kb papers",),
    "documents": ("banyan documents --kb papers",),
    "delete": ("banyan delete report.pdf --kb papers",),
    "rename": ("banyan rename papers archive",),
    "drop": ("banyan drop papers", "banyan drop papers --yes"),
    "schema": ("banyan schema show --kb papers", "banyan schema review --kb papers"),
    "schema show": ("banyan schema show --kb papers",),
    "schema history": ("banyan schema history --kb papers",),
    "schema review": ("banyan schema review --kb papers",),
    "schema set": ("banyan schema set schema.yaml --kb papers --dry-run",
                   "banyan schema set schema.yaml --kb papers"),
    "schema infer": ("banyan schema infer ~/papers -o schema.json",),
    "entities": ("banyan entities --kb papers --search curie",),
    "entities merge": ('banyan entities merge "Marie Curie" "Maria Skłodowska" --kb papers --why "her maiden name"',),
    "entities split": ('banyan entities split "Marie Curie" "Pierre Curie" --kb papers',),
    "entities rename": ('banyan entities rename "Curie" "Marie Curie" --kb papers',),
    "entities retype": ('banyan entities retype "Radium Institute" Organization --kb papers',),
    "entities facts": ('banyan entities facts "Marie Curie" --kb papers',),
    "entities reject": ('banyan entities reject "Marie Curie" born_in Paris --kb papers --why "misread"',),
    "entities correct": ('banyan entities correct "Marie Curie" born_in Paris --object Warsaw --kb papers',),
    "entities undo": ("banyan entities undo 3 --kb papers",),
    "entities decisions": ("banyan entities decisions --kb papers",),
    "tree": ("banyan tree --kb papers", "banyan tree --kb papers --view attribute:founded:decade"),
    "export": ("banyan export --kb papers --format html -o papers.html",
               "banyan export --kb papers --format graphml -o papers.graphml"),
    "verify": ("banyan verify --kb papers",),
    "reindex": ("banyan reindex --kb papers",),
    "backup": ("banyan backup --kb papers -o papers.zip",),
    "restore": ("banyan restore papers.zip --kb papers-again",),
    "audit": ("banyan audit", "banyan audit --kb papers --json"),
    "key": ("banyan key alice --scope read --scope ask", "banyan key intern --scope ask --kb papers --per-minute 60",
            "banyan key alice --revoke", "banyan key"),
    "mcp": ("banyan mcp --kb papers --read-only",),
    "bench": ("banyan bench musique --data ~/musique -o ~/musique-report --dry-run",
              "banyan bench hotpotqa --data ~/hotpotqa --limit 100 --arms full,naive-dense -o ~/report"),
    "anonymise": ("banyan anonymise novel.txt -o ~/anonymous --key ~/novel.key.json",
                  "banyan anonymise ~/anonymous/novel.txt --revert --key ~/novel.key.json -o ~/again"),
    "eval": ("banyan eval retrieval --kb papers --questions questions.jsonl --format generic",),
    "eval retrieval": ("banyan eval retrieval --kb papers --questions questions.jsonl --format generic --k 2,5",),
    "eval extraction": ("banyan eval extraction --ontology ontology.json --gold gold.jsonl",),
    "eval qa": ("banyan eval qa --kb papers --questions questions.jsonl --format generic",),
}
"""Examples by the command's name, with its group's name before it; "" is `banyan` itself."""


def epilogue(command: str) -> str:
    """Return the examples of a command, one per line; empty if there are none."""
    shown = EXAMPLES.get(command, ())
    # Typer joins the lines of a paragraph, and brackets would be markup.
    return "\n\n".join(["Examples:", *(line.replace("[", r"\[") for line in shown)]) if shown else ""
