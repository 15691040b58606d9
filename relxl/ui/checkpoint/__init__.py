"""The page "Checkpoint".

sections.py    what the file is, and what of it plays a part
settings.py    what was assumed on opening it
answers.py     what other answers would do
weights.py     v_bias of every head from weights alone
tensors.py     the census, and the picture of a tensor
"""
