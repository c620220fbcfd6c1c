"""A report as one HTML page with plots and tables, without scripts and external resources."""

from html import escape

from .plots import plots
from .report import BenchReport
from .tables import Table, headline, tables

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #222;
  background: #fff; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: left; white-space: nowrap; }
figure { margin: 1rem 0; overflow-x: auto; }
.bad { color: #a00; }
"""


def to_page(report: BenchReport) -> str:
    """Return the page's HTML."""
    notes = [f"<p>{escape(headline(report))}</p>"]
    if report.stopped:
        notes.append(f'<p class="bad">Stopped: {escape(report.stopped)}</p>')
    if report.failures:
        notes.append(f'<p class="bad">{len(report.failures)} failed, the first: {escape(report.failures[0])}</p>')
    images = [f"<figure><figcaption><h2>{escape(plot.title)}</h2></figcaption>{plot.svg}</figure>"
             for plot in plots(report)]
    name = escape(report.run.dataset)
    return "\n".join([
        '<!doctype html>', '<html lang="en"><head><meta charset="utf-8">',
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">',
        f"<title>banyan bench: {name}</title><style>{_STYLE}</style></head><body>", f"<h1>{name}</h1>", *notes, *images,
        *map(_table, tables(report)), "</body></html>", ""])


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.head)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n" for row in table.rows)
    note = f"<p>{escape(table.note)}</p>" if table.note else ""
    return (f"<h2>{escape(table.title)}</h2><table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>{note}")
