"""What a page shows can be taken along: as one file that needs no network, as tables, as a link."""

import io
import re
import zipfile
from html import unescape
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs

from relxl.figures.offline import offline_page
from relxl.matrix_view import Grid, Panel, Scale
from relxl.ui import take_along
from relxl.ui.shown import Shown
from tests.test_pages import healthy, open_app, text_box

SCALE = Scale("diverging", 1.0, "score")


def grid(query_len=2, key_len=3):
    values = np.arange(query_len * key_len, dtype=np.float32).reshape(query_len, key_len)
    panels = (Panel("a", values, SCALE), Panel("a", values[0], SCALE, "strip"))
    mask = np.tril(np.ones((query_len, key_len), bool), key_len - query_len)
    return Grid(panels, mask, ("x", "=1", "z")[:key_len], 2, "what it shows")


def test_a_grid_is_a_table_with_a_row_a_cell():
    table = pd.DataFrame(grid().table())
    assert len(table) == 6 and table.visible.tolist() == [True, True, False, True, True, True]
    assert table["a"].tolist() == [0, 1, 2, 3, 4, 5] and table["a 1"].tolist() == [0, 1, 2, 0, 1, 2]
    assert table.query_token.tolist() == ["=1"] * 3 + ["z"] * 3 and table.key_token.tolist() == ["x", "=1", "z"] * 2


def test_the_file_asks_nobody_for_anything_and_shows_text_as_text():
    figure = go.Figure(go.Scatter(y=[1.25, 2.5]))
    page = offline_page("<i>", {"settings": "<script>"}, [("caption <b>", figure)], lang="zh")
    rest = page.replace(get_plotlyjs(), "")
    assert not re.search(r"(src|href)\s*=", rest) and "default-src 'none'" in rest and 'lang="zh"' in rest
    assert "<b>" not in rest and "caption &lt;b&gt;" in rest and "&lt;script&gt;" in rest and "<i>" not in rest
    assert "1.25" in rest or "bdata" in rest


def test_a_page_is_put_into_a_file_with_what_it_came_from():
    app = open_app("pages/1_Score_terms.py", ck="shakespeare-sinusoid", l="1")
    title, shown = app.session_state["shown"]
    from relxl.checkpoint import open_checkpoint
    from tests.conftest import ROOT

    checkpoint = open_checkpoint(ROOT / "checkpoints/shakespeare-sinusoid")
    page = unescape(take_along.page_html(title, checkpoint, False, shown, {"l": "1", "h": "2"}))
    assert checkpoint.digest in page and "l=1&h=2" in page and "plotly" in page and "relxl 0." in page
    for part in shown.values():
        assert part.alt and part.alt in page


def test_matrices_that_a_file_can_not_hold_are_left_out_and_that_is_said():
    shown = {"big": Shown("too big", lambda: pytest.fail("drawn"), cells=take_along.MOST_CELLS + 1)}
    assert "more than" in take_along.page_html("t", None, True, shown, {})


def test_tables_are_the_same_in_both_forms_and_run_nothing():
    shown = {"one": Shown("", go.Figure, table=grid().table), "none": Shown("", go.Figure)}
    with zipfile.ZipFile(io.BytesIO(take_along.tables_zip(shown))) as archive:
        assert sorted(archive.namelist()) == ["one.csv", "one.parquet"]
        parquet = pd.read_parquet(io.BytesIO(archive.read("one.parquet")))
        csv = pd.read_csv(io.BytesIO(archive.read("one.csv")))
    assert parquet["key_token"].tolist() == ["x", "=1", "z"] * 2 and csv["key_token"].tolist() == ["x", "'=1", "z"] * 2
    pd.testing.assert_frame_equal(parquet.drop(columns=["key_token", "query_token"]),
                                  csv.drop(columns=["key_token", "query_token"]), check_dtype=False)  # fmt: skip


def link_of(app):
    (code,) = [code.value for code in app.sidebar.code]
    return {name: values[0] for name, values in parse_qs(urlsplit(code).query, keep_blank_values=True).items()}


def test_a_link_holds_the_view_and_the_text_only_if_asked():
    app = open_app("pages/1_Score_terms.py", l="2", h="3")
    text_box(app).set_value("Juliet, the sun").run()
    link = link_of(app)
    assert (link["l"], link["h"], link["ck"]) == ("2", "3", "shakespeare-learned")
    assert "text" not in link and "Juliet" not in str(link)
    next(toggle for toggle in app.sidebar.toggle if toggle.key == "link_text").set_value(True).run()
    link = link_of(app)
    assert link["text"] == "Juliet, the sun"
    other = open_app("pages/1_Score_terms.py", **link)
    assert healthy(other) and text_box(other).value == "Juliet, the sun"
    assert [part.value for part in other.markdown] == [part.value for part in app.markdown]
    assert "text" not in other.query_params


def test_a_text_in_a_link_is_cut_and_one_without_known_tokens_is_one_sentence():
    assert healthy(open_app("pages/1_Score_terms.py", text="a" * 30_000))
    app = open_app("pages/1_Score_terms.py", text="山")
    assert not app.exception and len(app.error) == 1
