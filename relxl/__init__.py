"""relxl opens models with relative attention and splits every score into its four terms."""

__version__ = "0.1.0"
