"""The page "Distance".

sections.py    the profiles over distance
reach.py       how far the heads look
"""
