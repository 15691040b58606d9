"""Records that lie beside the app: JSON files that a command wrote, read once as long as they stay as they are."""

import json
from pathlib import Path

import streamlit as st


def read_record(file: Path) -> dict:
    """Read a record, and read it anew when the file has changed."""
    return cached_record(str(file), file.stat().st_mtime_ns)


@st.cache_resource(max_entries=8, show_spinner=False)
def cached_record(file: str, changed: int) -> dict:
    return json.loads(Path(file).read_text(encoding="utf-8"))
