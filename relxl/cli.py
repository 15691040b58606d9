"""The command line: python -m relxl inspect | convert | terms | train | sweep | bench. Torch comes with a command."""

import argparse
import hashlib
import json
import shlex
import sys
import time
from dataclasses import MISSING, fields
from pathlib import Path

from relxl.cli_open import add_convert
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
    add_train(commands)
    add_sweep(commands)
    add_bench(commands)
    return parser


def add_inspect(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("inspect", help="say what a checkpoint is: sizes, positions, training, tensors")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    parser.set_defaults(run=run_inspect)


def run_inspect(options: argparse.Namespace) -> int:
    from relxl.census import census, describe
    from relxl.checkpoint import open_checkpoint

    checkpoint = open_checkpoint(options.checkpoint)
    facts, tensors = describe(checkpoint), census(checkpoint)
    if options.json:
        print(json.dumps(facts | {"tensors": tensors}, ensure_ascii=False, indent=1))
        return 0
    for name, value in facts.items():
        print(f"{name:18}{value}")
    print()
    for tensor in tensors:
        shape = " ".join(map(str, tensor["shape"]))
        print(f"{tensor['name']:32}[{shape}]".ljust(50) + f"mean {tensor['mean']:+.4f}  std {tensor['std']:.4f}")
    return 0


def add_terms(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "terms", help="split the scores of a text, of token ids or of hidden states into a file"
    )
    parser.add_argument("checkpoint", type=Path)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--text", help="the text itself")
    source.add_argument(
        "--tokens",
        type=Path,
        metavar="FILE",
        help="token ids: a JSON list (or one a batch entry), or numbers apart by white space",
    )
    source.add_argument(
        "--hidden",
        type=Path,
        metavar="FILE",
        help="layer inputs `hidden` [batch len d_model], .npz or .safetensors, the input of every layer asked for",
    )
    parser.add_argument("--layer", type=int, help="one layer, counted from 0 (default: all)")
    parser.add_argument("--heads", help="heads apart by commas, counted from 0 (default: all)")
    parser.add_argument(
        "--mem-len", type=int, default=0, help="this many first tokens are memory, not queries (default: 0)"
    )
    parser.add_argument("--clamp-len", type=int, help="clamp distances to this many tokens (default: the checkpoint's)")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32", help="(default: %(default)s)")
    parser.add_argument("--out", type=Path, required=True, help=".safetensors or .npz to write")
    parser.set_defaults(run=run_terms)


def run_terms(options: argparse.Namespace) -> int:
    import torch

    from relxl.checkpoint import open_checkpoint
    from relxl.export import arrays_of, read_hidden, read_tokens, write_arrays
    from relxl.split import attention_terms
    from relxl.trace import run

    checkpoint = open_checkpoint(options.checkpoint, getattr(torch, options.dtype))
    config, model = checkpoint.config, checkpoint.model
    layers = range(config.n_layer) if options.layer is None else [options.layer]
    if not 0 <= layers[0] < config.n_layer:
        raise ValueError(f"--layer {options.layer}: the model has layers 0 to {config.n_layer - 1}")
    try:
        heads = None if options.heads is None else [int(head) for head in options.heads.split(",")]
    except ValueError:
        raise ValueError(f"--heads {options.heads!r}: give head numbers apart by commas, such as 0,3") from None

    if options.hidden:
        hidden = read_hidden(options.hidden, model)
        if not 0 <= options.mem_len < hidden.shape[1]:
            raise ValueError(
                f"--mem-len {options.mem_len}: {hidden.shape[1]} hidden states must leave at least one query"
            )
        inputs = dict.fromkeys(layers, hidden)
    else:
        if options.tokens:
            ids = read_tokens(options.tokens, config.n_token)
        else:
            encoded = checkpoint.vocab.encode(options.text)
            ids = [encoded.ids]
            if encoded.unknown:
                left_out = ", ".join(f"{character!r} x{count}" for character, count in encoded.unknown.items())
                print(f"relxl: not in the vocabulary and left out: {left_out}", file=sys.stderr)
        if not ids or not ids[0]:
            raise ValueError("there is no token to run on: give a text with characters of the checkpoint's vocabulary")
        inputs = run(model, torch.tensor(ids), options.mem_len, options.clamp_len).hidden

    clamp_len = config.clamp_len if options.clamp_len is None else options.clamp_len
    arrays = {}
    for layer in layers:
        terms = attention_terms(model.layers[layer].attn, inputs[layer], options.mem_len, heads, clamp_len)
        arrays |= arrays_of(terms, layer)
    write_arrays(options.out, arrays)
    print(f"{options.out}: {len(arrays)} arrays, layers {', '.join(map(str, layers))}, heads {options.heads or 'all'}")
    return 0


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
    for _ in train_steps(state, training_tokens, train):
        last = state.step == train.steps
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


def add_bench(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("bench", help="measure relxl side by side with its bounds and its peers")
    subjects = parser.add_subparsers(required=True, metavar="WHAT")
    engine = subjects.add_parser("engine", help="time and peak memory of the four-term split")
    engine.add_argument("--rounds", type=whole_number, help="rounds a length; without it 5 to 200, by length")
    engine.add_argument("--threads", type=whole_number, help="torch threads; without it torch decides")
    engine.add_argument("--plot", type=Path, metavar="FILE.html", help="draw them")
    engine.set_defaults(run=run_bench_engine)
    browser = subjects.add_parser("browser", help="from a control to the painted matrices, in a real Chromium")
    browser.add_argument("--rounds", type=whole_number, default=7, help="changes a row (default: %(default)s)")
    browser.add_argument("--cold-rounds", type=whole_number, default=3, help="cold starts (default: %(default)s)")
    browser.set_defaults(run=run_bench_browser)
    peers = subjects.add_parser("peers", help="the matrix view beside BertViz, in a real Chromium")
    peers.add_argument("--rounds", type=whole_number, default=3, help="pictures a row (default: %(default)s)")
    peers.add_argument("--scripts", type=Path, metavar="FOLDER", help="what BertViz's page loads, else from its CDN")
    peers.set_defaults(run=run_bench_peers)
    for parser, lengths in ((engine, "128,256,512,1024,2048"), (browser, "128,512,2048"), (peers, "64,128")):
        parser.add_argument("--lengths", default=lengths, help="lengths apart by commas (default: %(default)s)")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers")


def run_bench_engine(options: argparse.Namespace) -> int:
    from relxl.bench.engine import bench_engine

    return bench_engine(options.lengths, options.rounds, options.threads, options.json, options.plot)


def run_bench_browser(options: argparse.Namespace) -> int:
    from relxl.bench.browser import bench_browser

    return bench_browser(options.lengths, options.rounds, options.cold_rounds, options.json)


def run_bench_peers(options: argparse.Namespace) -> int:
    from relxl.bench.peers import bench_peers

    return bench_peers(options.lengths, options.rounds, options.scripts, options.json)


def whole_number(text: str) -> int:
    """Read an option that must be 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, got {text!r}")
    return int(text)


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
