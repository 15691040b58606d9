"""Figures: arrays in, plotly Figure out, made in one piece (chart.py). Same input, equal figure; no file, no state."""
