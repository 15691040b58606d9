"""Files that leave relxl."""

import csv
import io

import numpy as np

from relxl.export import arrays_of, csv_text, npz_bytes
from relxl.trace import run
from tests.conftest import tiny_model


def test_csv_holds_every_cell_and_no_formula(tokens):
    terms = run(tiny_model(), tokens[:1, :5], 2).terms(1, [2])
    labels = ["=1+1", "a", "-", '"', ","]
    rows = list(csv.DictReader(io.StringIO(csv_text(terms.head(2), labels))))
    assert len(rows) == 3 * 5
    cell = rows[1 * 5 + 3]
    assert (cell["query"], cell["key"], cell["query_token"], cell["key_token"]) == ("1", "3", '"', '"')
    assert (cell["distance"], cell["visible"], rows[2]["key_token"], rows[0]["key_token"]) == ("0", "1", "'-", "'=1+1")
    np.testing.assert_allclose(float(cell["u_bias"]), terms.terms["u_bias"][0, 0, 1, 3], rtol=1e-5)
    np.testing.assert_allclose(float(cell["probability"]), terms.probs[0, 0, 1, 3], rtol=1e-5)
    hidden = rows[0 * 5 + 4]
    assert (hidden["distance"], hidden["visible"], hidden["probability"]) == ("-2", "0", "0")


def test_npz_is_read_back_without_pickle(tokens):
    terms = run(tiny_model(), tokens, 2).terms(1, [2])
    arrays = np.load(io.BytesIO(npz_bytes(arrays_of(terms, 1))), allow_pickle=False)
    np.testing.assert_array_equal(arrays["L1.v_bias"], terms.terms["v_bias"])
    assert arrays["L1.mask"].shape == arrays["L1.logits"].shape == (2, 1, 17, 19)
