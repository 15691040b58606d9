"""The page "Masking".

sections.py    the rule, its controls and the picture
gallery.py     what is reported with one click
leaks.py       the leak of every head, the fills that are safe, a recorded training with a leak
"""
