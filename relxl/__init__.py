"""relxl opens models with relative attention and splits every score into its four terms."""

__version__ = "0.1.0"
__all__ = ["from_module", "identify_shift", "load"]


def __getattr__(name: str):
    if name == "identify_shift":  # only now, so that `import relxl` brings no torch
        from relxl.shift import identify_shift

        return identify_shift
    if name in ("load", "from_module"):
        from relxl import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
