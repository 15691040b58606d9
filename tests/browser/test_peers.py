"""How `bench peers` sees that a picture is painted: by relxl in its Streamlit page, by BertViz in a file."""

from relxl.bench import peers
from relxl.bench.chromium import serve
from tests.conftest import ROOT

CDN_SCRIPT = "https://cdnjs.cloudflare.com/ajax/libs/require.js/2.3.6/require.min.js"


def test_the_matrix_view_is_painted_in_a_page_by_itself(browser, tmp_path):
    app = tmp_path / "app.py"
    app.write_text(peers.APP)
    with serve(app, ROOT) as server:
        pictures = [peers.Picture("Streamlit", "one line of text", None, server, peers.SHOWN_TEXT)]
        address = f"{server}/?length=31&layers=4"
        pictures.append(peers.Picture("relxl", "all layers", 31, address, peers.shown_view(0), lambda: b"bytes"))
        floor, view = peers.measure(browser, pictures, 1, {})
    assert floor["paint_ms"] > 0 and floor["heap_mb"] > 0 and floor["bytes"] is None
    assert view["paint_ms"] > 0 and view["heap_mb"] > 0 and view["bytes"] == 5


def test_a_page_that_draws_with_a_script_of_the_cdn_is_painted(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(f'<svg></svg><script src="{CDN_SCRIPT}"></script>')
    script = b"document.querySelector('svg').innerHTML = '<line></line>'.repeat(7)"
    shown = '() => document.getElementsByTagName("line").length === 7 || undefined'
    picture = peers.Picture("BertViz", "head_view", 31, page.as_uri(), shown)
    ms, megabytes = peers.paint(browser, picture, {CDN_SCRIPT: script})
    assert ms > 0 and 0 < megabytes < 100


def test_a_picture_that_never_comes_is_said_so(browser, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(peers, "PAINT_SECONDS", 0.3)
    page = tmp_path / "page.html"
    page.write_text("<p>nothing")
    picture = peers.Picture("BertViz", "head_view", 31, page.as_uri(), "() => undefined")
    assert peers.paint(browser, picture, {}) == peers.NOTHING
    assert "BertViz's head_view at 31: " in capsys.readouterr().err
