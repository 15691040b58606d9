"""The boundary: it turns any file or folder from outside into checked tensors, and never runs code from it.

What is safe to read (safetensors) is read here; what is not (pickles, tars, YAML) is read in a child process that can
write no file and has little memory and time, and its answer goes through the same checks as a file from outside.
"""

from relxl.containers.errors import CheckpointError
from relxl.containers.opening import read_weights
from relxl.containers.reader import Weights

__all__ = ["CheckpointError", "Weights", "read_weights"]
