"""relxl in a notebook or a script: load, trace, look.

    m = relxl.load("checkpoints/shakespeare-learned")
    t = m.trace("To be, or not to be")
    t.terms(layer=1, heads=[3])          # arrays [batch head query key]
    t.figure(layer=1, head=3)            # the picture of the page "Score terms"
    relxl.from_module(attention, hidden) # the same of a live PyTorch module of a known family

Everything here is a call into the modules that the pages use too; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from relxl import diagnostics, style
from relxl.canonical import CanonicalModel
from relxl.checkpoint import Checkpoint, open_checkpoint
from relxl.families import open_tensors
from relxl.model import TransformerXL
from relxl.proof import Proof, prove
from relxl.split import HeadTerms, LayerTerms
from relxl.trace import Trace, on_hidden, run
from relxl.vocab import IdVocab

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from relxl.matrix_view import Grid

MOST_CELLS = 512 * 512  # of a picture in a notebook, which holds every number as text


@dataclass(frozen=True)
class Model:
    """Hold an opened checkpoint."""

    checkpoint: Checkpoint

    def trace(
        self,
        text: str | None = None,
        *,
        tokens: Sequence[int] | Tensor | None = None,
        hidden: Tensor | None = None,
        mem_len: int = 0,
    ) -> Run:
        """Run the model once on a text, on token ids [token] or [batch token], or on hidden states [batch len d_model].

        The first `mem_len` of them become the memory. Give one of the three. Raises ValueError for none or several of
        them, for a text without a single known token, and for what the model cannot read.
        """
        given = [name for name, value in (("text", text), ("tokens", tokens), ("hidden", hidden)) if value is not None]
        if len(given) != 1:
            raise ValueError(f"give one of text, tokens and hidden, got {' and '.join(given) or 'none of them'}")
        model, vocab = self.checkpoint.model, self.checkpoint.vocab
        if hidden is not None:
            trace = on_hidden(model, hidden.to(model.dtype), mem_len=mem_len)
            return Run(trace, tuple(trace.names(None)))
        if vocab is None:
            raise ValueError(
                f"{self.checkpoint.name} reads hidden states and not tokens: give hidden=, [batch len d_model]"
            )
        ids = torch.as_tensor(vocab.encode(text).ids if tokens is None else tokens, dtype=torch.long)
        ids = ids[None] if ids.dim() == 1 else ids
        if not ids.numel():
            raise ValueError(
                f"the text {str(text)[:40]!r} has no token that {self.checkpoint.name} knows: give another"
            )
        trace = run(model, ids, mem_len)
        return Run(trace, tuple(trace.names(vocab)))

    def _repr_html_(self) -> str:
        checkpoint, config = self.checkpoint, self.checkpoint.config
        facts = {
            "family": checkpoint.opened.family.title,
            "sizes": f"{config.n_layer} layers × {config.n_head} heads, d_model {config.d_model}",
            "positions": config.positions,
            "parameters": f"{checkpoint.n_parameters:,}",
            "assumed": ", ".join(
                f"{s.ask.name}={s.value}" for s in checkpoint.opened.settings if s.origin == "assumed"
            ),
            "sha256": checkpoint.digest,
        }
        rows = "".join(f"<tr><td>{name}<td>{escape(str(value))}</tr>" for name, value in facts.items() if value)
        return f"<b>{escape(checkpoint.name)}</b><table>{rows}</table>"


@dataclass(frozen=True)
class Run:
    """Hold one run of a model, and answer what its scores are made of."""

    trace: Trace
    names: tuple[str, ...] = field(repr=False)  # [key] of memory and segment, in visible form

    @property
    def looks(self) -> dict[str, style.Term]:
        """Give letter, formula and colour of every term."""
        return style.terms_of(self.trace.model.config.positions, segments=self.trace.differs is not None)

    def terms(self, layer: int, heads: list[int] | None = None, queries: int | None = None) -> LayerTerms:
        """Split the scores of a layer, for `heads` or all, and the last `queries` or all: [batch head query key]."""
        return self.trace.terms(layer, heads, queries)

    def head(self, layer: int, head: int) -> HeadTerms:
        """Split the scores of one head: [query key]."""
        return self.trace.terms(layer, [head]).head(head)

    def shares(self, layer: int, head: int) -> dict[str, float]:
        """Say what each term carries of the differences between keys: Cov(term, sum) / Var(sum), adding up to 1."""
        terms = self.head(layer, head)
        return diagnostics.head_shares(diagnostics.row_covariances(terms.terms, terms.mask))

    def table(self, layer: int, head: int, query: int = -1) -> pd.DataFrame:
        """Put one row into numbers: a line a key with its token, distance, terms, sum and probability."""
        terms = self.head(layer, head)
        row = {name: term[query] for name, term in terms.terms.items()}
        rest = (terms.logits[query], terms.probs[query], terms.mask[query], terms.distance[query])
        return diagnostics.row_table(row, *rest, list(self.names))

    def proof(self, layer: int, head: int) -> Proof:
        """Compare the split with a float64 recomputation and with the model's own forward."""
        return prove(self.trace, layer, self.trace.terms(layer, [head]))

    def figure(self, layer: int, head: int, query: int | None = None, dark: bool = False) -> go.Figure:
        """Draw the head: terms on one scale, their sum, probabilities; with `query`, a ring round its strongest key.

        Raises ValueError for more than 512 x 512 cells, which a notebook would be slow with.
        """
        from relxl.figures.matrix import matrix_figure

        return matrix_figure(self.grid(layer, head, query), dark)

    def grid(self, layer: int, head: int, query: int | None = None) -> Grid:
        """Lay out the panels of a head."""
        from relxl.figures.head import head_grid

        terms = self.head(layer, head)
        if terms.mask.size > MOST_CELLS:
            raise ValueError(
                f"{terms.mask.shape[0]} queries and {terms.mask.shape[1]} keys are more than the {MOST_CELLS} cells "
                "that a figure draws: trace fewer tokens, or take the arrays from terms()"
            )
        cell = None if query is None else (query % len(terms.mask), int(np.nan_to_num(terms.probs[query]).argmax()))
        return head_grid(terms, self.looks, self.names, f"L{layer}H{head}", cell)

    def _repr_html_(self) -> str:
        config = self.trace.model.config
        memory = f", {self.trace.mem_len} of them memory" if self.trace.mem_len else ""
        text = escape("".join(self.names)[:200])
        return (
            f"<b>{self.trace.key_len} keys{memory}, {self.trace.query_len} queries</b>, {config.n_layer} layers × "
            f"{config.n_head} heads<br><code>{text}</code>"
        )


def load(path: str | Path, dtype: torch.dtype = torch.float32, **chosen: object) -> Model:
    """Open a checkpoint of any family: a folder or a file. Nothing in it is run.

    `chosen` answers what the weights cannot tell (`clamp_len=400`); what was assumed stands in the model's card. Raises
    relxl.checkpoint.CheckpointError, one sentence, for what cannot be opened.
    """
    return Model(open_checkpoint(path, dtype, chosen))


def from_module(
    module: nn.Module,
    hidden: Tensor | None = None,
    *,
    tokens: Tensor | None = None,
    mems: Sequence[Tensor] | None = None,
    visible: Tensor | None = None,
    **chosen: object,
) -> Run:
    """Split the scores of a live PyTorch module of a known family: a model, an encoder, or attention layers alone.

    hidden [batch len d_model], or tokens [batch token] for a language model; mems, one a layer, [batch mem d_model];
    visible [batch key] or [batch query key], true where a key is real. The weights are read off `module.state_dict()`,
    in their dtype; the module is neither changed nor called. Its settings come from `module.config` where it has one,
    and `chosen` answers what is left. Raises relxl.families.FamilyError for a module of no known family.
    """
    model = module if isinstance(module, TransformerXL) else canonical_of(module, chosen)
    if (hidden is None) == (tokens is None):
        raise ValueError("give either hidden, [batch len d_model], or tokens, [batch token]")
    if tokens is not None:
        if not model.config.n_token:
            raise ValueError("this module reads hidden states and not tokens: give hidden, [batch len d_model]")
        trace = run(model, tokens[None] if tokens.dim() == 1 else tokens)
        return Run(trace, tuple(trace.names(IdVocab(model.config.n_token))))
    mems = None if mems is None else list(mems)
    trace = on_hidden(model, hidden.detach().to(model.dtype), mems, visible=visible)
    return Run(trace, tuple(trace.names(None)))


def canonical_of(module: nn.Module, chosen: dict[str, object]) -> CanonicalModel:
    """Bring a live module into the canonical form, in the dtype of its first floating parameter."""
    tensors = {name: tensor.detach() for name, tensor in module.state_dict().items()}
    dtype = next((tensor.dtype for tensor in tensors.values() if tensor.is_floating_point()), torch.float32)
    config = getattr(module, "config", None)
    known = config.to_dict() if hasattr(config, "to_dict") else config if isinstance(config, dict) else {}
    return open_tensors(tensors, known, chosen, dtype).model
