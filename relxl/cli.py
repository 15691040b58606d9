"""The command line: python -m relxl train. Heavy modules are imported by the command that needs them."""

import argparse
import shlex
import sys
import time
from dataclasses import MISSING, fields
from pathlib import Path

from relxl.config import POSITIONS, ModelConfig, TrainConfig


def main(arguments: list[str] | None = None) -> int:
    """Run one command; an error in what was given is one sentence on stderr and exit code 2."""
    options = make_parser().parse_args(arguments)
    try:
        return options.run(options)
    except (ValueError, OSError) as error:
        print(f"relxl: {error}", file=sys.stderr)
        return 2


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="relxl", description="Open models with relative attention and split their scores."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_train(commands)
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
        "--eval-every", type=int, default=250, help="steps between validation losses (default: %(default)s)"
    )
    parser.add_argument(
        "--save-every", type=int, default=50, help="steps between saves to resume from (default: %(default)s)"
    )
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: %(default)s)")
    parser.add_argument("--threads", type=int, help="torch threads; without it torch decides")
    parser.set_defaults(run=run_train)


def run_train(options: argparse.Namespace) -> int:
    import torch

    from relxl.checkpoint import save_checkpoint
    from relxl.training import describe_run, evaluate, load_state, save_state, split_tokens, start, train_steps
    from relxl.vocab import Vocab

    if options.threads:
        torch.set_num_threads(options.threads)
    text = options.text.read_text(encoding="utf-8")
    if not text:
        raise ValueError(f"{options.text} is empty: give a text of some ten thousand characters")
    vocab = Vocab.from_text(text)
    training_tokens, validation_tokens = split_tokens(torch.tensor(vocab.encode(text).ids))
    config = ModelConfig(len(vocab.tokens), **pick_fields(options, ModelConfig))
    train = TrainConfig(**pick_fields(options, TrainConfig))

    resume = options.out / "resume.safetensors"
    curve = []  # (step, validation loss on the first segments)
    if resume.exists():
        state, curve = load_state(resume, config, train, options.device)
        print(f"resuming at step {state.step}")
    else:
        state = start(config, train, options.device)
    first, began = state.step, time.monotonic()
    for state in train_steps(state, training_tokens, train):
        last = state.step == train.steps
        if state.step % options.eval_every == 0 or last:
            curve.append((state.step, evaluate(state.model, validation_tokens, max_segments=16)))
        if state.step % options.save_every == 0 or last:
            save_state(resume, state, train, curve)
        show_progress(state, train.steps, curve, (time.monotonic() - began) / (state.step - first))
    command = "python -m relxl " + shlex.join(sys.argv[1:])
    training = describe_run(state, train, curve, validation_tokens, vocab, text, options.text.name, command)
    save_checkpoint(options.out, state.model, vocab, training)
    resume.unlink()
    print(f"\n{options.out}: validation loss {training['validation']['loss']:.4f} nats a token")
    return 0


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
