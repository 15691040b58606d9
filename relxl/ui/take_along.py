"""Take it along: all that a page shows as one file that opens offline, its tables, and the link that brings it back."""

import io
import platform
import re
import zipfile
from functools import partial
from importlib.metadata import version
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

import relxl
from relxl.checkpoint import Checkpoint
from relxl.export import safe_cell
from relxl.language import LANGUAGE, _
from relxl.ui.shown import Shown, on_page
from relxl.ui.speak import fragment, speaking
from relxl.ui.state import TEXT, kept_link

MOST_CELLS = 1 << 22  # of all matrices in a file: some 20 MB


def take_along(checkpoint: Checkpoint | None) -> None:
    """Offer what the page shows as files; each is made when it is asked for."""
    title, shown = on_page()
    if not shown:
        return
    dark = st.context.theme.type == "dark"
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "relxl"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_("Take this page along:"), width="content")
        html = speaking(partial(page_html, title, checkpoint, dark, shown, kept_link()))
        st.download_button(_("HTML, offline"), html, f"{name}.html", "text/html", on_click="ignore", key="take_html")
        if any(part.table for part in shown.values()):
            tables = speaking(partial(tables_zip, shown))
            label = _("Tables, CSV and Parquet")
            st.download_button(label, tables, f"{name}.zip", "application/zip", on_click="ignore", key="take_tables")


def page_html(
    title: str, checkpoint: Checkpoint | None, dark: bool, shown: dict[str, Shown], settings: dict[str, str]
) -> str:
    """Put the figures of a page into one HTML file, with captions, digest of the checkpoint, versions and settings."""
    from relxl.figures.offline import offline_page

    facts, room, figures = {}, MOST_CELLS, []
    for part in shown.values():
        if part.cells > room:
            facts[_("left out")] = _("matrices with more than {n} cells").format(n=MOST_CELLS)
            continue
        room -= part.cells
        figures.append((part.alt, part.draw()))
    if checkpoint is not None:
        facts |= {_("checkpoint"): checkpoint.name, "sha256": checkpoint.digest}
    facts[_("settings")] = urlencode(settings)
    versions = {"relxl": relxl.__version__, "python": platform.python_version()}
    versions |= {name: version(name) for name in ("torch", "plotly", "streamlit")}
    facts[_("versions")] = ", ".join(f"{name} {number}" for name, number in versions.items())
    return offline_page(f"{title} · relxl", facts, figures, dark, LANGUAGE.get())


def tables_zip(shown: dict[str, Shown]) -> bytes:
    """Put every table of a page into one zip, as CSV and as Parquet."""
    import pandas as pd

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in shown.items():
            if part.table is None:
                continue
            table = pd.DataFrame(part.table())
            table.columns = [str(column) for column in table.columns]
            data = io.BytesIO()
            table.to_parquet(data, index=False)
            archive.writestr(f"{name}.parquet", data.getvalue())
            archive.writestr(f"{name}.csv", table.map(safe_cell).to_csv(index=False).encode("utf-8-sig"))
    return buffer.getvalue()


@fragment
def copy_link(text: str | None) -> None:
    """Show the link to what is seen now, to be copied; the text is in it only if a person says so."""
    with st.popover(_("Copy link"), icon=":material/link:"):
        with_text = bool(text) and st.toggle(_("with the text"), key="link_text")
        if text and not with_text:
            st.caption(_("Without the text, which stays with you: who opens the link sees the default one."))
        query = kept_link() | ({TEXT: text} if with_text else {})
        scheme, host, path, _query, _part = urlsplit(st.context.url or "")
        st.code(urlunsplit((scheme, host, path or "/", urlencode(query), "")), language=None, wrap_lines=True)
