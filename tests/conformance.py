"""Hold relxl to numbers of other implementations: python tests/conformance.py DIR [DIR ...]

Every folder below DIR that holds meta.json and expected.safetensors is a case: weights in their own code's format,
inputs, and what their own code made of them in float64 (tests/fixtures/README.md says which tensor is what). The runner
knows folders and names of tensors, not cases. It opens the file and runs the model as the app does, in both dtypes, and
prints a row a case with the worst error of each kind; an error counts in units of its tolerance, so 1 is the limit.
"""

import json
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors.torch import load
from torch import Tensor

sys.path.insert(0, str(Path(__file__).parents[1]))

from relxl.checkpoint import CheckpointError, open_checkpoint
from relxl.families import Opened
from relxl.masking import MaskRule
from relxl.split import LayerTerms, layer_arrays

TERMS = {
    "content": "A",
    "content_position": "B",
    "u_bias": "C",
    "v_bias": "D",
    "segment_content": "E_content",
    "segment_bias": "E_bias",
}
TOLERANCES = {  # kind -> dtype -> (absolute, relative)
    "terms": {torch.float64: (1e-10, 0), torch.float32: (2e-5, 1e-5)},
    "scores": {torch.float64: (1e-10, 0), torch.float32: (2e-5, 1e-5)},
    "probs": {torch.float64: (1e-12, 0), torch.float32: (2e-5, 1e-5)},
    "outputs": {torch.float64: (1e-8, 0), torch.float32: (1e-4, 1e-5)},
    "memories": {torch.float64: (1e-8, 0), torch.float32: (1e-4, 1e-5)},
}


@dataclass
class Errors:
    """Collect the worst error of each kind, in units of its tolerance, and how many numbers were compared."""

    dtype: torch.dtype
    worst: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    compared: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def compare(self, kind: str, found, expected: Tensor, where: Tensor | None = None) -> None:
        """Compare where `where` is true. A shape that differs, or a NaN on one side alone, is an infinite error."""
        found = torch.as_tensor(found).double()
        if found.shape != expected.shape:
            self.worst[kind] = float("inf")
            return
        expected = expected.double()
        absolute, relative = TOLERANCES[kind][self.dtype]
        error = (found - expected).abs() / (absolute + relative * expected.abs())
        error = error.masked_fill((found == expected) | (found.isnan() & expected.isnan()), 0).nan_to_num(nan=torch.inf)
        if where is not None:
            error = error[where.expand(error.shape)]
        self.worst[kind] = max(self.worst[kind], float(error.max()) if error.numel() else 0.0)
        self.compared[kind] += error.numel()

    @property
    def passed(self) -> bool:
        needed = {"terms", "scores", "probs", "outputs"}
        return needed <= set(self.compared) and all(worst <= 1 for worst in self.worst.values())


def cases(folders: list[Path]) -> list[Path]:
    """Find every case at or below the folders."""
    found = {path.parent for folder in folders for path in folder.rglob("meta.json")}
    return sorted(path for path in found if (path / "expected.safetensors").exists())


def weights_of(case: Path) -> Path:
    """Find the weights of a case: a folder that its own code saved, or the one file that is not what is expected."""
    folders = [path for path in case.iterdir() if path.is_dir()]
    files = [path for path in case.iterdir() if path.suffix not in (".json", ".md", ".txt") and path.is_file()]
    found = folders or [path for path in files if path.name != "expected.safetensors"]
    if len(found) != 1:
        raise CheckpointError(f"{case} must hold one file of weights, but it holds {[path.name for path in found]}")
    return found[0]


def check(case: Path, dtype: torch.dtype) -> Errors:
    """Run one case in one dtype."""
    meta = json.loads((case / "meta.json").read_text())
    tensors = load((case / "expected.safetensors").read_bytes())
    config = meta["config"] | {"family": meta["family"]}
    if "causal" in meta:  # of a family whose own code takes its mask with every call
        config |= {"causal": meta["causal"]}
    opened = open_checkpoint(weights_of(case), dtype, config=config).opened
    errors, mems = Errors(dtype), None
    for s, sizes in enumerate(meta["segments"]):
        start = f"seg{s}."
        segment = {name.removeprefix(start): value for name, value in tensors.items() if name.startswith(start)}
        mems = check_segment(opened, segment, mems if sizes.get("mlen") else None, dtype, errors)
    return errors


def check_segment(
    opened: Opened, segment: dict[str, Tensor], mems: list[Tensor] | None, dtype: torch.dtype, errors: Errors
) -> list[Tensor] | None:
    """Run one call of a model and compare all that it gives; return the memories for the next call."""
    given = {name.removeprefix("input."): value for name, value in segment.items() if name.startswith("input.")}
    if any(f"layer{len(opened.model.layers)}{name}.scores" in segment for name in ("", "_g")):
        errors.worst["terms"] = float("inf")  # a layer that the model does not have
    with torch.no_grad():
        if "ids" in given or "input_ids" in given:
            return check_language_model(opened, segment, given, mems, errors)
        return check_encoder(opened, segment, given, mems, dtype, errors)


def check_language_model(opened, segment, given, mems, errors) -> list[Tensor]:
    model, tokens = opened.model, given["ids"] if "ids" in given else given["input_ids"]
    names = {"token_type_ids": "segments", "attention_mask": "visible", "perm_mask": "perm_mask"}
    extra = {ours: given[theirs] for theirs, ours in names.items() if theirs in given}
    if "input_mask" in given:  # XLNet's older name, 1 for padding
        extra["visible"] = given["input_mask"] == 0
    output = model(tokens, mems, **extra)
    mems = model.first_mems(len(tokens)) if mems is None else mems
    mem_len = 0 if mems is None else mems[0].shape[1]
    keep = differs = None
    if extra:
        keep, differs = model.sides(tokens.shape, mem_len, **extra)
    compare_layers(opened, segment, output.hidden, mems, errors, model.rule_at(mem_len), keep, differs)
    last, logits = output.last_hidden, output.output_logits
    if "target_mapping" in given:
        stream = model.query_stream(output, given["target_mapping"], mems, **extra)
        for i, query in enumerate(stream.queries):
            keys = output.hidden[i] if mems is None else torch.cat([mems[i], output.hidden[i]], dim=1)
            terms = model.layers[i].attn.terms(query, keys, mem_len, model.config.clamp_len, differs=differs)
            arrays = layer_arrays(terms, model.config.n_head, None, mem_len, model.rule_at(mem_len), stream.keep)
            compare_terms(segment, f"layer{i}_g.", arrays, errors, "valid_g")
            compare_output(segment, f"layer{i}_g.hidden_in", stream.hidden[i], errors)
        last, logits = stream.last_hidden, stream.output_logits
    compare_output(segment, "last_hidden", last, errors)
    compare_output(segment, "logits", logits, errors)
    if "logprobs" in segment:
        logprobs = logits.log_softmax(-1)[:, -segment["logprobs"].shape[1] :]
        compare_output(segment, "logprobs", logprobs, errors)
        if "targets" in given:
            nll = -logprobs.gather(-1, given["targets"][..., None])[..., 0]
            compare_output(segment, "nll", nll, errors)
        else:  # HF's code shifts by itself, and takes a loss of 0 for padding
            nll = -logprobs[:, :-1].gather(-1, tokens[:, 1:, None])[..., 0]
            nll = nll[nll != 0]
        compare_output(segment, "loss", nll.mean()[None], errors)
    return compare_memories(segment, output.mems, errors)


def check_encoder(opened, segment, given, mems, dtype, errors) -> list[Tensor]:
    model = opened.model
    x = (given["x"] if "x" in given else given["hidden_states"]).to(dtype)
    keep = opened.family.visible(given, *x.shape[:2])
    if "kv" in given:  # cross attention
        keys = given["kv"].to(dtype)
        attn, mem_len = model.layers[0].attn, model.cross_mem_len(x.shape[1], keys.shape[1])
        terms = attn.terms(x, keys, mem_len, model.config.clamp_len)
        arrays = layer_arrays(terms, attn.n_heads, None, mem_len, model.rule, keep)
        compare_terms(segment, "layer0.", arrays, errors)
        out = attn.attend(torch.as_tensor(arrays.probs.copy()), keys)
        compare_output(segment, "out", out, errors)
        return []
    if "cache" in given:
        mems = [given["cache"].to(dtype)] * len(model.layers)
    output = model.read(x, mems, keep=keep)
    mem_len = 0 if mems is None else mems[0].shape[1]
    compare_layers(opened, segment, output.hidden, mems, errors, model.rule_at(mem_len), keep)
    compare_output(segment, "last_hidden", output.last_hidden, errors)
    compare_output(segment, "out", output.last_hidden, errors)
    return compare_memories(segment, output.mems, errors)


def compare_layers(opened, segment, hidden, mems, errors, rule: MaskRule, keep=None, differs=None) -> None:
    """Compare terms, scores and probabilities of every layer."""
    model = opened.model
    for i, x in enumerate(hidden):
        if f"layer{i}.scores" not in segment:
            continue
        attn, keys = model.layers[i].attn, x if mems is None else torch.cat([mems[i], x], dim=1)
        mem_len = keys.shape[1] - x.shape[1]
        terms = attn.terms(x, keys, mem_len, model.config.clamp_len, differs=differs)
        arrays = layer_arrays(terms, attn.n_heads, None, mem_len, rule, keep)
        compare_terms(segment, f"layer{i}.", arrays, errors)


def compare_terms(segment, layer: str, arrays: LayerTerms, errors: Errors, valid: str = "valid") -> None:
    valid = segment[valid].bool()
    for name, value in arrays.terms.items():
        expected = segment[f"{layer}term_{TERMS[name]}"]
        errors.compare("terms", value.copy(), expected, None if name in ("content", "u_bias") else valid)
    for name, letter in TERMS.items():
        if f"{layer}term_{letter}" in segment and name not in arrays.terms:
            errors.worst["terms"] = float("inf")
    errors.compare("scores", arrays.logits.copy(), segment[f"{layer}scores"], valid)
    errors.compare("probs", arrays.probs.copy(), segment[f"{layer}probs"])
    mask = torch.as_tensor(arrays.mask.copy()).expand(arrays.logits.shape)
    errors.compare("scores", mask, valid.expand(arrays.logits.shape).double())


def compare_output(segment, name: str, found: Tensor | None, errors: Errors) -> None:
    if name in segment and found is not None:
        errors.compare("outputs", found, segment[name])
    elif name in segment:
        errors.worst["outputs"] = float("inf")


def compare_memories(segment, mems: list[Tensor], errors: Errors) -> list[Tensor] | None:
    names = [name for name in segment if name.startswith("mems_out.")]
    for name in names:
        i = int(name.removeprefix("mems_out."))
        if i < len(mems):
            errors.compare("memories", mems[i], segment[name])
        else:
            errors.worst["memories"] = float("inf")
    return mems or None


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    found, passed = cases([Path(argument) for argument in arguments]), 0
    kinds = list(TOLERANCES)
    width = max((len(f"{case.parent.name}/{case.name}") for case in found), default=0)
    print(f"{'worst error, 1 is the tolerance':{width}}  dtype    " + " ".join(f"{kind:>9}" for kind in kinds))
    for case in found:
        rows, good = [], True
        for dtype in (torch.float64, torch.float32):
            name = f"{case.parent.name}/{case.name}"
            try:
                errors = check(case, dtype)
            except Exception as error:  # the others are to run all the same
                rows.append(f"{name:{width}}  {str(dtype)[6:]}  {type(error).__name__}: {' '.join(str(error).split())}")
                good = False
                continue
            worst = [f"{errors.worst[kind]:9.2g}" if kind in errors.worst else f"{'-':>9}" for kind in kinds]
            rows.append(f"{name:{width}}  {str(dtype)[6:]}  {' '.join(worst)}  {'' if errors.passed else 'FAILED'}")
            good = good and errors.passed
        passed += good
        print("\n".join(rows), flush=True)
    print(f"{passed} passed, {len(found) - passed} failed")
    return 0 if found and passed == len(found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
