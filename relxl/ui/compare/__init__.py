"""The page "Compare".

sections.py    two checkpoints by their weights
text.py        both on one text
film.py        one training step by step
"""
