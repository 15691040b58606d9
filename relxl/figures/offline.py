"""One HTML file that shows figures without a network: captions, where they come from, and plotly itself are inside."""

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from relxl.style import DARK, FONT, LIGHT

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def offline_page(
    title: str, facts: Mapping[str, str], figures: Sequence[tuple[str, go.Figure]], dark: bool = False, lang: str = "en"
) -> str:
    """Put figures, each under its caption, and facts about them into one file that asks nobody for anything."""
    theme, paper = (DARK, "#0e1117") if dark else (LIGHT, "#ffffff")
    parts = [
        f"<figure><figcaption>{escape(caption)}</figcaption>{figure.to_html(full_html=False, include_plotlyjs=False)}"
        "</figure>"
        for caption, figure in figures
    ]
    rows = "".join(f"<tr><th>{escape(name)}<td>{escape(value)}</tr>" for name, value in facts.items())
    style = (
        f"body{{font:16px/1.5 {FONT};color:{theme.ink};background:{paper};max-width:75rem;margin:2rem auto;"
        f"padding:0 1rem}}figure{{margin:2rem 0}}table{{font-size:.85rem;color:{theme.faint};border-spacing:0}}"
        "th{text-align:left;font-weight:400;padding-right:1.5rem;vertical-align:top}td{overflow-wrap:anywhere}"
    )
    return (
        f'<!doctype html>\n<html lang="{lang}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title><style>{style}</style>'
        f"<script>{get_plotlyjs()}</script></head>\n<body><h1>{escape(title)}</h1>\n"
        + "\n".join(parts)
        + f"\n<table>{rows}</table></body></html>\n"
    )
