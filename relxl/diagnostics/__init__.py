"""What a person would compute from split scores: arrays in; numbers, or tables for a person, out. No torch.

terms.py     shares of the terms, the head that tells most, tables of a row, a cell, a dimension
"""

from relxl.diagnostics.shapley import focus, shapley_shares
from relxl.diagnostics.terms import (
    cell_table,
    dimension_table,
    head_measures,
    head_shares,
    heads_cell_table,
    heads_table,
    most_telling_head,
    notable_heads,
    row_covariances,
    row_shares,
    row_table,
)

__all__ = [
    "cell_table",
    "dimension_table",
    "focus",
    "head_measures",
    "head_shares",
    "heads_cell_table",
    "heads_table",
    "most_telling_head",
    "notable_heads",
    "row_covariances",
    "row_shares",
    "row_table",
    "shapley_shares",
]
