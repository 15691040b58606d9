"""The page Shift as a session sees it: every cell, every count and every step is the library's."""

import re
import subprocess
import sys
from html import unescape
from itertools import pairwise

import pytest
from streamlit.testing.v1 import AppTest

from relxl.experiments import cost
from relxl.figures import shift as figures
from relxl.relative import relative_pairs
from relxl.shift import SHIFTS, foreign_cells, pair_map, tagged_steps
from relxl.ui.shift import cost as shift_cost
from relxl.ui.shift import tables as shift_tables
from relxl.ui.shift import words as shift_words
from tests.conftest import ROOT
from tests.test_pages import control, healthy, open_app

SHIFT = "pages/5_Shift.py"


def html(app):
    return next(block.proto.body for block in app.get("html") if 'class="stage"' in block.proto.body)


def cells(app, table=0):
    """Give what a table of the page shows: rows of labels, a hidden cell in brackets, a visible foreign one with !."""
    body = re.findall("<tbody>(.*?)</tbody>", html(app))[table]
    rows = []
    for line in re.findall("<tr>(.*?)</tr>", body):
        row = []
        for kinds, label in re.findall(r'<td[^>]*><b class="([^"]*)"[^>]*>([^<]*)</b>', line):
            label = unescape(label).replace("−", "-")
            row.append(f"({label})" if "hidden" in kinds else label + "!" * ("foreign" in kinds))
        rows.append(" ".join(row))
    return rows


def label(row, distance):
    return "P" if row < 0 else f"{row}:{distance}"


def labels(step):
    return [" ".join(map(label, *line)) for line in zip(step[1].tolist(), step[2].tolist(), strict=True)]


def marked(name, query_len, mem_len, causal):
    """Say what the cells of the scores must look like, from the library alone."""
    pairs = pair_map(name, query_len, mem_len)
    foreign = foreign_cells(pairs, mem_len).foreign
    hidden = relative_pairs(query_len, mem_len + query_len, mem_len).distance < 0
    rows = []
    for i in range(query_len):
        row = []
        for j in range(mem_len + query_len):
            text = label(int(pairs.query_row[i, j]), int(pairs.distance[i, j]))
            row.append(f"({text})" if causal and hidden[i, j] else text + "!" * bool(foreign[i, j]))
        rows.append(" ".join(row))
    return rows


def sentence(app):
    return next(text.value for text in app.markdown if text.value.startswith("**"))


def set_controls(app, **values):
    for name, value in values.items():
        control(app, f"control_{name}").set_value(value)
    return app.run()


def step(app, way):
    return next(button for button in app.button if button.key == f"step_{way}")


@pytest.mark.parametrize("name", SHIFTS)
def test_every_shift_shows_the_cells_and_the_numbers_of_the_library(name):
    app = open_app(SHIFT, s=name)
    for query_len, mem_len, causal in ((4, 0, 0), (3, 2, 1), (1, 0, 1), (12, 12, 0), (5, 7, 1)):
        set_controls(app, sq=query_len, sm=mem_len, sc=causal)
        assert healthy(app) and not app.warning
        assert cells(app) == marked(name, query_len, mem_len, causal)
        assert cells(app, 1) == marked("exact", query_len, mem_len, causal)
        found = foreign_cells(pair_map(name, query_len, mem_len), mem_len)
        foreign, visible = int(found.foreign.sum()), int((found.visible if causal else found.foreign).sum())
        total = query_len * (query_len + mem_len)
        if foreign:
            expected = f"{foreign} of {total} cells carry a foreign distance; {visible} of them are visible"
        else:
            expected = f"Each of the {total} cells reads its own row"
        assert sentence(app).startswith(f"**{expected}")


def test_the_first_paint_is_the_bug_that_everybody_copied():
    app = open_app(SHIFT)
    assert cells(app) == ["0:0 P! 1:3! 1:2!", "1:1 1:0 P! 2:3!", "2:2 2:1 2:0 P!", "3:3 3:2 3:1 3:0"]
    assert sentence(app).startswith("**6 of 16 cells carry a foreign distance; 6 of them are visible.**")
    assert "kimiyoung/transformer-xl#132" in "".join(caption.value for caption in app.caption)
    assert app.get("bidi_component") == [] and not any("exact to" in str(badge.proto) for badge in app.main)
    assert {widget.key for widget in app.sidebar} <= {None, "control_lang"}  # doors, and no control of a model


@pytest.mark.parametrize("name", shift_words.presets())
def test_a_preset_sets_the_controls_and_shows_the_scores(name):
    app = open_app(SHIFT, s="labml", sq="7", st="1")
    app.button_group(key="preset").set_value(name).run()
    wanted = shift_words.presets()[name][1]
    assert healthy(app) and {key: control(app, f"control_{key}").value for key in wanted} == wanted
    assert control(app, "control_st").value == "scores"
    assert cells(app) == marked(wanted["s"], wanted["sq"], wanted["sm"], wanted["sc"])
    assert app.session_state.preset == name


@pytest.mark.parametrize("name", SHIFTS)
def test_stepping_shows_every_tensor_on_the_way_and_back(name):
    app = open_app(SHIFT, s=name, sq="3", sm="2", st="0")
    steps = tagged_steps(name, 3, 2)
    for place, tagged in enumerate(steps):
        last = place == len(steps) - 1
        assert [row.replace("!", "") for row in cells(app)] == labels(tagged)
        assert (f">{place + 1} " in html(app)) != last and step(app, 1).disabled == last
        assert step(app, -1).disabled == (place == 0)
        if not last:
            step(app, 1).click().run()
    for tagged in reversed(steps[:-1]):
        step(app, -1).click().run()
        assert healthy(app) and cells(app) == labels(tagged)


def test_elements_move_from_where_they_were_and_only_on_a_step():
    app = open_app(SHIFT, st="2")
    assert "moved" not in html(app)
    step(app, 1).click().run()
    assert html(app).count('--dx:0;--dy:1"') == 16  # the first row was dropped
    app.run()
    assert "moved" not in html(app)
    set_controls(app, st=0)
    assert "moved" not in html(app)  # two steps are a jump


@pytest.mark.parametrize("name", SHIFTS)
def test_what_moves_is_the_same_element(name):
    steps = tagged_steps(name, 3, 2)
    for before, after in [*pairwise(steps), *pairwise(steps[::-1])]:
        old, new = shift_tables.elements(before), shift_tables.elements(after)
        came = iter(list(shift_tables.came_from(before, after)))
        for row, line in enumerate(new):
            for column, element in enumerate(line):
                away = next(came)
                assert away is not None or element[0] < 0 or all(element not in line for line in old)
                assert away is None or old[row + away[1]][column + away[0]] == element


def test_a_link_restores_the_look_and_a_bad_one_falls_back():
    app = open_app(SHIFT, s="xlnet_uni", sq="5", sm="1", sc="1", st="1")
    assert cells(app) == labels(tagged_steps("xlnet_uni", 5, 1)[1])
    app = open_app(SHIFT, s="../x", sq="99", sm="-1", sc="yes", st="![x](http://h/t.png)")
    assert healthy(app) and len(app.toast) == 5 and sentence(app).startswith("**6 of 16 cells")
    app = open_app(SHIFT, s="exact", st="4")  # it has two steps
    assert healthy(app) and len(app.toast) == 1 and control(app, "control_st").value == "scores"


def test_the_look_stays_when_the_page_changes_and_another_shift_shows_its_scores():
    app = open_app(SHIFT)
    set_controls(app, s="labml", sq=3, sm=2, sc=1)
    app.switch_page("pages/1_Score_terms.py").run()
    app.switch_page(SHIFT).run()
    assert cells(app) == marked("labml", 3, 2, 1)
    link = {key: app.query_params[key] for key in ("s", "sq", "sm", "sc", "st")}
    assert link == {"s": "labml", "sq": "3", "sm": "2", "sc": "1", "st": "scores"}
    set_controls(app, s="absolute")
    assert cells(app) == marked("absolute", 3, 2, 1)


def test_every_table_says_what_it_shows():
    app = open_app(SHIFT)
    tables = re.findall("<table.*?</table>", html(app))
    assert len(tables) == 2
    for table in tables:
        assert "<caption>" in table and len(re.search('aria-label="([^"]*)"', table)[1]) > 20
        assert table.count('scope="row"') == 4 and table.count('scope="col"') == 5
    assert "query 0, key 2: row 1 at distance 3; right is 0:−2" in tables[0]


def test_the_code_block_runs_as_it_stands_and_prints_what_the_page_shows(tmp_path):
    app = open_app(SHIFT)
    code, answer = (block.value for block in app.main.code)
    (tmp_path / "mine.py").write_text(code)
    done = subprocess.run(
        [sys.executable, tmp_path / "mine.py"],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == answer
    right, wrong = answer.splitlines()
    assert right.startswith("transformer_xl: pad_and_view, 3 of 15") and wrong.startswith("mine: wrong, 15 of 15")


def test_the_sizes_follow_the_controls_and_the_quoted_numbers_are_marked():
    app = open_app(SHIFT)
    shown = next(block.proto.body for block in app.get("html") if 'class="held"' in block.proto.body)
    known = re.findall(r"<tr class=known>.*?</tr>", shown)
    assert [re.search('count">(.*?)<', row)[1] for row in known] == ["67\u2009108\u2009864", "268\u2009435\u2009456"]
    assert any("67\u2009108\u2009864 bytes are `rel_emb`" in caption.value for caption in app.caption)
    set_controls(app, cost_length=128, cost_heads=2, cost_d_head=64, cost_d_pos=32, cost_dtype="float16")
    total = sum(held.bytes for held in cost.held_tensors(128, 2, 64, 32, 2) if held.method == "explicit")
    assert any(f"**{total / 1e6:.3g} MB**" in text.value for text in app.markdown)


ROWS = [
    cost.Row("explicit", 64, 6.0, 5_505_024, 9_568_768, 0.0, 300.0),
    cost.Row("table_first", 64, 0.2, 394_208, 394_208, 4e-5, 300.0),
    cost.Row("explicit", 128, 2500.0, 22_020_096, 38_274_048, 0.0, 300.0),
    cost.Row("table_first", 128, 25.0, 1_313_760, 1_313_760, 6e-5, 310.0),
]


def draw_rows():
    from relxl.ui.shift import cost as shift_cost
    from tests.test_shift_page import ROWS

    shift_cost.result(ROWS, False)


def test_what_was_measured_is_shown():
    app = AppTest.from_function(draw_rows).run()
    text = next(text.value for text in app.markdown if text.value.startswith("At 128 tokens"))
    assert "explicit 2.5 s and 38.3 MB" in text and "25 ms and 1.31 MB" in text
    assert "**100 times faster** in **29.1 times less memory**" in text and "6.00e−05 in scores up to 310" in text
    (chart,) = app.get("plotly_chart")
    assert chart.proto.alt == text.replace("*", "")
    app.toggle(key="table_cost").set_value(True).run()
    assert list(app.dataframe[0].value.iloc[:, 4]) == [row.bytes_measured for row in ROWS]


def test_a_measurement_is_a_job_whose_rows_grow(monkeypatch):
    monkeypatch.setattr(cost, "measure_apart", lambda: (row for row in [None, *ROWS, None]))
    progress = list(shift_cost.cost_work())
    assert progress[0].result is None and progress[-1].result == tuple(ROWS)
    shares = [it.done for it in progress]
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] <= 1
    assert any(button.label == "Start" for button in open_app(SHIFT).button)


def test_a_measurement_that_is_cut_off_says_so_and_its_process_ends(monkeypatch):
    ended = []

    def measuring():
        try:
            yield ROWS[0]
            yield None
        finally:
            ended.append(True)

    monkeypatch.setattr(cost, "measure_apart", measuring)
    work = shift_cost.cost_work()
    assert "Stopped before" in shift_cost.compare(next(work).result)
    work.close()
    assert ended


def test_the_curves_hold_what_was_measured():
    figure = figures.cost_figure(
        {"a": [1, 2], "b": [2]}, {"a": [5, 6], "b": [7]}, {"a": [1, 9], "b": [3]}, {"a": [1, 2], "b": [3]}
    )
    assert [list(curve.y) for curve in figure.data] == [[5, 6], [1, 9], [1, 2], [7], [3], [3]]
    assert figure.layout.xaxis.type == figure.layout.yaxis2.type == "log"
    assert list(figure.layout.yaxis.tickvals) == [1, 10]


def test_text_in_a_cell_is_escaped():
    table = figures.Table("<t>", "", [("<g>", 1)], ["<c>"], "<x>", ["<r>"], [[figures.Cell("<b>", (), '"<i>')]], '"<l>')
    drawn = figures.stage_html([table], [], (1, 1, 3))
    for evil in ("<t>", "<g>", "<c>", "<x>", "<r>", "<i>", "<l>"):
        assert evil not in drawn
