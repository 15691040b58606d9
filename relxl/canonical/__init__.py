"""The canonical form: attention and model of any family, as data. What a file holds becomes this and stays this.

A family (`families/`) fills these classes from its tensors; from there on nobody asks where a model came from. They
have the same face as the article's layers and `TransformerXL` in `model.py`: `attn.terms` splits, `attn.attend` mixes
the values, a model has `config`, `layers`, `rule_at`, `read`. Whatever a family does to its positions ends up in one
table, `position_key` [head distance d_head], and in a map that says which cell reads which row of it.
"""

from relxl.canonical.attention import LearnedPositions, Linear, Norm, RelativeAttention, Segments, SinusoidPositions
from relxl.canonical.model import (
    AttentionLayer,
    AttentionModel,
    Block,
    CanonicalModel,
    FeedForward,
    LanguageModel,
    Output,
)

__all__ = [
    "AttentionLayer",
    "AttentionModel",
    "Block",
    "CanonicalModel",
    "FeedForward",
    "LanguageModel",
    "LearnedPositions",
    "Linear",
    "Norm",
    "Output",
    "RelativeAttention",
    "Segments",
    "SinusoidPositions",
]
