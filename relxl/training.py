"""Train a language model on one text: a loop that can be stopped at any step and resumed with the same losses.

AdamW, linear warm-up then cosine, gradient clipping, memory carried from segment to segment. `train_steps` yields
after every step, so whoever drives it (command line, page, sweep) decides when to report, save or stop.
"""

import hashlib
import json
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor
from torch.nn import functional as F

import relxl
from relxl.config import ModelConfig, TrainConfig
from relxl.files import write_atomic
from relxl.masking import RIGHT_RULE, MaskRule, read_fill
from relxl.model import TransformerXL
from relxl.vocab import Vocab

VALIDATION_SHARE = 0.1
VALIDATION_STREAMS = 8


@dataclass
class TrainState:
    """Hold all that the next step depends on, and the losses so far (nats per token)."""

    model: TransformerXL
    optimizer: torch.optim.AdamW
    mems: list[Tensor] | None = None
    step: int = 0
    losses: list[float] = field(default_factory=list)
    row_gradient_counts: Tensor | None = None  # [layer row]: steps in which a row of a learned table got a gradient


def split_tokens(tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Cut a text [token] into its training part and its last 10 %, the validation part.

    Raises ValueError for a text that is too short to validate on.
    """
    cut = int(len(tokens) * (1 - VALIDATION_SHARE))
    if len(tokens) - cut < 2 * VALIDATION_STREAMS:
        raise ValueError(
            f"the text has {len(tokens)} tokens, of which the last {len(tokens) - cut} would validate, but "
            f"{VALIDATION_STREAMS} streams need at least {2 * VALIDATION_STREAMS}: use a longer text"
        )
    return tokens[:cut], tokens[cut:]


def start(config: ModelConfig, train: TrainConfig, device: str = "cpu") -> TrainState:
    """Make a fresh model from the seed."""
    torch.manual_seed(train.seed)
    model = TransformerXL(config).to(device)
    counts = None
    if config.positions == "learned":
        counts = torch.zeros(config.n_layer, 2 * config.max_len - 1, dtype=torch.long)
    return TrainState(model, make_optimizer(model, train), row_gradient_counts=counts)


def make_optimizer(model: TransformerXL, train: TrainConfig) -> torch.optim.AdamW:
    """Decay the matrices of linear maps only; biases, u, v, norms, embeddings and position tables are left free."""
    decayed = [
        p for name, p in model.named_parameters() if name.endswith(".weight") and p.dim() == 2 and "emb" not in name
    ]
    ids = {id(p) for p in decayed}
    free = [p for p in model.parameters() if id(p) not in ids]
    groups = [{"params": decayed, "weight_decay": train.weight_decay}, {"params": free, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=train.lr, betas=(0.9, 0.99))


def read_segment(tokens: Tensor, step: int, batch: int, segment_len: int) -> tuple[Tensor, Tensor, bool]:
    """Give inputs and targets [batch segment_len] of a step, and whether it starts the text anew (no memory).

    The text is cut into `batch` equal streams that advance together. Every pass starts a little later, so that
    segment borders fall elsewhere.
    """
    stream_len = len(tokens) // batch
    segments = (stream_len - 1) // segment_len - 1
    if segments < 1:
        raise ValueError(
            f"the training text has {len(tokens)} tokens, but {batch} streams of segments of {segment_len} need at "
            f"least {batch * (2 * segment_len + 1)}: use a longer text, a smaller batch or a shorter segment"
        )
    epoch, segment = divmod(step, segments)
    begin = segment * segment_len + (epoch * 37) % segment_len  # 37 has no factor in common with usual lengths
    streams = tokens[: stream_len * batch].view(batch, stream_len)
    return (
        streams[:, begin : begin + segment_len],
        streams[:, begin + 1 : begin + segment_len + 1],
        segment == 0,
    )


def mask_rule(train: TrainConfig) -> MaskRule:
    """Give the rule that a run masks by. Raises ValueError for an order, fill or fault that does not exist."""
    return MaskRule(train.mask_order, read_fill(train.mask_fill), fault=train.mask_fault)


def token_loss(output_logits: Tensor, targets: Tensor) -> Tensor:
    """Give the loss of each token in nats: [batch query]."""
    return F.cross_entropy(output_logits.transpose(1, 2), targets, reduction="none")


def train_steps(state: TrainState, tokens: Tensor, train: TrainConfig) -> Iterator[TrainState]:
    """Train on `tokens` [token] until train.steps, yielding the state after each step."""
    model, config = state.model, state.model.config
    device, rule = next(model.parameters()).device, mask_rule(train)
    while state.step < train.steps:
        model.train()
        for group in state.optimizer.param_groups:
            group["lr"] = train.lr_at(state.step)
        inputs, targets, anew = read_segment(tokens, state.step, train.batch, config.segment_len)
        output = model(inputs.to(device), None if anew or not config.mem_len else state.mems, rule=rule)
        loss = token_loss(output.output_logits, targets.to(device)).mean()
        state.optimizer.zero_grad()
        loss.backward()
        if state.row_gradient_counts is not None:
            tables = torch.stack([layer.attn.pos_enc.pos_table.grad for layer in model.layers])
            state.row_gradient_counts += (tables != 0).any(dim=-1).cpu()
        torch.nn.utils.clip_grad_norm_(model.parameters(), train.clip)
        state.optimizer.step()
        state.mems, state.step = output.mems, state.step + 1
        state.losses.append(loss.item())
        yield state


@torch.no_grad()
def evaluate(
    model: TransformerXL,
    tokens: Tensor,
    streams: int = VALIDATION_STREAMS,
    max_segments: int | None = None,
    rule: MaskRule | None = None,
) -> float:
    """Measure the mean loss in nats per token over `streams` equal parts of a text, memory carried over."""
    model.eval()
    config, losses, mems = model.config, [], None
    stream_len = len(tokens) // streams
    rows = tokens[: stream_len * streams].view(streams, stream_len).to(model.device)
    segments = max((stream_len - 1) // config.segment_len, 1)
    for segment in range(segments if max_segments is None else min(segments, max_segments)):
        begin = segment * config.segment_len
        end = min(begin + config.segment_len, stream_len - 1)
        output = model(rows[:, begin:end], mems if config.mem_len else None, rule=rule)
        mems = output.mems
        losses.append(token_loss(output.output_logits, rows[:, begin + 1 : end + 1]).mean().item())
    return sum(losses) / len(losses)


@torch.no_grad()
def sample_losses(model: TransformerXL, tokens: Tensor) -> list[float]:
    """Give the loss of predicting tokens 1, 2, ... of one stream [token], memory carried: nats."""
    model.eval()
    segment_len, losses, mems = model.config.segment_len, [], None
    row = tokens[None].to(model.device)
    for begin in range(0, len(tokens) - 1, segment_len):
        end = min(begin + segment_len, len(tokens) - 1)
        output = model(row[:, begin:end], mems if model.config.mem_len else None)
        mems = output.mems
        losses += token_loss(output.output_logits, row[:, begin + 1 : end + 1])[0].tolist()
    return losses


def save_state(path: Path, state: TrainState, train: TrainConfig, extra: dict) -> None:
    """Write everything that the next step depends on to one file, atomically."""
    tensors = {f"model.{name}": value for name, value in state.model.state_dict().items()}
    for i, moments in state.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{i}.{name}": value for name, value in moments.items()}
    tensors |= {f"mems.{i}": layer for i, layer in enumerate(state.mems or [])}
    if state.row_gradient_counts is not None:
        tensors["row_gradient_counts"] = state.row_gradient_counts
    tensors["rng"] = torch.get_rng_state()
    device = next(state.model.parameters()).device
    if device.type == "cuda":
        tensors["cuda_rng"] = torch.cuda.get_rng_state(device)
    facts = {"model": asdict(state.model.config), "train": asdict(train), "step": state.step, "losses": state.losses}
    tensors = {name: value.contiguous() for name, value in tensors.items()}
    write_atomic(path, save(tensors, metadata={"state": json.dumps(facts | {"extra": extra})}))


def load_state(path: Path, config: ModelConfig, train: TrainConfig, device: str = "cpu") -> tuple[TrainState, dict]:
    """Read what save_state wrote. Raises ValueError where it belongs to another run than `config` and `train`."""
    with safe_open(path, framework="pt") as file:
        facts = json.loads(file.metadata()["state"])
        tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 (not a dict)
    wanted = {"model": asdict(config), "train": asdict(train)}
    for part, values in wanted.items():
        for name, value in values.items():
            if facts[part].get(name) != value:
                raise ValueError(
                    f"{path} was written by a run with {name}={facts[part].get(name)}, but this one asks for "
                    f"{name}={value}: use the same settings to resume, or delete the file to start over"
                )
    state = start(config, train, device)
    state.model.load_state_dict({name[6:]: value for name, value in tensors.items() if name.startswith("model.")})
    moments: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("optimizer."):
            _, i, moment = name.split(".")
            moments.setdefault(int(i), {})[moment] = value
    state.optimizer.load_state_dict(state.optimizer.state_dict() | {"state": moments})
    if "mems.0" in tensors:
        state.mems = [tensors[f"mems.{i}"].to(device) for i in range(config.n_layer)]
    state.row_gradient_counts = tensors.get("row_gradient_counts")
    state.step, state.losses = facts["step"], facts["losses"]
    torch.set_rng_state(tensors["rng"])
    if "cuda_rng" in tensors:
        torch.cuda.set_rng_state(tensors["cuda_rng"], device)
    return state, facts["extra"]


def versions() -> dict[str, str]:
    """Name the versions that numbers may depend on."""
    return {"relxl": relxl.__version__, "torch": torch.__version__, "python": platform.python_version()}


def describe_run(
    state: TrainState,
    train: TrainConfig,
    curve: list[tuple[int, float]],
    validation_tokens: Tensor,
    vocab: Vocab,
    text: str,
    text_name: str,
    command: str,
) -> dict:
    """Put down how a model came about: text, settings, losses, versions and a sample with its exact loss."""
    config = state.model.config
    sample = validation_tokens[: config.segment_len + config.mem_len + 1]
    losses = sample_losses(state.model, sample)
    with_its_mask = {}
    if (rule := mask_rule(train)) != RIGHT_RULE:
        with_its_mask = {"loss_with_training_mask": evaluate(state.model, validation_tokens, rule=rule)}
    how = (
        f"last {VALIDATION_SHARE:.0%} of the characters as {VALIDATION_STREAMS} equal streams, consecutive segments of "
        f"{config.segment_len}, memory of {config.mem_len} carried and empty at the start, mean over the segments, "
        "nats per token"
    )
    return {
        "text": {
            "name": text_name,
            "characters": len(text),
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
        },
        "command": command,
        "seed": train.seed,
        "train": asdict(train),
        "versions": versions(),
        "loss_curve": {
            "unit": "nats per token",
            "train": [round(loss, 4) for loss in state.losses],
            "validation_step": [step for step, _ in curve],
            "validation": [round(loss, 4) for _, loss in curve],
            "validation_how": "first 16 segments of the validation text",
        },
        "validation": {"loss": evaluate(state.model, validation_tokens), "how": how} | with_its_mask,
        "sample": {
            "text": vocab.decode(sample.tolist()),
            "how": "start of the validation text, memory carried as above; loss of each token after the first, nats",
            "losses": losses,
            "loss": sum(losses) / len(losses),
        },
        "row_gradient_counts": None if state.row_gradient_counts is None else state.row_gradient_counts.tolist(),
    }
