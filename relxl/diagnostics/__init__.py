"""What a person would compute from split scores: arrays in; numbers, or tables for a person, out. No torch.

terms.py     shares of the terms, the head that tells most, tables of a row, a cell, a dimension
heads.py     what every head does: where its attention goes, its scores over windows; the atlas table, heads alike
additive.py  how much of the scores distance alone, the key alone, or both added explain
distance.py  profiles of a head over distance, how far its attention reaches, what one term alone would do
relative_absolute.py  what a sweep of relative and absolute models says: curves over the seeds, where a gap opens
memory.py    what crosses the seam between memory and segment, and onto which slots
"""

from relxl.diagnostics.additive import additive_fit, explained_squares
from relxl.diagnostics.distance import (
    DistanceProfile,
    alone,
    attention_reach,
    distance_profile,
    half_life,
    mass_within,
    profile_table,
    reach_table,
    row_centred,
)
from relxl.diagnostics.heads import (
    SIMPLEX,
    HeadScores,
    atlas_table,
    leading_heads,
    merge,
    repeated_sequence,
    similar_heads,
    simplex,
    stack_layers,
    window_scores,
    with_measure,
)
from relxl.diagnostics.memory import colliding_keys, even_mass, seam_mass, seam_table, slot_mass, slot_table
from relxl.diagnostics.shapley import focus, shapley_shares
from relxl.diagnostics.terms import (
    cell_table,
    centre_rows,
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
    "SIMPLEX",
    "DistanceProfile",
    "HeadScores",
    "additive_fit",
    "alone",
    "atlas_table",
    "attention_reach",
    "cell_table",
    "centre_rows",
    "colliding_keys",
    "dimension_table",
    "distance_profile",
    "even_mass",
    "explained_squares",
    "focus",
    "half_life",
    "head_measures",
    "head_shares",
    "heads_cell_table",
    "heads_table",
    "leading_heads",
    "mass_within",
    "merge",
    "most_telling_head",
    "notable_heads",
    "profile_table",
    "reach_table",
    "repeated_sequence",
    "row_centred",
    "row_covariances",
    "row_shares",
    "row_table",
    "seam_mass",
    "seam_table",
    "shapley_shares",
    "similar_heads",
    "simplex",
    "slot_mass",
    "slot_table",
    "stack_layers",
    "window_scores",
    "with_measure",
]
