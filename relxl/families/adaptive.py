"""The adaptive embedding and softmax that Transformer-XL shares between its families: frequent words are wide.

The vocabulary is cut at `cutoffs`; cluster 0 is the head. Source: Grave et al. 2016, "Efficient softmax approximation
for GPUs"; github.com/kimiyoung/transformer-xl, proj_adaptive_softmax.py.
"""

import re
from dataclasses import dataclass
from itertools import accumulate, pairwise

import torch
from torch import Tensor
from torch.nn import functional as F

from relxl.families.family import FamilyError, Reader


@dataclass(frozen=True)
class AdaptiveEmbedding:
    """Hold one table a cluster [n_token d_embed] and its projection [d_model d_embed], or none."""

    tables: tuple[Tensor, ...]
    projections: tuple[Tensor | None, ...]
    cutoffs: tuple[int, ...]  # first token of each cluster after the head

    def __call__(self, tokens: Tensor) -> Tensor:
        """Look tokens up and scale by sqrt(d_model): [batch query] -> [batch query d_model]."""
        cluster = torch.bucketize(tokens.contiguous(), torch.tensor(self.cutoffs, device=tokens.device), right=True)
        rows = None
        for i, (table, projection) in enumerate(zip(self.tables, self.projections, strict=True)):
            place = cluster == i if len(self.tables) > 1 else torch.ones_like(tokens, dtype=torch.bool)
            first = self.cutoffs[i - 1] if i and len(self.tables) > 1 else 0
            found = F.embedding(tokens[place] - first, table)
            found = found if projection is None else F.linear(found, projection)
            rows = found.new_zeros(*tokens.shape, found.shape[-1]) if rows is None else rows
            rows[place] = found
        return rows * rows.shape[-1] ** 0.5


@dataclass(frozen=True)
class AdaptiveSoftmax:
    """Hold weights [n_token d_embed] and bias of each cluster, its projection or none, and the clusters' own rows.

    `reversed_clusters`: the code of the paper takes the log-probability of tail cluster i from column -i of the head,
    HF from column i - 1 after the words.
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]
    projections: tuple[Tensor | None, ...]
    cluster_weight: Tensor | None  # [cluster d_embed]
    cluster_bias: Tensor | None
    reversed_clusters: bool

    def __call__(self, hidden: Tensor) -> Tensor:
        """Give the log-probability of every token: [batch query d_model] -> [batch query n_token]."""
        if self.cluster_weight is None:
            return self.scores(hidden, 0).log_softmax(-1)
        n_word, n_tail = len(self.weights[0]), len(self.weights) - 1
        extra = torch.cat([self.weights[0], self.cluster_weight]), torch.cat([self.biases[0], self.cluster_bias])
        head = F.linear(self.projected(hidden, 0), *extra).log_softmax(-1)
        parts = [head[..., :n_word]]
        for i in range(1, n_tail + 1):
            column = n_word + (n_tail - i if self.reversed_clusters else i - 1)
            parts.append(head[..., column, None] + self.scores(hidden, i).log_softmax(-1))
        return torch.cat(parts, dim=-1)

    def scores(self, hidden: Tensor, cluster: int) -> Tensor:
        return F.linear(self.projected(hidden, cluster), self.weights[cluster], self.biases[cluster])

    def projected(self, hidden: Tensor, cluster: int) -> Tensor:
        projection = self.projections[cluster]
        return hidden if projection is None else hidden @ projection


def read_embedding(reader: Reader, prefix: str, d_model: int) -> AdaptiveEmbedding:
    """Take the embedding of a Transformer-XL file; `prefix` stands before word_emb.

    Several tables say where the vocabulary is cut. Raises FamilyError where there is none.
    """
    found = [
        re.fullmatch(rf"{re.escape(prefix)}word_emb\.(emb_layers|emb_projs)\.([0-9]{{1,2}})(\.weight)?", name)
        for name in reader.tensors
    ]
    n_table = max((int(match[2]) + 1 for match in found if match), default=0)
    if not n_table:
        raise FamilyError(f"{prefix}word_emb.emb_layers.0.weight is not there: the file holds no language model")
    tables = tuple(reader.take(f"{prefix}word_emb.emb_layers.{i}.weight", None, None) for i in range(n_table))
    names = [f"{prefix}word_emb.emb_projs.{i}" for i in range(n_table)]
    one = n_table == 1 and tables[0].shape[1] == d_model and first_told(reader.config, ("div_val",), 1) == 1
    take = reader.optional if one else reader.take
    projections = tuple(take(name, d_model, table.shape[1]) for name, table in zip(names, tables, strict=True))
    return AdaptiveEmbedding(tables, projections, tuple(accumulate(len(table) for table in tables[:-1])))


def read_softmax(
    reader: Reader,
    prefix: str,
    embedding: AdaptiveEmbedding,
    d_model: int,
    cutoffs: tuple[int, ...] | None,
    reversed_clusters: bool,
) -> AdaptiveSoftmax:
    """Take the softmax of a Transformer-XL file; `prefix` stands before crit.

    What is tied is stored once: a softmax without weights or projections has the embedding's. Raises FamilyError where
    the cutoffs are needed and not told, or do not fit.
    """
    crit, tables, projections = f"{prefix}crit.", embedding.tables, embedding.projections
    n_token = sum(len(table) for table in tables)
    stored = reader.shapes.get(f"{crit}cluster_weight", (0,))
    n_tail = len(tables) - 1 or (stored[0] if len(stored) == 2 else len(cutoffs or ()))
    edges = [0, *cutoffs_of(embedding, cutoffs, n_tail, n_token), n_token]
    tie_weight = first_told(reader.config, ("tie_weight", "tie_word_embeddings"), True)
    shared = first_told(reader.config, ("proj_share_all_but_first",), None)
    tie_projs = first_told(reader.config, ("tie_projs",), None if shared is None else [False] + [shared] * n_tail)

    weights = [reader.tied(f"{crit}out_layers.{i}.weight", table, tie_weight) for i, table in enumerate(tables)]
    biases = [reader.take(f"{crit}out_layers.{i}.bias", len(table)) for i, table in enumerate(tables)]
    if len(tables) == 1 and n_tail:  # div_val 1: one table, cut into clusters
        weights = [weights[0][a:b] for a, b in pairwise(edges)]
        biases = [biases[0][a:b] for a, b in pairwise(edges)]
    out_projections = []
    for i in range(n_tail + 1):
        tied = projections[min(i, len(tables) - 1)]
        told = isinstance(tie_projs, list | tuple)
        may_be_tied = not told or (i < len(tie_projs) and bool(tie_projs[i]))
        out_projections.append(None if tied is None else reader.tied(f"{crit}out_projs.{i}", tied, may_be_tied))
    return AdaptiveSoftmax(
        tuple(weights),
        tuple(biases),
        tuple(out_projections),
        reader.take(f"{crit}cluster_weight", n_tail, weights[0].shape[1]) if n_tail else None,
        reader.take(f"{crit}cluster_bias", n_tail) if n_tail else None,
        reversed_clusters,
    )


def first_told(config: dict, names: tuple[str, ...], default: object) -> object:
    """Give what a config says under the first of the names that it has."""
    return next((config[name] for name in names if config.get(name) is not None), default)


def cutoffs_of(
    embedding: AdaptiveEmbedding, told: tuple[int, ...] | None, n_tail: int, n_token: int
) -> tuple[int, ...]:
    """Find where the vocabulary is cut: the tables say it where there are several, else the config must."""
    if len(embedding.tables) > 1:
        if told and told != embedding.cutoffs:
            raise FamilyError(
                f"the config says cutoffs={list(told)}, but the embedding tables are cut at {list(embedding.cutoffs)}: "
                "the two belong to different models"
            )
        return embedding.cutoffs
    if not n_tail:
        return ()
    if told is None or len(told) != n_tail or told[-1] >= n_token:
        came = "there is none" if told is None else f"{list(told)} came"
        raise FamilyError(
            f"the vocabulary of {n_token} tokens is cut into {n_tail + 1} clusters and the tensors do not say where: "
            f"give cutoffs of {n_tail} rising numbers below {n_token} ({came})",
            ask="cutoffs",
        )
    return told
