"""relxl for a class or a public address: `uvicorn asgi:app --host 0.0.0.0`. At home `streamlit run app.py` is enough.

RELXL_HOSTS   the names apart by commas under which it may be asked (default: localhost,127.0.0.1)
RELXL_DEMO=1  nobody may upload, and nothing that takes long is computed
"""

import os
from pathlib import Path

import streamlit as st
from streamlit import config

from relxl.server import hosts_of, middleware

config.set_option("server.allowedHosts", hosts_of(os.environ))
config.set_option("client.showErrorDetails", "none")  # a visitor sees no paths of the server
config.set_option("server.disconnectedSessionTTL", 60)
config.set_option("server.fileWatcherType", "none")
app = st.App(Path(__file__).parent / "app.py", middleware=middleware(os.environ))
