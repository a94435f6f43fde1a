"""The frame of a page that opens offline: one file, light and dark, wide and narrow."""

from html import escape

STYLE = """
:root { color-scheme: light dark;
  --ink: #1b1b1b; --paper: #ffffff; --quiet: #5c5c5c; --line: #d9d9d9; }
body { color: var(--ink); background: var(--paper); font: 1rem/1.5 system-ui, sans-serif;
  margin: 0 auto; padding: 1rem; max-width: 122rem; }
h1 { font-size: 1.4rem; margin: 0 0 1rem; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 0; }
p, dl { max-width: 50rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; }
dt, .quiet { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
nav a { margin-right: 1rem; }
a { color: inherit; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --paper: #141414; --quiet: #a3a3a3; --line: #3a3a3a; }
}
"""


def make_document(title: str, body: str, style: str = "") -> str:
    """A whole page.

    Args:
        title: plain text.
        body: HTML, in which all text is escaped already.
        style: rules of this page, besides :data:`STYLE`.
    """
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}{style.lstrip()}</style>
</head>
<body>
{body}</body>
</html>
"""
