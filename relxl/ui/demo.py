"""What a demonstration (RELXL_DEMO=1) leaves out, with a sentence in its place: uploads and long computations."""

import os

import streamlit as st

from relxl.language import _
from relxl.server import is_demo


def no_uploads() -> bool:
    """Tell whether nobody may upload here, and say so."""
    if demo := is_demo(os.environ):
        st.caption(_("Uploads are off in this demonstration: run relxl on your own machine."))
    return demo


def no_jobs() -> bool:
    """Tell whether nothing that takes long is computed here, and say so."""
    if demo := is_demo(os.environ):
        st.caption(_("Long computations are off in this demonstration: run relxl on your own machine."))
    return demo
