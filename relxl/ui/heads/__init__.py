"""The page "Heads".

sections.py    the grid, the simplex, the atlas job
look.py        on which tokens the heads are measured
table.py       every measure of every head
"""
