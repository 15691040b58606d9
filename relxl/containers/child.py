"""Be the child process: read what is not safe to read, and answer with bytes that the parent checks.

It gets a file's bytes on stdin and answers on stdout: b"R" when it is ready, then facts as JSON, then safetensors.
Before the first byte of a file it gives up the right to open or write any file, and most of its memory and time.
"""

import codecs
import gc
import io
import json
import os
import resource
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from relxl.containers.errors import Refused, show
from relxl.containers.limits import MAX_FACTS, MAX_TENSORS, most_memory, most_seconds, most_unfolded
from relxl.containers.pickles import refuse_pickle
from relxl.containers.plain import CONFIGS, take_config, unwrap

PAGES = Path("/proc/self/statm")
NAMES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "bool": "BOOL", "uint8": "U8",
    "int8": "I8", "uint16": "U16", "int16": "I16", "uint32": "U32", "int32": "I32", "uint64": "U64", "int64": "I64",
}  # fmt: skip


def main() -> None:
    """Do one job: sys.argv is the job (zip, legacy, tar, gzip or yaml), the file's size, and the parent's sys.path."""
    job, size = sys.argv[1], int(sys.argv[2])
    gc.disable()  # importing torch makes no garbage, and looking for some takes a tenth of its time
    prepare(job)
    gc.enable()
    close_doors(size)
    answer = sys.stdout.buffer
    answer.write(b"R")
    answer.flush()
    try:
        facts, tensors = JOBS[job](sys.stdin.buffer.read())
    except Refused as refusal:
        facts, tensors = {"error": str(refusal)}, {}
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # whatever a file can raise, a MemoryError too, ends here and becomes a sentence
        facts, tensors = {"error": explain(error)}, {}
    write_answer(answer, facts, tensors)
    os._exit(0)  # without taking down what was read: a value nested 200,000 deep would take the stack with it


def prepare(job: str) -> None:
    """Import everything that the job may import on its way, since later no file can be opened."""
    import relxl.containers.bundles  # noqa: F401

    codecs.lookup("cp437")  # of names in a zip that are not marked as UTF-8
    if job != "yaml":
        import torch

        torch.set_num_threads(1)
        file = io.BytesIO()
        torch.save({"warm": torch.nn.Parameter(torch.zeros(2, dtype=torch.bfloat16))}, file)
        load_tensors(file.getvalue())


def close_doors(size: int) -> None:
    """Give up what a file of `size` bytes does not need."""
    limit_process(most_seconds(size), most_memory(size))


def limit_process(seconds: int, memory: int) -> None:
    """Give up files, memory and time, for good: the hard limits fall with the soft ones."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limits = {
        resource.RLIMIT_CPU: int(used.ru_utime + used.ru_stime) + 1 + seconds,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 3,  # stdin, stdout and stderr, so that nothing more can be opened
    }
    if PAGES.exists():  # Linux; elsewhere what a process has mapped is not known, and time and answer are bounded
        mapped = int(PAGES.read_text().split()[0]) * resource.getpagesize()
        limits[resource.RLIMIT_AS] = mapped + memory
    for limit, value in limits.items():
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))


def explain(error: BaseException) -> str:
    """Say what went wrong without torch's own words, some of which advise to open the file unsafely."""
    if is_out_of_memory(error):
        return "needs more memory than a file of its size may take: it is damaged or made to do harm, do not use it"
    return "can not be read, it is damaged or not what it seems: download or save it again"


def is_out_of_memory(error: BaseException) -> bool:
    """Tell a failed allocation, for which torch has no class of its own."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "alloc_cpu" in str(error))


def read_zip(data: bytes) -> tuple[dict, dict]:
    from relxl.containers.zips import check_zip

    # The parent has checked already. These are the bytes that torch gets, and a file can change in between.
    pickle = check_zip(io.BytesIO(data), len(data))
    facts, tensors = read_state(data, lambda: read_member(data, pickle))
    return facts | {"container": "torch zip"}, tensors


def read_member(data: bytes, name: str) -> bytes:
    try:
        return zipfile.ZipFile(io.BytesIO(data)).read(name)
    except zipfile.BadZipFile:  # its checksum is wrong: what it would load is not known
        return b""


def read_legacy(data: bytes) -> tuple[dict, dict]:
    facts, tensors = read_state(data, lambda: data)
    return facts | {"container": "torch legacy"}, tensors


def read_tar(data: bytes) -> tuple[dict, dict]:
    from relxl.containers.bundles import open_nemo
    from relxl.containers.sniff import HEAD, sniff

    weights, config = open_nemo(data)
    inner = sniff(weights[:HEAD], weights[-HEAD:], len(weights))
    if inner not in ("zip", "legacy"):
        raise Refused(f"is a tar whose weights are a {inner} file, but torch's own format was expected")
    facts, tensors = (read_zip if inner == "zip" else read_legacy)(weights)
    return facts | {"container": "nemo tar", "config": config}, tensors


def read_gzip(data: bytes) -> tuple[dict, dict]:
    from relxl.containers.bundles import unpack_gzip

    return read_tar(unpack_gzip(data, most_unfolded(len(data))))


def read_yaml(data: bytes) -> tuple[dict, dict]:
    from relxl.containers.bundles import parse_yaml

    return {"config": parse_yaml(data)}, {}


JOBS = {"zip": read_zip, "legacy": read_legacy, "tar": read_tar, "gzip": read_gzip, "yaml": read_yaml}


def load_tensors(data: bytes) -> object:
    import torch

    return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True, mmap=False)


def read_state(data: bytes, find_pickle: Callable[[], bytes]) -> tuple[dict, dict]:
    """Unpickle a state dict, check every tensor in it, and give facts and tensors."""
    try:
        value = load_tensors(data)
    except Exception as error:
        if is_out_of_memory(error):
            raise
        # torch's unpickler raises a dozen classes; what is in the pickle says more than any of them.
        raise Refused(refuse_pickle(find_pickle())) from None
    import torch

    state, notes = unwrap(value, lambda item: isinstance(item, torch.Tensor))
    if len(state) > MAX_TENSORS:
        raise Refused(f"has a state dict of {len(state)} names, but at most {MAX_TENSORS} are read")
    tensors = {name: item for name, item in state.items() if isinstance(item, torch.Tensor)}
    if others := len(state) - len(tensors):
        notes.append(f"{others} entries of the state dict are no tensors and were left out")
    views = 0
    for name, tensor in tensors.items():
        check_tensor(name, tensor)
        views += tensor.numel() * tensor.itemsize < tensor.untyped_storage().nbytes()
    total = sum(tensor.numel() * tensor.itemsize for tensor in tensors.values())
    if total > most_unfolded(len(data)):
        raise Refused(f"would unfold from {len(data)} to {total} bytes, since its tensors share memory: do not use it")
    if views:
        notes.append(f"{views} tensors are views of larger ones, of which only what they show was kept")
    config, note = find_config(value)
    return {"notes": notes + note, "config": config}, {name: tensor.detach() for name, tensor in tensors.items()}


def check_tensor(name: object, tensor) -> None:
    """Refuse a tensor that is not a plain block of numbers in memory."""
    import torch

    if type(name) is not str:
        raise Refused(f"is not a state dict, since it has a tensor under the key {show(name)}, which is not a name")
    dtype = str(tensor.dtype).removeprefix("torch.")
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        kind = type(tensor).__name__
    elif tensor.layout != torch.strided or tensor.is_nested:
        kind = str(tensor.layout).removeprefix("torch.") if tensor.layout != torch.strided else "nested"
    elif tensor.device.type != "cpu":
        kind = f"{tensor.device.type}-device"
    elif tensor.is_quantized:
        kind = "quantized"
    elif dtype not in NAMES:
        kind = ""
    else:
        needed, there = tensor.numel() * tensor.itemsize, tensor.untyped_storage().nbytes()
        if needed > there:
            raise Refused(
                f"has the tensor {show(name)} of shape {list(tensor.shape)}, which needs {needed} bytes, but the file "
                f"has {there} for it: save a contiguous copy"
            )
        return
    raise Refused(
        f"has the tensor {show(name)}, which is {f'a {kind} tensor of' if kind else 'of'} dtype {dtype}, but relxl "
        "reads plain tensors of float64, float32, float16, bfloat16 and whole numbers: convert it and save it again"
    )


def find_config(value: dict) -> tuple[dict, list[str]]:
    """Find a config that lies beside the weights in the same file; what is not plain in it is left out."""
    key = next((key for key in CONFIGS if isinstance(value.get(key), dict)), None)
    return take_config(value[key], repr(key)) if key else ({}, [])


def write_answer(answer, facts: dict, tensors: dict) -> None:
    """Write facts and tensors, one at a time: all of them at once would take their memory twice."""
    header, end = {}, 0
    for name, tensor in tensors.items():
        begin, end = end, end + tensor.numel() * tensor.itemsize
        dtype = NAMES[str(tensor.dtype).removeprefix("torch.")]
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [begin, end]}
    head = json.dumps(header).encode()
    text = json.dumps(facts | {"bytes": 8 + len(head) + end if tensors else 0}).encode()
    if len(text) > MAX_FACTS:
        text = json.dumps({"error": "has a config that is too long for a config of a model", "bytes": 0}).encode()
        tensors = {}
    answer.write(struct.pack("<Q", len(text)) + text)
    if tensors:
        answer.write(struct.pack("<Q", len(head)) + head)
    for tensor in tensors.values():
        if tensor.numel():
            answer.write(raw_bytes(tensor))
    answer.flush()


def raw_bytes(tensor) -> memoryview:
    import torch

    return memoryview(tensor.contiguous().reshape(-1).view(torch.uint8).numpy())
