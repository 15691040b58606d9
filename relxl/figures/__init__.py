"""Figures: arrays in, plotly Figure out. Same input, equal figure; no file, no state."""
