"""The page "Bug museum".

sections.py    the gallery
exhibits.py    what it says; words.py are those that several share
mystery.py     a model to find a fault in
"""
