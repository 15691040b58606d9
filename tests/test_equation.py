"""The equation as a controller: panel, parameters and line of code of the term that is chosen."""

import pytest
import torch

from relxl.checkpoint import open_checkpoint
from relxl.style import number, terms_of
from relxl.term_parts import code_line, term_parts
from tests.conftest import ROOT, tiny_model
from tests.foreign import CASES, foreign
from tests.test_pages import SCORE_TERMS, healthy, matrices, open_app


@pytest.mark.parametrize("positions", ["learned", "sinusoid", "absolute"])
def test_parts_and_lines_of_our_own_models(positions):
    attn = tiny_model(positions).layers[0].attn
    for term in terms_of(positions):
        for part in term_parts(attn, term, 1):
            assert part.norm > 0 and 4 in part.shape
        line = code_line(attn, term)
        text = (ROOT / line.file).read_text().splitlines()[line.number - 1]
        assert text.strip() == line.text and "=" in text
    if positions != "absolute":
        u, w_k = term_parts(attn, "u_bias", 1)
        assert u.norm == pytest.approx(float(attn.u[1].detach().norm())) and u.shape == tuple(attn.u[1].shape)
        rows = attn.w_k.weight[4:8]
        assert w_k.norm == pytest.approx(float(torch.linalg.norm(rows.detach())), rel=1e-6) and w_k.shape == tuple(
            rows.shape
        )


def test_every_family_has_parts_and_lines():
    seen = 0
    for name in CASES:
        model = foreign(name, torch.float32).model
        attn = model.layers[0].attn
        names = terms_of(model.config.positions, segments=getattr(attn, "segments", None) is not None)
        for term in names:
            assert term_parts(attn, term, 0) and code_line(attn, term).text
            seen += 1
    assert seen > 30


@pytest.mark.parametrize("name, term, place, line", [
    ("shakespeare-learned", "u_bias", 3, "u_bias="), ("shakespeare-learned", "content", 0, "content="),
    ("shakespeare-sinusoid", "v_bias", 4, "v_curve = (v"), ("shakespeare-absolute", "position_content", 3, "position_"),
])  # fmt: skip
def test_a_term_in_the_link_frames_its_panel_and_shows_what_it_is_made_of(name, term, place, line):
    app = open_app(SCORE_TERMS, ck=name, et=term, l="0", h="1")
    assert healthy(app)
    header, _panels = matrices(app)
    assert header["chosen"] == place and any(code.value.startswith(line) for code in app.code)
    attn = open_checkpoint(ROOT / "checkpoints" / name).model.layers[0].attn
    table = app.dataframe[0].value
    assert table.iloc[:, 2].tolist() == [number(part.norm) for part in term_parts(attn, term, 1)]


def test_without_a_term_nothing_is_set_off():
    app = open_app(SCORE_TERMS, et="nonsense")
    header, _panels = matrices(app)
    assert healthy(app) and header["chosen"] is None and not any("=" in code.value[:20] for code in app.code[:-1])
