"""The page "Score terms".

sections.py    the presets, the picture, the biases, one cell, all heads, downloads
equation.py    a term of the equation, chosen and looked at closer
mixer.py       the faders of the terms, and what ablating each costs
"""
