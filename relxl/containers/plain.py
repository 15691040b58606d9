"""Take out of a nested value from outside what is plain: numbers, texts, lists and dicts, within bounds."""

import itertools
import json
from collections import Counter
from collections.abc import Callable

from relxl.containers.errors import Refused, show, show_some

WRAPPERS = ("state_dict", "model", "model_state", "model_state_dict", "module", "ema", "model_avg", "params")
CONFIGS = ("hyper_parameters", "model_config", "config", "cfg", "args")
MAX_VALUES = 20_000
MAX_DEPTH = 16
MAX_STRING = 10_000
LEFT_OUT = object()


def plain(value: object, open_up: Callable = lambda value: value) -> object:
    """Copy the plain part of a value; `open_up` may turn an object into a dict. Raises Refused for too many values.

    What is met twice counts twice: a few aliases of aliases in a YAML file stand for billions of values.
    """
    count = itertools.count(1)

    def take(value: object, depth: int) -> object:
        if next(count) > MAX_VALUES:
            raise Refused(f"has a config of more than {MAX_VALUES} values: it is no config of a model")
        value = open_up(value)
        kind = type(value)
        if value is None or kind in (bool, float) or (kind is int and abs(value) < 1 << 63):
            return value
        if kind is str and len(value) <= MAX_STRING:
            return value
        if depth < MAX_DEPTH and isinstance(value, dict):
            taken = ((str(key), take(item, depth + 1)) for key, item in value.items() if type(key) in (str, int))
            return {key: item for key, item in taken if item is not LEFT_OUT}
        if depth < MAX_DEPTH and kind in (list, tuple):
            return [item for item in (take(item, depth + 1) for item in value) if item is not LEFT_OUT]
        return LEFT_OUT

    taken = take(value, 0)
    return {} if taken is LEFT_OUT else taken


def take_config(value: object, where: str, open_up: Callable = lambda value: value) -> tuple[dict, list[str]]:
    """Take a config out of what lies beside weights, with a note; without one the weights can still be looked at."""
    try:
        config = plain(value, open_up)
    except Refused:
        return {}, [f"{where} has too many values for a config and was left out"]
    # What has become empty was not plain.
    kept = {key: item for key, item in config.items() if item != {} and item != []} if isinstance(config, dict) else {}
    return kept, [f"the config was taken from {where}"] if kept else []


def unwrap(value: object, is_tensor: Callable[[object], bool]) -> tuple[dict, list[str]]:
    """Find the dict of names and tensors, directly or one step below. Raises Refused if there is none."""
    if not isinstance(value, dict):
        raise Refused(refuse_value(f"holds {describe_kind(value)}"))
    inside = [key for key in WRAPPERS if isinstance(value.get(key), dict) and any(map(is_tensor, value[key].values()))]
    if inside:
        notes = [f"unwrapped from {inside[0]!r}"]
        notes += [f"{key!r} holds tensors too and was not read" for key in inside[1:]]
        return value[inside[0]], notes
    if any(map(is_tensor, value.values())):
        return value, []
    keys = [show(key, 40) for key in itertools.islice((key for key in value if isinstance(key, str | int)), 3)]
    what = f"holds a dict with {show_some(keys)}, and no tensors in it" if keys else "holds a dict without tensors"
    raise Refused(refuse_value(what))


def describe_kind(value: object) -> str:
    name = type(value).__name__
    return "nothing (None)" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def refuse_value(what: str) -> str:
    return f"{what}, so it is not a state dict, which is a dict of names and tensors: save model.state_dict() instead"


def load_json(data: bytes) -> tuple[object, list[str]]:
    """Read JSON, and name the keys that stand twice in one object. Raises Refused."""
    twice = []

    def pair_up(pairs: list) -> dict:
        values = dict(pairs)
        if len(values) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            twice.extend(name for name, count in counts.items() if count > 1)
        return values

    try:
        return json.loads(data, object_pairs_hook=pair_up), twice
    except (ValueError, RecursionError) as error:
        raise Refused(f"is not JSON ({error}): restore it") from None
