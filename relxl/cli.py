"""The command line: python -m relxl COMMAND, see `make_parser`. Torch comes with a command."""

import argparse
import hashlib
import shlex
import sys
import time
from dataclasses import MISSING, fields
from pathlib import Path

from relxl.cli_bench import add_bench, whole_number
from relxl.cli_doctor import add_doctor
from relxl.cli_open import add_convert, add_inspect, add_terms
from relxl.cli_sweep import add_sweep
from relxl.config import POSITIONS, ModelConfig, TrainConfig


def main(arguments: list[str] | None = None) -> int:
    """Run one command; an error in what was given is one sentence on stderr and exit code 2."""
    options = make_parser().parse_args(arguments)
    try:
        return options.run(options)
    except (ValueError, OSError) as error:
        print(f"relxl: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nrelxl: stopped", file=sys.stderr)
        return 130


def console() -> None:
    """Be the `relxl` command."""
    sys.exit(main())


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="relxl", description="Open models with relative attention and split their scores."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_inspect(commands)
    add_convert(commands)
    add_terms(commands)
    add_doctor(commands)
    add_train(commands)
    add_sweep(commands)
    add_bench(commands)
    return parser


FIELD_HELP = {
    "n_layer": "layers",
    "n_head": "heads a layer",
    "d_model": "width of the hidden state",
    "d_inner": "width of the feed-forward layer",
    "positions": "learned (the article's table), sinusoid (the paper's) or absolute (the baseline)",
    "max_len": "half width of the learned table, tokens",
    "clamp_len": "largest distance told apart, tokens; without it there is no clamp",
    "segment_len": "tokens that are read at once",
    "mem_len": "tokens of memory; 0 turns memory off",
    "dropout": "share of activations dropped in training",
    "steps": "optimiser steps",
    "batch": "parallel streams of the text",
    "lr": "highest learning rate, after warm-up",
    "warmup": "steps of linear warm-up, then cosine",
    "final_lr_share": "learning rate at the end, as a share of the highest",
    "weight_decay": "decay of the matrices, not of biases, norms, embeddings or positions",
    "clip": "largest norm of the gradient",
    "seed": "seed of the initial weights and of dropout",
    "mask_order": "where the mask is laid: after the sum of the terms, before it, or before_shift",
    "mask_fill": "what it puts there: a number, min or multiply",
    "mask_fault": "what is wrong with it, to train a model that leaks: see relxl.masking.FAULTS",
}


def add_train(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("train", help="train a character-level model on a text file")
    parser.add_argument("--text", type=Path, required=True, help="UTF-8 text file; the last 10 %% validate")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint folder; an unfinished run in it is resumed")
    for field in (*fields(ModelConfig), *fields(TrainConfig)):
        if field.default is not MISSING:
            parser.add_argument(
                f"--{field.name.replace('_', '-')}",
                type=int if field.default is None else type(field.default),
                choices=POSITIONS if field.name == "positions" else None,
                default=field.default,
                help=f"{FIELD_HELP[field.name]} (default: %(default)s)",
            )
    parser.add_argument(
        "--eval-every", type=whole_number, default=250, help="steps between validation losses (default: %(default)s)"
    )
    parser.add_argument(
        "--save-every", type=whole_number, default=50, help="steps between saves to resume from (default: %(default)s)"
    )
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: %(default)s)")
    parser.add_argument("--threads", type=whole_number, help="torch threads; without it torch decides")
    parser.add_argument(
        "--snapshots", type=step_list, default=(), metavar="STEPS",
        help="steps apart by commas, 0 for the start: the model of each is kept in OUT/steps as a checkpoint",
    )  # fmt: skip
    parser.set_defaults(run=run_train)


def run_train(options: argparse.Namespace) -> int:
    import torch

    from relxl.checkpoint import save_checkpoint
    from relxl.training import describe_run, evaluate, load_state, save_state, split_tokens, start, train_steps
    from relxl.vocab import Vocab

    if options.threads:
        torch.set_num_threads(options.threads)
    try:
        text = options.text.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{options.text} is not UTF-8 ({error.reason} at byte {error.start}): convert it first"
        ) from None
    vocab = Vocab.from_text(text)
    training_tokens, validation_tokens = split_tokens(torch.tensor(vocab.encode(text).ids))
    config = ModelConfig(len(vocab.tokens), **pick_fields(options, ModelConfig))
    train = TrainConfig(**pick_fields(options, TrainConfig))

    resume = options.out / "resume.safetensors"
    digest = hashlib.sha256(text.encode()).hexdigest()
    curve = []  # (step, validation loss on the first segments)
    if resume.exists():
        state, extra = load_state(resume, config, train, options.device)
        if extra["text"] != digest:
            raise ValueError(f"{resume} was written by a run on another text: give that text, or delete the file")
        curve = extra["curve"]
        print(f"resuming at step {state.step}")
    else:
        state = start(config, train, options.device)
    first, began = state.step, time.monotonic()

    def snapshot() -> None:
        if state.step in options.snapshots:
            loss = evaluate(state.model, validation_tokens, max_segments=16)
            facts = {"text": {"name": options.text.name}, "step": state.step, "validation": {"loss": loss}}
            save_checkpoint(options.out / "steps" / f"{state.step:06}", state.model, vocab, facts)

    snapshot()
    for _ in train_steps(state, training_tokens, train):
        last = state.step == train.steps
        snapshot()
        if state.step % options.eval_every == 0 or last:
            curve.append((state.step, evaluate(state.model, validation_tokens, max_segments=16)))
        if state.step % options.save_every == 0 or last:
            save_state(resume, state, train, {"text": digest, "curve": curve})
        show_progress(state, train.steps, curve, (time.monotonic() - began) / (state.step - first))
    command = "python -m relxl " + shlex.join(sys.argv[1:])
    training = describe_run(state, train, curve, validation_tokens, vocab, text, options.text.name, command)
    save_checkpoint(options.out, state.model, vocab, training)
    resume.unlink()
    print(f"\n{options.out}: validation loss {training['validation']['loss']:.4f} nats a token")
    return 0


def step_list(text: str) -> tuple[int, ...]:
    """Read steps that are written apart by commas."""
    if not all(word.strip().isdecimal() for word in text.split(",")):
        raise argparse.ArgumentTypeError(
            f"must be whole numbers apart by commas, such as 0,100,1000, got {text[:40]!r}"
        )
    return tuple(sorted({int(word) for word in text.split(",")}))


def pick_fields(options: argparse.Namespace, kind: type) -> dict:
    return {field.name: getattr(options, field.name) for field in fields(kind) if hasattr(options, field.name)}


def show_progress(state, steps: int, curve: list, seconds_a_step: float) -> None:
    """Print one line over the last one: how far, the losses, how long still."""
    recent = state.losses[-50:]
    left = round(seconds_a_step * (steps - state.step))
    validation = f"{curve[-1][1]:.3f}" if curve else "-"
    bar = "#" * (24 * state.step // steps)
    print(
        f"\r[{bar:24}] {state.step}/{steps}  loss {sum(recent) / len(recent):.3f}  validation {validation}  "
        f"{seconds_a_step:.2f} s/step  {left // 60}:{left % 60:02} left ",
        end="",
        flush=True,
    )
