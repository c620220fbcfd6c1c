"""A report as one HTML page, without scripts and external resources."""

from html import escape

from markdown_it import MarkdownIt

from .bench_report import BenchReport
from .bench_tables import to_markdown

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #222;
  background: #fff; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: left; white-space: nowrap; }
"""
# Nothing that a dataset's text could make into a link or an image.
_USED = ["heading", "table", "emphasis", "entity", "escape"]


def to_page(report: BenchReport) -> str:
    """Return the page's HTML: the Markdown report, rendered."""
    return "\n".join([
        '<!doctype html>', '<html lang="en"><head><meta charset="utf-8">',
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">',
        f"<title>banyan bench: {escape(report.run.dataset)}</title><style>{_STYLE}</style></head><body>",
        f"{MarkdownIt('zero').enable(_USED).render(to_markdown(report))}</body></html>", ""])
